package charts

import (
	"slices"
	"sync"
	"time"

	"kafkalab/kafkasim/view"
)

// A live picture is redrawn in place while time passes. Whoever runs cells gives the means (SetDisplay) and
// calls Tick between events.

const (
	liveInterval = 100 * time.Millisecond // between two drawings: at most ten a second
	liveShare    = 4                      // drawing takes at most a fifth of the time
	maxLive      = 6                      // the newest ones
)

// live is one picture that is redrawn.
type live struct {
	src    view.Source
	draw   func(view.Source) *Picture
	id     string
	update func(any)
	drawn  time.Time     // when last
	pause  time.Duration // until the next
	shown  Envelope      // what stands there
	light  bool          // … without its PNG
	at     int64         // the source's time then, µs
}

// liveHand shows and redraws the live pictures of this process.
type liveHand struct {
	sync.Mutex
	show  func(v any) (update func(v any))
	atEnd func(f func())
	now   func() time.Time
	lives []*live
	armed bool // the end of the running cell will be told
}

var hand liveHand

// SetDisplay gives live pictures their place: show shows a value below the running cell and returns what
// replaces it, now or in later cells; atEnd has a function called when the running cell ends. It forgets the
// pictures that were live before. For whoever runs cells.
func SetDisplay(show func(v any) (update func(v any)), atEnd func(f func())) {
	h := &hand
	h.Lock()
	defer h.Unlock()
	h.show, h.atEnd, h.now, h.lives, h.armed = show, atEnd, time.Now, nil, false
}

// Live shows a picture below this cell that follows the cluster: while Steps, RunFor and the like let time
// pass, in this cell or a later one, it is redrawn in place, at most ten times a second, and in full when the
// cell ends. Without a second argument it is a Replay; a reader who has moved its slider stays where they are.
// Others are given as what draws them: charts.Live(c, charts.Widget).
func Live(src view.Source, picture ...func(view.Source) *Picture) {
	look("Live", src)
	draw := func(src view.Source) *Picture { return Replay(src) }
	if len(picture) > 1 {
		wrong("charts.Live: %d pictures; want one, or none for a replay. For two live pictures call Live twice", len(picture))
	}
	if len(picture) == 1 && picture[0] != nil {
		draw = picture[0]
	}
	h := &hand
	h.Lock()
	defer h.Unlock()
	if h.show == nil {
		wrong("charts.Live: there is no notebook to show it in; charts.Replay is the picture of now")
	}
	p := draw(src)
	l := &live{src: src, draw: draw, id: p.envelope.ID, shown: p.envelope, drawn: h.now(), pause: liveInterval, at: timeOf(src)}
	l.update = h.show(p)
	h.lives = append(h.lives, l)
	if n := len(h.lives) - maxLive; n > 0 {
		h.lives = slices.Clone(h.lives[n:])
	}
	h.arm()
}

// timeOf is the source's clock, as cheaply as it tells it.
func timeOf(src view.Source) int64 {
	if clock, ok := src.(interface{ Now() time.Duration }); ok {
		return clock.Now().Microseconds()
	}
	return src.View().Now
}

// Tick redraws what is live and due. For whoever runs cells, to be called between two events.
func Tick() {
	h := &hand
	if !h.TryLock() {
		return // a picture that repeats the history ticks too
	}
	defer h.Unlock()
	if len(h.lives) == 0 {
		return
	}
	h.arm()
	now := h.now()
	for _, l := range h.lives {
		if now.Sub(l.drawn) >= l.pause && timeOf(l.src) != l.at {
			l.redraw(h.now, false)
		}
	}
}

// arm asks for the end of the running cell.
func (h *liveHand) arm() {
	if !h.armed {
		h.armed = true
		h.atEnd(finishLive)
	}
}

// finishLive leaves every picture whole, as it is to be saved.
func finishLive() {
	h := &hand
	h.Lock()
	defer h.Unlock()
	h.armed = false
	for _, l := range h.lives {
		if l.light || timeOf(l.src) != l.at {
			l.redraw(h.now, true)
		}
	}
}

// redraw draws the picture as it is now and replaces what stands there.
func (l *live) redraw(now func() time.Time, full bool) {
	begun := now()
	p := l.draw(l.src).WithID(l.id)
	l.at = timeOf(l.src)
	if p.envelope != l.shown || l.light && full {
		l.shown, l.light = p.envelope, !full
		if full {
			l.update(p)
		} else {
			l.update(lightPicture{p})
		}
	}
	l.drawn = now()
	l.pause = max(liveInterval, liveShare*l.drawn.Sub(begun))
}

// lightPicture is a picture without its PNG: what a page that is open needs.
type lightPicture struct{ p *Picture }

// String is the alternative text.
func (l lightPicture) String() string { return l.p.String() }

// MIMEBundle is the display of the picture without the PNG.
func (l lightPicture) MIMEBundle() map[string]any { return l.p.data() }
