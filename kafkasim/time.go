package kafkasim

import (
	"time"

	"kafkalab/kafkasim/machine"
)

// poll is called often in every loop that may take long; it may end the goroutine.
var poll = func() {}

// SetPoll sets a function that every verb which lets time pass calls between two events, at least once in
// 128 of them. It may return, or end the goroutine (runtime.Goexit, panic): the cluster is whole at that
// moment and can be used on. For whoever runs cells; nil for none.
func SetPoll(f func()) {
	if f == nil {
		f = func() {}
	}
	poll = f
}

// interruptible gives way to an interrupt now and then; n counts the events.
func interruptible(n int64) {
	if n&127 == 0 {
		poll()
	}
}

// Step lets the next event happen and tells about it: a message that arrives or a timer that fires,
// heartbeats and other housekeeping included.
func (c *Cluster) Step() *Event {
	poll()
	at, changes := c.s.Now, c.traced().len()
	next, ok := c.s.Peek()
	if !ok {
		return &Event{Time: c.Now(), Text: "nothing will ever happen again"}
	}
	text := c.s.Describe(next)
	var e machine.Event
	func() {
		defer c.begin().end(&line{at: at})
		e, _ = c.step()
	}()
	return &Event{Time: duration(e.At), Number: int(e.Seq), From: c.fromName(e), To: c.s.NodeName(e.To), Text: text, Changes: c.changeWords(changes)}
}

func (c *Cluster) fromName(e machine.Event) string {
	if e.From == machine.NoNode {
		return ""
	}
	return c.s.NodeName(e.From)
}

// NextAt is when the next event will happen; false when nothing will ever happen again.
func (c *Cluster) NextAt() (time.Duration, bool) {
	e, ok := c.s.Peek()
	return duration(e.At), ok
}

// Steps lets the next n events happen.
func (c *Cluster) Steps(n int) *Run {
	if n < 0 {
		misuse("Steps", "%d: want 0 or more", n)
	}
	r := c.begin()
	defer r.end(&line{at: c.s.Now})
	done := int64(0)
	p := progress{verb: "Steps", total: int64(n), done: func() int64 { return done }}
	for ; done < int64(n); p.at(done - 1) {
		interruptible(done)
		if _, ok := c.step(); !ok {
			break
		}
		done = c.history.steps - r.steps // a listener may have let more of them happen
	}
	p.end()
	return r.run
}

// Ticks lets n ticks of the world pass (World.Tick each).
func (c *Cluster) Ticks(n int) *Run {
	if n < 0 {
		misuse("Ticks", "%d: want 0 or more", n)
	}
	return c.RunFor(time.Duration(n) * c.world.Tick)
}

// RunFor lets virtual time pass.
func (c *Cluster) RunFor(d time.Duration) *Run {
	if d < 0 {
		misuse("RunFor", "%v: time does not go back; At(t) shows the past", d)
	}
	r := c.begin()
	until := c.s.Now + d.Microseconds()
	l := &line{at: c.s.Now, run: d.Microseconds()}
	defer r.end(l)
	c.runTo(until)
	r.done = true
	return r.run
}

// runTo lets everything happen that is due by a time, and makes it that time.
func (c *Cluster) runTo(until int64) {
	p := c.passing("RunFor, ms", until-c.s.Now)
	for n := int64(0); ; n++ {
		interruptible(n)
		e, ok := c.s.Peek()
		if !ok || e.At > until {
			break
		}
		c.step()
		p.at(n)
	}
	c.s.Now = max(c.s.Now, until) // a listener may have gone on longer
	p.end()
}

// stepUntil lets events happen until what the last verb of the script began is done, and tells how far it
// is. An interrupt leaves it half done, which no script can repeat; the script then says so.
func (c *Cluster) stepUntil(p *progress, done func() bool) {
	finished := false
	defer func() {
		if lines := c.history.script.lines; !finished && len(lines) > 0 {
			last := &lines[len(lines)-1]
			last.text = "// interrupted, so this script is not exact from here on:\n" + last.text
		}
	}()
	for n := int64(0); !done(); n++ {
		interruptible(n)
		if _, ok := c.step(); !ok {
			break
		}
		p.at(n)
	}
	finished = true
	p.end()
}

// RunUntil lets events happen until cond holds, at most for limit of virtual time. cond is asked before
// the first event and after each.
func (c *Cluster) RunUntil(cond func(*Cluster) bool, limit time.Duration) *Run {
	if cond == nil {
		misuse("RunUntil", "the condition is nil; want a func(*kafkasim.Cluster) bool")
	}
	if limit <= 0 {
		misuse("RunUntil", "the limit is %v; want how long to wait at most, such as time.Minute", limit)
	}
	r := c.begin()
	until := c.s.Now + limit.Microseconds()
	l := &line{at: c.s.Now}
	defer r.end(l)
	p := c.passing("RunUntil, ms at most", limit.Microseconds())
	for n := int64(0); ; n++ {
		poll()
		if cond(c) {
			p.end()
			return r.run
		}
		e, ok := c.s.Peek()
		if !ok || e.At > until {
			r.run.GaveUp = "the condition did not hold within " + inMs(limit.Microseconds())
			l.run = limit.Microseconds()
			c.s.Now, r.done = max(c.s.Now, until), true
			p.end()
			return r.run
		}
		c.step()
		p.at(n)
	}
}

// Settling gives up after so much virtual time or so many events.
const (
	settleTime   = 5 * 60 * 1000 * 1000 // µs
	settleEvents = 2_000_000
)

// Settle lets events happen until only housekeeping is left: every record is acknowledged or failed,
// everybody who lives is unfenced and knows what the controller knows, dead brokers are fenced, replicas
// that can catch up have caught up and are in the ISR, and high watermarks stand where they can. If that does not
// come about within five minutes of virtual time, it gives up and says what is still open.
func (c *Cluster) Settle() *Run {
	r := c.begin()
	defer r.end(&line{at: c.s.Now})
	until, open := c.s.Now+settleTime, c.open()
	p := c.passing("Settle, ms at most", settleTime)
	for n := int64(0); open != ""; n++ {
		interruptible(n)
		e, ok := c.s.Peek()
		if !ok || e.At > until || n > settleEvents {
			r.run.GaveUp = "still open: " + open
			break
		}
		changes := c.traced().len()
		c.step()
		if c.traced().len() != changes || !housekeeping(e.Payload) {
			open = c.open()
		}
		p.at(n)
	}
	p.end()
	return r.run
}

// run is a stretch of time while it goes on.
type stretch struct {
	c     *Cluster
	run   *Run
	steps int64
	notes int
	done  bool // it came to its planned end
	outer bool // no other verb is going on
}

func (c *Cluster) begin() *stretch {
	outer := c.history.script.depth == 0 && !c.history.script.timing
	if outer {
		c.history.script.origin, c.history.script.timing = c.history.steps, true
	}
	return &stretch{outer: outer, c: c, run: &Run{From: c.Now()}, steps: c.history.steps, notes: c.traced().len()}
}

// end closes a stretch, also one that an interrupt cuts short: the script then has the events that came
// to pass instead of the planned time.
func (r *stretch) end(l *line) {
	if r.outer {
		r.c.history.script.timing = false
	}
	if l != nil && !r.done {
		l.run = 0
		l.steps = r.c.history.steps - r.steps
	}
	if l != nil && (l.run > 0 || l.steps > 0) {
		r.c.history.script.add(*l)
	}
	r.run.To, r.run.Events = r.c.Now(), int(r.c.history.steps-r.steps)
	r.run.words = r.c.news(r.notes)
}
