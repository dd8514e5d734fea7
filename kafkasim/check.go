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
}

// OK tells whether all of them hold.
func (v *Verdict) OK() bool { return len(v.Broken) == 0 }

// String is a line for each.
func (v *Verdict) String() string {
	var out []string
	for _, s := range v.Broken {
		out = append(out, "BROKEN  "+s)
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
	{9, "what is below a leader's high watermark is on every member of the ISR"},
	{12, "no record acknowledged with acks=all is lost"},
	{16, "the controller's ISR is within the leader's"},
	{19, "nobody fenced or shutting down is in the ISR"},
	{20, "a leader is alive and unfenced at the controller"},
	{21, "no eligible leader replicas while the ISR is large enough"},
}

// Check runs the invariants of replication on the present state, and looks for acknowledged records that
// are in no leader's log any more. Records that were acknowledged with acks=0 or 1 may be lost by Kafka's
// rules; they are counted, and break nothing.
func (c *Cluster) Check() *Verdict {
	v := &Verdict{}
	broken := map[int]bool{}
	for _, x := range c.s.Check() {
		broken[x.Invariant] = true
		v.Broken = append(v.Broken, x.String())
	}
	slices.Sort(v.Broken)
	for _, i := range invariants {
		if !broken[i.number] {
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
