package kernel

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// residentMemory is the resident set of this process in bytes (proc(5), statm).
func residentMemory() (bytes uint64, ok bool) {
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(raw))
	if len(fields) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseUint(fields[1], 10, 64)
	if err != nil {
		return 0, false
	}
	return pages * uint64(os.Getpagesize()), true
}

// hostTime is the first line of /proc/stat: user nice system idle iowait irq softirq steal; busy is what is
// neither idle nor iowait.
func hostTime() (busy, all uint64, ok bool) {
	raw, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0, false
	}
	line, _, _ := bytes.Cut(raw, []byte{'\n'})
	fields := bytes.Fields(line)
	if len(fields) < 6 || string(fields[0]) != "cpu" {
		return 0, 0, false
	}
	for i, f := range fields[1:min(len(fields), 9)] { // guest time is part of user
		n, err := strconv.ParseUint(string(f), 10, 64)
		if err != nil {
			return 0, 0, false
		}
		all += n
		if i != 3 && i != 4 {
			busy += n
		}
	}
	return busy, all, true
}

// machineMemory reads /proc/meminfo, whose numbers are in KiB.
func machineMemory() (m hostMemory, ok bool) {
	raw, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return m, false
	}
	for line := range bytes.Lines(raw) {
		var name string
		var kib uint64
		if n, _ := fmt.Sscan(string(line), &name, &kib); n < 2 {
			continue
		}
		switch name {
		case "MemTotal:":
			m.Total = kib << 10
		case "MemFree:":
			m.Free = kib << 10
		case "MemAvailable:":
			m.Available = kib << 10
		}
	}
	if m.Total == 0 || m.Available > m.Total {
		return m, false
	}
	m.Used = m.Total - m.Available
	m.Percent = percent(float64(m.Used), float64(m.Total))
	return m, true
}
