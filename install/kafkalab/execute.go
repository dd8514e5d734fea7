package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"kafkalab/install/headless"
	"kafkalab/install/lab"
	"kafkalab/install/notebook"
)

// executeFlags are the flags that run and export share.
type executeFlags struct {
	parameters  []string
	timeout     time.Duration
	allowErrors bool
}

func (f *executeFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.parameters, "parameter", "p", nil, "set a parameter, name=value (more than once for more)")
	flags.DurationVar(&f.timeout, "timeout", 0, "stop a cell that runs longer than this, such as 30s (default: no limit)")
	flags.BoolVar(&f.allowErrors, "allow-errors", false, "go on after a cell that fails")
}

// prepare reads the notebook and sets its parameters.
func (f *executeFlags) prepare(cmd *cobra.Command, path string) (*notebook.Notebook, error) {
	if f.timeout < 0 {
		return nil, misuse(cmd, fmt.Errorf("--timeout %v: a time limit is not negative", f.timeout))
	}
	nb, err := notebook.Read(path)
	if err != nil {
		return nil, err
	}
	if l := nb.Language(); l != "" && l != "go" {
		return nil, fmt.Errorf("%s is written in %s (kernel %q): kafkalab runs notebooks in Go", path, l, nb.Kernel())
	}
	var parameters []headless.Parameter
	for _, text := range f.parameters {
		p, err := headless.ParseParameter(text)
		if err != nil {
			return nil, misuse(cmd, err)
		}
		parameters = append(parameters, p)
	}
	if err := headless.Inject(nb, parameters); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return nb, nil
}

// execute runs the notebook in this process and puts the outputs into it, also those of a run that fails.
// Each finished cell is shown on out.
func (f *executeFlags) execute(ctx context.Context, nb *notebook.Notebook, path string, out, progress io.Writer) error {
	back, err := enter(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer back()
	language, err := lab.NewLanguage(lab.Options{})
	if err != nil {
		return err
	}
	line := newProgressLine(progress, nb)
	show := printer{out: out, colours: isTerminal(out)}
	err = headless.RunNotebook(ctx, language, nb, headless.Options{
		Timeout: f.timeout, AllowErrors: f.allowErrors,
		Begun: line.show,
		Ended: func(i int, count int, outputs []notebook.Output) {
			line.clear()
			show.cell(count, outputs)
		},
	})
	line.clear()
	var stopped *headless.StoppedError
	switch {
	case errors.As(err, &stopped) && stopped.After == 0:
		return &exitError{exitInterrupted, fmt.Errorf("%s: %w", path, err)}
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// enter makes the notebook's folder the working folder, as Jupyter does for a kernel, and returns the way
// back.
func enter(dir string) (back func(), err error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	if err := os.Chdir(dir); err != nil {
		return nil, err
	}
	return func() { os.Chdir(here) }, nil
}
