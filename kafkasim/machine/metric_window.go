package machine

// SampledStat: the numbers of the last half minute or so, as Kafka's metrics keep them.
//
// Values are counted in a sample for metrics.sample.window.ms; then the next one begins, and of the oldest nothing is
// left. What is told is what the samples say that have had a value within the last metrics.num.samples windows: so an
// average looks back over at least that time while values keep coming, and there is none when they have stopped.
//
// Kafka: SampledStat, Avg, Max. Simplified: looking at a metric forgets nothing; the two properties have their defaults.

// The defaults of metrics.sample.window.ms, in µs, and of metrics.num.samples.
const (
	sampleWindow = 30_000_000
	sampleCount  = 2
)

// Sample is what one window has had.
type Sample struct {
	Start, Last     int64 // µs: when it began, and its last value
	Count, Sum, Max int64
}

// SampledStat is the last windows; one more than count, for the one that overlaps the time that is looked at.
type SampledStat struct {
	Samples [sampleCount + 1]Sample
	Current int8
}

// record counts a value.
func (x *SampledStat) record(value, now int64) {
	s := &x.Samples[x.Current]
	if s.Count > 0 && now-s.Start >= sampleWindow {
		x.Current = (x.Current + 1) % int8(len(x.Samples))
		s = &x.Samples[x.Current]
		*s = Sample{}
	}
	if s.Count == 0 {
		s.Start = now
	}
	s.Last = now
	s.Count++
	s.Sum += value
	s.Max = max(s.Max, value)
}

// Over is what the samples say at a time: how many values, their sum and the largest.
func (x *SampledStat) Over(now int64) (count, sum, most int64) {
	for i := range x.Samples {
		if s := &x.Samples[i]; s.Count > 0 && now-s.Last < sampleCount*sampleWindow {
			count, sum, most = count+s.Count, sum+s.Sum, max(most, s.Max)
		}
	}
	return count, sum, most
}
