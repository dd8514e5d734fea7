package kafkasim

import (
	"fmt"
	"strings"
	"time"
)

// Event is one step: what happened, and what it changed.
type Event struct {
	Time    time.Duration // virtual time
	Number  int           // the message's number, as InFlight had it
	From    string        // who sent the message; "" for a timer
	To      string        // who got it, or whose timer it is
	Text    string        // in words
	Changes []string      // what it changed, in words
}

// String is the event on a line, and each change on a line of its own below.
func (e *Event) String() string {
	var b strings.Builder
	at := clock(e.Time.Microseconds())
	fmt.Fprintf(&b, "%s  %s", at, e.Text)
	for _, c := range e.Changes {
		fmt.Fprintf(&b, "\n%s  %s", strings.Repeat(" ", len(at)), c)
	}
	return b.String()
}

// Run is what a stretch of time brought.
type Run struct {
	From, To time.Duration // virtual time
	Events   int           // how many happened
	GaveUp   string        // why it ended before it should; "" if it did not
	words    []string
}

// String tells what changed, one line each, with its time.
func (r *Run) String() string {
	head := fmt.Sprintf("%s → %s, %s", clock(r.From.Microseconds()), inMs(r.To.Microseconds()), plural(r.Events, "event"))
	if r.GaveUp != "" {
		head += "; gave up, " + r.GaveUp
	}
	return strings.Join(append([]string{head}, r.words...), "\n")
}

// Changes tells what changed, in words, the newest last.
func (r *Run) Changes() []string { return r.words }
