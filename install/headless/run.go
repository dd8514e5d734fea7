// Package headless runs the code cells of a notebook without Jupyter: a kernel in this process is sent the
// cells one after another, as messages, and what they show is gathered as nbclient gathers it.
package headless

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"kafkalab/install/notebook"
	"kafkalab/kernel"
	"kafkalab/kernel/wire"
)

// Cell is one cell of the notebook, as far as running needs to know it.
type Cell struct {
	ID      string
	Source  string
	IsCode  bool
	Skip    bool // tagged skip-execution
	MayFail bool // tagged raises-exception: its error does not stop the run
}

// Result is what became of a cell. Count is 0 for a cell that was not run.
type Result struct {
	Ran     bool
	Count   int
	Outputs []notebook.Output
}

// Report is what became of a run.
type Report struct {
	Cells        []Result       // one for each cell that was given
	LanguageInfo map[string]any // kernel_info's language_info, which frontends keep in a notebook's metadata
}

// Options are the choices of a run.
type Options struct {
	Timeout     time.Duration // for each cell, 0 for none
	AllowErrors bool          // no error stops the run
	Begun       func(cell int)
	Ended       func(cell, count int, outputs []notebook.Output)
}

// CellError says which cell failed and how. Cell counts all cells of the notebook from 1.
type CellError struct {
	Cell, Count int
	Failure     kernel.Failure
}

func (e *CellError) Error() string {
	return fmt.Sprintf("cell %d (In [%d]) failed: %s: %s", e.Cell, e.Count, e.Failure.Name, e.Failure.Value)
}

// StoppedError says which cell was stopped: by the timeout or from outside. Stuck means that it did not
// heed the interrupt either.
type StoppedError struct {
	Cell, Count int
	After       time.Duration // 0 when it was stopped from outside
	Stuck       bool
}

func (e *StoppedError) Error() string {
	why := "was interrupted"
	if e.After > 0 {
		why = fmt.Sprintf("took longer than %v (--timeout) and was stopped", e.After)
	}
	if e.Stuck {
		why += ", but did not end"
	}
	return fmt.Sprintf("cell %d (In [%d]) %s", e.Cell, e.Count, why)
}

// grace is how long an interrupted cell may take to end.
const grace = 5 * time.Second

// Run runs the cells in order. It stops at the first cell that fails, with a *CellError or a *StoppedError;
// the report holds everything up to then. The language is closed at the end, unless a cell is stuck in it.
func Run(ctx context.Context, lang kernel.Language, cells []Cell, o Options) (Report, error) {
	r := runner{client: newClient(), options: o}
	r.kernel = kernel.New(lang, kernel.Options{Limits: kernel.Limits{Unpaced: true}})
	r.kernel.Start(r.client)
	report := Report{Cells: make([]Result, len(cells)), LanguageInfo: r.languageInfo()}
	var failed error
	for i, cell := range cells {
		if !cell.IsCode || cell.Skip || strings.TrimSpace(cell.Source) == "" {
			continue
		}
		if o.Begun != nil {
			o.Begun(i)
		}
		result := &report.Cells[i]
		result.Ran = true
		result.Count, failed = r.cell(ctx, i, cell)
		if o.Ended != nil {
			o.Ended(i, result.Count, r.client.shown(i))
		}
		if failed != nil {
			break
		}
	}
	// Only now: a later cell may have updated a display of an earlier one.
	for i := range report.Cells {
		report.Cells[i].Outputs = r.client.shown(i)
	}
	if s, ok := failed.(*StoppedError); !ok || !s.Stuck {
		r.kernel.Close()
	}
	return report, failed
}

type runner struct {
	kernel  *kernel.Kernel
	client  *client
	options Options
	count   int // of the cells that have run
}

func (r *runner) languageInfo() map[string]any {
	request, done := r.client.ask(-1, "kernel_info_request", map[string]any{})
	r.kernel.Handle(wire.Shell, request)
	info, _ := decoded(<-done).(map[string]any)
	language, _ := info["language_info"].(map[string]any)
	return language
}

// reply is what execute_reply says.
type reply struct {
	Status    string   `json:"status"`
	Count     int      `json:"execution_count"`
	EName     string   `json:"ename"`
	EValue    string   `json:"evalue"`
	Traceback []string `json:"traceback"`
}

func readReply(raw json.RawMessage) (r reply) {
	_ = json.Unmarshal(raw, &r) // the kernel in this process wrote it
	return r
}

// cell runs one cell and returns its execution count.
func (r *runner) cell(ctx context.Context, i int, cell Cell) (int, error) {
	mayFail := cell.MayFail || r.options.AllowErrors
	request, done := r.client.execute(i, cell.ID, cell.Source, !mayFail)
	r.kernel.Handle(wire.Shell, request)
	r.count++
	answer, stopped := r.await(ctx, done)
	if stopped != nil {
		stopped.Cell, stopped.Count = i+1, r.count
		return r.count, stopped
	}
	r.count = answer.Count
	if answer.Status != "ok" && !mayFail {
		return r.count, &CellError{i + 1, r.count, kernel.Failure{Name: answer.EName, Value: answer.EValue, Traceback: answer.Traceback}}
	}
	return r.count, nil
}

// await waits for the cell's reply, and interrupts the cell when its time is up or ctx ends.
func (r *runner) await(ctx context.Context, done <-chan json.RawMessage) (reply, *StoppedError) {
	var alarm <-chan time.Time
	if r.options.Timeout > 0 {
		t := time.NewTimer(r.options.Timeout)
		defer t.Stop()
		alarm = t.C
	}
	stopped := &StoppedError{}
	select {
	case raw := <-done:
		return readReply(raw), nil
	case <-alarm:
		stopped.After = r.options.Timeout
	case <-ctx.Done():
	}
	r.kernel.Interrupt()
	select {
	case raw := <-done:
		answer := readReply(raw)
		if answer.Status == "ok" {
			return answer, nil // it was done by itself just then
		}
		return answer, stopped
	case <-time.After(grace):
		stopped.Stuck = true
		return reply{}, stopped
	}
}
