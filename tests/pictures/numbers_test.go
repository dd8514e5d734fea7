package pictures

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	gocharts "github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"

	"kafkalab/charts"
	"kafkalab/kafkasim"
	"kafkalab/kafkasim/view"
)

// Every number in a picture is the view's: what travels is read back and compared, for every picture function.

func specOf[S any](t *testing.T, p *charts.Picture) *S {
	t.Helper()
	var s S
	if err := json.Unmarshal([]byte(p.Envelope().Spec), &s); err != nil {
		t.Fatal(err)
	}
	return &s
}

// last are the shapes of a drawing's last frame.
func last(t *testing.T, p *charts.Picture) []charts.Shape {
	t.Helper()
	s := specOf[charts.DrawingSpec](t, p)
	there := map[int]bool{}
	for _, f := range s.Frames {
		for _, i := range f.Drop {
			delete(there, i)
		}
		for _, i := range f.Add {
			there[i] = true
		}
	}
	var out []charts.Shape
	for i := range s.Shapes {
		if there[i] {
			out = append(out, s.Shapes[i])
		}
	}
	return out
}

// says wants a text that stands in the picture at least so often.
func says(t *testing.T, where string, shapes []charts.Shape, text string, times int) {
	t.Helper()
	n := 0
	for i := range shapes {
		if shapes[i].Text == text {
			n++
		}
	}
	if n < times {
		t.Errorf("%s says %q %d times, want %d", where, text, n, times)
	}
}

func tips(shapes []charts.Shape, pattern string) (out [][]string) {
	wanted := regexp.MustCompile(pattern)
	for i := range shapes {
		if m := wanted.FindStringSubmatch(shapes[i].Tip); m != nil {
			out = append(out, m)
		}
	}
	return out
}

// ofAllSizes are clusters of all sizes.
func ofAllSizes() map[string]*kafkasim.Cluster {
	return map[string]*kafkasim.Cluster{"leader crash": leaderCrash(), "empty": empty(), "one record": oneRecord(), "crowded": crowded(), "widget": widgetStory(), "steady": steady("all")}
}

func ms(at int64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.3f", float64(at)/1000), "0"), ".") + " ms"
}

func TestClusterAndReplayHaveTheViewsNumbers(t *testing.T) {
	for name, c := range ofAllSizes() {
		now := c.View()
		for kind, p := range map[string]*charts.Picture{"cluster": charts.Cluster(c), "replay": charts.Replay(c)} {
			s := specOf[charts.ReplaySpec](t, p)
			states := make([]string, len(s.Brokers))
			parts := make([]charts.PartitionDelta, len(s.Partitions))
			logs := make([]charts.LogDelta, len(s.Replicas))
			for _, f := range s.Frames {
				for _, d := range f.Brokers {
					states[d.Broker] = d.State
				}
				for _, d := range f.Partitions {
					parts[d.Partition] = d
				}
				for _, d := range f.Logs {
					logs[d.Replica] = d
				}
			}
			for i, id := range s.Brokers {
				b := now.Brokers[slices.IndexFunc(now.Brokers, func(b view.Broker) bool { return b.ID == id })]
				if down := states[i] == charts.BrokerDown; down != (b.State == "CRASHED" || b.State == "NOT_RUNNING") {
					t.Errorf("%s of %s: broker %d is %s, the view has %s", kind, name, id, states[i], b.State)
				}
			}
			seen := 0
			for i, place := range s.Replicas {
				part, log := parts[place.Partition], logs[i]
				v := partitionNamed(now, s.Partitions[place.Partition])
				if part.Leader != v.Leader || part.Epoch != v.LeaderEpoch || !slices.Equal(part.ISR, v.ISR) {
					t.Errorf("%s of %s: %s has leader %d, epoch %d, ISR %v, the view %d, %d, %v", kind, name, s.Partitions[place.Partition], part.Leader, part.Epoch, part.ISR, v.Leader, v.LeaderEpoch, v.ISR)
				}
				r := v.Logs[slices.IndexFunc(v.Logs, func(r view.Replica) bool { return r.Broker == s.Brokers[place.Broker] })]
				if log.Start != r.LogStartOffset || log.End != r.LogEndOffset || log.HW != r.HighWatermark || log.Role != r.Role {
					t.Errorf("%s of %s: %s on broker %d is %+v, the view has %d to %d, hw %d, %s", kind, name, s.Partitions[place.Partition], r.Broker, log, r.LogStartOffset, r.LogEndOffset, r.HighWatermark, r.Role)
				}
				seen++
			}
			if want := name != "empty"; (seen > 0) != want {
				t.Errorf("%s of %s shows %d replicas", kind, name, seen)
			}
		}
	}
}

