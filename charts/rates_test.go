package charts

import (
	"encoding/json"
	"strings"
	"testing"
)

// curveOf reads a picture's curves back.
func curveOf(t *testing.T, p *Picture) *CurveSpec {
	t.Helper()
	data, err := json.Marshal(p.Envelope())
	if err != nil {
		t.Fatal(err)
	}
	_, spec, err := ParseEnvelope(data)
	if err != nil {
		t.Fatal(err)
	}
	return spec.(*CurveSpec)
}

func (s *CurveSpec) named(t *testing.T, name string, panel int) *Series {
	t.Helper()
	for i := range s.Series {
		if s.Series[i].Name == name && s.Series[i].Panel == panel {
			return &s.Series[i]
		}
	}
	t.Fatalf("no curve %q in panel %d", name, panel)
	return nil
}

// Every record counts once: rate times time adds up to what was sent, acknowledged and read.
func TestThroughputAddsUp(t *testing.T) {
	s := curveOf(t, Throughput(leaderCrash(60)))
	for name, want := range map[string]float64{"sent": 8, "acknowledged": 8, "read": 5} {
		sum, points := 0.0, s.named(t, name, 0).Points
		for i := 1; i < len(points); i++ {
			sum += points[i-1][1] * (points[i][0] - points[i-1][0]) / 1000
		}
		if sum < want-0.01 || sum > want+0.01 {
			t.Errorf("%s adds up to %v records, want %v: %v", name, sum, want, points)
		}
	}
	if p := Throughput(newWorld(1)); !strings.Contains(p.String(), "nothing was sent or read") || len(curveOf(t, p).Series) != 0 {
		t.Errorf("an empty cluster: %s", p)
	}
}

func TestPercentilesAreNearestRanksOfRecords(t *testing.T) {
	list := []wait{{30, 1}, {10, 98}, {20, 1}}
	for part, want := range map[float64]int64{0.5: 10, 0.98: 10, 0.99: 20, 1: 30} {
		if got := percentile(list, part); got != want {
			t.Errorf("percentile %v is %d, want %d", part, got, want)
		}
	}
}

// Each setting of acks has its panel, on one scale, and only the producers that were asked for count.
func TestLatencyComparesSettingsOfAcks(t *testing.T) {
	w := leaderCrash(60)
	w.producer("slow", "all").Pending = 0
	w.at(61).send("slow", 1, 1)
	w.producer("slow", "all").Acks = "all"
	w.at(64).ack("slow", 1, 2, 1, 0)
	s := curveOf(t, Latency(w))
	if len(s.Panels) != 2 || s.Panels[0].Label != "acks=1" || s.Panels[1].Label != "acks=all" || s.Panels[0].YMax != s.Panels[1].YMax {
		t.Errorf("panels %+v", s.Panels)
	}
	if p := s.named(t, "median", 1).Points; len(p) != 1 || p[0][1] != 2 {
		t.Errorf("the median of acks=all is %v, want one point at 2 ms", p)
	}
	if s = curveOf(t, Latency(w, "slow")); len(s.Panels) != 1 {
		t.Errorf("one producer has one panel: %+v", s.Panels)
	}
	refused(t, `charts.Latency: no producer "slo" - did you mean "slow"?`, func() { Latency(w, "slo") })
	refused(t, "charts.Latency: this cluster has no producers yet; make one with NewProducer, and let it send", func() { Latency(newWorld(1)) })
}

// Two runs share scale and axis; a fault that both have is marked once.
func TestCompareMarksFaultsOfBothRunsOnce(t *testing.T) {
	a, b := leaderCrash(60), leaderCrash(60)
	b.at(70).crash(3)
	b.at(80)
	s := curveOf(t, Compare(a, b))
	var labels []string
	for _, m := range s.Marks {
		labels = append(labels, m.Label)
	}
	text := strings.Join(labels, "|")
	if strings.Count(text, "broker 1 crashes") != 1 || !strings.Contains(text, "second: broker 3 crashes") {
		t.Errorf("the marks are %s", text)
	}
	if s.Panels[0].YMax != s.Panels[1].YMax || s.XMax != 80 || s.Panels[0].Label != "first run" {
		t.Errorf("panels %+v until %v", s.Panels, s.XMax)
	}
	if last := s.named(t, "acknowledged, then lost", 0).Points; last[len(last)-1][1] != 2 {
		t.Errorf("lost: %v, want 2", last)
	}
	refused(t, "charts.Compare: 1 names; want one for each of the two runs, or none", func() { Compare(a, b, "x") })
}

// The lag in records is what the positions say, and in time the age of the oldest unread record.
func TestLagInRecordsAndTime(t *testing.T) {
	w := leaderCrash(60)
	s := curveOf(t, Lag(w, "reader"))
	records, millis := s.named(t, "position of reader", len(s.Panels)-2).Points, s.named(t, "position of reader", len(s.Panels)-1).Points
	if last := records[len(records)-1]; last[1] != 1 {
		t.Errorf("at the end the reader has one record to read: %v", records)
	}
	if last := millis[len(millis)-1]; last[1] != 39 { // offset 1 of orders-1 was written at 13 ms, the last change is at 52 ms
		t.Errorf("it has waited since 13 ms: %v", millis)
	}
}

// refused expects a UsageError with this text.
func refused(t *testing.T, want string, call func()) {
	t.Helper()
	if got := usage(call); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The text of a high watermark says where it stopped, for how long, and what was wrong.
func TestHighWatermarkTellsWhereItStopped(t *testing.T) {
	want := "orders-0 stopped at 3 from 17 ms to 36 ms, while it was without a leader and broker 1 was down."
	if alt := HighWatermark(leaderCrash(60)).String(); !strings.Contains(alt, want) || strings.Contains(alt, "orders-1 stopped") {
		t.Errorf("want %q, and nothing of orders-1, in %s", want, alt)
	}
}
