package goeval

import (
	"archive/zip"
	"bytes"
	"fmt"
	"go/token"
	"go/types"
	"io"
	"reflect"
	"runtime"
	"sync"

	"golang.org/x/tools/go/gcexportdata"
)

// stdImports are the standard packages that need no import line.
var stdImports = map[string]string{
	"fmt": "fmt", "time": "time", "strings": "strings", "strconv": "strconv", "errors": "errors", "math": "math",
	"sort": "sort", "slices": "slices", "maps": "maps", "sync": "sync", "os": "os", "bytes": "bytes", "json": "encoding/json",
	"unicode": "unicode", "utf8": "unicode/utf8", "io": "io", "bufio": "bufio", "atomic": "sync/atomic", "context": "context",
	"regexp": "regexp", "cmp": "cmp", "log": "log", "rand": "math/rand", "bits": "math/bits", "filepath": "path/filepath",
	"reflect": "reflect", "iter": "iter", "hex": "encoding/hex", "binary": "encoding/binary", "lab": "kafkalab/kernel/lab",
}

// imports finds packages: their types from export data, their symbols from the libraries.
type imports struct {
	libs  []Library
	exps  map[string]*zip.File
	zips  []*zip.Reader
	names map[string]string // names that need no import line

	mu       sync.Mutex
	packages map[string]*types.Package // what was read, and what it mentions
	fset     *token.FileSet
	loaded   map[string]map[string]reflect.Value
	compiled map[string]reflect.Type
	sources  map[*types.Package]bool
	shadows  map[string]*shadow
}

func newImports(libs []Library) (*imports, error) {
	i := &imports{
		libs: libs, exps: map[string]*zip.File{}, names: map[string]string{}, fset: token.NewFileSet(),
		packages: map[string]*types.Package{},
		loaded:   map[string]map[string]reflect.Value{}, compiled: map[string]reflect.Type{},
		sources: map[*types.Package]bool{}, shadows: map[string]*shadow{},
	}
	for _, l := range libs {
		for name, path := range l.Imports {
			i.names[name] = path
		}
		if len(l.Exports) == 0 {
			continue
		}
		z, err := zip.NewReader(bytes.NewReader(l.Exports), int64(len(l.Exports)))
		if err != nil {
			return nil, fmt.Errorf("goeval: export data: %w", err)
		}
		i.zips = append(i.zips, z)
		for _, f := range z.File {
			if n := len(f.Name); n > 2 && f.Name[n-2:] == ".x" {
				i.exps[f.Name[:n-2]] = f
			}
		}
	}
	return i, nil
}

func (i *imports) open(path string) (io.ReadCloser, error) {
	f := i.exps[path]
	if f == nil {
		return nil, fmt.Errorf("package %s is not available in cells", path)
	}
	return f.Open()
}

// Import implements types.Importer.
func (i *imports) Import(path string) (pkg *types.Package, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.exps[path] == nil {
		if path == "unsafe" {
			return types.Unsafe, nil // what cells may use of it, forbiddenUses says
		}
		return nil, fmt.Errorf("package %s is not available in cells", path)
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("export data of %s cannot be read by %s: build the kernel with the Go version that generated it (%v)", path, runtime.Version(), r)
		}
	}()
	if p := i.packages[path]; p != nil && p.Complete() {
		return p, nil
	}
	data, err := i.open(path)
	if err != nil {
		return nil, err
	}
	defer data.Close()
	return gcexportdata.Read(data, i.fset, i.packages, path)
}

// isSource reports whether p was checked from source.
func (i *imports) isSource(p *types.Package) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.sources[p]
}

// symbols lists a package's symbols, made at first use.
func (i *imports) symbols(path string) map[string]reflect.Value {
	i.mu.Lock()
	defer i.mu.Unlock()
	if s, ok := i.loaded[path]; ok {
		return s
	}
	for _, l := range i.libs {
		if f := l.Symbols[path]; f != nil {
			i.loaded[path] = f()
			return i.loaded[path]
		}
	}
	return nil
}

// compiledType is the run-time type behind a compiled defined type.
func (i *imports) compiledType(obj *types.TypeName, name string) (reflect.Type, error) {
	path := obj.Pkg().Path()
	if v, ok := i.symbols(path)[name]; ok && v.Kind() == reflect.Pointer {
		return v.Type().Elem(), nil
	}
	key := path + "." + name
	i.mu.Lock()
	t, ok := i.compiled[key]
	i.mu.Unlock()
	if !ok {
		t = i.findType(path, name)
		i.mu.Lock()
		i.compiled[key] = t
		i.mu.Unlock()
	}
	if t == nil {
		return nil, fmt.Errorf("it is not available in cells")
	}
	return t, nil
}

// findType looks for a type that is not exported, or belongs to a package that cells cannot import,
// among the types that the known symbols mention.
func (i *imports) findType(want, name string) reflect.Type {
	seen := map[reflect.Type]bool{}
	for _, l := range i.libs {
		for path := range l.Symbols {
			for _, v := range i.symbols(path) {
				if t := searchType(v.Type(), want, name, seen); t != nil {
					return t
				}
			}
		}
	}
	return nil
}

func searchType(t reflect.Type, pkg, name string, seen map[reflect.Type]bool) reflect.Type {
	if seen[t] {
		return nil
	}
	seen[t] = true
	if t.Name() == name && t.PkgPath() == pkg {
		return t
	}
	for _, part := range partsOf(t) {
		if found := searchType(part, pkg, name, seen); found != nil {
			return found
		}
	}
	return nil
}

// partsOf lists the types that t is made of, with those of its methods.
func partsOf(t reflect.Type) []reflect.Type {
	var parts []reflect.Type
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan:
		parts = append(parts, t.Elem())
	case reflect.Map:
		parts = append(parts, t.Key(), t.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			parts = append(parts, f.Type)
		}
	case reflect.Func:
		for p := range t.Ins() {
			parts = append(parts, p)
		}
		for r := range t.Outs() {
			parts = append(parts, r)
		}
	}
	for m := range t.Methods() {
		parts = append(parts, m.Type)
	}
	return parts
}
