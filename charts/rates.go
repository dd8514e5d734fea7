package charts

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"kafkalab/kafkasim/view"
)

// maxBins is how many stretches of time a rate or a percentile is taken over, at most.
const maxBins = 60

// bins cuts the time of a trace into stretches of a round length.
type bins struct {
	from, width int64 // µs
	n           int
	to          int64
}

// binsOf chooses the bins from the first moment that counts to the end.
func binsOf(from, to int64) bins {
	width := int64(1000)
	for _, times := range []int64{2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 60_000, 300_000, 3_600_000} {
		if (to-from)/width < maxBins {
			break
		}
		width = times * 1000
	}
	for (to-from)/width >= 4*maxBins {
		width *= 10
	}
	from = from / width * width
	return bins{from, width, int(max(1, (to-from+width-1)/width)), to}
}

// length is how long a bin is: the last one ends with the trace.
func (b *bins) length(i int) int64 { return max(min(b.width, b.to-b.from-int64(i)*b.width), 1) }

// counts says whether a rate over the bin means anything: the last one may be a sliver.
func (b *bins) counts(i int) bool { return i == 0 || b.length(i) >= b.width/2 }

// rate is n in the i-th bin, by the second.
func (b *bins) rate(n int64, i int) float64 {
	return math.Round(float64(n) * 1e6 / float64(max(b.length(i), b.width/2)))
}

func (b *bins) of(at int64) int { return min(max(int((at-b.from)/b.width), 0), b.n-1) }

// startOf is when the story of a curve begins: the first change of one of these kinds.
func startOf(trace *view.Trace, kinds ...view.Kind) int64 {
	for i := range trace.Changes {
		if slices.Contains(kinds, trace.Changes[i].Kind) {
			return trace.Changes[i].At
		}
	}
	return trace.From
}

// Throughput draws how many records per second were handed to send(), acknowledged, failed and read, summed over
// all clients, for topics or, without names, for all of them.
func Throughput(src view.Source, topic ...string) *Picture {
	now, trace := look("Throughput", src)
	topics := topicsOf("Throughput", now, topic)
	in := func(c *view.Change) bool {
		return c.Partition < 0 && len(topic) == 0 || c.Partition >= 0 && c.Partition < len(trace.Partitions) && slices.Contains(topics, trace.Partitions[c.Partition].Topic)
	}
	b := binsOf(startOf(trace, view.Sent, view.Consumed), trace.To)
	rates := []rate{{"sent", 5, LineDotted, nil, 0}, {"acknowledged", 0, LineSolid, nil, 0}, {"read", 2, LineDashed, nil, 0}, {"failed", 3, LineSolid, nil, 0}}
	for i := range rates {
		rates[i].bins = make([]int64, b.n)
	}
	for i := range trace.Changes {
		if c := &trace.Changes[i]; in(c) {
			if k, n := countOf(c); k >= 0 {
				rates[k].bins[b.of(c.At)] += n
				rates[k].total += n
			}
		}
	}
	spec := &CurveSpec{Title: "Throughput, in steps of " + ms(b.width), YLabel: "records per second", Panels: []Panel{{}}, Series: []Series{}}
	var parts []string
	for i := range rates {
		if r := &rates[i]; r.total > 0 {
			spec.Series = append(spec.Series, Series{Name: r.name, Colour: r.colour, Line: r.line, Points: r.points(&b, trace.To)})
			parts = append(parts, fmt.Sprintf("%s %s, at most %s a second", count(r.total, "record", "records"), r.name, number(r.highest(&b))))
		}
	}
	spec.surround(trace, topics, nil)
	if len(parts) == 0 {
		return newCurve(spec, 210, fmt.Sprintf("Throughput: nothing was sent or read until %s.", ms(now.Now)))
	}
	return newCurve(spec, 210, fmt.Sprintf("Throughput between %s and %s: %s.%s", moment(spec.XMin), moment(spec.XMax), strings.Join(parts, "; "), spec.tellBands()))
}

// rate is one curve of a throughput.
type rate struct {
	name   string
	colour int
	line   string
	bins   []int64
	total  int64
}

// countOf says which curve a change counts for, and how many records.
func countOf(c *view.Change) (int, int64) {
	switch c.Kind {
	case view.Sent:
		return 0, c.A
	case view.Acked:
		return 1, c.B
	case view.Consumed:
		return 2, c.B - c.A
	case view.Failed:
		return 3, c.A
	}
	return -1, 0
}

func (r *rate) points(b *bins, to int64) [][2]float64 {
	s := &steps{}
	for i, n := range r.bins {
		if b.counts(i) {
			s.points = append(s.points, [2]float64{float64(b.from+int64(i)*b.width) / 1000, b.rate(n, i)})
		}
	}
	return s.until(to)
}

func (r *rate) highest(b *bins) float64 {
	most := 0.0
	for i, n := range r.bins {
		if b.counts(i) {
			most = max(most, b.rate(n, i))
		}
	}
	return most
}

