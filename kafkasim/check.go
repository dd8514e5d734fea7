package kafkasim

import (
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/machine"
)

// Verdict tells which invariants hold.
type Verdict struct {
	Held    []string // those that hold
	Watched []string // those that hold and that only Watch can see
	Broken  []string // what does not, with the numbers, and the event that broke it if somebody watched
	Lost    []string // what does not, and need not: Kafka promises no more
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
	for _, s := range append(clip(v.Held), v.Watched...) {
		out = append(out, "holds   "+s)
	}
	return strings.Join(out, "\n")
}

// invariants are those of Kafka's replication that apply to what is modelled, in words. Those that are
// about a change can be seen by Watch only.
var invariants = []struct {
	number int
	change bool
	text   string
}{
	{1, false, "the ISR is part of the replicas, nobody twice"},
	{2, false, "a leader is in the ISR; without a leader one member is left in it"},
	{3, true, "a change adds one to the partition epoch, a change of leader one to the leader epoch"},
	{4, false, "no two brokers lead in one epoch"},
	{5, false, "on every replica: log start ≤ high watermark ≤ log end"},
	{6, false, "leader epochs never go back along a log"},
	{7, false, "replicas with the same offset and epoch hold the same record"},
	{8, false, "a follower's log is the beginning of its leader's"},
	{9, false, "what is below a leader's high watermark is on every member of the ISR"},
	{10, true, "… and on every eligible leader replica"},
	{11, false, "the leader has everything that was ever below a high watermark"},
	{12, false, "no record acknowledged with acks=all is lost"},
	{13, true, "a record that consumers could read never changes and never disappears"},
	{14, false, "what was exposed is never taken back"},
	{15, false, "the high watermark stands still while the ISR is below its minimum"},
	{16, false, "the controller's ISR is within the leader's"},
	{17, true, "an acknowledgement with acks=all is below the high watermark, and enough replicas hold it"},
	{18, true, "what was refused for too few replicas was not appended"},
	{19, false, "nobody fenced or shutting down is in the ISR"},
	{20, false, "a leader is alive and unfenced at the controller"},
	{21, false, "no eligible leader replicas while the ISR is large enough"},
	{22, true, "broker epochs grow, and a new life begins fenced"},
	{23, true, "an idempotent producer's batches are in a log without gap and repetition"},
	{24, true, "a log's start does not go back unless the log is cut"},
	{25, false, "compaction keeps the newest record of each key"},
	{46, true, "retention deletes nothing above the high watermark"},
	{26, false, "a follower gets on by what its leader tells it"},
	{40, false, "a partition has one owner in a generation of its group"},
	{41, true, "the generations of a group grow"},
	{45, false, "with the consumer protocol no partition ever has two owners, and no member is ahead of its group"},
	{42, true, "a committed offset that was answered survives its coordinator"},
	{43, false, "a group that commits what it has processed leaves nothing out"},
	{44, false, "a group that commits before it processes does nothing twice"},
	{27, true, "the metadata quorum has one leader an epoch, and what it has committed is on a majority and the same for all"},
	{28, false, "the last stable offset is at or below the high watermark, and not beyond an open transaction"},
	{29, false, "a transactional id has one coordinator, one producer id and at most one open transaction"},
	{30, false, "a producer's epoch goes back neither along a log nor at its coordinator"},
	{31, false, "a transaction has one outcome in all its partitions, the one that was decided: all or nothing"},
	{32, true, "a producer that was fenced has written nothing since"},
	{33, false, "no transaction hangs: its coordinator knows of it, and ends it"},
	{60, false, "a record of a share group is acquired by one member at a time"},
	{61, false, "a record's delivery count in a share group never exceeds the limit"},
	{62, false, "a record that a share group has acknowledged is never delivered again"},
	{63, false, "the start offset of a share partition never goes back"},
	{64, false, "a share group loses nothing: what the start offset passes was acknowledged or archived, or is not in the log any more"},
	{65, false, "the state of a share partition is written by its newest leader, and by nobody who has read it before it was set anew"},
}

// watched is what Watch has seen.
type watched struct {
	w      *machine.Watch
	events int
	found  []machine.Violation
}

