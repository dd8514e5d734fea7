package simtest

import (
	"fmt"
	"strings"
	"time"

	"kafkalab/kafkasim"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

// run lets time pass and tells what changed.
func (e *Env) run(a Args) (string, error) {
	if n, ok := a.take("ticks"); ok {
		ticks := 0
		if _, err := fmt.Sscan(n, &ticks); err != nil {
			return "", fmt.Errorf("ticks=%s is not a number", n)
		}
		return e.C.Ticks(ticks).String(), nil
	}
	if d, err := a.takeTime("for", 0); err != nil || d > 0 {
		if err != nil {
			return "", err
		}
		return e.C.RunFor(d).String(), nil
	}
	until, _ := a.take("until")
	if until == "settled" {
		return e.C.Settle().String(), nil
	}
	cond, err := e.condition(until)
	if err != nil {
		return "", err
	}
	limit, err := a.takeTime("limit", 5*time.Minute)
	if err != nil {
		return "", err
	}
	return e.C.RunUntil(func(*kafkasim.Cluster) bool { return cond() }, limit).String(), nil
}

// condition reads what to wait for: decided, quorum (a controller is active), leader=2:orders-0, isr=2:orders-0 (its size), running=1,
// hw=5:orders-0.
func (e *Env) condition(s string) (func() bool, error) {
	if s == "decided" {
		return e.decided, nil
	}
	if s == "quorum" {
		return e.quorumLeads, nil
	}
	name, rest, _ := strings.Cut(s, "=")
	value, part, _ := strings.Cut(rest, ":")
	n := 0
	if _, err := fmt.Sscan(value, &n); err != nil {
		return nil, fmt.Errorf("until=%s: want decided, settled, quorum, leader=2:orders-0, isr=2:orders-0, hw=5:orders-0, stable=2:shop or running=1", s)
	}
	if name == "running" {
		return func() bool {
			return strings.HasPrefix(e.C.Broker(n).String(), fmt.Sprintf("broker %d: RUNNING,", n)) && !contains(e.C.Broker(n).String(), "fenced")
		}, nil
	}
	if name == "stable" { // stable=2:shop: two members, and nothing to do
		return e.stable(part, n), nil
	}
	topic, id, err := partition(part)
	if err != nil {
		return nil, err
	}
	switch name {
	case "leader":
		return func() bool { return e.C.Partition(topic, id).Leader == n }, nil
	case "isr":
		return func() bool { return len(e.C.Partition(topic, id).ISR) == n }, nil
	case "hw":
		return func() bool { return e.C.Partition(topic, id).HighWatermark >= int64(n) }, nil
	}
	return nil, fmt.Errorf("until=%s: no such condition", s)
}

// watch lets time pass and prints every event that changed something; with match=text those whose line has
// the text, whether they changed something or not.
func (e *Env) watch(a Args) (string, error) {
	var cond func() bool
	end := time.Duration(1<<62 - 1)
	if n, err := a.takeNumber("ticks", 0); err != nil || n > 0 {
		if err != nil {
			return "", err
		}
		end = e.C.Now() + time.Duration(n)*time.Duration(e.C.View().Tick)*time.Microsecond
	} else if d, err := a.takeTime("for", 0); err != nil || d > 0 {
		if err != nil {
			return "", err
		}
		end = e.C.Now() + d
	}
	if u, ok := a.take("until"); ok {
		var err error
		if cond, err = e.condition(u); err != nil {
			return "", err
		}
	}
	match, matching := a.take("match")
	var out []string
	for n := 0; n < 100000; n++ {
		if cond != nil && cond() {
			break
		}
		if next, ok := e.C.NextAt(); !ok || next > end {
			break
		}
		if ev := e.C.Step(); matching && contains(ev.Text, match) || !matching && len(ev.Changes) > 0 {
			out = append(out, ev.String())
		}
	}
	if end < time.Duration(1<<62-1) {
		e.C.RunFor(end - e.C.Now())
	}
	if len(out) == 0 {
		return "nothing changed", nil
	}
	return strings.Join(out, "\n"), nil
}

// steps prints the next events, whatever they are.
func (e *Env) steps(a Args) (string, error) {
	n, err := a.number(0)
	if err != nil {
		return "", err
	}
	var out []string
	for range n {
		out = append(out, e.C.Step().String())
	}
	return strings.Join(out, "\n"), nil
}

// quorumLeads tells whether a controller that is alive is active.
func (e *Env) quorumLeads() bool {
	for _, x := range e.C.Controllers() {
		if x.Active && x.Alive && !x.Paused {
			return true
		}
	}
	return false
}
