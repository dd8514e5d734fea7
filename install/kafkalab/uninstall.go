package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"kafkalab/install/jupyter"
	"kafkalab/install/kernelspec"
)

func newUninstall() *cobra.Command {
	var where placeFlags
	var environment bool
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove the kernel and the extension again",
		Long: `Remove what install put in place: the kernel, the chart extension, our copy of the program.
Notebooks and the course folder are never touched.`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			at, err := where.place(cmd)
			if err != nil {
				return err
			}
			removed, err := uninstallFrom(at, where.name)
			if environment {
				gone, envErr := removeEnvironment()
				removed = append(removed, gone...)
				if envErr != nil && err == nil {
					err = envErr
				}
			}
			for _, path := range removed {
				fmt.Fprintf(cmd.OutOrStdout(), "Removed %s\n", path)
			}
			return err
		},
	}
	where.add(cmd)
	cmd.Flags().BoolVar(&environment, "environment", false, "also remove the private JupyterLab that `kafkalab lab` made")
	return cmd
}

// uninstallFrom removes the kernel; the extension and the program's copy go with the last kernel that uses
// them.
func uninstallFrom(at place, name string) ([]string, error) {
	spec, err := kernelspec.Uninstall(at.data, name)
	if err != nil {
		return nil, err
	}
	removed := []string{at.data.Kernel(name)}
	rest := kernelspec.List([]kernelspec.Dir{at.data})
	if len(rest) == 0 {
		gone, err := removeExtension(at.data)
		if err != nil {
			return removed, err
		}
		removed = append(removed, gone...)
	}
	copied := filepath.Join(at.share, "bin")
	if filepath.Dir(spec.Binary()) != copied {
		return removed, nil // the program is the person's own, not our copy
	}
	for _, k := range rest {
		if k.Spec.Binary() == spec.Binary() {
			return removed, nil
		}
	}
	if err := os.RemoveAll(copied); err != nil {
		return removed, err
	}
	os.Remove(at.share) // only if nothing else is in it
	return append(removed, spec.Binary()), nil
}

func removeEnvironment() ([]string, error) {
	dir, err := jupyter.PrivateDir()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(dir); err != nil {
		return nil, nil
	}
	return []string{dir}, os.RemoveAll(dir)
}
