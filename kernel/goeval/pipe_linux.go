package goeval

import "golang.org/x/sys/unix"

// pending is how many bytes wait in a pipe.
func pending(fd int) (int, error) { return unix.IoctlGetInt(fd, unix.TIOCINQ) }
