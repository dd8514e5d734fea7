// Package lab is how a cell talks to its notebook: it shows values, replaces what it has shown, clears
// the output, asks the person at the frontend.
//
//	lab.Display(chart)                 // besides the result of the cell
//	h := lab.DisplayID(0)              // a display that can be replaced
//	for i := range 100 { h.Update(i) }
//	name := lab.Input("name? ")
//	p := lab.Progress(100)             // one line that tells how far a loop is
//	c := lab.OpenComm("widget", nil)   // a line to the code of a frontend
//
// A value is shown by what it can do: MIMEBundle, HTML, SVG, String, else as fmt prints it.
package lab

import "sync/atomic"

// Notebook is what stands behind the functions of this package: the running session.
type Notebook interface {
	// Display shows v; with an id it can be updated.
	Display(v any, id string)
	// NewID makes an id for a display.
	NewID() string
	// Update replaces every display with the id.
	Update(v any, id string)
	// Clear clears the output of the cell, at once or when the next output arrives.
	Clear(wait bool)
	// Input asks for a line; password hides what is typed.
	Input(prompt string, password bool) string
	// Page shows v in the frontend's pager.
	Page(v any)
	// NextInput puts text into a new cell below, or in the place of the cell that runs.
	NextInput(text string, replace bool)
	// AtEnd has f called when the cell ends.
	AtEnd(f func())
	// OnComm has f answer the comms of a target; nil answers none.
	OnComm(target string, f func(c *Comm, opened CommMessage))
	// OpenComm opens a comm.
	OpenComm(target string, data any, buffers [][]byte) *Comm
}

type holder struct{ nb Notebook }

var current atomic.Pointer[holder]

// Bind says which session the calls of compiled code reach. Cells reach their own without it.
func Bind(nb Notebook) { current.Store(&holder{nb}) }

// notebook panics outside a session: there is nobody to show anything to.
func notebook() Notebook {
	h := current.Load()
	if h == nil {
		panic("lab: no notebook session is running")
	}
	return h.nb
}

// Display shows v below the cell, beside its result.
func Display(v any) { notebook().Display(v, "") }

// Handle is a display that can be replaced, from any cell and goroutine.
type Handle struct {
	id string
	nb Notebook
}

// NewHandle makes the handle of a display that nb shows already.
func NewHandle(nb Notebook, id string) *Handle { return &Handle{id, nb} }

// DisplayID shows v like Display and returns the handle that replaces it.
func DisplayID(v any) *Handle { return Show(notebook(), v) }

// Show is DisplayID for a given session.
func Show(nb Notebook, v any) *Handle {
	h := &Handle{nb.NewID(), nb}
	nb.Display(v, h.id)
	return h
}

// Update shows v in the place of what the handle showed before.
func (h *Handle) Update(v any) { h.nb.Update(v, h.id) }

// ID is the display id that frontends know the display by.
func (h *Handle) ID() string { return h.id }

// String lets a handle be the result of a cell. The id is new in every session and left out: the same
// notebook shows the same.
func (h *Handle) String() string { return "a display that Update replaces" }

// ClearOutput clears what the cell has shown; with wait only when the next output arrives, which does
// not flicker.
func ClearOutput(wait bool) { notebook().Clear(wait) }

// Input asks for a line of text. It panics, with a sentence, if the frontend cannot ask.
func Input(prompt string) string { return notebook().Input(prompt, false) }

// Password is Input for what should not be seen.
func Password(prompt string) string { return notebook().Input(prompt, true) }

// Page shows v in the frontend's pager.
func Page(v any) { notebook().Page(v) }

// NextInput opens a new cell with the text below the one that runs.
func NextInput(text string) { notebook().NextInput(text, false) }

// ReplaceInput puts the text in the place of the cell that runs.
func ReplaceInput(text string) { notebook().NextInput(text, true) }
