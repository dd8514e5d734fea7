package machine

import (
	"fmt"
	"testing"

	"kafkalab/kafkasim/config"
)

// atOnce is a world as the recordings have it: one partition of __consumer_offsets, targets computed at once.
func atOnce(w *World) {
	offsetsOne(w)
	w.Broker.ConsumerGroups.AssignmentIntervalMs = 0
}

// protocol848 makes a member speak the consumer protocol.
func protocol848(c *config.Consumer) { c.Member.Protocol = config.ConsumerProtocol }

// settled runs until the group is stable at an epoch and its members have acknowledged that.
func (g *groups) settled(epoch int32) {
	g.t.Helper()
	g.runUntil(120_000*ms, "the group is stable", func() bool {
		x := g.group()
		if x == nil || x.State != GroupStable || x.Consumer.Epoch < epoch {
			return false
		}
		for i := range g.Consumers {
			if c := &g.Consumers[i]; !c.Closed && c.Group.On && (c.Group.New.Phase != PhaseStable || c.Group.Generation != x.Consumer.Epoch || len(c.Parts) != len(x.Consumer.member(c.Group.ID).Target)) {
				return false
			}
		}
		return true
	})
}

// §5.10: members come and go; what stays is never given up.
func TestConsumerProtocol(t *testing.T) {
	g := newGroups(t, atOnce)
	g.spread("orders", 6)
	c1 := g.member("c1", []string{"orders"}, protocol848)
	g.settled(2)
	g.expect("c1", g.has(c1), "orders-0 orders-1 orders-2 orders-3 orders-4 orders-5")
	c2 := g.member("c2", []string{"orders"}, protocol848)
	g.settled(3)
	g.expect("members", len(g.group().Consumer.Members), 2)
	g.expect("both", len(g.Consumers[c1].Parts)+len(g.Consumers[c2].Parts), 6)
	calls := g.calls(c1, 0)
	g.expect("calls of c1", len(calls), 3)
	g.expect("it gives up half", calls[2], "assigned []")
	g.apply(CloseConsumer{Consumer: c2})
	g.settled(4)
	g.expect("c1", g.has(c1), "orders-0 orders-1 orders-2 orders-3 orders-4 orders-5")
	g.apply(CloseConsumer{Consumer: c1})
	g.run(1000 * ms)
	g.expect("state", g.group().State, GroupEmpty)
}

// speaker is a member of whom only heartbeats are there.
type speaker struct {
	g  *groups
	id string
}

// beat sends a heartbeat and writes its answer as epoch and partitions, or as the error. owned is "-" for nothing said.
func (m speaker) beat(epoch int32, owned string, topics ...string) string {
	m.g.t.Helper()
	r := ConsumerGroupHeartbeatRequest{Group: m.g.id, Member: m.id, Epoch: epoch, HasOwned: owned != "-", Full: len(topics) > 0, RebalanceTimeoutMs: 300_000, Topics: topics}
	for _, c := range owned {
		if c != '-' {
			r.Owned = addTo(r.Owned, "orders", c-'0')
		}
	}
	return m.send(r)
}

func (m speaker) send(r ConsumerGroupHeartbeatRequest) string {
	m.g.t.Helper()
	a := m.g.call(m.g.coordinatorNode(), r).(ConsumerGroupHeartbeatResponse)
	switch {
	case a.Error != NONE:
		return a.Error.String()
	case a.HasAssignment:
		return fmt.Sprint(a.Epoch, " ", partsWords(a.Assignment))
	}
	return fmt.Sprint(a.Epoch)
}

// rawGroup is a world with a coordinator and a topic with six partitions.
func rawGroup(t *testing.T, tune ...func(*World)) *groups {
	g := newGroups(t, append([]func(*World){atOnce, quick}, tune...)...)
	g.spread("orders", 6)
	g.call(1, FindCoordinatorRequest{Key: g.id})
	g.runUntil(30_000*ms, "a coordinator", func() bool { return g.coordinatorNode() != NoNode })
	return g
}

