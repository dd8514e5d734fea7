package charts

import "testing"

// An axis begins at a round number close below its first curve.
func TestRoundBelow(t *testing.T) {
	for _, x := range []struct{ first, length, want float64 }{
		{2, 77, 0}, {2, 12048, 0}, {0, 79, 0}, {103, 77, 100}, {12345, 500, 12300}, {7.3, 2, 7.2}, {99.5, 10, 98},
	} {
		got := roundBelow(x.first, x.length)
		if d := got - x.want; d > 1e-9 || d < -1e-9 {
			t.Errorf("an axis from %v over %v begins at %v, want %v", x.first, x.length, got, x.want)
		}
	}
}
