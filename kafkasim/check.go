package kafkasim

import (
	"fmt"
	"slices"
	"strings"
)

// Verdict tells which invariants hold.
type Verdict struct {
	Held   []string // those that hold
	Broken []string // what does not, with the numbers
	Lost   []string // what does not, and need not: Kafka promises no more
}

// OK tells whether all of them hold, as far as Kafka promises them: after an unclean election, or with a disk
// that has lost what it had answered for, acknowledged records may be Lost.
func (v *Verdict) OK() bool { return len(v.Broken) == 0 }

// String is a line for each.
func (v *Verdict) String() string {
	var out []string
	for _, s := range v.Broken {
		out = append(out, "BROKEN  "+s)
	}
	for _, s := range v.Lost {
		out = append(out, "LOST    "+s)
	}
	for _, s := range v.Held {
		out = append(out, "holds   "+s)
	}
	return strings.Join(out, "\n")
}

// invariants are those of kafka-replication.md §8 that can be read off one moment, in words.
var invariants = []struct {
	number int
	text   string
}{
	{1, "the ISR is part of the replicas, nobody twice"},
	{2, "a leader is in the ISR; without a leader one member is left in it"},
	{4, "no two brokers lead in one epoch"},
	{5, "on every replica: log start ≤ high watermark ≤ log end"},
	{6, "leader epochs never go back along a log"},
	{7, "replicas with the same offset and epoch hold the same record"},
	{8, "a follower's log is the beginning of its leader's"},
	{9, "what is below a leader's high watermark is on every member of the ISR"},
	{11, "the leader has everything that was ever below a high watermark"},
	{12, "no record acknowledged with acks=all is lost"},
	{14, "what was exposed is never taken back"},
	{15, "the high watermark stands still while the ISR is below its minimum"},
	{16, "the controller's ISR is within the leader's"},
	{19, "nobody fenced or shutting down is in the ISR"},
	{20, "a leader is alive and unfenced at the controller"},
	{21, "no eligible leader replicas while the ISR is large enough"},
	{26, "a follower gets on by what its leader tells it"},
}

// Check runs the invariants of replication on the present state, and looks for acknowledged records that
// are in no leader's log any more. Records that were acknowledged with acks=0 or 1 may be lost by Kafka's
// rules; they are counted, and break nothing.
func (c *Cluster) Check() *Verdict {
	v := &Verdict{}
	broken, lost := map[int]bool{}, map[int]bool{}
	for _, x := range c.s.LostAnyway() {
		lost[x.Invariant] = true
		v.Lost = append(v.Lost, x.String())
	}
	for _, x := range c.s.Check() {
		broken[x.Invariant] = true
		v.Broken = append(v.Broken, x.String())
	}
	slices.Sort(v.Broken)
	for _, i := range invariants {
		if !broken[i.number] && !lost[i.number] {
			v.Held = append(v.Held, fmt.Sprintf("%2d  %s", i.number, i.text))
		}
	}
	all, allowed := 0, 0
	for i := range c.s.Truth.Acked {
		a := &c.s.Truth.Acked[i]
		all += int(a.Count)
		if a.Lost && a.Acks >= 0 {
			allowed += int(a.Count)
		}
	}
	v.Held = append(v.Held, fmt.Sprintf("    %s acknowledged, %d lost as acks=0 or acks=1 allows", plural(all, "record"), allowed))
	return v
}
