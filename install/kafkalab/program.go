package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"

	"kafkalab/install/kernelspec"
)

// passing matches what `go run` and `go test` execute: a program in the build cache or in a work folder,
// which is gone soon.
var passing = regexp.MustCompile(`(^|[/\\])go-build\d*[/\\]|[/\\][0-9a-f]{64}-d[/\\]`)

// settled returns the path of a kafkalab that stays, for kernel.json to name: this very program, or, if it
// was started by `go run`, a copy of it in share/bin.
func settled(share string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("where this program lies is not known: %w", err)
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		return "", err
	}
	if !passing.MatchString(self) {
		return self, nil
	}
	return copyProgram(self, filepath.Join(share, "bin"))
}

func copyProgram(self, dir string) (string, error) {
	name := "kafkalab"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	target := filepath.Join(dir, name)
	data, err := os.ReadFile(self)
	if err != nil {
		return "", err
	}
	if there, err := os.ReadFile(target); err == nil && bytes.Equal(there, data) {
		return target, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if runtime.GOOS == "windows" {
		// A running kernel's file cannot be replaced there, but it can be renamed.
		os.Remove(target + ".old")
		if err := os.Rename(target, target+".old"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return target, kernelspec.WriteFile(target, data, 0o755)
}