func partitionNamed(now *view.Cluster, name string) *view.Partition {
	for i := range now.Topics {
		for k := range now.Topics[i].Partitions {
			if p := &now.Topics[i].Partitions[k]; fmt.Sprintf("%s-%d", p.Topic, p.ID) == name {
				return p
			}
		}
	}
	return &view.Partition{}
}

func TestLogHasTheViewsNumbers(t *testing.T) {
	for name, c := range ofAllSizes() {
		for _, topic := range c.View().Topics {
			for _, p := range topic.Partitions[:min(len(topic.Partitions), 3)] {
				shapes := last(t, charts.Log(c, topic.Name, p.ID))
				cells := tips(shapes, `^offset (\d+), epoch (\d+): `)
				shown := 0
				for _, r := range p.Logs {
					numbers := fmt.Sprintf("log start %d · high watermark %d · log end %d", r.LogStartOffset, r.HighWatermark, r.LogEndOffset)
					if r.LastStable > 0 && r.LastStable < r.HighWatermark {
						numbers = fmt.Sprintf("last stable offset %d · ", r.LastStable) + numbers
					}
					says(t, name, shapes, numbers, 1)
					shown += min(len(r.Records), 40)
				}
				if len(cells) < min(shown, 20) {
					t.Errorf("%s: %s-%d shows %d records, the view has %d", name, topic.Name, p.ID, len(cells), shown)
				}
				for _, cell := range cells {
					if !slices.ContainsFunc(p.Logs, func(r view.Replica) bool {
						return slices.ContainsFunc(r.Records, func(x view.Record) bool {
							return fmt.Sprint(x.Offset) == cell[1] && fmt.Sprint(x.LeaderEpoch) == cell[2]
						})
					}) {
						t.Errorf("%s: %s-%d shows offset %s of epoch %s, which no log has", name, topic.Name, p.ID, cell[1], cell[2])
					}
				}
			}
		}
	}
}

func TestPageAndWidgetHaveTheViewsNumbers(t *testing.T) {
	for name, c := range ofAllSizes() {
		now := c.View()
		if len(now.Topics) == 0 {
			continue
		}
		sent, acked, lost := 0, 0, 0
		for _, p := range now.Producers {
			sent, acked, lost = sent+p.Pending+p.Acked+p.Failed, acked+p.Acked, lost+p.LostAcks
		}
		page, widget := last(t, charts.Page(c)), last(t, charts.Widget(c))
		for text, n := range map[string]int{"records sent": sent, "acknowledged": acked, "acknowledged, then lost": lost} {
			at := slices.IndexFunc(page, func(s charts.Shape) bool { return s.Text == text && s.Anchor == "middle" })
			if at < 0 || !slices.ContainsFunc(page, func(s charts.Shape) bool { return s.Text == fmt.Sprint(n) && s.X == page[at].X && s.Y == page[at].Y-15 }) {
				t.Errorf("page of %s: the counter %q is not %d", name, text, n)
			}
		}
		for i, p := range now.Topics[0].Partitions[:min(len(now.Topics[0].Partitions), 4)] {
			for _, r := range p.Logs {
				numbers := fmt.Sprintf("hw %d · leo %d", r.HighWatermark, r.LogEndOffset)
				says(t, "page of "+name, page, numbers, 1)
				if i == 0 {
					says(t, "widget of "+name, widget, numbers, 1)
				}
			}
		}
		for _, x := range now.Consumers {
			for _, at := range x.Positions {
				if want := fmt.Sprintf("P%d at %d", at.Partition, at.Offset); len(now.Topics) == 1 && at.Partition < 2 && at.Offset >= 0 && !slices.ContainsFunc(page, func(s charts.Shape) bool { return strings.Contains(s.Text, want) }) {
					t.Errorf("page of %s: %s is not at %q", name, x.ID, want)
				}
			}
		}
	}
}

