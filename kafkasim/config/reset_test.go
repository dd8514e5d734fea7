package config

import "testing"

// C-30, C-34: what java.time.Duration.parse takes, and nothing that is negative.
func TestResetByDuration(t *testing.T) {
	for s, want := range map[string]int64{
		"by_duration:PT1H": 3_600_000, "by_duration:P1DT2H3M4.5S": 93_784_500, "by_duration:PT0.5S": 500, "by_duration:pt10s": 10_000,
		"by_duration:PT0S": 0, "by_duration:P2D": 172_800_000, "by_duration:PT1H-30M": 1_800_000, "by_duration:PT0.0019S": 1,
	} {
		r, ok := parseReset(s)
		if got, is := r.Duration(); !ok || !is || got != want {
			t.Errorf("%s: %d, %v, want %d", s, got, ok, want)
		}
	}
	for _, s := range []string{"by_duration", "by_duration:", "by_duration:P", "by_duration:PT", "by_duration:-PT1S", "by_duration:PT-1S", "by_duration:1h", "Latest", "first", ""} {
		if r, ok := parseReset(s); ok {
			t.Errorf("%q is taken for %v", s, r)
		}
	}
	if r, _ := parseReset("by_duration:PT90M"); r.String() != "by_duration:PT5400S" || ResetNone.String() != "none" {
		t.Errorf("%v, %v", r, ResetNone)
	}
}

func TestVersionsOfConsumers(t *testing.T) {
	for _, c := range []struct {
		v     Version
		given map[string]any
		bad   bool
	}{
		{V4_0, map[string]any{"auto.offset.reset": "by_duration:PT1H"}, false}, {V3_7, map[string]any{"auto.offset.reset": "by_duration:PT1H"}, true},
		{V2_4, map[string]any{"client.rack": "a"}, false}, {V2_3, map[string]any{"client.rack": "a"}, true}, {V2_3, nil, false},
	} {
		if p := c.v.CheckConsumer(c.given); (p != nil) != c.bad {
			t.Errorf("%v %v: %v", c.v, c.given, p)
		}
	}
}
