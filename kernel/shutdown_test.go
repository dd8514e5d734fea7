package kernel_test

import (
	"testing"
	"time"

	"kafkalab/kernel"
	"kafkalab/kernel/kerneltest"
	"kafkalab/kernel/wire"
)

// The running cell ends, the queued ones are aborted, then the kernel says its last word: reply,
// broadcast, idle.
func TestShutdownInOrder(t *testing.T) {
	for _, ch := range []wire.Channel{wire.Control, wire.Shell} {
		lang := &kerneltest.Echo{}
		c := kerneltest.Start(t, lang, kernel.Options{})
		cell := c.AskExecute("print x\nloop")
		behind := c.AskExecute("print never")
		waitFor(t, func() bool { return cell.Text("stdout") != "" })
		ex := c.Ask(ch, "shutdown_request", map[string]any{"restart": false}).Wait()
		select {
		case <-c.K.Done():
		case <-time.After(kerneltest.Patience):
			t.Fatal("Done stays open")
		}
		if ex.Status() != "ok" || ex.Reply("restart") != false || len(ex.Of("shutdown_reply")) != 1 {
			t.Errorf("got\n%s", ex.Transcript())
		}
		if !cell.Done() || cell.Status() != "error" || behind.Status() != "aborted" {
			t.Errorf("cells ended %s and %s, want error and aborted", cell.Status(), behind.Status())
		}
		all := c.All()
		if last := all[len(all)-1]; kerneltest.Field(last.Content, "execution_state") != "idle" || last.ParentHeader().MsgID != ex.Request.Header.MsgID {
			t.Errorf("the last message is %s %s", last.Header.MsgType, last.Content)
		}
		if c.K.Restarting() {
			t.Error("restart was not asked for")
		}
		waitFor(t, lang.Closed.Load)
		n := len(all)
		c.AskExecute("print too late")
		time.Sleep(20 * time.Millisecond)
		if len(c.All()) != n {
			t.Error("the kernel speaks after its last word")
		}
	}
}

// A language that does not listen to interrupts cannot hold the shutdown up.
func TestShutdownDoesNotWaitForADeafCell(t *testing.T) {
	c := kerneltest.Start(t, &deaf{&kerneltest.Echo{}}, kernel.Options{})
	c.AskExecute("loop")
	start := time.Now()
	ex := c.Control("shutdown_request", map[string]any{"restart": true})
	if took := time.Since(start); ex.Status() != "ok" || took > 5*time.Second {
		t.Errorf("%s after %v", ex.Status(), took)
	}
	if !c.K.Restarting() {
		t.Error("restart was asked for")
	}
}

type deaf struct{ *kerneltest.Echo }

func (d *deaf) Interrupt() {}

func (d *deaf) Execute(kernel.Cell, kernel.Output) kernel.Outcome {
	time.Sleep(3 * time.Second)
	return kernel.Outcome{}
}
