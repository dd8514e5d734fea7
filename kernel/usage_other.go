//go:build !linux

package kernel

func residentMemory() (uint64, bool) { return 0, false }

func hostTime() (busy, all uint64, ok bool) { return 0, 0, false }

func machineMemory() (m hostMemory, ok bool) { return m, false }
