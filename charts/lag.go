package charts

import (
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/view"
)

// Lag draws where consumers stand: for each partition that one of them reads, the log end and the high
// watermark of the leader, and the position of each consumer. The gap between a position and the high
// watermark is what the consumer may still read; records above it cannot be read yet. A name may also be that of a
// consumer group: then its committed offsets are drawn, from which kafka-consumer-groups.sh computes its lag. Without
// names it draws all consumers. Two more panels sum up how many records each one is behind, and by how much
// time: how long the oldest record that it may read has been waiting.
func Lag(src view.Source, consumerOrGroup ...string) *Picture {
	now, trace := look("Lag", src)
	readers := readersOf(now, consumerOrGroup)
	names := make([]string, len(readers))
	for i, r := range readers {
		names[i] = r.name
	}
	l := &lagChart{trace: trace, readers: readers}
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
		alts = append(alts, "Nobody has a position yet.")
	}
	var topics []string
	for _, t := range now.Topics {
		topics = append(topics, t.Name)
	}
	spec.surround(trace, topics, panels)
	alt := fmt.Sprintf("Lag of %s between %s and %s. %s%s", listing(names), moment(spec.XMin), moment(spec.XMax), strings.Join(alts, " "), spec.tellBands())
	return newCurve(spec, max(90, 210-40*(len(spec.Panels)-1)), alt)
}

// reader is whose lag is drawn: a consumer by its position, or a group by its committed offsets.
type reader struct {
	name  string
	group bool
}

// curve names the curve of a reader.
func (r reader) curve() string {
	if r.group {
		return "committed by " + r.name
	}
	return "position of " + r.name
}

// readersOf resolves names: of consumers, or else of groups; all consumers when none is given.
func readersOf(now *view.Cluster, names []string) []reader {
	var consumers, groups []string
	for _, c := range now.Consumers {
		consumers = append(consumers, c.ID)
	}
	for i := range now.Groups {
		groups = append(groups, now.Groups[i].ID)
	}
	if len(consumers)+len(groups) == 0 {
		wrong("charts.Lag: this cluster has no consumers yet; make one with NewConsumer, and let it Poll")
	}
	if len(names) == 0 {
		names = consumers
	}
	var readers []reader
	for _, name := range names {
		isConsumer := slices.Contains(consumers, name)
		if !isConsumer && !slices.Contains(groups, name) {
			unknown("Lag", "consumer or group", name, append(consumers, groups...))
		}
		readers = append(readers, reader{name, !isConsumer})
	}
	return readers
}

// lagChart collects the curves, by partition and by reader.
type lagChart struct {
	trace     *view.Trace
	readers   []reader
	ends, hws []steps
	positions [][]steps

	records, millis []steps            // by reader
	appended        map[int][][2]int64 // partition: (offset, µs) of the leader's appends
}

func (l *lagChart) sample(b *board, at int64) {
	if l.ends == nil {
		n := len(b.partitions)
		l.ends, l.hws, l.positions = make([]steps, n), make([]steps, n), make([][]steps, n)
		for i := range l.positions {
			l.positions[i] = make([]steps, len(l.readers))
		}
	}
	for i := range b.partitions {
		if log := b.partitions[i].leaderLog(); log != nil {
			l.ends[i].add(at, log.end)
			l.hws[i].add(at, log.hw)
		}
	}
	for k, r := range l.readers {
		find := b.client
		if r.group {
			find = b.group
		}
		stands := find(r.name)
		for i, offset := range stands.positions {
			if offset >= 0 {
				l.positions[i][k].add(at, offset)
			}
		}
		l.sumUp(b, stands, k, at)
	}
}

// read says whether one of the readers ever had a position there.
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
	for c := range l.readers {
		add(l.readers[c].curve(), others[c%len(others)], LineSolid, &l.positions[i][c])
	}
}

func (l *lagChart) tell(b *board, i int) string {
	end, _ := l.ends[i].last()
	hw, _ := l.hws[i].last()
	text := fmt.Sprintf("%s: log end %d, high watermark %d", nameOf(l.trace, i), end, hw)
	for c, r := range l.readers {
		if at, ok := l.positions[i][c].last(); ok {
			verb := "at"
			if r.group {
				verb = "committed"
			}
			text += fmt.Sprintf(", %s %s %d (%s behind the high watermark)", r.name, verb, at, count(max(hw-at, 0), "record", "records"))
		}
	}
	return text + "."
}
