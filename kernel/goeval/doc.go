// Package goeval is the Go behind the kernel: it runs notebook cells written in Go.
//
// The law: what a cell prints is what compiled Go prints, or the cell is refused with a sentence that
// says what and why. A cell goes through the stages parse (parse.go), check (check.go), compile and run
// (internal/exec). See DESIGN.md.
package goeval
