package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"kafkalab/install/kernelspec"
)

func newInstall() *cobra.Command {
	var where placeFlags
	var displayName string
	var allowShell bool
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
			done, err := installInto(at, where.name, displayName, kernelArgs(allowShell)...)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			fmt.Fprintf(out, "Kernel %q installed in %s\n  it runs %s\n", displayName, done.kernel, done.program)
			fmt.Fprintf(out, "Chart extension installed in %s\n", done.extension)
			return nil
		},
	}
	where.add(cmd)
	cmd.Flags().StringVar(&displayName, "display-name", kernelspec.DefaultDisplayName, "the name that people see")
	cmd.Flags().BoolVar(&allowShell, "allow-shell", false, "let cells of this kernel run shell commands with !command")
	return cmd
}

// installed names the folders and the program of an installation.
type installed struct{ kernel, program, extension string }

// kernelArgs are the kernel command's own arguments.
func kernelArgs(allowShell bool) []string {
	if allowShell {
		return []string{"--allow-shell"}
	}
	return nil
}

func installInto(at place, name, displayName string, args ...string) (installed, error) {
	var done installed
	var err error
	if done.program, err = settled(at.share); err != nil {
		return done, fmt.Errorf("the program cannot be put in place: %w", err)
	}
	spec, err := kernelspec.New(done.program, displayName, args...)
	if err != nil {
		return done, err
	}
	if done.kernel, err = kernelspec.Install(at.data, name, spec); err != nil {
		return done, fmt.Errorf("the kernel cannot be installed: %w", err)
	}
	if done.extension, err = installExtension(at.data); err != nil {
		return done, fmt.Errorf("the chart extension cannot be installed: %w", err)
	}
	return done, nil
}
