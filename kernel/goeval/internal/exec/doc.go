// Package exec runs type-checked Go: it turns syntax trees into trees of Go closures and calls them.
//
// The types of go/types decide everything beforehand. Variables lie in memory exactly as the compiler
// would lay them out, arithmetic happens in the real Go types, and values carry genuine run-time types
// (package rtype); so a value can pass between cells and compiled code as it is.
//
// Stages: analyse.go finds what escapes, the compile files turn declarations, statements and
// expressions into closures, the run files (frame, thread, panics, channels) are what the closures use.
package exec
