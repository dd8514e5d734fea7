package kernel_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"kafkalab/kernel"
	"kafkalab/kernel/kerneltest"
	"kafkalab/kernel/wire"
)

func in(subshell string) func(*wire.Message) {
	return func(m *wire.Message) { m.Header.SubshellID = subshell }
}

func create(t *testing.T, c *kerneltest.Client) string {
	t.Helper()
	ex := c.Control("create_subshell_request", map[string]any{})
	id, _ := ex.Reply("subshell_id").(string)
	if ex.Status() != "ok" || id == "" {
		t.Fatalf("got %s", ex.ReplyMessage().Content)
	}
	return id
}

func TestSubshellsComeAndGo(t *testing.T) {
	c := start(t, kernel.Options{})
	features := fmt.Sprint(c.Request("kernel_info_request", map[string]any{}).Reply("supported_features"))
	if features != "[kernel subshells]" {
		t.Errorf("supported_features %s", features)
	}
	a, b := create(t, c), create(t, c)
	if got := c.Control("list_subshell_request", map[string]any{}).Reply("subshell_id"); fmt.Sprint(got) != fmt.Sprint([]any{a, b}) {
		t.Errorf("%v are listed, want %s and %s", got, a, b)
	}
	remove := func(id any) string {
		ex := c.Control("delete_subshell_request", map[string]any{"subshell_id": id})
		return fmt.Sprint(ex.Status(), " ", ex.Reply("ename"))
	}
	if got := remove(a); got != "ok <nil>" {
		t.Errorf("delete: %s", got)
	}
	if got := remove(a); got != "error UnknownSubshell" {
		t.Errorf("delete again: %s", got)
	}
	if got := remove(""); got != "error BadRequest" {
		t.Errorf("delete of the parent: %s", got)
	}
	if got := c.Control("list_subshell_request", map[string]any{}).Reply("subshell_id"); fmt.Sprint(got) != fmt.Sprint([]any{b}) {
		t.Errorf("%v are listed, want %s", got, b)
	}
}

// A request for a subshell that is not there gets an error, a comm message gets its busy and idle, and
// nothing else is touched by it.
func TestAnUnknownSubshellIsAnsweredWithAnError(t *testing.T) {
	c := start(t, kernel.Options{})
	for _, msgType := range []string{"execute_request", "complete_request", "kernel_info_request", "history_request"} {
		ex := c.Ask(wire.Shell, msgType, kerneltest.Execution("print x"), in("s-1")).Wait()
		if ex.Status() != "error" || ex.Reply("ename") != "UnknownSubshell" || len(ex.IOPub()) != 2 {
			t.Errorf("%s: got\n%s", msgType, ex.Transcript())
		}
	}
	if ex := c.Ask(wire.Shell, "comm_msg", said("c1", 1), in("s-1")).Wait(); len(ex.IOPub()) != 2 || ex.ReplyMessage() != nil {
		t.Errorf("comm_msg: got\n%s", ex.Transcript())
	}
	if got := c.Ask(wire.Control, "kernel_info_request", map[string]any{}, in("s-1")).Wait().Status(); got != "ok" {
		t.Errorf("control belongs to no subshell, but answers %s", got)
	}
	if got := c.Execute("print x").Status(); got != "ok" {
		t.Errorf("the parent shell is %s afterwards", got)
	}
}

// What subshells are for: the slider answers while a cell runs.
func TestCommMessagesOfASubshellAreServedWhileACellRuns(t *testing.T) {
	c := start(t, kernel.Options{})
	c.K.Comms().Register("slider", func(comm *kernel.Comm, _ kernel.CommMessage) error {
		comm.OnMessage = func(m kernel.CommMessage) { _ = comm.Send(map[string]any{"echo": m.Data}, m.Buffers...) }
		return nil
	})
	id := create(t, c)
	cell := c.AskExecute("print running\nloop")
	waitFor(t, func() bool { return cell.Text("stdout") != "" })
	c.Ask(wire.Shell, "comm_open", open("c1", "slider"), in(id)).Wait()
	// A cell of the subshell waits behind the parent's; comm messages pass both.
	waiting := c.Ask(wire.Shell, "execute_request", kerneltest.Execution("print second"), in(id))
	for n := range 20 {
		ex := c.Ask(wire.Shell, "comm_msg", said("c1", n), in(id), func(m *wire.Message) { m.Buffers = [][]byte{{7}} }).Wait()
		if got := kerneltest.Field(ex.Of("comm_msg")[0], "data", "echo", "n"); got != float64(n) {
			t.Fatalf("message %d is answered %v", n, got)
		}
	}
	if cell.Done() || len(waiting.IOPub()) != 0 {
		t.Error("the cells did not wait")
	}
	c.Control("interrupt_request", map[string]any{})
	if got := cell.Wait().Reply("ename"); got != "KeyboardInterrupt" {
		t.Errorf("the running cell ends with %v", got)
	}
	if got := waiting.Wait(); got.Status() != "ok" || got.Text("stdout") != "second\n" {
		t.Errorf("a failure of the parent's took the subshell's cell down:\n%s", got.Transcript())
	}
}

