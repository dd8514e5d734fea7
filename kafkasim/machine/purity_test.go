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

// The package is pure: allow-listed imports only, no goroutines, no
// channels, no package state that changes.
func TestPackageIsPure(t *testing.T) {
	allowed := []string{
		"bytes", "cmp", "encoding/binary", "encoding/json", "fmt", "hash/crc32", "math", "math/bits", "reflect", "slices", "sort", "strconv", "strings", "unicode/utf8", "unsafe",
		"kafkalab/kafkasim/config", "kafkalab/kafkasim/partlog", "kafkalab/kafkasim/prng", "kafkalab/kafkasim/view",
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
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.GoStmt, *ast.SelectStmt, *ast.ChanType, *ast.SendStmt:
					t.Errorf("%s: %T: one thing happens after the other", set.Position(n.Pos()), n)
				}
				return true
			})
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
			if name := fn.Recv.List[0].Type.(*ast.Ident).Name; !known[name] {
				t.Errorf("%s is a payload and not in payloadKinds (save.go)", name)
			}
		}
	}
}
