package main

import (
	"github.com/spf13/cobra"

	"kafkalab/install/lab"
)

func newKernel() *cobra.Command {
	var allowShell bool
	cmd := &cobra.Command{
		Use:   "kernel CONNECTION_FILE",
		Short: "Be the kernel that Jupyter starts",
		Long:  `Serve the Jupyter protocol on the sockets that a connection file names. Jupyter starts it, not a person.`,
		Args:  exactly("the connection file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return lab.Serve(args[0], version(), allowShell)
		},
	}
	cmd.Flags().BoolVar(&allowShell, "allow-shell", false, "let cells run shell commands with !command")
	return cmd
}
