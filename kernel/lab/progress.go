package lab

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// Bar is one line that tells how far a loop is and how long it may still take. It is updated in place, a
// few times a second at most, whatever the loop's speed; its last state holds no times, so that a notebook
// that runs again shows the same.
type Bar struct {
	nb    Notebook
	id    string
	now   func() time.Time
	width int

	mu     sync.Mutex
	label  string
	n, of  int64
	begun  time.Time
	drawn  time.Time
	text   string
	closed bool
	meter  bool // it does not end when it is full
}

const (
	barPace  = 200 * time.Millisecond // between two updates
	barWidth = 30                     // cells of the bar
)

// Progress shows a bar for a loop of n rounds and returns it; each round calls Step. With n 0 the number
// of rounds is not known: the bar counts them.
//
//	p := lab.Progress(1000)
//	for range 1000 {
//		c.Step()
//		p.Step()
//	}
func Progress(n int) *Bar { return NewBar(notebook(), int64(n), "") }

// NewBar is Progress for a given session.
func NewBar(nb Notebook, n int64, label string) *Bar {
	b := &Bar{nb: nb, now: time.Now, width: barWidth, of: max(n, 0), label: label}
	b.begun = b.now()
	b.id, b.drawn = nb.NewID(), b.begun
	b.text = b.line(true)
	nb.Display(line(b.text), b.id)
	nb.AtEnd(func() { b.finish() })
	return b
}

// NewMeter is a bar for work that began a while ago and may begin again (Restart): it ends with the cell.
func NewMeter(nb Notebook, n int64, label string, begun time.Time) *Bar {
	b := NewBar(nb, n, label)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.meter, b.begun, b.drawn = true, begun, time.Time{}
	return b
}

// Restart begins again, for other work.
func (b *Bar) Restart(label string, n int64) {
	b.move(func() { b.label, b.n, b.of, b.begun = label, 0, n, b.now() })
}

// line is text that shows as it is.
type line string

func (l line) String() string { return string(l) }

// Step counts one round.
func (b *Bar) Step() { b.Add(1) }

// Add counts n rounds.
func (b *Bar) Add(n int) { b.move(func() { b.n += int64(n) }) }

// Set says how many rounds are done.
func (b *Bar) Set(n int) { b.move(func() { b.n = int64(n) }) }

// At says how many rounds of how many are done.
func (b *Bar) At(done, of int64) { b.move(func() { b.n, b.of = done, of }) }

// Label puts a text before the bar.
func (b *Bar) Label(text string) { b.move(func() { b.label = text }) }

// Done shows the bar as it stands and ends it; a bar that is full ends by itself, and one that is left
// ends with its cell.
func (b *Bar) Done() { b.finish() }

// String lets a bar be the result of a cell.
func (b *Bar) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.line(true)
}

// move changes the state and draws it when it is time to.
func (b *Bar) move(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	change()
	now := b.now()
	if b.of > 0 && b.n >= b.of && !b.meter {
		b.end()
	} else if now.Sub(b.drawn) >= barPace {
		b.drawn = now
		b.draw(b.line(false))
	}
}

func (b *Bar) finish() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.end()
	}
}

// end draws the last state. The lock is held.
func (b *Bar) end() {
	b.closed = true
	b.draw(b.line(true))
}

func (b *Bar) draw(text string) {
	if text != b.text {
		b.text = text
		b.nb.Update(line(text), b.id)
	}
}

// line is the bar as text; still leaves the times out.
func (b *Bar) line(still bool) string {
	var parts []string
	if b.label != "" {
		parts = append(parts, b.label)
	}
	if b.of > 0 {
		full := min(int(float64(b.width)*float64(b.n)/float64(b.of)), b.width)
		full = max(full, 0)
		parts = append(parts,
			"▕"+strings.Repeat("█", full)+strings.Repeat("·", b.width-full)+"▏",
			fmt.Sprintf("%d of %d", b.n, b.of),
			fmt.Sprintf("%d%%", int(100*float64(b.n)/float64(b.of))))
	} else {
		parts = append(parts, fmt.Sprint(b.n))
	}
	if took := b.now().Sub(b.begun); !still && took > 0 {
		parts = append(parts, seconds(took)+b.estimate(took))
	}
	return strings.Join(parts, "  ")
}

// estimate supposes that the rest goes as what is done went.
func (b *Bar) estimate(took time.Duration) string {
	if b.of <= 0 || b.n <= 0 || b.n >= b.of {
		return ""
	}
	left := time.Duration(float64(took) * float64(b.of-b.n) / float64(b.n))
	return ", about " + seconds(left) + " left"
}

// seconds is a duration as people say it: 0.4 s, 12 s, 3 min 5 s, 2 h 3 min.
func seconds(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}
