package goeval

import "golang.org/x/sys/unix"

// machineMemory is the machine's memory in bytes.
func machineMemory() uint64 {
	var si unix.Sysinfo_t
	if unix.Sysinfo(&si) != nil {
		return 4 << 30
	}
	return si.Totalram * uint64(si.Unit)
}
