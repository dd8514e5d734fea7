// Command kafkalab is the whole product in one file: the Jupyter kernel for Go with a Kafka inside, what
// installs it, what opens the course, and what runs and exports notebooks without Jupyter.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes: people and scripts tell a failing notebook or installation (1) from a mistyped command (2)
// and from a run that was stopped (130, as shells have it).
const (
	exitFailure     = 1
	exitUsage       = 2
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the program without the process around it.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	var quiet *exitError
	if errors.As(err, &quiet) && quiet.err == nil {
		return quiet.code
	}
	// Cobra reports flags that exclude each other as a plain error.
	if strings.HasPrefix(err.Error(), "if any flags in the group") {
		err = fmt.Errorf("these flags exclude each other: %w", err)
		quiet = &exitError{code: exitUsage}
	}
	fmt.Fprintf(errs, "kafkalab: %v\n", err)
	if quiet != nil {
		return quiet.code
	}
	return exitFailure
}

// exitError is an error with an exit code of its own; without an err there is nothing more to say.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// misuse is a mistyped command line: the sentence, and where the help is.
func misuse(cmd *cobra.Command, err error) error {
	return &exitError{exitUsage, fmt.Errorf("%w\nSee: %s --help", err, cmd.CommandPath())}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "kafkalab",
		Short: "A Jupyter kernel for Go with a deterministic Kafka inside",
		Long: `Kafka Lab: a Jupyter kernel for Go with a deterministic Kafka inside.

Start with:   kafkalab lab      (installs the kernel and opens the course in JupyterLab)`,
		SilenceUsage:               true,
		SilenceErrors:              true,
		SuggestionsMinimumDistance: 2,
		Args:                       knownCommand,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(misuse)
	root.AddCommand(newInstall(), newUninstall(), newLab(), newRun(), newExport(), newCourse(), newDoctor(), newKernel(), newVersion())
	return root
}

// knownCommand refuses a first word that is no command, with what it may have been meant to be.
func knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	if strings.HasSuffix(args[0], ".ipynb") {
		hint = fmt.Sprintf("; to run a notebook: kafkalab run %s", args[0])
	} else if near := root.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return misuse(root, fmt.Errorf("unknown command %q%s", args[0], hint))
}

// exactly wants n arguments, named for the person who forgot one.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return misuse(cmd, fmt.Errorf("%s: %s is missing", cmd.Name(), names[len(args)]))
		case len(args) > len(names):
			return misuse(cmd, fmt.Errorf("%s: %q is one argument too many", cmd.Name(), args[len(names)]))
		}
		return nil
	}
}
