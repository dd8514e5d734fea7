package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"kafkalab/install/course"
	"kafkalab/install/jupyter"
	"kafkalab/install/kernelspec"
	"kafkalab/notebooks"
)

// labOptions are the flags of `kafkalab lab`.
type labOptions struct {
	dir       string
	noBrowser bool
	port      int
	private   bool
}

func newLab() *cobra.Command {
	var o labOptions
	cmd := &cobra.Command{
		Use:   "lab [flags] [-- JupyterLab's own arguments]",
		Short: "Install what is needed and open the course in JupyterLab",
		Long: `Install the kernel, lay the course out in a folder of yours, and open it in JupyterLab.

JupyterLab is the one on the PATH if it is 4.2 or newer; otherwise a private one is made under the user's
cache folder (pinned versions, each file checked by its hash), which needs Python 3.9 or newer and the
network once. Lessons that you have changed are never overwritten.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if own := ownArgs(cmd, args); len(own) > 0 {
				return misuse(cmd, fmt.Errorf("lab: %q is not expected here; JupyterLab's own arguments go after --", own[0]))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return openLab(cmd.Context(), o, args, cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.dir, "dir", "", "the folder for the course (default: kafkalab in the home folder)")
	flags.BoolVar(&o.noBrowser, "no-browser", false, "print the address instead of opening a browser")
	flags.IntVar(&o.port, "port", 0, "the port to listen on (default: the first free one from 8888)")
	flags.BoolVar(&o.private, "private", false, "use the private JupyterLab even if one is on the PATH")
	return cmd
}

// ownArgs are the arguments before the double dash.
func ownArgs(cmd *cobra.Command, args []string) []string {
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		return args[:dash]
	}
	return args
}

// openLab checks what can fail early (port, Jupyter) before it installs anything.
func openLab(ctx context.Context, o labOptions, args []string, say io.Writer) error {
	if o.port < 0 || o.port > 65535 {
		return &exitError{exitUsage, fmt.Errorf("--port %d is no port: it must lie between 1 and 65535", o.port)}
	}
	if o.port != 0 {
		if err := jupyter.CheckPort(o.port); err != nil {
			return err
		}
	}
	lab, err := findLab(ctx, o.private, say)
	if err != nil {
		return err
	}
	at, err := userPlace()
	if err != nil {
		return err
	}
	// What the person gave to `kafkalab install` stays.
	old, err := kernelspec.Read(at.data.Kernel(kernelspec.DefaultName))
	if err != nil {
		old = kernelspec.Spec{} // there is none, or it is written anew
	}
	done, err := installInto(at, kernelspec.DefaultName, kernelspec.DefaultDisplayName, old.Env,
		kernelArgs(slices.Contains(old.Argv, allowShellFlag))...)
	if err != nil {
		return err
	}
	fmt.Fprintf(say, "Kernel %q: %s\n", kernelspec.DefaultDisplayName, done.kernel)
	dir, err := courseDir(o.dir)
	if err != nil {
		return err
	}
	laid, err := course.LayOut(notebooks.Lessons(), dir)
	if err != nil {
		return err
	}
	tellCourse(say, laid)
	fmt.Fprintf(say, "JupyterLab %s: %s\n", lab.Version, lab.Program)
	server := jupyter.Server{Root: dir, Open: firstPage(dir), NoBrowser: o.noBrowser, Port: o.port, Args: args}
	return serve(server.Command(lab))
}

// findLab takes the JupyterLab on the PATH, the private one, or makes the private one.
func findLab(ctx context.Context, private bool, say io.Writer) (jupyter.Lab, error) {
	if !private {
		found := jupyter.OnPath(ctx)
		if found.Found != nil {
			return *found.Found, nil
		}
		for _, old := range found.Old {
			fmt.Fprintf(say, "JupyterLab %s at %s is older than %s and is not used.\n", old.Version, old.Program, jupyter.MinLab)
		}
	}
	if lab, ok := jupyter.Private(ctx); ok {
		return lab, nil
	}
	dir, err := jupyter.PrivateDir()
	if err != nil {
		return jupyter.Lab{}, err
	}
	fmt.Fprintf(say, "Making a private JupyterLab in %s; this happens once.\n", dir)
	bar := newBar(say)
	lab, err := jupyter.Make(ctx, bar.show)
	bar.end()
	return lab, err
}

func courseDir(flag string) (string, error) {
	if flag != "" {
		return filepath.Abs(flag)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no home folder is known (%w): name a folder for the course with --dir", err)
	}
	return filepath.Join(home, "kafkalab"), nil
}

func tellCourse(say io.Writer, r course.Report) {
	fmt.Fprintf(say, "Course: %s\n", r.Dir)
	for _, group := range []struct {
		what  string
		files []string
	}{
		{"new", r.Written},
		{"renewed", r.Renewed},
		{"newer version put beside yours", r.Beside},
	} {
		if len(group.files) > 0 {
			fmt.Fprintf(say, "  %s: %s\n", group.what, strings.Join(group.files, ", "))
		}
	}
}

// firstPage is what JupyterLab opens: the first notebook of the course, by its number.
func firstPage(dir string) string {
	found, _ := fs.Glob(os.DirFS(dir), "*.ipynb")
	for _, f := range found {
		if name := path.Base(f); name[0] >= '0' && name[0] <= '9' {
			return f
		}
	}
	return ""
}

// serve runs the server until it ends. Ctrl-C reaches it by itself, being in the same terminal (and it asks
// whether it is meant); a SIGTERM is passed on.
func serve(cmd *exec.Cmd) error {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("JupyterLab does not start: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			if s == syscall.SIGTERM {
				cmd.Process.Signal(s)
			}
		case err := <-ended:
			var exit *exec.ExitError
			if errors.As(err, &exit) && exit.ExitCode() > 0 {
				return &exitError{exitFailure, fmt.Errorf("JupyterLab ended with exit code %d; what it said stands above", exit.ExitCode())}
			}
			return nil
		}
	}
}
