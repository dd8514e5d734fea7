package goeval

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kafkalab/kernel"
	"kafkalab/kernel/kerneltest"
	"kafkalab/kernel/wire"
)

// frontend is a client of a kernel whose cells are Go.
func frontend(t *testing.T) *kerneltest.Client {
	t.Helper()
	return kerneltest.Start(t, newSession(t).Engine, kernel.Options{})
}

// ok runs a cell that must go well, and returns its result.
func ok(t *testing.T, c *kerneltest.Client, code string) string {
	t.Helper()
	ex := c.Execute(code)
	if ex.Status() != "ok" {
		t.Fatalf("%s\n%s", code, ex.Transcript())
	}
	return ex.Result()
}

// messages are an exchange's messages of a type on iopub.
func messages(ex *kerneltest.Exchange, msgType string) (all []kerneltest.Received) {
	for _, m := range ex.IOPub() {
		if m.Header.MsgType == msgType {
			all = append(all, m)
		}
	}
	return all
}

func opening(id, target string, data any) map[string]any {
	return map[string]any{"comm_id": id, "target_name": target, "data": data}
}

func word(w string) map[string]any { return map[string]any{"word": w} }

func saying(id string, data any) map[string]any {
	return map[string]any{"comm_id": id, "data": data}
}

func withBuffers(buffers ...string) func(*wire.Message) {
	return func(m *wire.Message) {
		for _, b := range buffers {
			m.Buffers = append(m.Buffers, []byte(b))
		}
	}
}

// A target that a cell registers: data and buffers go both ways, also while a cell runs, and the cell's
// variables are the session's.
func TestACellAnswersComms(t *testing.T) {
	c := frontend(t)
	ok(t, c, `sum, mu := 0.0, sync.Mutex{}
lab.OnComm("adder", func(x *lab.Comm, opened lab.CommMessage) {
	x.Send(map[string]any{"hello": opened.Data, "target": x.Target()}, opened.Buffers...)
	x.OnMessage(func(m lab.CommMessage) {
		var n struct{ N float64 }
		if err := json.Unmarshal(m.JSON, &n); err != nil || m.Data.(map[string]any)["n"] != n.N {
			panic(fmt.Sprint(m, err))
		}
		mu.Lock()
		sum += n.N
		mu.Unlock()
		x.Send(map[string]any{"sum": sum}, append([][]byte{[]byte("sum")}, m.Buffers...)...)
	})
	x.OnClose(func(m lab.CommMessage) { sum = -1 })
})`)
	opened := messages(c.Ask(wire.Shell, "comm_open", opening("1", "adder", map[string]any{"a": "x"}), withBuffers("\x00\xff")).Wait(), "comm_msg")
	if len(opened) != 1 || string(opened[0].Content) != `{"comm_id":"1","data":{"hello":{"a":"x"},"target":"adder"}}` || string(opened[0].Buffers[0]) != "\x00\xff" {
		t.Fatalf("opened: %v", opened)
	}
	cell := c.AskExecute("for sum < 100 {\n\ttime.Sleep(time.Millisecond)\n}\n\"done\"")
	for n := 1; n <= 4; n++ {
		got := messages(c.Ask(wire.Shell, "comm_msg", saying("1", map[string]any{"n": 30}), withBuffers("a", "b")).Wait(), "comm_msg")
		if len(got) != 1 || string(got[0].Content) != fmt.Sprintf(`{"comm_id":"1","data":{"sum":%d}}`, 30*n) || fmt.Sprintf("%q", got[0].Buffers) != `["sum" "a" "b"]` {
			t.Fatalf("message %d: %v", n, got)
		}
	}
	if got := cell.Wait().Result(); got != "done" {
		t.Errorf("the cell that waited for them: %s", cell.Transcript())
	}
	c.Request("comm_close", saying("1", map[string]any{}))
	if got := ok(t, c, "sum"); got != "-1" {
		t.Errorf("after the close sum is %s", got)
	}
	ok(t, c, `lab.OnComm("adder", nil)`)
	if got := c.Request("comm_open", opening("2", "adder", map[string]any{})).Of("comm_close"); len(got) != 1 {
		t.Errorf("a target that was taken back is answered: %v", got)
	}
}

