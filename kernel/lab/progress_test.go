package lab

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// clock is a time that tests move.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

func barOf(t *testing.T, n int64) (*Bar, *fake, *clock) {
	t.Helper()
	f, c := &fake{}, &clock{time.Unix(0, 0)}
	b := NewBar(f, n, "")
	b.now, b.width = c.now, 4
	b.begun, b.drawn = c.t, c.t
	return b, f, c
}

func TestABarIsDrawnAFewTimesASecond(t *testing.T) {
	b, f, c := barOf(t, 1000)
	for range 1000 {
		c.t = c.t.Add(time.Millisecond)
		b.Step()
	}
	want := []string{
		"display ▕······························▏  0 of 1000  0%#1",
		"update ▕····▏  200 of 1000  20%  0.2 s, about 0.8 s left#1",
		"update ▕█···▏  400 of 1000  40%  0.4 s, about 0.6 s left#1",
		"update ▕██··▏  600 of 1000  60%  0.6 s, about 0.4 s left#1",
		"update ▕███·▏  800 of 1000  80%  0.8 s, about 0.2 s left#1",
		"update ▕████▏  1000 of 1000  100%#1",
	}
	if !slices.Equal(f.said, want) {
		t.Errorf("said\n%s\nwant\n%s", strings.Join(f.said, "\n"), strings.Join(want, "\n"))
	}
	b.Step()
	if len(f.said) != len(want) {
		t.Error("it goes on after its end")
	}
}

// A loop that breaks off: the end of the cell shows how far it came, without times.
func TestABarEndsWithItsCell(t *testing.T) {
	b, f, c := barOf(t, 4)
	b.Label("replay")
	b.Add(3)
	c.t = c.t.Add(time.Hour)
	for _, end := range f.ends {
		end()
	}
	if got := f.said[len(f.said)-1]; got != "update replay  ▕███·▏  3 of 4  75%#1" {
		t.Errorf("it ends as %q", got)
	}
	b.Done()
	if len(f.said) != 2 {
		t.Errorf("said %q", f.said)
	}
}

func TestABarWithoutAnEnd(t *testing.T) {
	b, f, c := barOf(t, 0)
	c.t = c.t.Add(3*time.Minute + 5*time.Second)
	b.Add(7)
	if got := f.said[1]; got != "update 7  3 min 5 s#1" {
		t.Errorf("it shows %q", got)
	}
	if b.Done(); b.String() != "7" {
		t.Errorf("it is %q", b)
	}
}

func BenchmarkStep(b *testing.B) {
	bar := NewBar(&fake{}, 1<<60, "")
	for b.Loop() {
		bar.Step()
	}
}
