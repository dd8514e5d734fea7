package kernel_test

import (
	"errors"
	"fmt"
	"testing"

	"kafkalab/kernel"
	"kafkalab/kernel/kerneltest"
	"kafkalab/kernel/wire"
)

func open(id, target string) map[string]any {
	return map[string]any{"comm_id": id, "target_name": target, "data": map[string]any{"path": "a.ipynb"}}
}

func said(id string, n int) map[string]any {
	return map[string]any{"comm_id": id, "data": map[string]any{"n": n}}
}

func TestAnUnknownTargetIsClosedAtOnce(t *testing.T) {
	c := start(t, kernel.Options{})
	ex := c.Request("comm_open", open("c1", "nobody"))
	closed := ex.Of("comm_close")
	if len(closed) != 1 || kerneltest.Field(closed[0], "comm_id") != "c1" {
		t.Errorf("got\n%s", ex.Transcript())
	}
}

func TestACommFromOpenToClose(t *testing.T) {
	c := start(t, kernel.Options{})
	var gone []string
	c.K.Comms().Register("kafkalab.test", func(comm *kernel.Comm, opened kernel.CommMessage) error {
		comm.OnMessage = func(m kernel.CommMessage) {
			if err := comm.Send(map[string]any{"echo": m.Data}, m.Buffers...); err != nil {
				t.Error(err)
			}
		}
		comm.OnClose = func(m kernel.CommMessage) { gone = append(gone, string(m.Data)) }
		return comm.Send(map[string]any{"opened": opened.Data})
	})
	ex := c.Request("comm_open", open("c1", "kafkalab.test"))
	if got := kerneltest.Field(ex.Of("comm_msg")[0], "data", "opened", "path"); got != "a.ipynb" {
		t.Errorf("the target saw %v", got)
	}
	// While a cell runs, too.
	cell := c.AskExecute("print running\nloop")
	waitFor(t, func() bool { return cell.Text("stdout") != "" })
	ex = c.Ask(wire.Shell, "comm_msg", said("c1", 5), func(m *wire.Message) { m.Buffers = [][]byte{{1, 2}} }).Wait()
	answer := ex.IOPub()[1]
	if got := kerneltest.Field(answer.Content, "data", "echo", "n"); got != 5.0 || len(answer.Buffers) != 1 {
		t.Errorf("answer %s with %d buffers", answer.Content, len(answer.Buffers))
	}
	c.Control("interrupt_request", map[string]any{})
	cell.Wait()
	info := c.Request("comm_info_request", map[string]any{"target_name": "kafkalab.test"})
	if got := info.Reply("comms", "c1", "target_name"); got != "kafkalab.test" {
		t.Errorf("comm_info has %v", got)
	}
	if got := c.Request("comm_info_request", map[string]any{"target_name": "other"}).Reply("comms"); fmt.Sprint(got) != "map[]" {
		t.Errorf("comms of another target: %v", got)
	}
	c.Request("comm_close", said("c1", 0))
	if len(gone) != 1 || gone[0] != `{"n":0}` {
		t.Errorf("OnClose saw %q", gone)
	}
	if ex := c.Request("comm_msg", said("c1", 6)); len(ex.IOPub()) != 2 {
		t.Errorf("a message for a closed comm is answered:\n%s", ex.Transcript())
	}
}

func TestTargetsThatFail(t *testing.T) {
	c := start(t, kernel.Options{})
	c.K.Comms().Register("refuses", func(*kernel.Comm, kernel.CommMessage) error { return errors.New("not today") })
	c.K.Comms().Register("panics", func(comm *kernel.Comm, _ kernel.CommMessage) error {
		comm.OnMessage = func(kernel.CommMessage) { panic("later") }
		return nil
	})
	if got := kerneltest.Field(c.Request("comm_open", open("a", "refuses")).Of("comm_close")[0], "data", "error"); got != "not today" {
		t.Errorf("refusal says %v", got)
	}
	c.Request("comm_open", open("b", "panics"))
	if got := kerneltest.Field(c.Request("comm_msg", said("b", 1)).Of("comm_close")[0], "data", "error"); got != "the comm's handler failed: later" {
		t.Errorf("panic says %v", got)
	}
	if got := c.Request("comm_info_request", map[string]any{}).Reply("comms"); fmt.Sprint(got) != "map[]" {
		t.Errorf("failed comms stay open: %v", got)
	}
}

// A frontend may open a comm before the cell that registers its target has had its turn.
func TestAnOpenWaitsForTheCellsBeforeIt(t *testing.T) {
	c := start(t, kernel.Options{})
	cell := c.AskExecute("sleep 30ms")
	opened := c.Ask(wire.Shell, "comm_open", open("c1", "late"))
	message := c.Ask(wire.Shell, "comm_msg", said("c1", 1))
	heard := 0
	c.K.Comms().Register("late", func(comm *kernel.Comm, _ kernel.CommMessage) error {
		comm.OnMessage = func(kernel.CommMessage) { heard++ }
		return nil
	})
	cell.Wait()
	if n := len(opened.Wait().Of("comm_close")); n != 0 {
		t.Error("the comm was closed although its target came in time")
	}
	message.Wait()
	if heard != 1 {
		t.Errorf("%d messages heard, want 1", heard)
	}
}

func TestACommOpenedByACellBelongsToIt(t *testing.T) {
	lang := &opener{Echo: &kerneltest.Echo{}}
	c := kerneltest.Start(t, lang, kernel.Options{})
	lang.comms = c.K.Comms()
	ex := c.Execute("x")
	opened := ex.Of("comm_open")
	if len(opened) != 1 || kerneltest.Field(opened[0], "target_name") != "front" {
		t.Fatalf("got\n%s", ex.Transcript())
	}
	id := kerneltest.Field(opened[0], "comm_id").(string)
	c.Request("comm_msg", said(id, 3))
	if lang.heard != `{"n":3}` {
		t.Errorf("heard %q", lang.heard)
	}
	if err := lang.comm.Close(nil); err != nil {
		t.Error(err)
	}
	if err := lang.comm.Send(nil); !errors.Is(err, kernel.ErrCommClosed) {
		t.Errorf("sending on a closed comm: %v", err)
	}
}

type opener struct {
	*kerneltest.Echo
	comms *kernel.Comms
	comm  *kernel.Comm
	heard string
}

func (o *opener) Execute(kernel.Cell, kernel.Output) kernel.Outcome {
	comm, err := o.comms.Open("front", nil, func(c *kernel.Comm) {
		c.OnMessage = func(m kernel.CommMessage) { o.heard = string(m.Data) }
	})
	o.comm = comm
	if err != nil {
		return kernel.Outcome{Failure: &kernel.Failure{Name: "CommError", Value: err.Error()}}
	}
	return kernel.Outcome{}
}
