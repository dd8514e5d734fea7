package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

func newRun() *cobra.Command {
	var f executeFlags
	var output string
	var inPlace, quiet bool
	cmd := &cobra.Command{
		Use:   "run NOTEBOOK.ipynb",
		Short: "Run a notebook here, without Jupyter or Python",
		Long: `Run a notebook from its first cell to its last and print what the cells show.

The exit code is 0 when every cell went well, 1 when one failed, 130 when the run was interrupted.
A cell tagged raises-exception may fail; one tagged skip-execution is left out. A parameter is set after
the cell tagged parameters, which holds the defaults.`,
		Example: `  kafkalab run 06-when-a-leader-fails.ipynb
  kafkalab run lesson.ipynb -p seed=11 -o lesson-11.ipynb --timeout 1m`,
		Args: exactly("the notebook"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := args[0]
			if inPlace {
				output = path
			}
			nb, err := f.prepare(cmd, path)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if quiet {
				out = nothing{}
			}
			failed := f.execute(cmd.Context(), nb, path, out, cmd.ErrOrStderr())
			if output != "" {
				if err := nb.Write(output); err != nil {
					return errors.Join(failed, err)
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "Written to %s\n", output)
			}
			return failed
		},
	}
	f.add(cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "", "write the notebook with its outputs to this file")
	cmd.Flags().BoolVar(&inPlace, "inplace", false, "write the outputs into the notebook itself")
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "print no outputs")
	cmd.MarkFlagsMutuallyExclusive("output", "inplace")
	return cmd
}
