package echarts

import (
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// garbageRoom is how many bytes of garbage a drawing may leave beside what the collector allows anyway. ECharts makes
// 10 to 30 MB of short-lived objects for a picture, and every collection meanwhile walks over the 15 MB of the library:
// a third of the time.
const garbageRoom = 64 << 20

// lenient counts the drawings under way: the first changes the collector's setting, the last puts it back.
var lenient struct {
	sync.Mutex
	drawings, before int
}

// letGarbageLie gives the collector more room and returns what takes it back.
func letGarbageLie() (end func()) {
	l := &lenient
	l.Lock()
	defer l.Unlock()
	if l.drawings++; l.drawings == 1 {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		live := int(max(sample[0].Value.Uint64(), 4<<20))     // at the least the heap that a program starts with
		if l.before = debug.SetGCPercent(-1); l.before >= 0 { // else it is off: the limit of the memory alone rules
			debug.SetGCPercent(l.before + garbageRoom/(live/100))
		}
	}
	return func() {
		l.Lock()
		defer l.Unlock()
		if l.drawings--; l.drawings == 0 {
			debug.SetGCPercent(l.before)
		}
	}
}
