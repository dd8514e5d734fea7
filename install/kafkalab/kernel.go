package main

import (
	"github.com/spf13/cobra"

	"kafkalab/install/lab"
)

func newKernel() *cobra.Command {
	return &cobra.Command{
		Use:   "kernel CONNECTION_FILE",
		Short: "Be the kernel that Jupyter starts",
		Long:  `Serve the Jupyter protocol on the sockets that a connection file names. Jupyter starts it, not a person.`,
		Args:  exactly("the connection file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return lab.Serve(args[0], version())
		},
	}
}
