// Package jupyter finds a JupyterLab on this machine, or makes a private environment with one: pinned
// versions, each file checked by its hash, in a folder of its own under the user's cache.
package jupyter

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// Lab is a JupyterLab that can be started.
type Lab struct {
	Program string // the absolute path of jupyter-lab
	Version Version
	Private bool // it lives in the environment that we made
}

// Prefix is the Python prefix that the program belongs to.
func (l Lab) Prefix() string { return filepath.Dir(filepath.Dir(l.Program)) }

// Search is what looking through the PATH found: the first JupyterLab that is new enough, and those that
// are too old.
type Search struct {
	Found *Lab
	Old   []Lab
}

// OnPath looks for JupyterLab in every folder of the PATH. Asking a Jupyter for its version takes a
// second or two, so it stops at the first that will do.
func OnPath(ctx context.Context) Search {
	var s Search
	var seen []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		program := filepath.Join(dir, executable("jupyter-lab"))
		if !filepath.IsAbs(program) || slices.Contains(seen, program) {
			continue
		}
		seen = append(seen, program)
		lab, ok := ask(ctx, program)
		switch {
		case !ok:
		case lab.Version.Less(MinLab):
			s.Old = append(s.Old, lab)
		default:
			s.Found = &lab
			return s
		}
	}
	return s
}

// ask starts a program to learn which JupyterLab it is; one that is missing or broken is none.
func ask(ctx context.Context, program string) (Lab, bool) {
	if info, err := os.Stat(program); err != nil || info.IsDir() {
		return Lab{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, "--version").Output()
	if err != nil {
		return Lab{}, false
	}
	v, ok := ParseVersion(string(out))
	return Lab{Program: program, Version: v}, ok
}

func executable(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

// binDir is where an environment keeps its programs.
func binDir(prefix string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(prefix, "Scripts")
	}
	return filepath.Join(prefix, "bin")
}
