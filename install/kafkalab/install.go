package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"kafkalab/install/kernelspec"
	"kafkalab/install/papermill"
)

func newInstall() *cobra.Command {
	var where placeFlags
	var displayName string
	var allowShell bool
	var env []string
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install the kernel and the charts' JupyterLab extension",
		Long: `Install the kernel "Go (Kafka Lab)" and the JupyterLab extension that draws its charts.
Jupyter finds them from then on; nothing of Jupyter itself is changed.`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			at, err := where.place(cmd)
			if err != nil {
				return err
			}
			variables, err := assignments(env)
			if err != nil {
				return misuse(cmd, err)
			}
			done, err := installInto(at, where.name, displayName, variables, kernelArgs(allowShell)...)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			fmt.Fprintf(out, "Kernel %q installed in %s\n  it runs %s\n", displayName, done.kernel, done.program)
			fmt.Fprintf(out, "Chart extension installed in %s\n", done.extension)
			fmt.Fprintf(out, "For papermill: pip install %q\n", done.wheel)
			return nil
		},
	}
	where.add(cmd)
	cmd.Flags().StringVar(&displayName, "display-name", kernelspec.DefaultDisplayName, "the name that people see")
	cmd.Flags().BoolVar(&allowShell, "allow-shell", false, "let cells of this kernel run shell commands with !command")
	cmd.Flags().StringArrayVar(&env, "env", nil, "an environment variable for the kernel, as NAME=VALUE; may be given several times")
	return cmd
}

// assignments reads NAME=VALUE words; of one name given twice the last counts.
func assignments(words []string) (map[string]string, error) {
	if len(words) == 0 {
		return nil, nil
	}
	variables := map[string]string{}
	for _, w := range words {
		name, value, found := strings.Cut(w, "=")
		if !found || name == "" || strings.ContainsAny(w, "\x00\n") {
			return nil, fmt.Errorf("--env %q: want NAME=VALUE", w)
		}
		variables[name] = value
	}
	return variables, nil
}

// installed names the folders and the program of an installation, and papermill's wheel.
type installed struct{ kernel, program, extension, wheel string }

// allowShellFlag is the kernel command's flag for !command.
const allowShellFlag = "--allow-shell"

// kernelArgs are the kernel command's own arguments.
func kernelArgs(allowShell bool) []string {
	if allowShell {
		return []string{allowShellFlag}
	}
	return nil
}

func installInto(at place, name, displayName string, env map[string]string, args ...string) (installed, error) {
	var done installed
	var err error
	if done.program, err = settled(at.share); err != nil {
		return done, fmt.Errorf("the program cannot be put in place: %w", err)
	}
	spec, err := kernelspec.New(done.program, displayName, args...)
	if err != nil {
		return done, err
	}
	spec.Env = env
	if done.kernel, err = kernelspec.Install(at.data, name, spec); err != nil {
		return done, fmt.Errorf("the kernel cannot be installed: %w", err)
	}
	if done.extension, err = installExtension(at.data); err != nil {
		return done, fmt.Errorf("the chart extension cannot be installed: %w", err)
	}
	wheel, err := papermill.Wheel()
	if err != nil {
		return done, err
	}
	done.wheel = filepath.Join(done.kernel, papermill.Name)
	if err := kernelspec.WriteFile(done.wheel, wheel, 0o644); err != nil {
		return done, fmt.Errorf("papermill's wheel cannot be written: %w", err)
	}
	return done, nil
}
