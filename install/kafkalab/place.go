package main

import (
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"kafkalab/install/kernelspec"
)

// place is where something is installed: Jupyter's data directory and the folder for our own copy of the
// program.
type place struct {
	data  kernelspec.Dir
	share string
}

// placeFlags are ipykernel's three ways to say where.
type placeFlags struct {
	user, sysPrefix bool
	prefix          string
	name            string
}

func (f *placeFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.user, "user", false, "for this user (the default)")
	flags.BoolVar(&f.sysPrefix, "sys-prefix", false, "in the active Python environment (virtual or conda)")
	flags.StringVar(&f.prefix, "prefix", "", "under this prefix, in share/jupyter")
	flags.StringVar(&f.name, "name", kernelspec.DefaultName, "the kernel's name")
	cmd.MarkFlagsMutuallyExclusive("user", "sys-prefix", "prefix")
}

func (f *placeFlags) place(cmd *cobra.Command) (place, error) {
	prefix := f.prefix
	if cmd.Flags().Changed("prefix") && prefix == "" {
		return place{}, misuse(cmd, errors.New("--prefix needs a folder"))
	}
	if f.sysPrefix {
		var err error
		if prefix, err = kernelspec.SysPrefix(); err != nil {
			return place{}, err
		}
	}
	if prefix == "" {
		return userPlace()
	}
	prefix, err := filepath.Abs(prefix)
	if err != nil {
		return place{}, err
	}
	return place{kernelspec.Prefix(prefix), filepath.Join(prefix, "share", "kafkalab")}, nil
}

func userPlace() (place, error) {
	data, err := kernelspec.User()
	if err != nil {
		return place{}, err
	}
	share, err := kernelspec.Share()
	return place{data, share}, err
}
