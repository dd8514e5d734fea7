package goeval

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"reflect"
	"sync/atomic"

	"kafkalab/kernel"
	"kafkalab/kernel/goeval/internal/exec"
	"kafkalab/kernel/lab"
)

// notebook is package lab for one run.
type notebook struct {
	e   *Engine
	run *exec.Run
}

var _ lab.Notebook = notebook{}

// sessionID keeps the display ids of two sessions apart. It is transient: notebooks do not save it.
var sessionID = func() string {
	b := make([]byte, 4)
	rand.Read(b)
	return hex.EncodeToString(b)
}()

var displays atomic.Int64

// NewID makes an id for a display.
func (n notebook) NewID() string { return fmt.Sprintf("lab-%s-%d", sessionID, displays.Add(1)) }

// out is the output of the run's cell; a cell without one shows nothing.
func (n notebook) out() kernel.Output {
	if o, ok := n.run.Tag.(*outlet); ok && o.out != nil {
		n.e.std.order()
		return o.out
	}
	panic(usage("there is no cell to show this in"))
}

// Display shows v.
func (n notebook) Display(v any, id string) { n.out().Display(n.e.bundle(n.run, v), id) }

// Update replaces a display. A handle of an earlier cell speaks through the cell that runs now.
func (n notebook) Update(v any, id string) {
	if now := n.e.machine.Current(); now != n.run {
		n.run = now
	}
	n.out().UpdateDisplay(n.e.bundle(n.run, v), id)
}

// showAndReplace is what Library.Display is given.
func (e *Engine) showAndReplace(v any) (update func(any)) {
	return lab.Show(notebook{e, e.machine.Current()}, v).Update
}

// Clear clears the output.
func (n notebook) Clear(wait bool) { n.out().ClearOutput(wait) }

// Page shows v in the pager.
func (n notebook) Page(v any) { n.out().Page(n.e.bundle(n.run, v)) }

// NextInput writes a cell.
func (n notebook) NextInput(text string, replace bool) { n.out().NextInput(text, replace) }

// AtEnd has f called when the cell ends; a cell that has ended calls nothing.
func (n notebook) AtEnd(f func()) {
	if o, ok := n.run.Tag.(*outlet); ok {
		o.atEnd(f)
	}
}

// Input asks the person at the frontend.
func (n notebook) Input(prompt string, password bool) string {
	s, err := n.out().Input(prompt, password)
	if err != nil {
		n.e.machine.Poll() // the question was interrupted
		panic(usage("cannot ask: " + err.Error()))
	}
	return s
}

// usage is a caller's mistake, shown as a sentence.
type usage string

// UserMessage makes the failure a sentence without a stack.
func (u usage) UserMessage() string { return "lab: " + string(u) }

func (u usage) Error() string { return u.UserMessage() }

// labCall makes the intrinsic of a function of package lab: it speaks to the cell that calls.
func labCall(do func(n notebook, a []reflect.Value) []reflect.Value) intrinsicFunc {
	return func(e *Engine, c *exec.Call, a []reflect.Value) []reflect.Value {
		return do(notebook{e, c.Run}, a)
	}
}

const labPath = "kafkalab/kernel/lab."

func init() {
	intrinsics[labPath+"Display"] = labCall(func(n notebook, a []reflect.Value) []reflect.Value {
		n.Display(a[0].Interface(), "")
		return nil
	})
	intrinsics[labPath+"DisplayID"] = labCall(func(n notebook, a []reflect.Value) []reflect.Value {
		return []reflect.Value{reflect.ValueOf(lab.Show(n, a[0].Interface()))}
	})
	intrinsics[labPath+"ClearOutput"] = labCall(func(n notebook, a []reflect.Value) []reflect.Value {
		n.Clear(a[0].Bool())
		return nil
	})
	intrinsics[labPath+"Page"] = labCall(func(n notebook, a []reflect.Value) []reflect.Value {
		n.Page(a[0].Interface())
		return nil
	})
	intrinsics[labPath+"Progress"] = labCall(func(n notebook, a []reflect.Value) []reflect.Value {
		return []reflect.Value{reflect.ValueOf(lab.NewBar(n, a[0].Int(), ""))}
	})
	for name, replace := range map[string]bool{"NextInput": false, "ReplaceInput": true} {
		intrinsics[labPath+name] = labCall(func(n notebook, a []reflect.Value) []reflect.Value {
			n.NextInput(a[0].String(), replace)
			return nil
		})
	}
	intrinsics[labPath+"Input"] = labCall(func(n notebook, a []reflect.Value) []reflect.Value {
		return []reflect.Value{reflect.ValueOf(n.Input(a[0].String(), false))}
	})
	intrinsics[labPath+"Password"] = labCall(func(n notebook, a []reflect.Value) []reflect.Value {
		return []reflect.Value{reflect.ValueOf(n.Input(a[0].String(), true))}
	})
}
