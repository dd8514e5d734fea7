package connect

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// The assignor: which worker has which connectors and tasks (K-4 to K-7).
//
// Workers keep what they have. What is new goes to those that have least, connectors and tasks each by count. What a lost
// worker had stays unassigned for scheduled.rebalance.max.delay.ms, because it may come back; when the delay is over it
// goes to the workers that joined in the meantime, or else to all. A worker that has nothing makes the others give up what
// is above the average, in a round of its own, and gets it in the next.
//
// Kafka: IncrementalCooperativeAssignor, KIP-415. Simplified: rounds that revoke follow each other without the growing
// delay; every member always hears of its assignment.

// item is a connector (Task -1) or a task.
type item struct {
	Connector string
	Task      int
}

func (i item) String() string {
	if i.Task < 0 {
		return i.Connector
	}
	return fmt.Sprintf("%s-%d", i.Connector, i.Task)
}

func (i item) isTask() bool { return i.Task >= 0 }

func compareItems(a, b item) int {
	return cmp.Or(cmp.Compare(a.Connector, b.Connector), cmp.Compare(a.Task, b.Task))
}

// load is what one worker has.
type load struct {
	Worker string
	Items  []item // sorted
}

// count is how many connectors, or how many tasks, a worker has.
func (l *load) count(tasks bool) int {
	n := 0
	for _, i := range l.Items {
		if i.isTask() == tasks {
			n++
		}
	}
	return n
}

func (l *load) give(i item) {
	l.Items = append(l.Items, i)
	slices.SortFunc(l.Items, compareItems)
}

// assignor is what the group's leader remembers from round to round.
type assignor struct {
	maxDelay   time.Duration
	previous   []item // what was assigned, with what is lost; without what was revoked
	members    []string
	scheduled  time.Duration // when the delay is over; 0 for none
	candidates []string      // workers that had nothing while the delay ran
}

// round is one rebalance. current is what the members say that they have, sorted by worker; the answer is what they have
// after it, and what they must give up first, which makes another round.
func (a *assignor) round(now time.Duration, current []load, configured []item) (next []load, revoked []item) {
	var active []item
	for i := range current {
		l := load{Worker: current[i].Worker}
		for _, x := range current[i].Items {
			active = append(active, x)
			if slices.Contains(configured, x) { // a deleted one is given up at once
				l.Items = append(l.Items, x)
			}
		}
		next = append(next, l)
	}
	lost := without(a.previous, active, without(a.previous, configured))
	fresh := without(configured, a.previous, active)
	fresh = append(fresh, a.handleLost(now, lost, next)...)
	if a.scheduled == 0 {
		revoked = a.surplus(next, configured)
	}
	for i := range next {
		next[i].Items = without(next[i].Items, revoked)
	}
	assign(next, fresh)
	a.previous, a.members = nil, nil
	for i := range next {
		a.previous = append(a.previous, next[i].Items...)
		a.members = append(a.members, next[i].Worker)
	}
	a.previous = append(a.previous, without(lost, a.previous)...)
	return next, revoked
}

// handleLost decides about what nobody has any more. It returns what is to be assigned like new.
func (a *assignor) handleLost(now time.Duration, lost []item, next []load) []item {
	if len(lost) == 0 {
		a.scheduled, a.candidates = 0, nil
		return nil
	}
	left := slices.ContainsFunc(a.members, func(m string) bool {
		return !slices.ContainsFunc(next, func(l load) bool { return l.Worker == m })
	})
	switch {
	case a.scheduled == 0 && !left, a.maxDelay == 0:
		return lost
	case a.scheduled > 0 && now >= a.scheduled:
		var to []int
		for i := range next {
			if slices.Contains(a.candidates, next[i].Worker) {
				to = append(to, i)
			}
		}
		a.scheduled, a.candidates = 0, nil
		if len(to) == 0 {
			return lost
		}
		n := map[bool]int{} // connectors and tasks go round each for themselves
		for _, x := range lost {
			next[to[n[x.isTask()]%len(to)]].give(x)
			n[x.isTask()]++
		}
		return nil
	}
	for i := range next {
		if len(next[i].Items) == 0 && !slices.Contains(a.candidates, next[i].Worker) {
			a.candidates = append(a.candidates, next[i].Worker)
		}
	}
	if a.scheduled == 0 {
		a.scheduled = now + a.maxDelay
	}
	return nil
}

// surplus is what workers have above the average, when somebody has nothing.
func (a *assignor) surplus(next []load, configured []item) []item {
	busy := 0
	total := map[bool]int{}
	for i := range next {
		if len(next[i].Items) > 0 {
			busy++
		}
	}
	if busy == 0 || busy == len(next) {
		return nil
	}
	for _, x := range configured {
		total[x.isTask()]++
	}
	var out []item
	for i := range next {
		for _, tasks := range []bool{false, true} {
			ceil := (total[tasks] + len(next) - 1) / len(next)
			over := next[i].count(tasks) - ceil
			for _, x := range next[i].Items {
				if x.isTask() == tasks && over > 0 {
					out = append(out, x)
					over--
				}
			}
		}
	}
	return out
}

// assign gives each item to a worker that has fewest of its kind.
func assign(next []load, items []item) {
	slices.SortFunc(items, compareItems)
	for _, x := range items {
		least := 0
		for i := range next {
			if next[i].count(x.isTask()) < next[least].count(x.isTask()) {
				least = i
			}
		}
		next[least].give(x)
	}
}

// without is a list less what is in the others.
func without(list []item, others ...[]item) []item {
	var out []item
	for _, x := range list {
		if !slices.ContainsFunc(others, func(o []item) bool { return slices.Contains(o, x) }) {
			out = append(out, x)
		}
	}
	return out
}
