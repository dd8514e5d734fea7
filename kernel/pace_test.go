package kernel

import (
	"testing"
	"testing/synctest"
	"time"
)

// What jupyter_server counts: bytes of streams and messages within any 3 seconds.
func TestPaceStaysBelowTheServersLimits(t *testing.T) {
	for name, size := range map[string]int{"big messages": 64 << 10, "small messages": 10} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPace(false)
				type sent struct {
					at    time.Time
					bytes int
				}
				var window []sent
				total := 0
				for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
					p.wait(nil)
					p.spend("stream", size)
					total++
					window = append(window, sent{time.Now(), size + messageOverhead})
					for time.Since(window[0].at) > 3*time.Second {
						window = window[1:]
					}
					bytes := 0
					for _, s := range window {
						bytes += s.bytes
					}
					if bytes > 3_000_000 || len(window) > 3000 {
						t.Fatalf("%d bytes, %d messages within 3 s", bytes, len(window))
					}
				}
				if rate := float64(total*(size+messageOverhead)) / 20; name == "big messages" && rate < 700e3 {
					t.Errorf("only %.0f bytes/s pass", rate)
				}
			})
		})
	}
}

func TestPaceLetsAnInterruptedCellGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPace(false)
		p.spend("stream", 100_000_000)
		stop := make(chan struct{})
		close(stop)
		start := time.Now()
		p.wait(stop)
		if took := time.Since(start); took > longestWait {
			t.Errorf("waited %v", took)
		}
	})
}
