package connect

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Status is what runs where, at one moment.
type Status struct {
	Workers  []string // in words
	Items    []ItemStatus
	Rounds   int      // rebalances that have ended
	Waiting  bool     // a rebalance has begun and not ended, because not all members have heard of it
	Database string   // rows of each table
	Events   []string // what happened to the group
	// Delay is how long what a lost worker had will still wait for it (scheduled.rebalance.max.delay.ms); 0 for nothing.
	Delay time.Duration
}

// ItemStatus is the state of a connector or a task (K-12).
type ItemStatus struct {
	Name   string // "db" for the connector, "db-0" for its first task
	State  string // RUNNING, PAUSED, STOPPED (a connector), FAILED or UNASSIGNED
	Worker string // "" for none
	Why    string // why it FAILED
}

// Status is what runs where.
func (k *Connect) Status() *Status {
	s := &Status{Rounds: k.group.generation, Database: k.db.String(), Events: slices.Clone(k.group.events),
		Waiting: k.group.pending}
	if at := k.group.assignor.scheduled; at > 0 {
		s.Delay = max(at-k.now(), 0)
	}
	for _, w := range k.workers {
		s.Workers = append(s.Workers, w.String())
	}
	for _, x := range k.connectors {
		for _, i := range x.items() {
			s.Items = append(s.Items, k.itemStatus(i))
		}
	}
	return s
}

func (k *Connect) itemStatus(i item) ItemStatus {
	out := ItemStatus{Name: i.String(), State: "UNASSIGNED"}
	for _, w := range k.workers {
		if w.state != workerUp || !slices.Contains(w.items, i) {
			continue
		}
		out.State, out.Worker = "RUNNING", w.name
		if x := k.find(i.Connector); x.target != started {
			out.State = x.target
		}
		for _, t := range w.tasks {
			if t.id == i && t.failed != "" {
				out.State, out.Why = "FAILED", t.failed
			}
		}
	}
	return out
}

// Item is one connector ("db") or task ("db-0") of the status; a state of "" when there is none of this name.
func (s *Status) Item(name string) ItemStatus {
	for _, i := range s.Items {
		if i.Name == name {
			return i
		}
	}
	return ItemStatus{Name: name}
}

// String is a line for each worker, and one for each connector and task that does not run.
func (s *Status) String() string {
	out := slices.Clone(s.Workers)
	for _, i := range s.Items {
		if i.State != "RUNNING" {
			out = append(out, strings.TrimSuffix(fmt.Sprintf("%s %s: %s", i.Name, i.State, i.Why), ": "))
		}
	}
	if s.Waiting {
		out = append(out, "a rebalance is under way")
	}
	if s.Delay > 0 {
		out = append(out, fmt.Sprintf("what a lost worker had waits %v for it", s.Delay))
	}
	if s.Database != "" {
		out = append(out, "rows: "+strings.ReplaceAll(s.Database, "\n", ", "))
	}
	return strings.Join(out, "\n")
}

// Story is what happened to the group of workers, a line each.
func (s *Status) Story() string { return strings.Join(s.Events, "\n") }
