// Package tests holds what crosses packages: the house rules that a program can check, and below it the
// stories, the Jupyter conversations, the command line and the browsers.
package tests

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	module       = "kafkalab"
	maxFileLines = 600
	maxFuncLines = 70
)

// source is one Go file of the project.
type source struct {
	name      string // slash-separated, from the top of the project
	pkg       string // the folder that it lies in
	test      bool
	generated bool
	text      string
	fset      *token.FileSet
	file      *ast.File
}

func (s source) line(p token.Pos) int { return s.fset.Position(p).Line }

func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir("..", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			skip := e.Name() == "node_modules" || e.Name() == "testdata" || e.Name() == "out" || (strings.HasPrefix(e.Name(), ".") && e.Name() != "..")
			if skip {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, text, parser.ParseComments)
		if err != nil {
			return err
		}
		slash := strings.TrimPrefix(filepath.ToSlash(name), "../")
		all = append(all, source{
			name: slash, pkg: path.Dir(slash), test: strings.HasSuffix(slash, "_test.go"),
			generated: ast.IsGenerated(file), text: string(text), fset: fset, file: file,
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 20 {
		t.Fatalf("only %d Go files were found: the test looks in the wrong place", len(all))
	}
	return all
}

// imports lists the project's packages that a file imports, without the module's name.
func (s source) imports() []string {
	var list []string
	for _, i := range s.file.Imports {
		if p, ok := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), module+"/"); ok {
			list = append(list, p)
		}
	}
	return list
}

func within(pkg, tree string) bool { return pkg == tree || strings.HasPrefix(pkg, tree+"/") }

var leaves = []string{"kafkasim/view", "kafkasim/partlog", "kafkasim/config", "kafkasim/prng", "kafkasim/assign"}

// mayImport is the import picture: leaves <- machine <- kafkasim; charts sees views only; kernel knows no
// Kafka; nothing imports tests. Tests of charts may draw a real simulation.
func mayImport(from, to string, test bool) bool {
	switch {
	case within(to, "tests"):
		return within(from, "tests")
	case slices.ContainsFunc(leaves, func(l string) bool { return within(from, l) }):
		return slices.ContainsFunc(leaves, func(l string) bool { return within(from, l) && within(to, l) })
	case within(from, "kafkasim/machine"):
		return slices.ContainsFunc(leaves, func(l string) bool { return within(to, l) })
	case within(from, "kafkasim"):
		return within(to, "kafkasim")
	case within(from, "charts"):
		return within(to, "charts") || to == "kafkasim/view" || (test && within(to, "kafkasim"))
	case within(from, "kernel"):
		return within(to, "kernel")
	}
	return true
}

func TestImportsRunOneWay(t *testing.T) {
	kernelSide, kafkaSide := map[string]string{}, map[string]string{}
	for _, s := range sources(t) {
		for _, to := range s.imports() {
			if !mayImport(s.pkg, to, s.test) {
				t.Errorf("%s imports %s/%s, against the import picture (see mayImport)", s.name, module, to)
			}
			switch {
			case s.test || within(s.pkg, "tests"):
			case within(to, "kernel"):
				kernelSide[s.pkg] = s.name
			case within(to, "kafkasim"), to == "charts":
				kafkaSide[s.pkg] = s.name
			}
		}
	}
	for pkg, file := range kernelSide {
		if other, both := kafkaSide[pkg]; both && pkg != "install/lab" {
			t.Errorf("package %s sees the kernel (%s) and Kafka (%s): only install/lab may", pkg, file, other)
		}
	}
}

func TestFilesAndFunctionsStayShort(t *testing.T) {
	for _, s := range sources(t) {
		if s.generated || s.test {
			continue
		}
		if n := strings.Count(s.text, "\n"); n > maxFileLines {
			t.Errorf("%s has %d lines, more than %d: cut it by Kafka or Jupyter part", s.name, n, maxFileLines)
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := s.line(f.End()) - s.line(f.Pos()); n > maxFuncLines {
				t.Errorf("%s:%d: %s has %d lines, more than %d", s.name, s.line(f.Pos()), f.Name.Name, n, maxFuncLines)
			}
		}
	}
}

var leftOver = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X|HA` + `CK)\b`)

func TestNoMarksAreLeftOver(t *testing.T) {
	for _, s := range sources(t) {
		for _, group := range s.file.Comments {
			for _, c := range group.List {
				if mark := leftOver.FindString(c.Text); mark != "" {
					t.Errorf("%s:%d: %s: do it, or file it as an issue", s.name, s.line(c.Pos()), mark)
				}
			}
		}
	}
}

// Exported things of what other people's cells and programs rely on are documented.
func TestExportedThingsAreDocumented(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || s.generated || s.file.Name.Name == "main" {
			continue
		}
		for _, name := range undocumented(s) {
			t.Errorf("%s: %s is exported without a comment", s.name, name)
		}
	}
}

func undocumented(s source) []string {
	var names []string
	for _, d := range s.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
				names = append(names, fmt.Sprintf("func %s (line %d)", d.Name.Name, s.line(d.Pos())))
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if ts, ok := spec.(*ast.TypeSpec); ok && ts.Name.IsExported() && ts.Doc == nil && d.Doc == nil {
					names = append(names, fmt.Sprintf("type %s (line %d)", ts.Name.Name, s.line(ts.Pos())))
				}
			}
		}
	}
	return names
}

// exportedReceiver tells whether people can see a method at all; methods that every Go programmer knows
// by name need no comment.
func exportedReceiver(f *ast.FuncDecl) bool {
	if f.Recv == nil {
		return true
	}
	if slices.Contains([]string{"Error", "Unwrap", "Len", "Less", "Swap", "String"}, f.Name.Name) {
		return false
	}
	typ := f.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if index, ok := typ.(*ast.IndexExpr); ok {
		typ = index.X
	}
	id, ok := typ.(*ast.Ident)
	return ok && id.IsExported()
}