// as the recording l1 has them: the second member waits for what the first has to give up.
func TestConsumerGroupHeartbeats(t *testing.T) {
	g := rawGroup(t)
	m1, m2 := speaker{g, "m1"}, speaker{g, "m2"}
	commit := func(member string, epoch, partition int32) Code {
		a := g.call(g.coordinatorNode(), OffsetCommitRequest{Group: g.id, Member: member, Generation: epoch, Parts: []CommitPart{{Topic: "orders", Partition: partition}}})
		return a.(OffsetCommitResponse).Parts[0].Error
	}
	g.expect("m1 joins", m1.beat(0, "", "orders"), "2 orders-0,1,2,3,4,5")
	g.expect("m2 joins", m2.beat(0, "", "orders"), "3 nothing")
	g.expect("state", g.group().State, GroupReconciling)
	g.expect("m2 waits", m2.beat(3, "-"), "3")
	g.expect("m1 is to give up", m1.beat(2, "-"), "2 orders-0,1,2")
	g.expect("m1 says nothing of it", m1.beat(2, "-"), "2")
	g.expect("m2 still waits", m2.beat(3, "-"), "3")
	g.expect("commit of what is being given up", commit("m1", 2, 4), NONE)
	g.expect("m1 has given up", m1.beat(2, "012"), "3")
	g.expect("m2 gets it", m2.beat(3, "-"), "3 orders-3,4,5")
	g.expect("state", g.group().State, GroupStable)
	for i, c := range []struct {
		member           string
		epoch, partition int32
		want             Code
	}{
		{"m1", 2, 0, NONE}, {"m1", 2, 4, STALE_MEMBER_EPOCH}, {"m1", 1, 0, STALE_MEMBER_EPOCH}, {"m1", 3, 0, NONE}, {"m1", 4, 0, STALE_MEMBER_EPOCH},
		{"m2", 3, 0, NONE}, {"m2", 2, 3, STALE_MEMBER_EPOCH}, {"", -1, 0, UNKNOWN_MEMBER_ID},
	} {
		g.expect(fmt.Sprint("commit ", i), commit(c.member, c.epoch, c.partition), c.want)
	}
	g.expect("lost answer", m1.beat(2, "012"), "3")
	g.expect("the epoch before", m1.beat(2, "-"), "FENCED_MEMBER_EPOCH")
	g.expect("the epoch after", m1.beat(4, "-"), "FENCED_MEMBER_EPOCH")
	g.expect("nobody", speaker{g, "ghost"}.beat(5, "-"), "UNKNOWN_MEMBER_ID")
	g.expect("joins again", m2.beat(0, "", "orders"), "3 orders-3,4,5")
	g.expect("leaves", m2.beat(-1, "-"), "-1")
	g.expect("state", g.group().State, GroupAssigning)
	g.expect("m1 gets all", m1.beat(3, "-"), "4 orders-0,1,2,3,4,5")
}

// an instance's successor is let in when it is away, and takes its place in the same epoch.
func TestConsumerGroupStatic(t *testing.T) {
	g := rawGroup(t)
	as := func(id string, epoch int32) string {
		r := ConsumerGroupHeartbeatRequest{Group: g.id, Member: id, Instance: "i", Epoch: epoch}
		if epoch == 0 {
			r.Full, r.HasOwned, r.RebalanceTimeoutMs, r.Topics = true, true, 300_000, []string{"orders"}
		}
		return speaker{g, id}.send(r)
	}
	g.expect("s1", as("s1", 0), "2 orders-0,1,2,3,4,5")
	g.expect("s2 too early", as("s2", 0), "UNRELEASED_INSTANCE_ID")
	g.expect("s1 goes for a while", as("s1", -2), "-2")
	g.expect("state", g.group().State, GroupReconciling)
	g.expect("s2", as("s2", 0), "2 orders-0,1,2,3,4,5")
	g.expect("s1 is fenced", as("s1", 1), "FENCED_INSTANCE_ID")
	g.expect("epoch", g.group().Consumer.Epoch, 2)
}

// who does not give up in its rebalance timeout is taken out; so is who is silent.
func TestConsumerGroupTimeouts(t *testing.T) {
	g := rawGroup(t)
	m1, m2 := speaker{g, "m1"}, speaker{g, "m2"}
	r := ConsumerGroupHeartbeatRequest{Group: g.id, Member: "m1", HasOwned: true, Full: true, RebalanceTimeoutMs: 10_000, Topics: []string{"orders"}}
	g.expect("m1", m1.send(r), "2 orders-0,1,2,3,4,5")
	g.expect("m2", m2.beat(0, "", "orders"), "3 nothing")
	g.expect("m1 is to give up", m1.beat(2, "-"), "2 orders-0,1,2")
	g.run(9000 * ms)
	g.expect("both", len(g.group().Consumer.Members), 2)
	g.run(1100 * ms)
	g.expect("m1 is out", m1.beat(2, "-"), "UNKNOWN_MEMBER_ID")
	g.expect("m2 has all", m2.beat(3, "-"), "4 orders-0,1,2,3,4,5")
	g.run(46_000 * ms)
	g.expect("m2 is out", g.group().State, GroupEmpty)
}

// a group without members changes its protocol and keeps its offsets; with members it does not.
func TestConsumerGroupProtocolChange(t *testing.T) {
	g := rawGroup(t)
	m := speaker{g, "m1"}
	join := func() Code {
		a := g.call(g.coordinatorNode(), JoinGroupRequest{Group: g.id, Member: "", SessionTimeoutMs: 45_000, RebalanceTimeoutMs: 1000, Type: "consumer", Protocols: []GroupProtocol{{Name: "range"}}})
		return a.(JoinGroupResponse).Error
	}
	g.expect("m1", m.beat(0, "", "orders"), "2 orders-0,1,2,3,4,5")
	g.call(g.coordinatorNode(), OffsetCommitRequest{Group: g.id, Member: "m1", Generation: 2, Parts: []CommitPart{{Topic: "orders", Offset: 0}}})
	g.World.Broker.ConsumerGroups.Migration.Policy = config.MigrationDisabled
	g.expect("classic, with members", join(), INCONSISTENT_GROUP_PROTOCOL)
	g.World.Broker.ConsumerGroups.Migration.Policy = config.MigrationBidirectional
	g.expect("m1 leaves", m.beat(-1, "-"), "-1")
	g.expect("classic, without", join(), MEMBER_ID_REQUIRED)
	g.run(46_000 * ms)
	g.expect("back", m.beat(0, "", "orders"), "2 orders-0,1,2,3,4,5")
	g.expect("offsets", len(g.group().Offsets), 1)
}

