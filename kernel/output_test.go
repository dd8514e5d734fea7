package kernel_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"kafkalab/kernel"
	"kafkalab/kernel/kerneltest"
)

func TestPrintedLinesAreMergedAndNothingIsLost(t *testing.T) {
	c := start(t, kernel.Options{})
	ex := c.Execute("flood 10000 0123456789")
	if got, want := ex.Text("stdout"), strings.Repeat("0123456789\n", 10000); got != want {
		t.Errorf("%d bytes arrived, want %d", len(got), len(want))
	}
	// 110,000 bytes in pieces of 64 KiB, plus what the timer sends between.
	if n := len(ex.Of("stream")); n > 20 {
		t.Errorf("%d stream messages", n)
	}
}

func TestTextAppearsWhileTheCellRuns(t *testing.T) {
	c := start(t, kernel.Options{})
	ex := c.AskExecute("print early\nloop")
	waitFor(t, func() bool { return ex.Text("stdout") == "early\n" })
	if ex.Done() {
		t.Error("the cell should still run")
	}
	c.Control("interrupt_request", map[string]any{})
	ex.Wait()
}

func TestOutputAfterTheCellKeepsItsParent(t *testing.T) {
	c := start(t, kernel.Options{})
	first := c.Execute("later 30ms from the first cell")
	second := c.AskExecute("print second\nsleep 100ms")
	waitFor(t, func() bool { return first.Text("stdout") == "from the first cell\n" })
	if got := second.Wait().Text("stdout"); got != "second\n" {
		t.Errorf("the second cell shows %q", got)
	}
}

// A character that a program writes in two pieces comes out whole, even when the timer strikes between.
func TestCharactersAreNotCut(t *testing.T) {
	c := kerneltest.Start(t, &splitting{Echo: &kerneltest.Echo{}}, kernel.Options{})
	ex := c.Execute("")
	if got := ex.Text("stdout"); got != "aé😀 \ufffd\ufffd" {
		t.Errorf("got %q", got)
	}
}

type splitting struct{ *kerneltest.Echo }

func (s *splitting) Execute(_ kernel.Cell, out kernel.Output) kernel.Outcome {
	text := "aé😀 "
	for i := range len(text) {
		out.Stream("stdout", text[i:i+1])
		time.Sleep(40 * time.Millisecond)
	}
	out.Stream("stdout", "\xf0\x9f") // never completed: sent at the end of the cell
	return kernel.Outcome{}
}

func TestARunawayCellIsCutShortWithANotice(t *testing.T) {
	c := start(t, kernel.Options{Limits: kernel.Limits{CellBytes: 1000}})
	ex := c.Execute("flood 1000 123456789")
	if n := len(ex.Text("stdout")); n != 1000 {
		t.Errorf("%d bytes shown, want 1000", n)
	}
	for _, want := range []string{"printed 1000 bytes; what follows is not shown", "9000 bytes were not shown"} {
		if got := ex.Text("stderr"); strings.Count(got, want) != 1 {
			t.Errorf("stderr %q, want %q in it once", got, want)
		}
	}
	if got := c.Execute("print next").Text("stdout"); got != "next\n" {
		t.Errorf("the next cell shows %q", got)
	}
}

// What JSON cannot hold costs its own entry, not the display.
func TestABadValueDoesNotSpoilABundle(t *testing.T) {
	c := kerneltest.Start(t, &unwritable{&kerneltest.Echo{}}, kernel.Options{})
	ex := c.Execute("x")
	shown := ex.Of("display_data")
	if kerneltest.Field(shown[0], "data", "text/plain") != "fine" || kerneltest.Field(shown[0], "data", "application/json") != nil {
		t.Errorf("first display %s", shown[0])
	}
	if got, _ := kerneltest.Field(shown[1], "data", "text/plain").(string); !strings.Contains(got, "cannot be shown") {
		t.Errorf("second display %s", shown[1])
	}
	if ex.Status() != "ok" || !strings.Contains(ex.Text("stderr"), "needs the id") {
		t.Errorf("update without an id:\n%s", ex.Transcript())
	}
}

type unwritable struct{ *kerneltest.Echo }

func (u *unwritable) Execute(_ kernel.Cell, out kernel.Output) kernel.Outcome {
	bad := map[string]any{"x": math.NaN()}
	out.Display(kernel.Bundle{Data: map[string]any{"application/json": bad, "text/plain": "fine"}}, "")
	out.Display(kernel.Bundle{Data: map[string]any{"application/json": bad}, Metadata: map[string]any{"w": math.Inf(1)}}, "")
	out.UpdateDisplay(kernel.Bundle{}, "")
	return kernel.Outcome{}
}

func TestInput(t *testing.T) {
	c := start(t, kernel.Options{})
	c.Answer = func(prompt string, password bool) string {
		if password {
			return "secret for " + prompt
		}
		return "answer to " + prompt
	}
	ex := c.Execute("print before\nask name?\npassword pin?")
	if got := ex.Text("stdout"); got != "before\nanswer to name?\nsecret for pin?\n" {
		t.Errorf("stdout %q", got)
	}
	asked := ex.Asked()
	if len(asked) != 2 || kerneltest.Field(asked[1], "password") != true {
		t.Errorf("asked %s", asked)
	}
	var order []string
	for _, m := range c.All() {
		if m.ParentHeader().MsgID == ex.Request.Header.MsgID {
			order = append(order, m.Header.MsgType)
		}
	}
	if got := strings.Join(order[:4], " "); got != "status execute_input stream input_request" {
		t.Errorf("%s: what was printed must be shown before the question", got)
	}
}
