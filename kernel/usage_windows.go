package kernel

import (
	"syscall"
	"time"
)

// processTime is the processor time of this process, of the system's part too.
func processTime() (time.Duration, bool) {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0, false
	}
	var created, ended, system, user syscall.Filetime
	if err := syscall.GetProcessTimes(self, &created, &ended, &system, &user); err != nil {
		return 0, false
	}
	return ticks(system) + ticks(user), true
}

// ticks is a duration in a Filetime: units of 100 ns.
func ticks(f syscall.Filetime) time.Duration {
	return time.Duration(uint64(f.HighDateTime)<<32|uint64(f.LowDateTime)) * 100
}
