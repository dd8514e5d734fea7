package machine

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// maps are where a map is allowed: it is looked up in there and never ranged over.
var maps = []string{"hash.go", "sent.go", "compact.go", "check_cleaner.go"}

// impure reports what a file must not hold beside imports.
func impure(file *ast.File, name string, report func(ast.Node, string)) {
	state := map[string]bool{} // variables of the package
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
			for _, s := range g.Specs {
				for _, id := range s.(*ast.ValueSpec).Names {
					state[id.Name] = true
				}
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.SelectStmt, *ast.ChanType, *ast.SendStmt:
			report(n, "one thing happens after the other")
		case *ast.MapType:
			if !slices.Contains(maps, name) {
				report(n, "a map has no order: sort a slice")
			}
		case *ast.RangeStmt:
			x, ok := n.X.(*ast.SelectorExpr)
			if ok && slices.Contains(maps, name) && slices.Contains([]string{"records", "batches", "last"}, x.Sel.Name) {
				report(n, "a map has no order")
			}
		case *ast.Ident:
			if n.Name == "float64" || n.Name == "float32" {
				report(n, "floats are not the same on every machine")
			}
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				if id, ok := x.(*ast.Ident); ok && n.Tok == token.ASSIGN && state[id.Name] {
					report(n, "the package has no state that changes")
				}
			}
		}
		return true
	})
}

// What impure looks for it finds.
func TestImpureIsFound(t *testing.T) {
	for _, body := range []string{"go f()", "var c chan int; _ = c", "var m map[string]int; _ = m", "var x float64; _ = x", "v = 1", "select {}"} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nvar v int\nfunc f() { "+body+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		impure(file, "x.go", func(ast.Node, string) { found++ })
		if found != 1 {
			t.Errorf("%s: found %d times", body, found)
		}
	}
}

// The package is pure: allow-listed imports only, no goroutines, no
// channels, no maps in whose order anything happens, no floats, no package state that changes.
func TestPackageIsPure(t *testing.T) {
	allowed := []string{
		"bytes", "cmp", "encoding/base64", "encoding/binary", "encoding/json", "fmt", "hash/crc32", "math", "math/bits", "reflect", "regexp", "slices", "sort", "strconv", "strings", "unicode/utf8", "unsafe",
		"kafkalab/kafkasim/assign", "kafkalab/kafkasim/config", "kafkalab/kafkasim/partlog", "kafkalab/kafkasim/partlog/codec", "kafkalab/kafkasim/prng", "kafkalab/kafkasim/view",
	}
	for _, dir := range []string{".", "../partlog", "../prng"} {
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
				continue
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, dir+"/"+f.Name(), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range file.Imports {
				if path, _ := strconv.Unquote(i.Path.Value); !slices.Contains(allowed, path) {
					t.Errorf("%s imports %s: the machine knows no clock, no chance and no world outside", f.Name(), path)
				}
			}
			impure(file, f.Name(), func(n ast.Node, why string) { t.Errorf("%s: %T: %s", set.Position(n.Pos()), n, why) })
		}
	}
}

// Every kind of payload can be saved and loaded: the table of kinds is whole.
func TestEveryPayloadHasAKind(t *testing.T) {
	known := map[string]bool{}
	for _, p := range payloadKinds {
		known[KindOf(p)] = true
	}
	files, _ := os.ReadDir(".")
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || fn.Name.Name != "payload" {
				continue
			}
			name, ok := fn.Recv.List[0].Type.(*ast.Ident)
			if ok && !known[name.Name] { // a pointer's method of this name makes no payload
				t.Errorf("%s is a payload and not in payloadKinds (save.go)", name.Name)
			}
		}
	}
}
