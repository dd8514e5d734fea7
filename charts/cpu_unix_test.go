//go:build unix

package charts

import (
	"syscall"
	"testing"
	"time"
)

// cpu measures the time that this process has a core, which other processes do not lengthen.
type cpu struct{ begun time.Duration }

func newCPU() *cpu { return &cpu{used()} }

func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// report adds the metric cpu-ms/op.
func (c *cpu) report(b *testing.B) {
	b.ReportMetric(float64((used()-c.begun).Microseconds())/1000/float64(b.N), "cpu-ms/op")
}
