package charts

import (
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/view"
)

// How far consumers are behind, in records and in time.

// appends remembers when each offset of a partition was first written.
func (l *lagChart) appends() {
	l.appended = map[int][][2]int64{}
	for i := range l.trace.Changes {
		c := &l.trace.Changes[i]
		if c.Kind != view.Appended {
			continue
		}
		if list := l.appended[c.Partition]; len(list) == 0 || list[len(list)-1][0] < c.A {
			l.appended[c.Partition] = append(list, [2]int64{c.A, c.At})
		}
	}
	l.records, l.millis = make([]steps, len(l.readers)), make([]steps, len(l.readers))
}

// writtenAt is when the record at an offset was written, -1 when that is not known.
func (l *lagChart) writtenAt(partition int, offset int64) int64 {
	list := l.appended[partition]
	at, found := slices.BinarySearchFunc(list, offset, func(e [2]int64, o int64) int { return int(min(max(e[0]-o, -1), 1)) })
	if !found {
		at--
	}
	if at < 0 {
		return -1
	}
	return list[at][1]
}

// sumUp adds a moment to the two curves of a reader.
func (l *lagChart) sumUp(b *board, client *boardClient, k int, at int64) {
	behind, oldest, reads := int64(0), at, false
	for i, position := range client.positions {
		log := b.partitions[i].leaderLog()
		if position < 0 || log == nil {
			continue
		}
		reads = true
		if log.hw > position {
			behind += log.hw - position
			if written := l.writtenAt(i, position); written >= 0 {
				oldest = min(oldest, written)
			}
		}
	}
	if reads {
		l.records[k].add(at, behind)
		l.millis[k].add(at, (at-oldest)/1000)
	}
}

// behind adds the two panels and tells them.
func (l *lagChart) behind(spec *CurveSpec) string {
	others := []int{2, 3, 1, 4}
	var parts []string
	for what, curves := range [][]steps{l.records, l.millis} {
		k := len(spec.Panels)
		spec.Panels = append(spec.Panels, Panel{Label: [...]string{"records behind the high watermark", "ms that the oldest unread waits"}[what]})
		for c := range l.readers {
			if s := &curves[c]; len(s.points) > 0 && len(spec.Series) < maxSeries {
				spec.Series = append(spec.Series, Series{Name: clip(l.readers[c].curve()), Panel: k, Colour: others[c%len(others)], Line: LineSolid, Points: s.until(l.trace.To)})
			}
		}
	}
	for c, r := range l.readers {
		if records, ok := l.records[c].last(); ok {
			most, late := highestOf(&l.records[c]), highestOf(&l.millis[c])
			parts = append(parts, fmt.Sprintf("%s is %s behind at the end, at most %d and %s ms", r.name, count(records, "record", "records"), most, number(float64(late))))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "In all, " + strings.Join(parts, "; ") + "."
}

func highestOf(s *steps) int64 {
	most := 0.0
	for _, p := range s.points {
		most = max(most, p[1])
	}
	return int64(most)
}