// Execution counts, history and the fate of queued cells are each shell's own.
func TestEveryShellCountsAndRemembersForItself(t *testing.T) {
	c := start(t, kernel.Options{})
	id := create(t, c)
	c.Execute("result 1")
	c.Execute("result 2")
	sub := func(code string) *kerneltest.Exchange {
		return c.Ask(wire.Shell, "execute_request", kerneltest.Execution(code), in(id))
	}
	if got := sub("result 3").Wait().Reply("execution_count"); got != 1.0 {
		t.Errorf("the first cell of a subshell has count %v", got)
	}
	past := map[string]any{"hist_access_type": "range", "session": 0, "start": 1}
	if got := fmt.Sprint(c.Request("history_request", past).Reply("history")); got != "[[1 1 result 1] [1 2 result 2]]" {
		t.Errorf("the parent's history is %s", got)
	}
	if got := fmt.Sprint(c.Ask(wire.Shell, "history_request", past, in(id)).Wait().Reply("history")); got != "[[2 1 result 3]]" {
		t.Errorf("the subshell's history is %s", got)
	}
	cells := []*kerneltest.Exchange{sub("sleep 50ms\nfail E no"), c.AskExecute("result 4"), sub("result 5")}
	var got []string
	for _, ex := range cells {
		got = append(got, ex.Wait().Status())
	}
	if !slices.Equal(got, []string{"error", "ok", "aborted"}) {
		t.Errorf("the cells end %v", got)
	}
}

func TestADeletedSubshellAnswersWhatWaits(t *testing.T) {
	c := start(t, kernel.Options{})
	id := create(t, c)
	sub := func(code string) *kerneltest.Exchange {
		return c.Ask(wire.Shell, "execute_request", kerneltest.Execution(code), in(id))
	}
	running, waiting := sub("print running\nloop"), sub("print never")
	waitFor(t, func() bool { return running.Text("stdout") != "" })
	if got := c.Control("delete_subshell_request", map[string]any{"subshell_id": id}).Status(); got != "ok" {
		t.Fatal(got)
	}
	if got := running.Wait().Reply("ename"); got != "KeyboardInterrupt" {
		t.Errorf("the running cell ends with %v", got)
	}
	if got := waiting.Wait().Status(); got != "aborted" {
		t.Errorf("the waiting cell is %s", got)
	}
	if got := sub("print x").Wait().Reply("ename"); got != "UnknownSubshell" {
		t.Errorf("a later one is %v", got)
	}
}

// The question of a subshell's cell says where it comes from, and the answer finds it.
func TestInputInASubshell(t *testing.T) {
	c := start(t, kernel.Options{})
	c.Answer = func(prompt string, _ bool) string { return "to " + prompt }
	id := create(t, c)
	ex := c.Ask(wire.Shell, "execute_request", kerneltest.Execution("ask who?"), in(id)).Wait()
	if ex.Text("stdout") != "to who?\n" {
		t.Errorf("got\n%s", ex.Transcript())
	}
	for _, m := range c.All() {
		if m.Header.MsgType == "input_request" && m.Header.SubshellID != id {
			t.Errorf("the question's header names subshell %q", m.Header.SubshellID)
		}
	}
}

func TestSubshellsAreBounded(t *testing.T) {
	c := start(t, kernel.Options{})
	for range 1024 {
		create(t, c)
	}
	if got := c.Control("create_subshell_request", map[string]any{}).Reply("ename"); got != "TooManySubshells" {
		t.Errorf("one more is %v", got)
	}
}

// Shutdown answers what waits in every shell.
func TestShutdownEndsSubshells(t *testing.T) {
	c := start(t, kernel.Options{})
	id := create(t, c)
	running := c.AskExecute("print running\nloop")
	waitFor(t, func() bool { return running.Text("stdout") != "" })
	waiting := c.Ask(wire.Shell, "execute_request", kerneltest.Execution("print never"), in(id))
	begun := time.Now()
	c.Control("shutdown_request", map[string]any{"restart": false})
	if running.Wait().Status() != "error" || waiting.Wait().Status() != "aborted" {
		t.Errorf("%s and %s", running.Status(), waiting.Status())
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}
