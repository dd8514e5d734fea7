// Gensymbols writes what cells need to use compiled packages: a Go file with their functions, variables
// and types by name, and a zip file with their export data and, if asked, their sources for the docs.
//
//	go run kafkalab/kernel/goeval/gensymbols -package lab -out symbols.go -exports exports.zip PATH...
//
// With -check nothing is written; it fails if the files on disk are not what would be written.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/types"
	"os"
)

func main() {
	var o options
	check := flag.Bool("check", false, "compare with the files on disk instead of writing them")
	flag.StringVar(&o.pkg, "package", "", "name of the package that the Go file belongs to")
	flag.StringVar(&o.out, "out", "symbols.go", "the Go file")
	flag.StringVar(&o.exports, "exports", "exports.zip", "the file with export data")
	flag.StringVar(&o.sources, "sources", "", "packages whose sources go into the zip too, separated by commas, or all: for docs and generic functions")
	flag.StringVar(&o.docs, "docs", "", "packages whose declarations and comments go into the zip without bodies: for docs alone")
	flag.StringVar(&o.list, "list", "", "a file that names packages, one a line, beside the arguments")
	flag.StringVar(&o.variable, "var", "symbols", "name of the variable that holds the symbols")
	flag.Parse()
	if err := run(o, flag.Args(), *check); err != nil {
		fmt.Fprintln(os.Stderr, "gensymbols:", err)
		os.Exit(1)
	}
}

type options struct {
	pkg, out, exports, list, variable, sources, docs string
}

func run(o options, paths []string, check bool) error {
	if o.list != "" {
		more, err := readList(o.list)
		if err != nil {
			return err
		}
		paths = append(paths, more...)
	}
	pkgs, err := load(paths)
	if err != nil {
		return err
	}
	code, err := o.source(pkgs)
	if err != nil {
		return err
	}
	data, err := o.archive(pkgs)
	if err != nil {
		return err
	}
	for name, want := range map[string][]byte{o.out: code, o.exports: data} {
		if !check {
			if err := os.WriteFile(name, want, 0o666); err != nil {
				return err
			}
			continue
		}
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			return fmt.Errorf("%s is stale: run go generate", name)
		}
	}
	return nil
}

// pkg is one package that cells may import.
type pkg struct {
	path  string
	dir   string
	files []string
	data  []byte // export data: the archive cut down to its package definition
	types *types.Package
}
