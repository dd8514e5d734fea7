//go:build unix

package lab

import (
	"os"

	"golang.org/x/sys/unix"
)

// ownStderr is the process's stderr under a descriptor of its own: the cells take descriptor 2.
func ownStderr() (*os.File, error) {
	fd, err := unix.Dup(2)
	if err != nil {
		return nil, err
	}
	unix.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), "stderr"), nil
}
