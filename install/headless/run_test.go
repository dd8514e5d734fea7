package headless

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"kafkalab/install/notebook"
	"kafkalab/kernel"
)

// script is a language whose programs are Go functions of the test.
type script struct {
	kernel.Language
	cells     map[string]func(kernel.Output) kernel.Outcome
	interrupt chan struct{}
	closed    bool
}

func (s *script) Execute(c kernel.Cell, out kernel.Output) kernel.Outcome {
	return s.cells[c.Code](out)
}
func (s *script) Info() kernel.LanguageInfo {
	return kernel.LanguageInfo{Name: "go", FileExtension: ".go"}
}
func (s *script) Interrupt() { close(s.interrupt) }
func (s *script) Close()     { s.closed = true }

func text(s string) kernel.Bundle { return kernel.Bundle{Data: map[string]any{"text/plain": s}} }

func show(do func(kernel.Output)) func(kernel.Output) kernel.Outcome {
	return func(out kernel.Output) kernel.Outcome { do(out); return kernel.Outcome{} }
}

func fail(name string) func(kernel.Output) kernel.Outcome {
	return func(kernel.Output) kernel.Outcome {
		return kernel.Outcome{Failure: &kernel.Failure{Name: name, Value: "no", Traceback: []string{"cell 1:1"}}}
	}
}

// runScript runs every cell in the order given, all of them code.
func runScript(t *testing.T, s *script, o Options, names ...string) ([]Result, error) {
	t.Helper()
	s.interrupt = make(chan struct{})
	var cells []Cell
	for _, n := range names {
		cells = append(cells, Cell{Source: n, IsCode: true, MayFail: strings.HasPrefix(n, "may")})
	}
	report, err := Run(context.Background(), s, cells, o)
	return report.Cells, err
}

func describe(outputs []notebook.Output) []string {
	var lines []string
	for _, o := range outputs {
		switch o.Type {
		case notebook.Stream:
			lines = append(lines, o.Name+" "+o.Text)
		case notebook.Error:
			lines = append(lines, "error "+o.EName)
		default:
			lines = append(lines, o.Type+" "+o.Data["text/plain"].(string))
		}
	}
	return lines
}

func expect(t *testing.T, r Result, want ...string) {
	t.Helper()
	if got := describe(r.Outputs); !reflect.DeepEqual(got, want) {
		t.Errorf("outputs %q, want %q", got, want)
	}
}

// The rules are nbclient's: see collector.
func TestOutputsAreCollectedAsNbclientDoes(t *testing.T) {
	s := &script{cells: map[string]func(kernel.Output) kernel.Outcome{
		"streams": show(func(o kernel.Output) {
			o.Stream("stdout", "a\n")
			o.Stream("stdout", "b\n")
			o.Stream("stderr", "c\n")
			o.Stream("stdout", "d\n")
		}),
		"display": show(func(o kernel.Output) { o.Display(text("one"), "id"); o.Display(text("other"), "") }),
		"again":   show(func(o kernel.Output) { o.Display(text("two"), "id") }),
		"update":  show(func(o kernel.Output) { o.UpdateDisplay(text("three"), "id"); o.UpdateDisplay(text("x"), "unknown") }),
		"clear": show(func(o kernel.Output) {
			o.Stream("stdout", "gone")
			o.ClearOutput(false)
			o.Stream("stdout", "stays")
		}),
		"wait": show(func(o kernel.Output) {
			o.Display(text("gone"), "w")
			o.ClearOutput(true)
			o.UpdateDisplay(text("still there"), "w")
			o.Stream("stdout", "instead")
			o.UpdateDisplay(text("nowhere"), "w")
		}),
		"kept": show(func(o kernel.Output) { o.Stream("stdout", "kept"); o.ClearOutput(true) }),
		"result": func(o kernel.Output) kernel.Outcome {
			b := text("42")
			return kernel.Outcome{Result: &b}
		},
	}}
	r, err := runScript(t, s, Options{}, "streams", "display", "again", "update", "clear", "wait", "kept", "result")
	if err != nil {
		t.Fatal(err)
	}
	expect(t, r[0], "stdout a\nb\n", "stderr c\n", "stdout d\n")
	expect(t, r[1], "display_data three", "display_data other")
	expect(t, r[2], "display_data three")
	expect(t, r[3])
	expect(t, r[4], "stdout stays")
	expect(t, r[5], "stdout instead")
	expect(t, r[6], "stdout kept")
	expect(t, r[7], "execute_result 42")
	if o := r[7].Outputs[0]; o.ExecutionCount != 8 || r[7].Count != 8 {
		t.Errorf("counts %d and %d, want 8", o.ExecutionCount, r[7].Count)
	}
}

