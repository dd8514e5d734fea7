package charts

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestStepsKeepOnlyChanges(t *testing.T) {
	var s steps
	for _, p := range [][2]int64{{0, 0}, {1000, 0}, {2000, 3}, {2000, 4}, {3000, 4}, {4000, 5}, {4000, 4}, {5000, 1}} {
		s.add(p[0], p[1])
	}
	want := [][2]float64{{0, 0}, {2, 4}, {5, 1}, {9, 1}}
	if got := s.until(9000); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestThinnedStepsKeepEveryPeak: at most so many points, in order, the ends and the extremes among them.
func TestThinnedStepsKeepEveryPeak(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ys := rapid.SliceOfN(rapid.IntRange(0, 1000), 1, 400).Draw(t, "ys")
		var points [][2]float64
		for i, y := range ys {
			points = append(points, [2]float64{float64(i), float64(y)})
		}
		got := thinSteps(points, 80)
		if len(got) > 80 && len(got) > len(points) {
			t.Fatalf("%d points", len(got))
		}
		if got[0] != points[0] || got[len(got)-1] != points[len(points)-1] {
			t.Fatal("an end is missing")
		}
		byY := func(a, b [2]float64) int { return sign(a[1] - b[1]) }
		if slices.MaxFunc(got, byY)[1] != slices.MaxFunc(points, byY)[1] || slices.MinFunc(got, byY)[1] != slices.MinFunc(points, byY)[1] {
			t.Fatal("an extreme is missing")
		}
		if !slices.IsSortedFunc(got, func(a, b [2]float64) int { return sign(a[0] - b[0]) }) {
			t.Fatal("out of order")
		}
	})
}

// TestAnnotationsOfTheStory: what the bands and lines say.
func TestAnnotationsOfTheStory(t *testing.T) {
	w := leaderCrash(60)
	bands, marks := annotate(w.Trace(), []string{"orders"}, nil).within(0, 60)
	want := []Band{{23, 33, "orders-0 without a leader", -1, ToneAlarm, 0}, {23, 45, "broker 1 down", -1, ToneQuiet, 0}}
	if !slices.Equal(bands, want) {
		t.Errorf("bands %+v, want %+v", bands, want)
	}
	wantMarks := []VMark{{23, "broker 1 crashes", ToneAlarm, 0}, {33, "broker 2 leads orders-0", ToneQuiet, 0},
		{33, "2 acknowledged records lost", ToneAlarm, 0}, {45, "broker 1 starts", ToneQuiet, 0}}
	if !slices.Equal(marks, wantMarks) {
		t.Errorf("marks %+v, want %+v", marks, wantMarks)
	}
}

// TestANewLeaderMayKnowLess: the curve follows the newest leader's own high watermark.
func TestANewLeaderMayKnowLess(t *testing.T) {
	w := newWorld(2)
	w.at(1).topic("orders", []int{1, 2})
	w.at(2).append(0, 1, 0, "a", "b", "c")
	w.copyUpTo(0, 2, 1, 3)
	w.at(3).hw(0, 1, 3)
	w.at(4).hw(0, 2, 2)
	w.at(5).crash(1)
	w.at(6).lead(0, 2, 1, 2)
	w.at(7).hw(0, 2, 3)
	w.at(8)
	_, spec, err := ParseEnvelope(compact(t, HighWatermark(w)))
	if err != nil {
		t.Fatal(err)
	}
	want := [][2]float64{{1, 0}, {3, 3}, {6, 2}, {7, 3}, {8, 3}}
	if got := spec.(*CurveSpec).Series[0].Points; !slices.Equal(got, want) {
		t.Errorf("curve %v, want %v", got, want)
	}
}
