// Package stdlib is the standard library as cells see it: symbols by name and export data, and the
// source of what is generic, which is instantiated from it.
package stdlib

import (
	"embed"
	"reflect"
)

//go:generate go run kafkalab/kernel/goeval/gensymbols -package stdlib -docs all -list packages.txt -sources slices,maps,cmp -out symbols.go -exports exports.zip

//go:embed exports.zip
var exports []byte

//go:embed source
var source embed.FS

// Symbols lists what each package has at run time, by import path.
func Symbols() map[string]func() map[string]reflect.Value { return symbols }

// Exports is a zip file: PATH.x is the export data of a package, PATH/FILE.go a source file. The
// sources are those of the Go project (BSD licence): of slices, maps and cmp whole, of the others the
// declarations with their comments, for the help.
func Exports() []byte { return exports }

// Source is the source of a package's generic functions, where it is written for cells; nil otherwise.
func Source(path string) []byte {
	b, err := source.ReadFile("source/" + path + ".go.txt")
	if err != nil {
		return nil
	}
	return b
}
