package goeval

import (
	"archive/zip"
	"bytes"
	"go/ast"
	"go/parser"
	"go/types"
	"io"
	"sort"
	"strings"

	"kafkalab/kernel/goeval/internal/exec"
	"kafkalab/kernel/goeval/internal/rtype"
	"kafkalab/kernel/goeval/stdlib"
)

// Compiled packages have no generic functions at run time. Where a library gives their source, the
// functions are instantiated from it, as those of cells are; the package's types stay the compiled ones.

// shadow is a package checked from source beside its compiled self.
type shadow struct {
	pkg *types.Package
}

// shadowOf checks the source of a package, at first use; nil if there is none.
func (e *Engine) shadowOf(path string) *shadow {
	if s, ok := e.imp.shadows[path]; ok {
		return s
	}
	e.imp.shadows[path] = nil
	files := e.sourceFiles(path)
	if len(files) == 0 {
		return nil
	}
	info := newInfo()
	info.Scopes = nil
	conf := types.Config{Importer: withUnsafe{e.imp}, Sizes: rtype.Sizes, Error: func(error) {}}
	pkg, _ := conf.Check(path, e.fset, files, info) // bodies that are missing are intrinsics
	s := &shadow{pkg: pkg}
	e.imp.shadows[path] = s
	e.imp.mu.Lock()
	e.imp.sources[pkg] = true
	e.imp.mu.Unlock()
	e.machine.Generics(&exec.Unit{Info: info, Pkg: pkg}, files, true)
	return s
}

// withUnsafe imports unsafe, too: the standard library may use it, cells may not.
type withUnsafe struct{ *imports }

func (w withUnsafe) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	return w.imports.Import(path)
}

// sourceFiles parses the source of a package.
func (e *Engine) sourceFiles(path string) []*ast.File {
	var files []*ast.File
	parse := func(name string, text []byte) {
		if f, err := parser.ParseFile(e.fset, name, text, parser.SkipObjectResolution); err == nil {
			files = append(files, f)
		}
	}
	if b := stdlib.Source(path); b != nil {
		parse(path+".go", b)
		return files
	}
	for _, f := range e.imp.sourcesIn(path) {
		if r, err := f.Open(); err == nil {
			if b, err := io.ReadAll(r); err == nil {
				parse(f.Name, b)
			}
			r.Close()
		}
	}
	return files
}

// sourcesIn lists the source files of a package in the libraries.
func (i *imports) sourcesIn(path string) []*zip.File {
	var out []*zip.File
	for _, z := range i.zips {
		for _, f := range z.File {
			if dir, name, ok := cutLast(f.Name); ok && dir == path && strings.HasSuffix(name, ".go") {
				out = append(out, f)
			}
		}
	}
	sort.Slice(out, func(a, b int) bool { return out[a].Name < out[b].Name })
	return out
}

func cutLast(name string) (dir, base string, ok bool) {
	i := strings.LastIndexByte(name, '/')
	if i < 0 {
		return "", name, false
	}
	return name[:i], name[i+1:], true
}

// sourced reports whether a generic type of a compiled package is there as source. It only looks at the
// text: it is asked while types are made.
func sourced(obj *types.TypeName) bool {
	return bytes.Contains(stdlib.Source(obj.Pkg().Path()), []byte("\ntype "+obj.Name()+"["))
}

func pointee(t types.Type) types.Type {
	if p, ok := t.(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// genericSource finds the source of a generic function, or of a method of a generic type, of a compiled
// package.
func (e *Engine) genericSource(obj *types.Func) *types.Func {
	s := e.shadowOf(obj.Pkg().Path())
	if s == nil {
		return nil
	}
	if recv := obj.Signature().Recv(); recv != nil {
		named, ok := types.Unalias(pointee(recv.Type())).(*types.Named)
		if !ok {
			return nil
		}
		t, ok := s.pkg.Scope().Lookup(named.Obj().Name()).(*types.TypeName)
		if !ok {
			return nil
		}
		return methodOf(t.Type().(*types.Named), obj.Name())
	}
	f, _ := s.pkg.Scope().Lookup(obj.Name()).(*types.Func)
	return f
}
