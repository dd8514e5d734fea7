package kernel_test

import (
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"kafkalab/kernel"
)

func TestUsage(t *testing.T) {
	c := start(t, kernel.Options{})
	c.Control("usage_request", map[string]any{})
	for end := time.Now().Add(100 * time.Millisecond); time.Now().Before(end); { // be busy
	}
	ex := c.Control("usage_request", map[string]any{})
	if ex.Reply("pid") != float64(os.Getpid()) || ex.Reply("cpu_count") != float64(runtime.NumCPU()) {
		t.Errorf("got %s", ex.ReplyMessage().Content)
	}
	if cpu, _ := ex.Reply("kernel_cpu").(float64); cpu <= 0 || cpu > 100*float64(runtime.NumCPU())+50 {
		t.Errorf("kernel_cpu is %v%% of a process that was busy", ex.Reply("kernel_cpu"))
	}
	if memory, _ := ex.Reply("kernel_memory").(float64); memory < 1<<20 || memory > 1<<40 {
		t.Errorf("kernel_memory is %v bytes", ex.Reply("kernel_memory"))
	}
	missing := ex.Reply("unavailable")
	if runtime.GOOS != "linux" {
		if missing == nil {
			t.Errorf("nothing is said of what this system does not tell: %s", ex.ReplyMessage().Content)
		}
		return
	}
	if missing != nil {
		t.Errorf("unavailable: %v", missing)
	}
	total, _ := ex.Reply("host_virtual_memory", "total").(float64)
	available, _ := ex.Reply("host_virtual_memory", "available").(float64)
	if total < 1<<26 || available <= 0 || available > total {
		t.Errorf("host_virtual_memory is %v", ex.Reply("host_virtual_memory"))
	}
	if share, _ := ex.Reply("host_cpu_percent").(float64); share <= 0 || share > 100 {
		t.Errorf("host_cpu_percent is %v", ex.Reply("host_cpu_percent"))
	}
}

// A system that tells little: what is missing is named.
func TestUsageSaysWhatTheSystemDoesNotTell(t *testing.T) {
	got := kernel.Unavailable(map[string]any{"kernel_cpu": 1.0}, false)
	want := []string{"the resident set of the kernel: kernel_memory is what the Go run time holds", "host_cpu_percent", "host_virtual_memory"}
	if !slices.Equal(got, want) {
		t.Errorf("it names %q, want %q", got, want)
	}
}
