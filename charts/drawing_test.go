package charts

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// drawingOf reads a drawing back from what travels.
func drawingOf(t *testing.T, p *Picture) *DrawingSpec {
	t.Helper()
	data, err := json.Marshal(p.Envelope())
	if err != nil {
		t.Fatal(err)
	}
	_, spec, err := ParseEnvelope(data)
	if err != nil {
		t.Fatal(err)
	}
	return spec.(*DrawingSpec)
}

// texts are the texts of the last frame.
func (s *DrawingSpec) texts() string {
	var all []string
	for _, shape := range s.shapesAt(len(s.Frames) - 1) {
		if shape.Kind == shapeText {
			all = append(all, shape.Text)
		}
	}
	return strings.Join(all, "|")
}

func (s *DrawingSpec) count(kind string, match func(*Shape) bool) int {
	n := 0
	for _, shape := range s.shapesAt(len(s.Frames) - 1) {
		if shape.Kind == kind && (match == nil || match(&shape)) {
			n++
		}
	}
	return n
}

func wantTexts(t *testing.T, s *DrawingSpec, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(s.texts(), text) {
			t.Errorf("%s: no text %q in %s", s.Title, text, s.texts())
		}
	}
}

// The log picture holds the records of the view: as many cells, their marks, the high watermarks, the ends.
func TestLogShowsTheView(t *testing.T) {
	w := leaderCrash(34)
	s := drawingOf(t, Log(w, "orders", 0))
	records, lost := 0, 0
	for _, r := range w.partition(0).Logs {
		records += len(r.Records)
		for _, x := range r.Records {
			if x.Mark == 2 {
				lost++
			}
		}
		wantTexts(t, s, fmt.Sprintf("log start %d · high watermark %d · log end %d", r.LogStartOffset, r.HighWatermark, r.LogEndOffset))
	}
	if got := s.count(shapeCell, nil); got != records {
		t.Errorf("%d cells for %d records", got, records)
	}
	if got := s.count(shapeCell, func(c *Shape) bool { return c.Mark == 2 }); got != lost || lost == 0 {
		t.Errorf("%d cells are lost, %d records", got, lost)
	}
	wantTexts(t, s, "down", "out of ISR", "reader reads 2 next")
	refused(t, `charts.Log: topic "orders" has no partition 3; it has 3 partitions, numbered from 0`, func() { Log(w, "orders", 3) })
	refused(t, `charts.Log: no topic "order" - did you mean "orders"?`, func() { Log(w, "order", 0) })
}

func TestSegmentsQuorumAndBatchesShowTheView(t *testing.T) {
	w := below()
	wantTexts(t, drawingOf(t, Segments(w, "orders", 0)), "2 segments, 320 bytes, offsets 0 to 4", "3 rec.", "1 rec.")
	q := drawingOf(t, Quorum(w))
	wantTexts(t, q, "active, epoch 2", "high watermark 4 · log end 5", "high watermark 3 · log end 4", "down")
	open := 0
	for _, shape := range q.shapesAt(0) {
		if strings.Contains(shape.Tip, "not yet committed") {
			open++
		}
	}
	if open != 2 { // offset 4 on 3002, offset 3 on 3003
		t.Errorf("%d records are above a high watermark, want 2", open)
	}
	wantTexts(t, drawingOf(t, Batches(w, "checkout")), "orders-0", "broker 3", "in 3.5 ms", "full", "try 1")
	w.producer("other", "all")
	refused(t, `charts.Batches: which producer? This cluster has "checkout" and "other"`, func() { Batches(w) })
	refused(t, `charts.Batches: no producer "chekout" - did you mean "checkout"?`, func() { Batches(w, "chekout") })
}

// Messages of every fate end as they ended; the filter chooses; housekeeping is left out unless asked for.
func TestMessagesTellEveryFate(t *testing.T) {
	w := below()
	s := drawingOf(t, Messages(w))
	tips := ""
	for _, shape := range s.shapesAt(0) {
		tips += shape.Tip + "\n"
	}
	for _, want := range []string{"#3, broker 2 to broker 1, sent at 22 ms: Fetch orders-0 from 3; came to a dead process at 23.5 ms", "dropped at 24.5 ms", "; held", "still on the wire", "arrived at 21 ms"} {
		if !strings.Contains(tips, want) {
			t.Errorf("no message %q in\n%s", want, tips)
		}
	}
	if strings.Contains(tips, "Heartbeat") {
		t.Error("a heartbeat is shown unasked")
	}
	wantTexts(t, s, "crashes", "leads orders-0, epoch 1", "You: Broker(1).Crash()")
	for filter, want := range map[Filter]int{{Words: "orders-2"}: 1, {Housekeeping: true, Words: "Heartbeat"}: 1, {From: 30 * time.Millisecond, To: 40 * time.Millisecond}: 2} {
		s = drawingOf(t, Messages(w, filter))
		if got := len(slices.DeleteFunc(s.shapesAt(0), func(x Shape) bool { return !strings.HasPrefix(x.Tip, "#") })); got != want {
			t.Errorf("%+v lets %d messages through, want %d", filter, got, want)
		}
	}
	if alt := Messages(w).String(); !strings.Contains(alt, "From checkout to broker 1 at 24 ms: Produce orders-0 - dropped.") {
		t.Errorf("the text does not tell the drop: %s", alt)
	}
}

// The page's and the widget's pictures step, and their last frame has the numbers of the view.
func TestPageAndWidgetStepToTheView(t *testing.T) {
	w := leaderCrash(60)
	s := drawingOf(t, Page(w))
	p := w.producer("checkout", "1")
	wantTexts(t, s, fmt.Sprint(p.Acked), fmt.Sprint(p.LostAcks), "sent 12", "acked 14", "after 2 ticks", "tick 52", "reader")
	if len(s.Frames) < 15 {
		t.Errorf("%d frames", len(s.Frames))
	}
	if !slices.ContainsFunc(s.Frames, func(f DrawingFrame) bool {
		return f.Event && strings.Contains(strings.Join(f.Words, " "), "Broker 1 crashes")
	}) {
		t.Error("the crash is no event to jump to")
	}
	s = drawingOf(t, Widget(widget()))
	logs := widget().partition(0).Logs
	for _, r := range logs {
		wantTexts(t, s, fmt.Sprintf("hw %d · leo %d", r.HighWatermark, r.LogEndOffset))
	}
	wantTexts(t, s, "in the ISR", "out of the ISR", "silent")
	refused(t, "charts.Widget: this cluster has no topic yet; kafkasim.Widget() makes the world that this picture is of", func() { Widget(newWorld(3)) })
}

// Each frame of a drawing is the picture of that moment: folding the differences gives what was put down.
func TestFramesOfADrawingFold(t *testing.T) {
	p := newPen("x", 100)
	var want [][]string
	for i := range 40 {
		var now []string
		for k := range 30 {
			if (i*7+k*k)%(3+k%4) == 0 {
				now = append(now, fmt.Sprint(k))
				p.text(float64(k), 0, 10, "ink", fmt.Sprint(k))
			}
		}
		p.frame(float64(i), []string{"w"}, false)
		slices.Sort(now)
		want = append(want, now)
	}
	for i := range want {
		var got []string
		for _, s := range p.spec.shapesAt(i) {
			got = append(got, s.Text)
		}
		slices.Sort(got)
		if !slices.Equal(got, want[i]) {
			t.Fatalf("frame %d has %v, want %v", i, got, want[i])
		}
	}
}
