package goeval

import "reflect"

// Library is a set of compiled packages that cells can use. The generator gensymbols writes Symbols and
// Exports.
type Library struct {
	// Symbols lists, by import path, what a package has at run time: functions, variables
	// (addressable) and types (as nil pointers), by name.
	Symbols map[string]func() map[string]reflect.Value
	// Exports is a zip file with the export data of each package (PATH.x) and, optionally, its sources
	// (PATH/FILE.go), which completion and inspection take docs from.
	Exports []byte
	// Imports are the packages that cells need no import line for: name to import path.
	Imports map[string]string
	// Hints complete inside string literals.
	Hints []Hint
	// Poll, if set, is given a function that long loops of the library call every few thousand events.
	// It does not return when the cell was interrupted: it ends the calling goroutine
	// (runtime.Goexit), so that deferred functions run and the state stays whole.
	Poll func(check func())
	// Progress, if set, is given a function that long work of the library calls now and then: with what is
	// done and how much of how much. When it lasts, the cell shows a bar.
	Progress func(tell func(what string, done, total int64))
	// Display, if set, is given what a library needs that redraws in place: show shows a value below the running
	// cell and returns what replaces it, from that cell or a later one; atEnd has a function called when the
	// running cell ends.
	Display func(show func(v any) (update func(v any)), atEnd func(f func()))
}

// Hint proposes texts for string literals in one kind of place.
type Hint struct {
	// Func is the called function or method as "path.Name" or "path.Type.Name", or the type of the
	// composite literal whose keys are completed, as "path.Type".
	Func string
	// Arg is the index of the argument; -1 for keys of a composite literal.
	Arg int
	// Texts lists the proposals, each with a short description.
	Texts func() []HintText
}

// HintText is one proposal for a string literal.
type HintText struct{ Text, Doc string }