func TestOutputAfterTheEndOfACellIsDropped(t *testing.T) {
	var late kernel.Output
	s := &script{cells: map[string]func(kernel.Output) kernel.Outcome{
		"first":  show(func(o kernel.Output) { late = o; o.Stream("stdout", "in time") }),
		"second": show(func(kernel.Output) { late.Stream("stdout", "late") }),
	}}
	r, _ := runScript(t, s, Options{}, "first", "second")
	expect(t, r[0], "stdout in time")
	expect(t, r[1])
}

func TestAFailingCellStopsTheRun(t *testing.T) {
	s := &script{cells: map[string]func(kernel.Output) kernel.Outcome{
		"may fail": fail("Expected"), "bad": fail("Panic"), "after": show(func(o kernel.Output) { o.Stream("stdout", "x") }),
	}}
	r, err := runScript(t, s, Options{}, "may fail", "bad", "after")
	var ce *CellError
	if !errors.As(err, &ce) || ce.Cell != 2 || ce.Count != 2 || ce.Failure.Name != "Panic" {
		t.Fatalf("error %v", err)
	}
	expect(t, r[0], "error Expected")
	expect(t, r[1], "error Panic")
	if r[2].Ran {
		t.Error("the cell after the failing one ran")
	}
	if r, err := runScript(t, s, Options{AllowErrors: true}, "bad", "after"); err != nil || !r[1].Ran {
		t.Errorf("with AllowErrors: %v, %+v", err, r)
	}
}

func TestTheRunTellsTheLanguageAndClosesIt(t *testing.T) {
	s := &script{}
	report, err := Run(context.Background(), s, nil, Options{})
	if err != nil || report.LanguageInfo["name"] != "go" || report.LanguageInfo["file_extension"] != ".go" || !s.closed {
		t.Errorf("%v %+v, closed %v", err, report, s.closed)
	}
}

func TestOnlyCodeThatIsThereRuns(t *testing.T) {
	s := &script{cells: map[string]func(kernel.Output) kernel.Outcome{"code": show(func(kernel.Output) {})}}
	cells := []Cell{{Source: "# title"}, {Source: "  \n", IsCode: true}, {Source: "code", IsCode: true, Skip: true}, {Source: "code", IsCode: true}}
	report, err := Run(context.Background(), s, cells, Options{})
	if r := report.Cells; err != nil || r[0].Ran || r[1].Ran || r[2].Ran || r[3].Count != 1 {
		t.Errorf("%v %+v", err, report)
	}
}

func TestTimeoutInterruptsTheCell(t *testing.T) {
	s := &script{}
	s.cells = map[string]func(kernel.Output) kernel.Outcome{"endless": func(o kernel.Output) kernel.Outcome {
		o.Stream("stdout", "so far")
		<-s.interrupt
		return fail("KeyboardInterrupt")(o)
	}}
	r, err := runScript(t, s, Options{Timeout: 20 * time.Millisecond}, "endless")
	var stopped *StoppedError
	if !errors.As(err, &stopped) || stopped.Stuck || stopped.After == 0 {
		t.Fatalf("error %v", err)
	}
	expect(t, r[0], "stdout so far", "error KeyboardInterrupt")
}

func TestStoppingFromOutside(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := &script{interrupt: make(chan struct{})}
	s.cells = map[string]func(kernel.Output) kernel.Outcome{"endless": func(o kernel.Output) kernel.Outcome {
		cancel()
		<-s.interrupt
		return fail("KeyboardInterrupt")(o)
	}}
	_, err := Run(ctx, s, []Cell{{Source: "endless", IsCode: true}}, Options{})
	if err == nil || !strings.Contains(err.Error(), "cell 1 (In [1]) was interrupted") {
		t.Errorf("error %v", err)
	}
}