// Latency draws how long records waited from send() to their acknowledgement: the median and the 99th
// percentile over stretches of time, in a panel for each setting of acks. Without ids it draws all producers.
func Latency(src view.Source, producer ...string) *Picture {
	now, trace := look("Latency", src)
	l := &latencies{trace: trace, acks: map[string]string{}}
	l.choose(now, producer)
	b := binsOf(startOf(trace, view.Acked), trace.To)
	l.collect(&b)
	spec := &CurveSpec{Title: "From send() to acknowledged, in steps of " + ms(b.width), YLabel: "ms", Panels: []Panel{}, Series: []Series{}}
	var parts []string
	highest := 0.0
	for _, acks := range l.settings() {
		k := len(spec.Panels)
		spec.Panels = append(spec.Panels, Panel{Label: "acks=" + acks})
		median, late := l.points(acks, &b, 0.5), l.points(acks, &b, 0.99)
		spec.Series = append(spec.Series, Series{Name: "median", Panel: k, Colour: 0, Line: LineSolid, Points: median},
			Series{Name: "99 % within", Panel: k, Colour: 5, Line: LineDashed, Points: late})
		for _, p := range late {
			highest = max(highest, p[1])
		}
		parts = append(parts, l.tell(acks))
	}
	for k := range spec.Panels {
		spec.Panels[k].YMax = math.Ceil(highest) // panels are compared: one scale
	}
	if len(spec.Panels) == 0 {
		spec.Panels = []Panel{{}}
	}
	spec.surround(trace, topicsOf("Latency", now, nil), nil)
	spec.Step = false
	if len(parts) == 0 {
		return newCurve(spec, 150, fmt.Sprintf("Latency: nothing was acknowledged until %s.", ms(now.Now)))
	}
	return newCurve(spec, max(90, 190-40*(len(spec.Panels)-1)), fmt.Sprintf("From send() to acknowledged between %s and %s. %s%s", moment(spec.XMin), moment(spec.XMax), strings.Join(parts, " "), spec.tellBands()))
}

// latencies are waits by setting of acks and by bin.
type latencies struct {
	trace *view.Trace
	acks  map[string]string // producer: its acks
	waits map[string][][]wait
}

// wait is how long the first record of a batch waited, and how many records the batch has.
type wait struct{ us, records int64 }

func (l *latencies) choose(now *view.Cluster, ids []string) {
	var known []string
	for i := range now.Producers {
		known = append(known, now.Producers[i].ID)
	}
	for _, id := range ids {
		if !slices.Contains(known, id) {
			unknown("Latency", "producer", id, known)
		}
	}
	if len(known) == 0 {
		wrong("charts.Latency: this cluster has no producers yet; make one with NewProducer, and let it send")
	}
	for i := range now.Producers {
		if p := &now.Producers[i]; len(ids) == 0 || slices.Contains(ids, p.ID) {
			l.acks[p.ID] = p.Acks
		}
	}
}

func (l *latencies) collect(b *bins) {
	l.waits = map[string][][]wait{}
	for i := range l.trace.Changes {
		c := &l.trace.Changes[i]
		acks, chosen := l.acks[c.Client]
		if c.Kind != view.Acked || !chosen {
			continue
		}
		if l.waits[acks] == nil {
			l.waits[acks] = make([][]wait, b.n)
		}
		k := b.of(c.At)
		l.waits[acks][k] = append(l.waits[acks][k], wait{c.C, c.B})
	}
}

// settings are the settings of acks that occur, weakest first.
func (l *latencies) settings() []string {
	var out []string
	for _, acks := range []string{"0", "1", "all"} {
		if l.waits[acks] != nil {
			out = append(out, acks)
		}
	}
	return out
}

// percentile is the smallest wait that this part of the records did not exceed (nearest rank), in µs.
func percentile(list []wait, part float64) int64 {
	slices.SortFunc(list, func(a, b wait) int { return cmp.Compare(a.us, b.us) })
	total := int64(0)
	for _, w := range list {
		total += w.records
	}
	rank, seen := int64(math.Ceil(part*float64(total))), int64(0)
	for _, w := range list {
		if seen += w.records; seen >= rank {
			return w.us
		}
	}
	return 0
}

func (l *latencies) points(acks string, b *bins, part float64) [][2]float64 {
	points := [][2]float64{}
	for i, list := range l.waits[acks] {
		if len(list) > 0 {
			middle := min(b.from+int64(i)*b.width+b.width/2, l.trace.To)
			points = append(points, [2]float64{float64(middle) / 1000, float64(percentile(list, part)) / 1000})
		}
	}
	return points
}

func (l *latencies) tell(acks string) string {
	var all []wait
	records := int64(0)
	for _, list := range l.waits[acks] {
		all = append(all, list...)
	}
	for _, w := range all {
		records += w.records
	}
	return fmt.Sprintf("acks=%s: %s, median %s, 99 %% within %s, the slowest %s.", acks, count(records, "record", "records"),
		ms(percentile(all, 0.5)), ms(percentile(all, 0.99)), ms(percentile(all, 1)))
}
