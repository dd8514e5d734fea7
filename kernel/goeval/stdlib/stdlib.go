// Package stdlib is the standard library as cells see it: symbols by name and export data.
package stdlib

import (
	_ "embed"
	"reflect"
)

//go:generate go run kafkalab/kernel/goeval/gensymbols -package stdlib -list packages.txt -out symbols.go -exports exports.zip

//go:embed exports.zip
var exports []byte

// Symbols lists what each package has at run time, by import path.
func Symbols() map[string]func() map[string]reflect.Value { return symbols }

// Exports is a zip file of export data, PATH.x for each package.
func Exports() []byte { return exports }
