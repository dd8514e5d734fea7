//go:build unix

package kernel

import (
	"syscall"
	"time"
)

// processTime is the processor time of this process, of the system's part too.
func processTime() (time.Duration, bool) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0, false
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()), true
}
