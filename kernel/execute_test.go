package kernel_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kafkalab/kernel"
	"kafkalab/kernel/kerneltest"
	"kafkalab/kernel/wire"
)

func start(t testing.TB, opts kernel.Options) *kerneltest.Client {
	t.Helper()
	return kerneltest.Start(t, &kerneltest.Echo{}, opts)
}

func TestStartingIsSaidOnceAndFirst(t *testing.T) {
	c := start(t, kernel.Options{})
	c.Execute("print x")
	first := c.All()[0]
	if first.Header.MsgType != "status" || kerneltest.Field(first.Content, "execution_state") != "starting" || len(first.Parent) != 0 {
		t.Errorf("the first message is %s %s with parent %s", first.Header.MsgType, first.Content, first.Parent)
	}
	if n := len(c.Strays()); n != 1 {
		t.Errorf("%d messages without a request, want starting alone", n)
	}
}

// silent × store_history × stop_on_error × user_expressions, with a cell that goes well and one that
// fails (message spec, "Execute").
func TestExecuteMatrix(t *testing.T) {
	flags := []bool{false, true}
	for _, silent := range flags {
		for _, store := range flags {
			for _, stop := range flags {
				for _, expressions := range flags {
					name := fmt.Sprintf("silent=%t,store=%t,stop=%t,expressions=%t", silent, store, stop, expressions)
					t.Run(name, func(t *testing.T) { matrixCase(t, silent, store, stop, expressions) })
				}
			}
		}
	}
}

func matrixCase(t *testing.T, silent, store, stop, expressions bool) {
	c := start(t, kernel.Options{})
	request := func(code string) *kerneltest.Exchange {
		content := kerneltest.Execution(code)
		content["silent"], content["store_history"], content["stop_on_error"] = silent, store, stop
		if expressions {
			content["user_expressions"] = map[string]any{"v": "result 7"}
		}
		return c.Ask(wire.Shell, "execute_request", content)
	}
	c.Execute("print first")
	counted := store && !silent
	count := 1.0
	if counted {
		count = 2
	}
	good := request("print x\nresult 1").Wait()
	if good.Status() != "ok" || good.Reply("execution_count") != count {
		t.Errorf("reply %s, want ok with count %v", good.ReplyMessage().Content, count)
	}
	if value := good.Reply("user_expressions", "v", "data", "text/plain"); expressions != (value == "7") {
		t.Errorf("user expression is %v", value)
	}
	wantIOPub := 5 // busy, input, stream, result, idle
	if silent {
		wantIOPub = 2
	}
	if n := len(good.IOPub()); n != wantIOPub {
		t.Errorf("%d messages on iopub, want %d:\n%s", n, wantIOPub, good.Transcript())
	}
	bad := request("sleep 20ms\nfail E text")
	behind := c.AskExecute("print behind")
	bad.Wait()
	if counted {
		count++
	}
	if bad.Status() != "error" || bad.Reply("execution_count") != count || len(bad.Of("error")) != map[bool]int{false: 1, true: 0}[silent] {
		t.Errorf("the failing cell:\n%s", bad.Transcript())
	}
	want := "ok"
	if stop && !silent {
		want = "aborted"
	}
	if got := behind.Wait().Status(); got != want {
		t.Errorf("the cell behind it is %s, want %s", got, want)
	}
	tail := c.Request("history_request", map[string]any{"hist_access_type": "tail", "n": 9}).Reply("history")
	if got := strings.Count(fmt.Sprint(tail), "fail E text"); got != map[bool]int{false: 0, true: 1}[counted] {
		t.Errorf("history has the cell %d times: %v", got, tail)
	}
}

func TestAFailureAbortsTheRestOfRunAll(t *testing.T) {
	c := start(t, kernel.Options{})
	bad := c.AskExecute("sleep 20ms\nfail E text")
	var rest []*kerneltest.Exchange
	for range 5 {
		rest = append(rest, c.AskExecute("print never"))
	}
	between := c.Ask(wire.Shell, "comm_open", map[string]any{"comm_id": "x", "target_name": "none", "data": map[string]any{}})
	bad.Wait()
	failed := time.Now()
	for i, ex := range rest {
		ex.Wait()
		if ex.Status() != "aborted" || len(ex.Of("execute_input")) != 0 || ex.Text("stdout") != "" {
			t.Errorf("cell %d of the rest:\n%s", i, ex.Transcript())
		}
		if ex.Reply("execution_count") != 1.0 {
			t.Errorf("aborted reply with count %v", ex.Reply("execution_count"))
		}
	}
	if took := time.Since(failed); took > 100*time.Millisecond {
		t.Errorf("aborting took %v", took)
	}
	if len(between.Wait().Of("comm_close")) != 1 {
		t.Error("other requests in the queue are still served")
	}
	if got := c.Execute("print again").Status(); got != "ok" {
		t.Errorf("a cell sent after the failure is %s", got)
	}
}

