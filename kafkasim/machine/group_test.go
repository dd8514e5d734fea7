package machine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kafkalab/kafkasim/config"
)

// groups is a world under test with group members.
type groups struct {
	*clients
	id string
}

func newGroups(t testing.TB, tune ...func(*World)) *groups {
	return &groups{newClients(t, 3, tune...), "g"}
}

// offsetsOne gives __consumer_offsets one partition and no initial delay, as the recordings do.
func offsetsOne(w *World) {
	w.Broker.OffsetsTopic.Partitions, w.Broker.Groups.InitialRebalanceDelayMs = 1, 0
}

// spread makes a topic with n partitions, replicated thrice.
func (g *groups) spread(name string, n int) {
	g.t.Helper()
	var assignment [][]NodeID
	for i := range n {
		assignment = append(assignment, []NodeID{NodeID(i%3 + 1), NodeID((i+1)%3 + 1), NodeID((i+2)%3 + 1)})
	}
	g.topic(name, 1, assignment...)
}

func memberDefaults() config.Consumer {
	c, problem := config.ParseConsumer(map[string]any{"group.id": "g", "auto.offset.reset": "earliest"})
	if problem != nil {
		panic(problem.Text)
	}
	return c
}

// member makes a consumer that subscribes and works.
func (g *groups) member(name string, topics []string, tune ...func(*config.Consumer)) int32 {
	g.t.Helper()
	props := memberDefaults()
	for _, f := range tune {
		f(&props)
	}
	id := g.Apply(NewConsumer{Name: name, Props: props}).ID
	g.apply(Subscribe{Consumer: id, Topics: topics})
	g.apply(Work{Consumer: id, PollTimeout: 100 * ms})
	return id
}

func assignors(names ...string) func(*config.Consumer) {
	return func(c *config.Consumer) { c.Member.Assignors = names }
}

func instance(id string) func(*config.Consumer) {
	return func(c *config.Consumer) { c.Member.InstanceID = id }
}

// group is the group as its coordinator has it, nil when nobody has it.
func (g *groups) group() *Group {
	for i := range g.Brokers {
		b := &g.Brokers[i]
		if b.alive() {
			if x, code := b.coordinator(GroupCoordinator, g.id); code == NONE {
				return x.group(g.id)
			}
		}
	}
	return nil
}

// coordinator is the broker that coordinates the group.
func (g *groups) coordinatorNode() NodeID {
	for i := range g.Brokers {
		if b := &g.Brokers[i]; b.alive() {
			if _, code := b.coordinator(GroupCoordinator, g.id); code == NONE {
				return b.ID
			}
		}
	}
	return NoNode
}

// has is what a consumer has, in words.
func (g *groups) has(id int32) string {
	var out []string
	for _, p := range g.Consumers[id].assigned() {
		out = append(out, fmt.Sprintf("%s-%d", p.Topic, p.Partition))
	}
	return strings.Join(out, " ")
}

// calls are the calls of a consumer's listener since the n-th, in words.
func (g *groups) calls(id int32, from int) []string {
	var out []string
	for _, c := range g.Consumers[id].Group.Calls[from:] {
		var tps []string
		for _, p := range c.TPs {
			tps = append(tps, fmt.Sprintf("%s-%d", p.Topic, p.Partition))
		}
		out = append(out, c.Kind.String()+" ["+strings.Join(tps, " ")+"]")
	}
	return out
}

// stable runs until the group is stable and its members have what they are to have.
func (g *groups) stable(generation int32) {
	g.t.Helper()
	g.runUntil(120_000*ms, fmt.Sprintf("generation %d stable", generation), func() bool {
		x := g.group()
		if x == nil || x.State != GroupStable || x.Generation < generation {
			return false
		}
		for i := range g.Consumers {
			if c := &g.Consumers[i]; !c.Closed && c.Group.On && (c.Group.State != MemberStable || c.Group.Rejoin || c.Group.Generation != x.Generation) {
				return false
			}
		}
		return true
	})
}

