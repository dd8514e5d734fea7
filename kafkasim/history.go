package kafkasim

import (
	"fmt"
	"slices"
	"time"

	"kafkalab/kafkasim/machine"
)

// history is everything that leads to the present: the commands with their places among the events, and
// copies of the state on the way. The state at any time is the nearest copy before it, stepped on with
// the commands in their places. History is no part of the state.
type history struct {
	steps    int64 // events so far
	entries  []entry
	marks    []checkpoint
	interval int64 // events between two checkpoints
	next     int64 // events at which the next one is due
	script   script
}

// entry is one command, or a run of sends, and its place: after how many events and at what time.
type entry struct {
	steps int64
	at    int64
	notes int             // changes in the trace before it
	cmd   machine.Command // nil for a run of sends
	sends *sendRun
}

// checkpoint is a copy of the state; it is never stepped.
type checkpoint struct {
	steps   int64
	entries int // commands carried out before it
	state   *machine.State
}

const (
	firstInterval = 2048 // events between checkpoints at first
	// When there are too many checkpoints, every second one is dropped and the interval doubles. How many
	// are too many is a matter of memory, since those of a wide cluster are large.
	minCheckpoints, maxCheckpoints = 8, 192
	checkpointBytes                = 32 << 20
)

// room is how many checkpoints there may be of a state.
func room(s *machine.State) int {
	return int(min(max(checkpointBytes/s.CloneSize(), minCheckpoints), maxCheckpoints))
}

func (h *history) begin(code string, s *machine.State) {
	h.interval = firstInterval
	h.next = firstInterval
	h.marks = append(h.marks, checkpoint{state: s.Clone()})
	h.script.base = code
}

// command remembers a command at its place.
func (h *history) command(at int64, notes int, cmd machine.Command) {
	h.entries = append(h.entries, entry{steps: h.steps, at: at, notes: notes, cmd: cmd})
}

// line adds a statement to the script.
func (h *history) line(code string, at int64) {
	if code != "" {
		if h.script.depth == 0 && !h.script.timing {
			h.script.origin = h.steps
		}
		h.script.add(line{text: code, at: at})
	}
}

// setupDone forgets the script so far: the preset's name stands for it.
func (h *history) setupDone() { h.script.lines = nil }

// stepped counts an event and takes a checkpoint when one is due.
func (h *history) stepped(s *machine.State) {
	h.steps++
	if h.steps < h.next {
		return
	}
	h.marks = append(h.marks, checkpoint{steps: h.steps, entries: len(h.entries), state: s.Clone()})
	for most := room(s); len(h.marks) > most; {
		h.thin()
	}
	h.next = h.steps + h.interval
}

// thin drops every second checkpoint and makes the next ones rarer. The list is a new one: forks may
// still have the old.
func (h *history) thin() {
	kept := make([]checkpoint, 0, len(h.marks)/2+1)
	for i := 0; i < len(h.marks); i += 2 {
		kept = append(kept, h.marks[i])
	}
	h.marks = kept
	h.interval *= 2
}

// fork is a history that goes on by itself.
func (h *history) fork() history {
	f := *h
	f.entries = clip(h.entries)
	if n := len(f.entries); n > 0 && f.entries[n-1].sends != nil {
		// The last run may still grow; each side gets its own.
		f.entries = append(clip(f.entries[:n-1]), h.entries[n-1].fork())
	}
	f.marks = clip(h.marks)
	f.script = h.script.fork()
	return f
}

// fork is an entry whose run of sends grows by itself.
func (e entry) fork() entry {
	if e.sends != nil {
		e.sends = e.sends.fork()
	}
	return e
}

// clip gives up the spare room of a slice, so that appending to it copies.
func clip[T any](s []T) []T { return s[:len(s):len(s)] }

// carryOut repeats an entry on a state; what was sent is read from the present.
func (e *entry) carryOut(s *machine.State, present *sent) {
	s.Now = e.at
	if e.sends != nil {
		present.carryOut(e.sends, s)
	} else {
		s.Apply(e.cmd)
	}
}

// at builds the state as it was at a time before the present: all events up to and including it, and the
// commands before it. It also returns how many events and entries that are.
func (h *history) at(t int64, present *sent) (*machine.State, int64, int) {
	m := len(h.marks) - 1
	for m > 0 && (h.marks[m].state.Now > t || h.marks[m].entries > 0 && h.entries[h.marks[m].entries-1].at >= t) {
		m--
	}
	s, steps, n := h.marks[m].state.Clone(), h.marks[m].steps, h.marks[m].entries
	s.Quiet = true
	for {
		limit := h.steps
		if n < len(h.entries) {
			limit = h.entries[n].steps
		}
		for steps < limit {
			if e, ok := s.Peek(); !ok || e.At > t {
				break
			}
			s.Step()
			steps++
			interruptible(steps)
		}
		if n == len(h.entries) || h.entries[n].at >= t {
			s.Now, s.Quiet = max(s.Now, t), false
			return s, steps, n
		}
		h.entries[n].carryOut(s, present)
		n++
	}
}

// Fork is an independent copy of the cluster as it is now: what happens to one does not touch the other.
func (c *Cluster) Fork() *Cluster {
	f := &Cluster{world: c.world, defaults: c.defaults, s: c.s.Clone(), history: c.history.fork(), trace: c.traced().fork(c.traced().len()), own: slices.Clone(c.own)}
	f.watch = c.watch.fork(f.s)
	return f
}

// At is the cluster as it was when the clock came to a time since the world began: a cluster of its own,
// which can live on differently. Everything that happened up to then is part of it, but not what you did
// at that very time; At(Now()) is the present with everything. A time that is still to come is a
// UsageError.
func (c *Cluster) At(t time.Duration) *Cluster {
	us := t.Microseconds()
	if us < 0 || us > c.s.Now {
		misuse(fmt.Sprintf("At(%v)", t), "the history goes from 0 to %s; run the cluster first to see what is later", inMs(c.s.Now))
	}
	if us == c.s.Now {
		return c.Fork()
	}
	s, steps, n := c.history.at(us, newSent(c.s))
	notes := c.traced().until(us)
	if n < len(c.history.entries) && c.history.entries[n].at == us {
		notes = c.history.entries[n].notes
	}
	old := &Cluster{world: c.world, defaults: c.defaults, s: s, trace: c.traced().fork(notes)}
	h := &old.history
	h.steps, h.entries, h.script = steps, c.history.upTo(n), c.history.script.until(us)
	h.interval, h.next = c.history.interval, steps+c.history.interval
	for _, m := range c.history.marks {
		if m.steps <= steps && m.entries <= n {
			h.marks = append(h.marks, m)
		}
	}
	old.Watch(c.watch != nil)
	return old
}

// upTo is the first n entries, the last of which no longer grows into the parent's.
func (h *history) upTo(n int) []entry {
	f := history{entries: h.entries[:n]}
	g := f.fork()
	return g.entries
}