// The rest of a "run all" may still be on its way when its first cell fails. Its date tells.
func TestAFailureAbortsWhatWasSentBeforeIt(t *testing.T) {
	c := start(t, kernel.Options{})
	sent := time.Now()
	c.Execute("fail E text")
	late := func(date time.Time) string {
		return c.Ask(wire.Shell, "execute_request", kerneltest.Execution("print x"), func(m *wire.Message) {
			m.Header.Date = wire.FormatDate(date)
		}).Wait().Status()
	}
	if got := late(sent); got != "aborted" {
		t.Errorf("sent before the failure: %s, want aborted", got)
	}
	if got := late(time.Now().Add(time.Second)); got != "ok" {
		t.Errorf("sent after it: %s, want ok", got)
	}
	time.Sleep(550 * time.Millisecond)
	if got := late(sent); got != "ok" {
		t.Errorf("arriving long after, by a wrong clock: %s, want ok", got)
	}
}

func TestInterruptEndsTheCellAndTheQueue(t *testing.T) {
	c := start(t, kernel.Options{})
	for _, code := range []string{"loop", "flood 100000000 text", "sleep 1m"} {
		cell := c.AskExecute("print before\n" + code)
		behind := c.AskExecute("print never")
		waitFor(t, func() bool { return cell.Text("stdout") != "" })
		start := time.Now()
		if got := c.Control("interrupt_request", map[string]any{}).Status(); got != "ok" {
			t.Errorf("interrupt_reply %s", got)
		}
		cell.Wait()
		if took := time.Since(start); took > 500*time.Millisecond {
			t.Errorf("%s: interrupting took %v", code, took)
		}
		if cell.Status() != "error" || cell.Reply("ename") != "KeyboardInterrupt" {
			t.Errorf("%s ended with %s", code, cell.ReplyMessage().Content)
		}
		if got := behind.Wait().Status(); got != "aborted" {
			t.Errorf("the cell behind is %s", got)
		}
		if got := c.Execute("print still here").Text("stdout"); got != "still here\n" {
			t.Errorf("after the interrupt: %q", got)
		}
	}
}

func waitFor(t testing.TB, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(kerneltest.Patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain")
		}
	}
}

// Everything but cells is answered while a cell runs; the indicator says busy afterwards, for the cell.
func TestRequestsBesideARunningCell(t *testing.T) {
	c := start(t, kernel.Options{})
	cell := c.AskExecute("print running\nloop")
	waitFor(t, func() bool { return cell.Text("stdout") != "" })
	for msgType, content := range map[string]any{
		"complete_request":    map[string]any{"code": "pr", "cursor_pos": 2},
		"inspect_request":     map[string]any{"code": "print", "cursor_pos": 5, "detail_level": 0},
		"is_complete_request": map[string]any{"code": "print"},
		"history_request":     map[string]any{"hist_access_type": "tail", "n": 1},
		"comm_info_request":   map[string]any{},
		"kernel_info_request": map[string]any{},
	} {
		if got := c.Request(msgType, content).Status(); got == "error" {
			t.Errorf("%s while a cell runs: %s", msgType, got)
		}
		waitFor(t, func() bool {
			last := lastStatus(c)
			return kerneltest.Field(last.Content, "execution_state") == "busy" && last.ParentHeader().MsgID == cell.Request.Header.MsgID
		})
	}
	if cell.Done() {
		t.Error("the cell should still run")
	}
	c.Control("interrupt_request", map[string]any{})
	cell.Wait()
	waitFor(t, func() bool { return kerneltest.Field(lastStatus(c).Content, "execution_state") == "idle" })
}

func lastStatus(c *kerneltest.Client) (last kerneltest.Received) {
	for _, m := range c.All() {
		if m.Header.MsgType == "status" {
			last = m
		}
	}
	return last
}

func TestReplyCarriesStartedAndCellIDReachesTheLanguage(t *testing.T) {
	lang := &recording{Echo: &kerneltest.Echo{}}
	c := kerneltest.Start(t, lang, kernel.Options{})
	ex := c.Ask(wire.Shell, "execute_request", kerneltest.Execution("print x"), func(m *wire.Message) {
		m.Metadata = []byte(`{"cellId":"c-17","deletedCells":[]}`)
	}).Wait()
	if cell := lang.cell; cell.ID != "c-17" || cell.Count != 1 || !cell.AllowStdin || cell.Silent || cell.Code != "print x" {
		t.Errorf("the language saw %+v", cell)
	}
	started, _ := kerneltest.Field(ex.ReplyMessage().Metadata, "started").(string)
	if _, ok := wire.ParseDate(started); !ok {
		t.Errorf("started is %q", started)
	}
}

type recording struct {
	*kerneltest.Echo
	cell kernel.Cell
}

func (r *recording) Execute(cell kernel.Cell, out kernel.Output) kernel.Outcome {
	r.cell = cell
	return r.Echo.Execute(cell, out)
}

// A failure without a traceback still has a list: null breaks JupyterLab and nbclient.
func TestTracebackIsAlwaysAList(t *testing.T) {
	c := kerneltest.Start(t, &bare{&kerneltest.Echo{}}, kernel.Options{})
	ex := c.Execute("x")
	if got := string(ex.Of("error")[0]); !strings.Contains(got, `"traceback":[]`) {
		t.Errorf("error %s", got)
	}
}

type bare struct{ *kerneltest.Echo }

func (b *bare) Execute(kernel.Cell, kernel.Output) kernel.Outcome {
	return kernel.Outcome{Failure: &kernel.Failure{Name: "E"}}
}
