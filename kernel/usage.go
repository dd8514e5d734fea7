package kernel

import (
	"os"
	"runtime"
	"sync"
	"time"
)

// Memory of a machine, in bytes, as psutil names its parts: ipykernel answers in these words.
type hostMemory struct {
	Total     uint64  `json:"total"`
	Available uint64  `json:"available"`
	Used      uint64  `json:"used"`
	Free      uint64  `json:"free"`
	Percent   float64 `json:"percent"`
}

// meters remembers the last measurement: a share of the processor is one over the time between two.
type meters struct {
	mu        sync.Mutex
	at        time.Time
	own       time.Duration // processor time of this process
	busy, all uint64        // of the machine, in its ticks
}

func newMeters() *meters {
	m := &meters{at: time.Now()}
	m.own, _ = processTime()
	m.busy, m.all, _ = hostTime()
	return m
}

// usage answers usage_request (an extension of ipykernel's that resource monitors ask). What a system does
// not tell is left out, and named under "unavailable".
func (k *Kernel) usage(*request) any {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	content := map[string]any{
		"status":    "ok",
		"hostname":  host,
		"pid":       os.Getpid(),
		"cpu_count": runtime.NumCPU(),
	}
	resident, known := residentMemory()
	if content["kernel_memory"] = resident; !known {
		content["kernel_memory"] = goMemory()
	}
	if memory, ok := machineMemory(); ok {
		content["host_virtual_memory"] = memory
	}
	k.meters.shares(content)
	if missing := unavailable(content, known); len(missing) > 0 {
		content["unavailable"] = missing
	}
	return content
}

// unavailable names what the system did not tell.
func unavailable(content map[string]any, resident bool) (missing []string) {
	if !resident {
		missing = append(missing, "the resident set of the kernel: kernel_memory is what the Go run time holds")
	}
	for _, name := range []string{"kernel_cpu", "host_cpu_percent", "host_virtual_memory"} {
		if _, told := content[name]; !told {
			missing = append(missing, name)
		}
	}
	return missing
}

// shares adds the percentages since the last request: of one processor for the kernel (200 is two whole
// ones), of all processors for the machine.
func (m *meters) shares(content map[string]any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if own, ok := processTime(); ok {
		if passed := now.Sub(m.at); passed > 0 {
			content["kernel_cpu"] = percent(float64(own-m.own), float64(passed))
		}
		m.own = own
	}
	if busy, all, ok := hostTime(); ok {
		if all > m.all {
			content["host_cpu_percent"] = percent(float64(busy-min(m.busy, busy)), float64(all-m.all))
		}
		m.busy, m.all = busy, all
	}
	m.at = now
}

// percent has one decimal.
func percent(part, whole float64) float64 { return float64(int64(1000*part/whole+0.5)) / 10 }

// goMemory is what the Go runtime holds, where the system does not say what the process does.
func goMemory() uint64 {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	return mem.Sys - mem.HeapReleased
}