// watchLimit is how many violations are kept: one often leads to many more.
const watchLimit = 20

func (w *watched) add(found []machine.Violation) {
	if n := watchLimit - len(w.found); len(found) > 0 && n > 0 {
		w.found = append(w.found, found[:min(n, len(found))]...)
	}
}

func (w *watched) fork(s *machine.State) *watched {
	if w == nil {
		return nil
	}
	return &watched{w: w.w.Clone(s), events: w.events, found: clip(w.found)}
}

// commandWords is a command as the script has it, or as the machine calls it.
func commandWords(code string, cmd machine.Command) string {
	if code != "" {
		return code
	}
	return strings.TrimPrefix(fmt.Sprintf("%T%+v", cmd, cmd), "machine.")
}

// Watch looks at the invariants of replication after every event from now on, or stops that. Check then tells
// what has broken and by which event, and knows of the invariants that are about a change. Watching changes
// nothing of what happens, and costs less than half the time of the events themselves. Forks and the past
// are watched as their parent is.
func (c *Cluster) Watch(on bool) {
	switch {
	case !on:
		c.watch, c.s.Watching = nil, false
	case c.watch == nil:
		c.watch = &watched{w: machine.NewWatch(c.s)}
	}
}

// violations is what is broken now, and what Watch has seen break: of each invariant what came first.
func (c *Cluster) violations() []machine.Violation {
	now := c.s.Check()
	if c.watch == nil {
		return now
	}
	found := append(clip(c.watch.found), c.watch.w.Stuck(c.s)...)
	for _, x := range now {
		if !slices.ContainsFunc(found, func(y machine.Violation) bool { return y.Invariant == x.Invariant }) {
			found = append(found, x)
		}
	}
	return found
}

// Check runs the invariants of replication on the present state, adds what Watch has seen, and looks for
// acknowledged records that are in no leader's log any more. Records that were acknowledged with acks=0 or 1
// may be lost by Kafka's rules; they are counted, and break nothing.
func (c *Cluster) Check() *Verdict {
	v := &Verdict{}
	broken, lost := map[int]bool{}, map[int]bool{}
	for _, x := range c.s.LostAnyway() {
		lost[x.Invariant] = true
		v.Lost = append(v.Lost, x.String())
	}
	for _, x := range c.violations() {
		broken[x.Invariant] = true
		v.Broken = append(v.Broken, x.String())
	}
	for _, i := range invariants {
		if i.number == 27 && len(c.s.Controllers) == 1 {
			continue // nobody to agree with
		}
		if i.number >= machine.OneOwner && len(c.s.Share.Consumers) == 0 {
			continue
		}
		if i.number >= 28 && i.number < 40 && !c.hasTransactions() {
			continue
		}
		if i.number >= 40 && i.number < 46 && !c.hasGroups() {
			continue
		}
		if i.number == 25 && !c.compacts() || i.number == 45 && !c.hasConsumerGroups() {
			continue
		}
		switch line := fmt.Sprintf("%2d  %s", i.number, i.text); {
		case broken[i.number] || lost[i.number]:
		case !i.change:
			v.Held = append(v.Held, line)
		case c.watch != nil:
			v.Watched = append(v.Watched, line)
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
	if c.watch != nil {
		v.Watched = append(v.Watched, fmt.Sprintf("    watched through %s", plural(c.watch.events, "event")))
	}
	return v
}

// hasTransactions tells whether any producer is transactional.
func (c *Cluster) hasTransactions() bool {
	return slices.ContainsFunc(c.s.Producers, func(p machine.Producer) bool { return p.Config.TransactionalID != "" })
}

// hasGroups tells whether any consumer has a group.
func (c *Cluster) hasGroups() bool {
	return slices.ContainsFunc(c.s.Consumers, func(x machine.Consumer) bool { return x.Config.Member.GroupID != "" })
}

// compacts tells whether there is a compacted topic.
func (c *Cluster) compacts() bool {
	return slices.ContainsFunc(c.image().Topics, func(t machine.TopicImage) bool { return t.Props.CleanupPolicy.Compacts() })
}
