// Package headless runs the code cells of a notebook without Jupyter: it hands them to a kernel.Language
// one after another and collects what they show, as nbclient would collect it over the wire.
package headless

import (
	"context"
	"fmt"
	"strings"
	"time"

	"kafkalab/kernel"
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
	Outputs []Output
}

// Options are the choices of a run.
type Options struct {
	Timeout     time.Duration // for each cell, 0 for none
	AllowErrors bool          // no error stops the run
	Begun       func(cell int)
	Ended       func(cell int, outputs []Output)
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

// Run runs the cells in order and returns a result for each. It stops at the first cell that fails, with a
// *CellError or a *StoppedError; the results hold everything up to then.
func Run(ctx context.Context, lang kernel.Language, cells []Cell, o Options) ([]Result, error) {
	all := newSession()
	results := make([]Result, len(cells))
	collectors := map[int]*collector{}
	count := 0
	var failed error
	for i, cell := range cells {
		if !cell.IsCode || cell.Skip || strings.TrimSpace(cell.Source) == "" {
			continue
		}
		if o.Begun != nil {
			o.Begun(i)
		}
		count++
		c := all.begin()
		collectors[i] = c
		results[i] = Result{Ran: true, Count: count}
		failed = runCell(ctx, lang, cell, c, position{i + 1, count}, o)
		if o.Ended != nil {
			o.Ended(i, *c.outputs)
		}
		if failed != nil {
			break
		}
	}
	// Only now: a later cell may have updated a display of an earlier one.
	for i, c := range collectors {
		results[i].Outputs = *c.outputs
	}
	return results, failed
}

// position is where a cell stands: among all cells, and among those that ran.
type position struct{ cell, count int }

func runCell(ctx context.Context, lang kernel.Language, cell Cell, c *collector, at position, o Options) error {
	defer c.end()
	outcome, stopped := execute(ctx, lang, kernel.Cell{Code: cell.Source, Count: at.count, ID: cell.ID}, c, o.Timeout)
	if stopped != nil && stopped.Stuck {
		stopped.Cell, stopped.Count = at.cell, at.count
		return stopped
	}
	if outcome.Result != nil {
		c.result(*outcome.Result, at.count)
	}
	if outcome.Failure != nil {
		c.failure(*outcome.Failure)
	}
	switch {
	case stopped != nil:
		stopped.Cell, stopped.Count = at.cell, at.count
		return stopped
	case outcome.Failure != nil && !cell.MayFail && !o.AllowErrors:
		return &CellError{at.cell, at.count, *outcome.Failure}
	}
	return nil
}

// execute runs one cell and interrupts it when its time is up or ctx ends.
func execute(ctx context.Context, lang kernel.Language, cell kernel.Cell, out kernel.Output, timeout time.Duration) (kernel.Outcome, *StoppedError) {
	done := make(chan kernel.Outcome, 1)
	go func() { done <- lang.Execute(cell, out) }()
	var alarm <-chan time.Time
	if timeout > 0 {
		t := time.NewTimer(timeout)
		defer t.Stop()
		alarm = t.C
	}
	stopped := &StoppedError{}
	select {
	case outcome := <-done:
		return outcome, nil
	case <-alarm:
		stopped.After = timeout
	case <-ctx.Done():
	}
	lang.Interrupt()
	select {
	case outcome := <-done:
		if outcome.Failure == nil {
			return outcome, nil // it was done by itself just then
		}
		return outcome, stopped
	case <-time.After(grace):
		stopped.Stuck = true
		return kernel.Outcome{}, stopped
	}
}