func (g *groups) expect(what string, got any, want any) {
	g.t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		g.t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// Check 13, G-11, G-23: alone, a member waits for 3 s and is in generation 1. Range, and eager: at the second member all
// give up everything.
func TestGroupEager(t *testing.T) {
	g := newGroups(t)
	g.spread("orders", 6)
	c1 := g.member("c1", []string{"orders"})
	g.runUntil(10_000*ms, "joined", func() bool { return g.group() != nil && len(g.group().Members) == 1 })
	from := g.Now
	g.stable(1)
	if took := g.Now - from; took < 3000*ms || took > 3300*ms {
		t.Errorf("the first generation took %d µs", took)
	}
	g.expect("c1", g.has(c1), "orders-0 orders-1 orders-2 orders-3 orders-4 orders-5")
	c2 := g.member("c2", []string{"orders"})
	g.stable(2)
	g.expect("c1", g.has(c1), "orders-0 orders-1 orders-2")
	g.expect("c2", g.has(c2), "orders-3 orders-4 orders-5")
	g.expect("calls of c1", g.calls(c1, 1), []string{
		"revoked [orders-0 orders-1 orders-2 orders-3 orders-4 orders-5]", "assigned [orders-0 orders-1 orders-2]"})
	g.expect("protocol", g.group().Protocol, "range")
	g.apply(CloseConsumer{Consumer: c2})
	g.stable(3)
	g.expect("c1 alone again", g.has(c1), "orders-0 orders-1 orders-2 orders-3 orders-4 orders-5")
	g.apply(CloseConsumer{Consumer: c1})
	g.run(1000 * ms)
	g.expect("state", g.group().State, GroupEmpty)
	g.expect("generation", g.group().Generation, 4)
}

// Check 20, A-40 to A-44: with cooperative-sticky two generations, and what stays never stops.
func TestGroupCooperative(t *testing.T) {
	g := newGroups(t, offsetsOne)
	g.spread("orders", 6)
	coop := assignors("cooperative-sticky")
	c1 := g.member("c1", []string{"orders"}, coop)
	g.stable(1)
	c2 := g.member("c2", []string{"orders"}, coop)
	g.stable(3)
	g.expect("calls of c1", g.calls(c1, 1), []string{"revoked [orders-3 orders-4 orders-5]", "assigned []", "assigned []"})
	g.expect("calls of c2", g.calls(c2, 0), []string{"assigned []", "assigned [orders-3 orders-4 orders-5]"})
	c3 := g.member("c3", []string{"orders"}, coop)
	g.stable(5)
	g.expect("c1", g.has(c1), "orders-0 orders-1")
	g.expect("c2", g.has(c2), "orders-3 orders-4")
	g.expect("c3", g.has(c3), "orders-2 orders-5")
	g.apply(CloseConsumer{Consumer: c2})
	g.stable(6)
	g.expect("one round when somebody leaves", g.group().Generation, 6)
}

// Check 14, C-70, C-72, G-53, G-60, G-61: a crash is noticed when the session ends, a close at once.
func TestGroupCrash(t *testing.T) {
	g := newGroups(t, offsetsOne)
	g.spread("orders", 4)
	c1, c2 := g.member("c1", []string{"orders"}), g.member("c2", []string{"orders"})
	g.stable(1)
	g.run(10_000 * ms)
	g.apply(CrashConsumer{Consumer: c2})
	from := g.Now
	before := g.group().Generation
	g.runUntil(60_000*ms, "the rebalance", func() bool { return g.group().Generation > before })
	if took := g.Now - from; took < 42_000*ms || took > 48_500*ms {
		t.Errorf("the crash was noticed after %d µs", took)
	}
	g.stable(before + 1)
	g.expect("c1", g.has(c1), "orders-0 orders-1 orders-2 orders-3")
}

// Checks 15, 22, G-70 to G-75, G-111: a static member comes back in the same generation and fences what it was; the
// coordinator's successor goes on with the same generation.
func TestGroupStaticAndFailover(t *testing.T) {
	g := newGroups(t, offsetsOne, quick)
	g.spread("orders", 4)
	c1, c2 := g.member("c1", []string{"orders"}, instance("a")), g.member("c2", []string{"orders"}, instance("b"))
	g.stable(1)
	generation := g.group().Generation
	g.run(5000 * ms)
	had := g.has(c2)
	again := g.member("c3", []string{"orders"}, instance("b"))
	g.runUntil(20_000*ms, "it has its partitions", func() bool { return g.has(again) == had })
	g.expect("generation", g.group().Generation, generation)
	g.runUntil(10_000*ms, "the old one is fenced", func() bool { return g.Consumers[c2].App.Error == FENCED_INSTANCE_ID })

	old := g.coordinatorNode()
	g.apply(CrashBroker{Broker: old})
	g.runUntil(30_000*ms, "another coordinator", func() bool { n := g.coordinatorNode(); return n != NoNode && n != old })
	g.run(10_000 * ms)
	g.expect("generation after the failover", g.group().Generation, generation)
	g.expect("members", len(g.group().Members), 2)
	g.expect("c1", len(g.Consumers[c1].Parts), 2)
	g.expect("heartbeats go on", g.Consumers[c1].Group.State, MemberStable)
}

// S-11, C-71: too slow between polls: the heartbeat thread leaves, the commit fails, the partitions are lost.
func TestGroupSlowConsumer(t *testing.T) {
	g := newGroups(t, offsetsOne)
	g.spread("orders", 2)
	p := g.producer()
	c1 := g.member("c1", []string{"orders"}, func(c *config.Consumer) { c.Member.MaxPollIntervalMs, c.Member.EnableAutoCommit = 3000, false })
	g.stable(1)
	g.apply(Work{Consumer: c1, PollTimeout: 100 * ms, PerRecord: 6_000_000, Mode: CommitAfter})
	g.run(200 * ms)
	calls := len(g.Consumers[c1].Group.Calls)
	g.sendAll(p, "orders", 0, "slow")
	g.runUntil(5_000*ms, "it works", func() bool { return g.Consumers[c1].App.Phase == AppProcessing })
	g.runUntil(4_000*ms, "it is out of the group", func() bool { return len(g.group().Members) == 0 })
	g.runUntil(10_000*ms, "it is back", func() bool { return len(g.Consumers[c1].Parts) == 2 && g.Consumers[c1].Group.State == MemberStable })
	commits := g.Consumers[c1].Group.Commits
	if i := slices.IndexFunc(commits, func(o CommitOp) bool { return o.Error == COMMIT_FAILED }); i < 0 {
		t.Errorf("no commit failed: %+v", commits)
	}
	g.expect("calls", g.calls(c1, calls), []string{"lost [orders-0 orders-1]", "assigned [orders-0 orders-1]"})
}

// range gives partitions to members in the rack of a replica, within the same numbers.
func TestGroupRacks(t *testing.T) {
	g := newGroups(t, offsetsOne, func(w *World) { w.Racks = []string{"a", "b", "c"} })
	g.topic("orders", 1, []NodeID{1}, []NodeID{2}, []NodeID{3})
	in := func(rack string) func(*config.Consumer) { return func(c *config.Consumer) { c.ClientRack = rack } }
	c1, c2, c3 := g.member("c1", []string{"orders"}, in("c")), g.member("c2", []string{"orders"}, in("a")), g.member("c3", []string{"orders"}, in("b"))
	g.runUntil(60_000*ms, "three members", func() bool { x := g.group(); return x != nil && len(x.Members) == 3 })
	g.stable(1)
	g.expect("c1 in rack c", g.has(c1), "orders-2")
	g.expect("c2 in rack a", g.has(c2), "orders-0")
	g.expect("c3 in rack b", g.has(c3), "orders-1")
}
