package charts

import (
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/view"
)

// Lag draws where consumers stand: for each partition that one of them reads, the log end and the high
// watermark of the leader, and the position of each consumer. The gap between a position and the high
// watermark is what the consumer may still read; records above it cannot be read yet. Without consumer
// ids it draws all of them. Two more panels sum up how many records each consumer is behind, and by how much
// time: how long the oldest record that it may read has been waiting.
func Lag(src view.Source, consumer ...string) *Picture {
	now, trace := look("Lag", src)
	names := consumersOf(now, consumer)
	l := &lagChart{trace: trace, names: names}
	l.appends()
	b := curveOver(trace, l.sample)
	spec := &CurveSpec{Title: "Lag of " + listing(names), YLabel: "offset", Panels: []Panel{}, Series: []Series{}}
	var alts []string
	omitted, panels := 0, map[int]int{}
	for i := range trace.Partitions {
		if !l.read(i) {
			continue
		}
		if len(spec.Panels) == maxCurvePanels {
			omitted++
			continue
		}
		panels[i] = len(spec.Panels)
		l.panel(spec, i)
		alts = append(alts, l.tell(b, i))
	}
	if omitted > 0 {
		spec.Title += fmt.Sprintf(" (%d of %d partitions)", maxCurvePanels, maxCurvePanels+omitted)
	}
	if len(spec.Panels) > 0 {
		alts = append(alts, l.behind(spec))
	}
	if len(spec.Panels) == 0 {
		spec.Panels, spec.Title = []Panel{{}}, spec.Title+": no position yet"
	}
	var topics []string
	for _, t := range now.Topics {
		topics = append(topics, t.Name)
	}
	spec.surround(trace, topics, panels)
	alt := fmt.Sprintf("Lag of %s between %s and %s. %s%s", listing(names), moment(spec.XMin), moment(spec.XMax), strings.Join(alts, " "), spec.tellBands())
	return newCurve(spec, max(90, 210-40*(len(spec.Panels)-1)), alt)
}

// consumersOf resolves consumer ids: all when none is given.
func consumersOf(now *view.Cluster, ids []string) []string {
	var known []string
	for _, c := range now.Consumers {
		known = append(known, c.ID)
	}
	for _, id := range ids {
		if !slices.Contains(known, id) {
			unknown("Lag", "consumer", id, known)
		}
	}
	if len(known) == 0 {
		wrong("charts.Lag: this cluster has no consumers yet; make one with NewConsumer, and let it Poll")
	}
	if len(ids) > 0 {
		return ids
	}
	return known
}

// lagChart collects the curves, by partition and by consumer.
type lagChart struct {
	trace     *view.Trace
	names     []string
	ends, hws []steps
	positions [][]steps

	records, millis []steps            // by consumer
	appended        map[int][][2]int64 // partition: (offset, µs) of the leader's appends
}

func (l *lagChart) sample(b *board, at int64) {
	if l.ends == nil {
		n := len(b.partitions)
		l.ends, l.hws, l.positions = make([]steps, n), make([]steps, n), make([][]steps, n)
		for i := range l.positions {
			l.positions[i] = make([]steps, len(l.names))
		}
	}
	for i := range b.partitions {
		if log := b.partitions[i].leaderLog(); log != nil {
			l.ends[i].add(at, log.end)
			l.hws[i].add(at, log.hw)
		}
	}
	for c := range b.clients {
		k := slices.Index(l.names, b.clients[c].id)
		if k < 0 {
			continue
		}
		for i, offset := range b.clients[c].positions {
			if offset >= 0 {
				l.positions[i][k].add(at, offset)
			}
		}
		l.sumUp(b, &b.clients[c], k, at)
	}
}

// read says whether one of the consumers ever had a position there.
func (l *lagChart) read(partition int) bool {
	if l.positions == nil {
		return false
	}
	return slices.ContainsFunc(l.positions[partition], func(s steps) bool { return len(s.points) > 0 })
}

// panel adds the panel of a partition. The colours of a name are the same in every panel.
func (l *lagChart) panel(spec *CurveSpec, i int) {
	k, to := len(spec.Panels), l.trace.To
	spec.Panels = append(spec.Panels, Panel{Label: clip(nameOf(l.trace, i))})
	add := func(name string, colour int, line string, s *steps) {
		if len(s.points) > 0 && len(spec.Series) < maxSeries {
			spec.Series = append(spec.Series, Series{Name: clip(name), Panel: k, Colour: colour, Line: line, Points: s.until(to)})
		}
	}
	add("log end", 5, LineDotted, &l.ends[i])
	add("high watermark", 0, LineDashed, &l.hws[i])
	others := []int{2, 3, 1, 4} // not the colours of the two above
	for c := range l.names {
		add("position of "+l.names[c], others[c%len(others)], LineSolid, &l.positions[i][c])
	}
}

func (l *lagChart) tell(b *board, i int) string {
	end, _ := l.ends[i].last()
	hw, _ := l.hws[i].last()
	text := fmt.Sprintf("%s: log end %d, high watermark %d", nameOf(l.trace, i), end, hw)
	for c, name := range l.names {
		if at, ok := l.positions[i][c].last(); ok {
			text += fmt.Sprintf(", %s at %d (%s behind the high watermark)", name, at, count(max(hw-at, 0), "record", "records"))
		}
	}
	return text + "."
}