// A-92, C-71: too slow between polls: the consumer leaves by itself, and loses what it had at its next poll.
func TestConsumerProtocolSlow(t *testing.T) {
	g := newGroups(t, atOnce)
	g.spread("orders", 2)
	p := g.producer()
	c1 := g.member("c1", []string{"orders"}, protocol848, func(c *config.Consumer) { c.Member.MaxPollIntervalMs, c.Member.EnableAutoCommit = 3000, false })
	g.settled(2)
	g.apply(Work{Consumer: c1, PollTimeout: 100 * ms, PerRecord: 6_000_000, Mode: CommitAfter})
	g.run(200 * ms)
	calls := len(g.Consumers[c1].Group.Calls)
	g.sendAll(p, "orders", 0, "slow")
	g.runUntil(5_000*ms, "it works", func() bool { return g.Consumers[c1].App.Phase == AppProcessing })
	g.runUntil(4_000*ms, "it is out of the group", func() bool { return len(g.group().Consumer.Members) == 0 })
	g.runUntil(10_000*ms, "it is back", func() bool { return len(g.Consumers[c1].Parts) == 2 && g.Consumers[c1].Group.New.Phase == PhaseStable })
	g.expect("calls", g.calls(c1, calls), []string{"lost [orders-0 orders-1]", "assigned [orders-0 orders-1]"})
}

// what a member gave up it does not have when it says so; its partitions move once.
func TestConsumerProtocolGivesUp(t *testing.T) {
	g := newGroups(t, atOnce)
	g.spread("orders", 6)
	c1 := g.member("c1", []string{"orders"}, protocol848)
	g.settled(2)
	c2 := g.member("c2", []string{"orders"}, protocol848)
	g.runUntil(60_000*ms, "c2 has three", func() bool { return len(g.Consumers[c2].Parts) == 3 })
	g.expect("c1 has three", len(g.Consumers[c1].Parts), 3)
}

// G-111: the coordinator's successor goes on with the same epochs, and nobody loses anything.
func TestConsumerGroupFailover(t *testing.T) {
	g := newGroups(t, atOnce, quick)
	g.spread("orders", 6)
	c1, c2 := g.member("c1", []string{"orders"}, protocol848), g.member("c2", []string{"orders"}, protocol848)
	g.settled(3)
	had, before := g.has(c1)+g.has(c2), g.group().Consumer.Epoch
	old := g.coordinatorNode()
	g.apply(CrashBroker{Broker: old})
	g.runUntil(30_000*ms, "another coordinator", func() bool { n := g.coordinatorNode(); return n != NoNode && n != old })
	g.run(10_000 * ms)
	g.expect("epoch", g.group().Consumer.Epoch, before)
	g.expect("partitions", g.has(c1)+g.has(c2), had)
	g.expect("state", g.group().State, GroupStable)
}

// Random groups with the consumer protocol through failing coordinators, under every invariant: no partition ever has two
// owners (45), epochs (41), commits (42), nothing left out (43) or done twice (44).
func TestConsumerGroupChaos(t *testing.T) {
	runs := 16
	if testing.Short() {
		runs = 4
	}
	for seed := range uint64(runs) {
		g := chaoticGroups(t, seed)
		x := &groupChaos{groups: g, seed: seed, mode: WorkMode(1 + seed%2), static: seed%4 == 3, tune: func(c *config.Consumer) {
			protocol848(c)
			c.Member.RemoteAssignor = []string{"", "range"}[seed/2%2]
		}}
		x.live(t)
	}
}

// after an error a member says everything, so that it is told its assignment again, whatever it has heard.
func TestEverythingIsSaidAfterAnError(t *testing.T) {
	for _, why := range []Code{NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS} {
		g := newGroups(t, atOnce, quick)
		g.spread("orders", 6)
		c := g.member("c1", []string{"orders"}, protocol848)
		g.settled(2)
		x := &g.Consumers[c]
		if x.Group.New.Full {
			t.Fatal("a member that has heard of its assignment says everything")
		}
		r := x.protocolHeartbeat()
		g.protocolRefused(x, &r, why)
		if next := x.protocolHeartbeat(); !next.Full || !next.HasOwned {
			t.Errorf("after %s the next heartbeat is %+v", why, next)
		}
	}
}