// A comm that a cell opens, and what goes wrong on one.
func TestACellOpensComms(t *testing.T) {
	c := frontend(t)
	ex := c.Execute("x := lab.OpenComm(\"front\", map[string]int{\"n\": 7}, []byte{1, 2})\nx")
	opened := messages(ex, "comm_open")
	if len(opened) != 1 || ex.Result() != `a comm with "front"` || string(opened[0].Buffers[0]) != "\x01\x02" || fmt.Sprint(kerneltest.Field(opened[0].Content, "data", "n")) != "7" {
		t.Fatalf("opened: %s", ex.Transcript())
	}
	id := kerneltest.Field(opened[0].Content, "comm_id").(string)
	// What comes before there is a handler waits for it; a cell may wait for what comes.
	c.Request("comm_msg", saying(id, word("early")))
	ok(t, c, "got := make(chan any, 9)\nfunc word(m lab.CommMessage) any { return m.Data.(map[string]any)[\"word\"] }\nx.OnMessage(func(m lab.CommMessage) { got <- word(m) })")
	if got := ok(t, c, "<-got"); got != "early" {
		t.Errorf("it hears %s", got)
	}
	cell := c.AskExecute("fmt.Sprint(<-got, <-got)")
	time.Sleep(700 * time.Millisecond) // long enough to be taken for a deadlock
	c.Request("comm_msg", saying(id, word("late")))
	c.Request("comm_msg", saying(id, word("r")))
	if got := cell.Wait().Result(); got != "later" {
		t.Errorf("a cell that waits: %s", cell.Transcript())
	}

	// A handler that fails says so in its cell; the comm goes on. One that never ends is interrupted.
	ok(t, c, `x.OnMessage(func(m lab.CommMessage) {
	switch word(m) {
	case "fail":
		var p *int
		*p = 1
	case "loop":
		for {
		}
	}
	got <- "heard"
})`)
	c.Request("comm_msg", saying(id, word("fail")))
	every := func(msgType, field string) (text string) {
		for _, m := range c.All() {
			if m.Header.MsgType == msgType {
				text += fmt.Sprint(kerneltest.Field(m.Content, field))
			}
		}
		return text
	}
	stderr := func() string { return every("stream", "text") }
	for deadline := time.Now().Add(5 * time.Second); !strings.Contains(stderr(), "nil pointer") && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if text := stderr(); !strings.Contains(text, "nil pointer") || !strings.Contains(text, "*p = 1") {
		t.Errorf("a failing handler says %q", text)
	}
	endless := c.Ask(wire.Shell, "comm_msg", saying(id, word("loop")))
	if got := ok(t, c, "6 * 7"); got != "42" {
		t.Errorf("a cell beside an endless handler: %s", got)
	}
	for !endless.Done() {
		c.Control("interrupt_request", map[string]any{})
		time.Sleep(10 * time.Millisecond)
	}
	c.Request("comm_msg", saying(id, word("again")))
	if got := ok(t, c, "<-got"); got != "heard" {
		t.Errorf("after the interrupt the handler says %s", got)
	}

	ex = c.Execute("x.Close(map[string]any{\"why\": \"bye\"})\nx.Close(nil)\nx.Send(nil)")
	if got := every("comm_close", "data"); got != "map[why:bye]" || !strings.Contains(ex.Result(), "the comm is closed") {
		t.Errorf("closed: %s", ex.Transcript())
	}
	for code, want := range map[string]string{
		`lab.OpenComm("front", map[string]any{"f": func() {}})`: "unsupported type", `lab.OpenComm("front", 7)`: "the data is 7; want", `lab.OpenComm("", nil)`: "the name of the target",
		`lab.OnComm("", nil)`: "a target needs a name",
	} {
		if ex := c.Execute(code); !strings.Contains(fmt.Sprint(ex.Reply("evalue")), want) {
			t.Errorf("%s: %s", code, ex.Transcript())
		}
	}
	if got := c.Request("comm_info_request", map[string]any{}).Reply("comms"); fmt.Sprint(got) != "map[]" {
		t.Errorf("comms that are open: %v", got)
	}
}

// A kernel that is shut down does not wait for a handler without end.
func TestShutdownBesideAnEndlessHandler(t *testing.T) {
	c := frontend(t)
	ok(t, c, `lab.OnComm("stuck", func(*lab.Comm, lab.CommMessage) { select {} })`)
	c.Ask(wire.Shell, "comm_open", opening("1", "stuck", map[string]any{}))
	time.Sleep(50 * time.Millisecond)
	begun := time.Now()
	c.Ask(wire.Control, "shutdown_request", map[string]any{"restart": false})
	select {
	case <-c.K.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the kernel does not end")
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}