func TestStorageAndBatchesHaveTheViewsNumbers(t *testing.T) {
	c := segments()
	p := c.View().Topics[0].Partitions[0]
	files := tips(last(t, charts.Segments(c, "orders", 0)), `^(\d+)\.log(?: \(active\))?: offsets \d+ to \d+, (\d+) records?, (\d+) bytes?`)
	var got, want []string
	for _, f := range files {
		got = append(got, fmt.Sprintf("%s %s %s", strings.TrimLeft(f[1], "0"), f[2], f[3]))
	}
	for _, r := range p.Logs {
		for _, s := range r.Segments {
			want = append(want, fmt.Sprintf("%s %d %d", strings.TrimLeft(fmt.Sprintf("%020d", s.BaseOffset), "0"), s.Records, s.Bytes))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	want = slices.Compact(want) // equal files are one shape only when they lie on each other
	if got = slices.Compact(got); !slices.Equal(got, want) || len(got) < 3 {
		t.Errorf("segments are %v\nthe view has %v", got, want)
	}

	b := filling()
	producer := b.View().Producers[0]
	batches := tips(last(t, charts.Batches(b)), `^(\S+), ([a-z ]+): (\d+) records?, `)
	got, want = nil, nil
	for _, x := range batches {
		got = append(got, strings.Join(x[1:], " "))
	}
	for _, x := range producer.Batches {
		n := len(x.Records)
		if x.State == view.BatchInFlight {
			n = min(n, 4) // of one on its way four are drawn, and how many more
		}
		want = append(want, fmt.Sprintf("%s-%d %s %d", x.Topic, x.Partition, x.State, n))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || len(got) < 3 {
		t.Errorf("batches are %v\nthe view has %v", got, want)
	}
}

func TestQuorumHasTheViewsNumbers(t *testing.T) {
	for _, c := range []*kafkasim.Cluster{elections(), crowded(), empty()} {
		shapes := last(t, charts.Quorum(c))
		for _, x := range c.View().Controllers {
			says(t, "quorum", shapes, fmt.Sprintf("high watermark %d · log end %d", x.HighWatermark, x.LogEndOffset), 1)
		}
	}
}

func TestAssignmentHasTheViewsNumbers(t *testing.T) {
	for name, c := range map[string]*kafkasim.Cluster{"classic": scaling(), "consumer protocol": reconciling()} {
		now := c.View()
		shapes := last(t, charts.Assignment(c, "shop"))
		g := now.Groups[slices.IndexFunc(now.Groups, func(g view.Group) bool { return g.ID == "shop" })]
		held := map[string]string{}
		for _, m := range tips(shapes, `^(\S+) has (\S+) from .* to `+regexp.QuoteMeta(ms(now.Now))+`, (?:generation|epoch) (\d+)$`) {
			held[m[2]] = m[1]
		}
		n := 0
		for _, m := range g.Members {
			for _, p := range m.Partitions {
				n++
				if at := fmt.Sprintf("%s-%d", p.Topic, p.Partition); held[at] != m.ClientID {
					t.Errorf("%s: %s is drawn as %q's, the view gives it to %s", name, at, held[at], m.ClientID)
				}
			}
		}
		if n != len(held) || n < 3 {
			t.Errorf("%s: %d partitions are drawn with an owner, the view has %d: %v", name, len(held), n, held)
		}
		for _, o := range g.Offsets {
			if o.Committed >= 0 {
				says(t, name, shapes, fmt.Sprintf("at %d, lag %d", o.Committed, o.Lag), 1)
			}
		}
		if gaps := tips(shapes, `^nobody has (\S+) from`); g.Modern && len(gaps) == 0 {
			t.Errorf("%s: a reconciliation without a moment in which nobody has a partition", name)
		}
	}
}

func TestShareGroupHasTheViewsNumbers(t *testing.T) {
	c := sharing()
	g := c.View().ShareGroups[0]
	shapes := last(t, charts.ShareGroup(c))
	var got, want []string
	for _, m := range tips(shapes, `^offset (\d+): ([A-Z]\w+)(?: by (\S+))?, delivered (\d+) times?`) {
		got = append(got, strings.Join(m[1:], " "))
	}
	seen := map[string]bool{}
	for _, p := range g.Partitions {
		says(t, "share group", shapes, fmt.Sprintf("start %d · end %d · high watermark %d", p.Start, p.End, p.HighWatermark), 1)
		for _, r := range p.Records {
			want = append(want, fmt.Sprintf("%d %s %s %d", r.Offset, r.State, r.Member, r.DeliveryCount))
			seen[fmt.Sprint(r.State, r.DeliveryCount)] = true
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || !seen["Acquired1"] || !seen["Acquired2"] || !seen["Acknowledged1"] || !seen["Archived1"] {
		t.Errorf("records are %v\nthe view has %v", got, want)
	}
	for _, m := range g.Members {
		n := 0
		for i := range g.Partitions {
			n += g.Partitions[i].Acquired(m.ClientID)
		}
		says(t, "share group", shapes, fmt.Sprintf("%s: %d acquired, 1 partition", m.ClientID, n), 1)
	}
}

func TestTransactionHasTheViewsNumbers(t *testing.T) {
	c := transactions()
	now := c.View()
	x := now.Txns[0]
	shapes := last(t, charts.Transaction(c))
	states := tips(shapes, fmt.Sprintf(`^%s, producer epoch %d, from .* to %s$`, x.State, x.ProducerEpoch, regexp.QuoteMeta(ms(now.Now))))
	if len(states) != 1 {
		t.Errorf("the coordinator's state %s, epoch %d is drawn %d times", x.State, x.ProducerEpoch, len(states))
	}
	open := tips(shapes, `^a transaction is open in (\S+) from (\S+ ms) to (\S+ ms)$`)
	if len(open) != len(x.Partitions) || len(open) == 0 {
		t.Errorf("open in %v, the view has %v", open, x.Partitions)
	}
	for _, p := range now.Topics[0].Partitions {
		leader := p.Logs[slices.IndexFunc(p.Logs, func(r view.Replica) bool { return r.Broker == p.Leader })]
		moves := tips(shapes, `^the last stable offset is (\d+) from`)
		if !slices.ContainsFunc(moves, func(m []string) bool { return m[1] == fmt.Sprint(leader.LastStable) }) {
			t.Errorf("no last stable offset %d in %v", leader.LastStable, moves)
		}
	}
}

func TestMessagesHaveTheWiresNumbers(t *testing.T) {
	c := leaderCrash()
	from, to := 20*time.Millisecond, 60*time.Millisecond
	shapes := last(t, charts.Messages(c, charts.Filter{From: from, To: to}))
	drawn := map[string]string{}
	for _, m := range tips(shapes, `^#(\d+), (.+) to (.+), sent at (\S+ ms): .*; (.+)$`) {
		drawn[m[1]] = strings.Join(m[2:], "|")
	}
	n := 0
	for _, f := range c.Flights(from.Microseconds(), to.Microseconds()).Flights {
		if f.Housekeeping || f.Sent < from.Microseconds() {
			continue
		}
		n++
		end := map[view.Fate]string{view.FateDelivered: "arrived at " + ms(f.Ended), view.FateDropped: "dropped at " + ms(f.Ended), view.FateDead: "came to a dead process at " + ms(f.Ended), view.FateHeld: "held", view.FateInFlight: "still on the wire"}[f.Fate]
		if f.Ended > to.Microseconds() && f.Fate == view.FateDelivered {
			end = "still on the wire"
		}
		if want := strings.Join([]string{f.From, f.To, ms(f.Sent), end}, "|"); drawn[fmt.Sprint(f.Number)] != want {
			t.Errorf("message %d is drawn as %q, the wire had %q", f.Number, drawn[fmt.Sprint(f.Number)], want)
		}
	}
	if n < 8 || len(drawn) < n {
		t.Errorf("%d messages are drawn of %d", len(drawn), n)
	}
}

// end is the last value of a curve.
func end(t *testing.T, s *charts.CurveSpec, name string, panel int) float64 {
	t.Helper()
	for _, x := range s.Series {
		if x.Name == name && x.Panel == panel && len(x.Points) > 0 {
			return x.Points[len(x.Points)-1][1]
		}
	}
	t.Errorf("no curve %q in panel %d", name, panel)
	return math.NaN()
}

func TestCurvesEndAtTheViewsNumbers(t *testing.T) {
	c := steady("all")
	now := c.View()
	hw, isr := specOf[charts.CurveSpec](t, charts.HighWatermark(c)), specOf[charts.CurveSpec](t, charts.ISRSize(c))
	for i, p := range now.Topics[0].Partitions {
		name := fmt.Sprintf("orders-%d", p.ID)
		if got := end(t, hw, name, 0); got != float64(p.HighWatermark) {
			t.Errorf("the high watermark of %s ends at %v, the view has %d", name, got, p.HighWatermark)
		}
		if got := end(t, isr, isr.Series[i].Name, i); got != float64(len(p.ISR)) || isr.Refs[i].Y != float64(p.MinISR) {
			t.Errorf("the ISR of %s ends at %v with minimum %v, the view has %v and %d", name, got, isr.Refs[i].Y, p.ISR, p.MinISR)
		}
	}

	r := reading()
	now = r.View()
	lag := specOf[charts.CurveSpec](t, charts.Lag(r))
	behind := 0.0
	for i, p := range now.Topics[0].Partitions {
		at := now.Consumers[0].Positions[slices.IndexFunc(now.Consumers[0].Positions, func(x view.Position) bool { return x.Partition == p.ID })].Offset
		for name, want := range map[string]int64{"log end": p.LogEndOffset, "high watermark": p.HighWatermark, "position of warehouse": at} {
			if got := end(t, lag, name, i); got != float64(want) {
				t.Errorf("%s of %d ends at %v, the view has %d", name, p.ID, got, want)
			}
		}
		behind += float64(p.HighWatermark - at)
	}
	if got := end(t, lag, "position of warehouse", len(now.Topics[0].Partitions)); got != behind {
		t.Errorf("warehouse is drawn %v records behind, the view has %v", got, behind)
	}
}

func TestRatesAddUpToTheViewsNumbers(t *testing.T) {
	c := steady("all")
	p := c.View().Producers[0]
	s := specOf[charts.CurveSpec](t, charts.Throughput(c))
	for name, want := range map[string]int{"sent": p.Pending + p.Acked + p.Failed, "acknowledged": p.Acked} {
		at := slices.IndexFunc(s.Series, func(x charts.Series) bool { return x.Name == name })
		sum, points := 0.0, s.Series[at].Points
		for i := 1; i < len(points); i++ {
			sum += points[i-1][1] * (points[i][0] - points[i-1][0]) / 1000
		}
		if math.Abs(sum-float64(want)) > 0.01*float64(want) {
			t.Errorf("%s adds up to %v records, the view has %d", name, sum, want)
		}
	}

	slowest := int64(0)
	for _, x := range c.Trace().Changes {
		if x.Kind == view.Acked {
			slowest = max(slowest, x.C)
		}
	}
	if alt := charts.Latency(c).String(); !strings.Contains(alt, fmt.Sprintf("acks=all: %d records", p.Acked)) || !strings.Contains(alt, "the slowest "+ms(slowest)) {
		t.Errorf("%d records were acknowledged, the slowest after %s: %s", p.Acked, ms(slowest), alt)
	}
	for _, x := range specOf[charts.CurveSpec](t, charts.Latency(c)).Series {
		for _, point := range x.Points {
			if point[1] > float64(slowest)/1000 {
				t.Errorf("%s is %v, the slowest took %s", x.Name, point, ms(slowest))
			}
		}
	}

	both := specOf[charts.CurveSpec](t, charts.Compare(widgetRun("1"), widgetRun("all")))
	for panel, acks := range []string{"1", "all"} {
		run := widgetRun(acks).View()
		p := run.Producers[0]
		for name, want := range map[string]int{"sent": p.Pending + p.Acked + p.Failed, "acknowledged": p.Acked} {
			if got := end(t, both, name, panel); got != float64(want) {
				t.Errorf("acks=%s: %s ends at %v, the view has %d", acks, name, got, want)
			}
		}
		if p.LostAcks > 0 {
			if got := end(t, both, "acknowledged, then lost", panel); got != float64(p.LostAcks) {
				t.Errorf("acks=%s: %v lost, the view has %d", acks, got, p.LostAcks)
			}
		}
	}
}

// What a learner shows has the learner's numbers, and what is drawn live is what its picture would be.
func TestShowAndLiveHaveTheirNumbers(t *testing.T) {
	bar := gocharts.NewBar()
	bar.SetXAxis([]string{"a", "b"}).AddSeries("ends", []opts.BarData{{Value: 41}, {Value: 17}})
	var option struct {
		Series []struct{ Data []struct{ Value float64 } }
	}
	if err := json.Unmarshal([]byte(charts.Show(bar).Envelope().Option), &option); err != nil {
		t.Fatal(err)
	}
	if d := option.Series[0].Data; len(d) != 2 || d[0].Value != 41 || d[1].Value != 17 {
		t.Errorf("the option has %v", d)
	}

	var shown *charts.Picture
	var atEnd func()
	charts.SetDisplay(func(v any) func(any) { shown = v.(*charts.Picture); return func(v any) { shown = v.(*charts.Picture) } }, func(f func()) { atEnd = f })
	defer charts.SetDisplay(nil, nil)
	c := kafkasim.Page()
	charts.Live(c, charts.Page)
	p := c.NewProducer("checkout", nil)
	for i := range 5 {
		p.Send("orders", fmt.Sprintf("user-%d", i+1), "x")
		c.Ticks(4)
	}
	atEnd()
	if got, want := shown.Envelope().Spec, charts.Page(c).Envelope().Spec; got != want {
		t.Error("the live picture does not end as the picture of the cluster")
	}
}
