package headless

import (
	"errors"
	"maps"
	"slices"
	"sync"

	"kafkalab/kernel"
)

// Kinds of output, by nbformat's names.
const (
	Stream        = "stream"
	DisplayData   = "display_data"
	ExecuteResult = "execute_result"
	Error         = "error"
)

// Output is one output of a cell as a notebook keeps it.
type Output struct {
	Kind    string
	Name    string         // Stream: stdout or stderr
	Text    string         // Stream
	Bundle  kernel.Bundle  // DisplayData, ExecuteResult
	Count   int            // ExecuteResult
	Failure kernel.Failure // Error
}

// session is what outputs of different cells share: displays that a later cell may update.
type session struct {
	mu       sync.Mutex
	cells    []*[]Output
	displays map[string][]place
}

// place is where a display with an id stands: cell and output.
type place struct{ cell, output int }

// collector gathers the outputs of one cell, by the rules of nbclient (client.py: process_message, output,
// clear_output), except that neighbouring streams of one name are joined as JupyterLab joins them.
// Output that comes after the cell has ended is dropped, as nbclient drops it.
type collector struct {
	*session
	cell      int
	outputs   *[]Output
	clearNext bool
	closed    bool
}

var _ kernel.Output = (*collector)(nil)

func newSession() *session { return &session{displays: map[string][]place{}} }

func (s *session) begin() *collector {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &collector{session: s, cell: len(s.cells), outputs: new([]Output)}
	s.cells = append(s.cells, c.outputs)
	return c
}

// end closes the cell; what it holds may still change when a later cell updates one of its displays.
func (c *collector) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}

// Stream implements kernel.Output.
func (c *collector) Stream(name, text string) {
	c.change(func() {
		c.clearIfAsked()
		if n := len(*c.outputs); n > 0 && (*c.outputs)[n-1].Kind == Stream && (*c.outputs)[n-1].Name == name {
			(*c.outputs)[n-1].Text += text
			return
		}
		*c.outputs = append(*c.outputs, Output{Kind: Stream, Name: name, Text: text})
	})
}

// Display implements kernel.Output. An id that was shown before is brought up to date wherever it stands.
func (c *collector) Display(b kernel.Bundle, displayID string) {
	c.change(func() {
		c.update(b, displayID)
		c.clearIfAsked()
		if displayID != "" {
			c.displays[displayID] = append(c.displays[displayID], place{c.cell, len(*c.outputs)})
		}
		*c.outputs = append(*c.outputs, Output{Kind: DisplayData, Bundle: b})
	})
}

// UpdateDisplay implements kernel.Output.
func (c *collector) UpdateDisplay(b kernel.Bundle, displayID string) {
	c.change(func() { c.update(b, displayID) })
}

// ClearOutput implements kernel.Output.
func (c *collector) ClearOutput(wait bool) {
	c.change(func() {
		c.clearNext = c.clearNext || wait
		if !wait {
			c.clear()
		}
	})
}

// Page implements kernel.Output: the pager is the frontend's, a notebook keeps nothing of it.
func (c *collector) Page(kernel.Bundle) {}

// Input implements kernel.Output: nobody is there to be asked.
func (c *collector) Input(string, bool) (string, error) {
	return "", errors.New("nobody can be asked for input here: this notebook runs without a frontend")
}

func (c *collector) result(b kernel.Bundle, count int) {
	c.change(func() {
		c.clearIfAsked()
		*c.outputs = append(*c.outputs, Output{Kind: ExecuteResult, Bundle: b, Count: count})
	})
}

func (c *collector) failure(f kernel.Failure) {
	c.change(func() {
		c.clearIfAsked()
		*c.outputs = append(*c.outputs, Output{Kind: Error, Failure: f})
	})
}

func (c *collector) change(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		do()
	}
}

func (c *collector) update(b kernel.Bundle, displayID string) {
	for _, p := range c.displays[displayID] {
		(*c.cells[p.cell])[p.output].Bundle = b
	}
}

func (c *collector) clearIfAsked() {
	if c.clearNext {
		c.clearNext = false
		c.clear()
	}
}

// clear empties the cell and forgets where its displays stood.
func (c *collector) clear() {
	*c.outputs = nil
	for _, id := range slices.Sorted(maps.Keys(c.displays)) {
		c.displays[id] = slices.DeleteFunc(c.displays[id], func(p place) bool { return p.cell == c.cell })
	}
}
