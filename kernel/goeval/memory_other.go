//go:build !linux

package goeval

// machineMemory is a cautious guess: what a session may need on any machine of today.
func machineMemory() uint64 { return 8 << 30 }
