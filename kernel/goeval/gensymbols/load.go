package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"golang.org/x/tools/go/gcexportdata"
)

func readList(name string) ([]string, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var paths []string
	for line := range strings.Lines(string(b)) {
		if line, _, _ = strings.Cut(line, "#"); strings.TrimSpace(line) != "" {
			paths = append(paths, strings.TrimSpace(line))
		}
	}
	return paths, nil
}

// load builds the packages and reads their export data.
func load(paths []string) ([]*pkg, error) {
	args := append([]string{"list", "-export", "-json=ImportPath,Export,Dir,GoFiles"}, paths...)
	cmd := exec.Command("go", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var pkgs []*pkg
	byPath := map[string]*pkg{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Export, Dir string
			GoFiles                 []string
		}
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		data, err := os.ReadFile(p.Export)
		if err != nil {
			return nil, err
		}
		if data, err = pkgdef(data); err != nil {
			return nil, fmt.Errorf("%s: %w", p.ImportPath, err)
		}
		q := &pkg{path: p.ImportPath, dir: p.Dir, files: p.GoFiles, data: data}
		pkgs = append(pkgs, q)
		byPath[q.path] = q
	}
	imp := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		if p := byPath[path]; p != nil {
			return io.NopCloser(bytes.NewReader(p.data)), nil
		}
		return nil, fmt.Errorf("no export data for %q", path)
	})
	for _, p := range pkgs {
		if p.types, err = imp.Import(p.path); err != nil {
			return nil, err
		}
		if p.data, err = declarations(p.types); err != nil {
			return nil, err
		}
	}
	sort.Slice(pkgs, func(i, j int) bool { return pkgs[i].path < pkgs[j].path })
	return pkgs, nil
}

// declarations writes a package's export data anew, as declarations alone. What the compiler wrote also
// holds bodies for inlining and the paths of files: it would change with every edit and every folder, and
// only the Go version that wrote it could read it.
func declarations(p *types.Package) ([]byte, error) {
	var b bytes.Buffer
	// An empty file set: no position is known, none is written.
	if err := gcexportdata.Write(&b, token.NewFileSet(), p); err != nil {
		return nil, fmt.Errorf("%s: %w", p.Path(), err)
	}
	return b.Bytes(), nil
}

// pkgdef cuts an archive down to its first member, __.PKGDEF, which holds the export data.
func pkgdef(data []byte) ([]byte, error) {
	const magic, header = "!<arch>\n", 60
	if !bytes.HasPrefix(data, []byte(magic)) || len(data) < len(magic)+header {
		return nil, fmt.Errorf("not an archive")
	}
	h := string(data[len(magic) : len(magic)+header])
	if !strings.HasPrefix(h, "__.PKGDEF") {
		return nil, fmt.Errorf("no package definition")
	}
	size, err := strconv.Atoi(strings.TrimSpace(h[48:58]))
	if err != nil {
		return nil, err
	}
	return data[:len(magic)+header+size], nil
}

// archive makes the zip: NAME.x is export data, the rest are sources, whole or cut down to their
// documentation. It is the same for the same packages, whenever and wherever it is made.
func (o options) archive(pkgs []*pkg) ([]byte, error) {
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	add := func(name string, data []byte) error {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Time{}})
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	}
	for _, p := range pkgs {
		if err := add(p.path+".x", p.data); err != nil {
			return nil, err
		}
		whole := among(o.sources, p.path)
		if !whole && !among(o.docs, p.path) {
			continue
		}
		for _, f := range p.files {
			b, err := os.ReadFile(filepath.Join(p.dir, f))
			if err != nil {
				return nil, err
			}
			if !whole {
				if b, err = documented(f, b); err != nil {
					return nil, err
				}
			}
			if err := add(p.path+"/"+f, b); err != nil {
				return nil, err
			}
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// among reads a list of packages from the command line.
func among(list, path string) bool {
	return list == "all" || slices.Contains(strings.Split(list, ","), path)
}
