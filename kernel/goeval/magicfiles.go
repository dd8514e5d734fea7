package goeval

import (
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"kafkalab/kernel"
)

// maxFile is the largest file that %load and %run read.
const maxFile = 1 << 20

// read takes the text of a file that a magic names.
func (p *performance) read(part piece) (text string, bad *kernel.Outcome) {
	fail := func(format string, args ...any) (string, *kernel.Outcome) {
		o := p.fail(part, "FileError", format, args...)
		return "", &o
	}
	if part.arg == "" {
		return fail("%s needs the name of a file", part.name)
	}
	info, err := os.Stat(part.arg)
	switch {
	case err != nil:
		return fail("%v", err)
	case info.IsDir():
		return fail("%s is a folder", part.arg)
	case info.Size() > maxFile:
		return fail("%s has %d bytes: %s reads files up to 1 MB", part.arg, info.Size(), part.name)
	}
	data, err := os.ReadFile(part.arg)
	if err != nil {
		return fail("%v", err)
	}
	if !utf8.Valid(data) {
		return fail("%s is not UTF-8 text", part.arg)
	}
	return strings.TrimPrefix(string(data), "\ufeff"), nil
}

// load replaces the cell by a file.
func (p *performance) load(part piece) kernel.Outcome {
	text, bad := p.read(part)
	if bad != nil {
		return *bad
	}
	p.out.NextInput("// %load "+part.arg+"\n"+text, true)
	return kernel.Outcome{}
}

// runFile runs a file as a cell; errors in it name the file.
func (p *performance) runFile(part piece) kernel.Outcome {
	if part.arg != "" && filepath.Ext(part.arg) != ".go" {
		return p.fail(part, "FileError", "%%run runs Go files, and %s is none", part.arg)
	}
	text, bad := p.read(part)
	if bad != nil {
		return *bad
	}
	src := newSource(p.src.count, text)
	src.file = part.arg
	return p.source(src)
}

// file writes the body of the cell.
func (p *performance) file(part piece, text string) kernel.Outcome {
	name, flags := part.arg, os.O_WRONLY|os.O_CREATE|os.O_TRUNC
	if rest, ok := strings.CutPrefix(name, "-a "); ok {
		name, flags = strings.TrimSpace(rest), os.O_WRONLY|os.O_CREATE|os.O_APPEND
	}
	if name == "" {
		return p.fail(part, "FileError", "%%%%file needs the name of a file")
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	f, err := os.OpenFile(name, flags, 0o644)
	if err != nil {
		return p.fail(part, "FileError", "%v", err)
	}
	_, err = f.WriteString(text)
	if err2 := f.Close(); err == nil {
		err = err2
	}
	if err != nil {
		return p.fail(part, "FileError", "%v", err)
	}
	if flags&os.O_APPEND != 0 {
		p.say("appended %d bytes to %s\n", len(text), name)
	} else {
		p.say("wrote %d bytes to %s\n", len(text), name)
	}
	return kernel.Outcome{}
}

// fileNames completes the name of a file.
func fileNames(_ *Engine, prefix string) []kernel.Match {
	dir, base := filepath.Split(prefix)
	entries, err := os.ReadDir(filepath.Clean("./" + dir))
	if filepath.IsAbs(dir) {
		entries, err = os.ReadDir(dir)
	}
	if err != nil {
		return nil
	}
	var ms []kernel.Match
	for _, f := range entries {
		name := f.Name()
		if !strings.HasPrefix(name, base) || base == "" && strings.HasPrefix(name, ".") {
			continue
		}
		if f.IsDir() {
			name += string(filepath.Separator)
		}
		ms = append(ms, kernel.Match{Text: dir + name, Kind: "path"})
	}
	return ms
}
