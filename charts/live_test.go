package charts

import (
	"testing"
	"time"

	"kafkalab/kafkasim/view"
)

// stageFor gives live pictures a stage: what is shown, a clock that stands still, the end of a cell.
type testStage struct {
	shown []any
	clock time.Time
	ends  []func()
}

func stageFor(t *testing.T) *testStage {
	s := &testStage{clock: time.Unix(0, 0)}
	SetDisplay(func(v any) func(any) {
		s.shown = append(s.shown, v)
		return func(v any) { s.shown = append(s.shown, v) }
	}, func(f func()) { s.ends = append(s.ends, f) })
	hand.now = func() time.Time { return s.clock }
	t.Cleanup(func() { SetDisplay(nil, nil) })
	return s
}

func (s *testStage) endCell() {
	for _, f := range s.ends {
		f()
	}
	s.ends = nil
}

// A live picture is drawn at most ten times a second while time passes, without its PNG, under one id; when the
// cell ends it stands there in full.
func TestLiveRedrawsInPlaceAndEndsInFull(t *testing.T) {
	s := stageFor(t)
	w := newWorld(3)
	w.topic("orders", []int{1, 2, 3})
	Live(w)
	for tick := range 500 {
		w.at(int64(tick + 1))
		w.append(0, 1, 0, "a")
		s.clock = s.clock.Add(10 * time.Millisecond)
		Tick()
	}
	light := len(s.shown) - 1
	if light < 45 || light > 50 {
		t.Errorf("%d updates in 5 seconds, want up to 50", light)
	}
	first := s.shown[0].(*Picture)
	for _, v := range s.shown[1:] {
		bundle := v.(lightPicture).MIMEBundle()
		if _, heavy := bundle["image/png"]; heavy || len(bundle) != 2 {
			t.Fatalf("an update while stepping has %d parts", len(bundle))
		}
		if id := bundle[MIMEChart].(map[string]any)["id"]; id != first.Envelope().ID {
			t.Fatalf("the id has changed to %v", id)
		}
	}
	w.at(600)
	w.append(0, 1, 0, "b")
	s.endCell()
	last, full := s.shown[len(s.shown)-1].(*Picture)
	if !full || last.Envelope().Spec != Replay(w).Envelope().Spec || last.Envelope().ID != first.Envelope().ID {
		t.Errorf("the cell ends with a %T", s.shown[len(s.shown)-1])
	}
	n := len(s.shown)
	Tick()
	s.endCell()
	if len(s.shown) != n {
		t.Error("a cell in which nothing happened has redrawn the picture")
	}
	w.at(700)
	w.append(0, 1, 0, "c")
	s.clock = s.clock.Add(time.Second)
	Tick() // a later cell
	s.endCell()
	if len(s.shown) != n+2 {
		t.Errorf("a later cell has made %d updates, want a light one and the full one", len(s.shown)-n)
	}
}

// Drawing takes at most a fifth of the time, and a picture that ticks itself does not draw for ever.
func TestLiveLeavesTheTimeToTheCluster(t *testing.T) {
	s := stageFor(t)
	w := newWorld(1)
	drawings := 0
	Live(w, func(src view.Source) *Picture {
		drawings++
		s.clock = s.clock.Add(time.Second)
		Tick()
		return Cluster(src)
	})
	for range 100 {
		w.now += 1000
		s.clock = s.clock.Add(100 * time.Millisecond)
		Tick()
	}
	if drawings < 2 || drawings > 4 {
		t.Errorf("%d drawings of a second each in 10 seconds", drawings)
	}
	for range 10 {
		Live(w, Cluster1)
	}
	if len(hand.lives) != maxLive {
		t.Errorf("%d pictures are live", len(hand.lives))
	}
	SetDisplay(nil, nil)
	refused(t, "charts.Live: there is no notebook to show it in; charts.Replay is the picture of now", func() { Live(w) })
}

// Cluster1 is Cluster as Live takes it.
func Cluster1(src view.Source) *Picture { return Cluster(src) }
