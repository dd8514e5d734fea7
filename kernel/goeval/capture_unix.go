//go:build unix

package goeval

import (
	"os"

	"golang.org/x/sys/unix"
)

// takeDescriptors puts out and err in the place of the process's descriptors 1 and 2.
func takeDescriptors(out, err *os.File) (restore func(), failed error) {
	var undo []func()
	restore = func() {
		for _, u := range undo {
			u()
		}
	}
	for fd, f := range map[int]*os.File{1: out, 2: err} {
		saved, e := unix.Dup(fd)
		if e != nil {
			return restore, e
		}
		unix.CloseOnExec(saved)
		if e := unix.Dup2(int(f.Fd()), fd); e != nil {
			return restore, e
		}
		undo = append(undo, func() { unix.Dup2(saved, fd); unix.Close(saved) })
	}
	return restore, nil
}
