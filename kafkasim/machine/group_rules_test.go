package machine

import (
	"fmt"
	"slices"
	"testing"

	"kafkalab/kafkasim/config"
)

// raw is a member by hand: its requests, each on a connection of its own.
type raw struct {
	*groups
	node NodeID
}

func newRaw(t *testing.T, tune ...func(*World)) *raw {
	g := newGroups(t, append([]func(*World){offsetsOne, quick}, tune...)...)
	g.spread("orders", 2)
	r := &raw{groups: g, node: g.findCoordinator(GroupCoordinator, "g")}
	g.run(1000 * ms)
	r.node = g.findCoordinator(GroupCoordinator, "g")
	return r
}

func (r *raw) joinRequest(member string, topics ...string) JoinGroupRequest {
	m := JoinGroupRequest{Group: "g", Member: member, ClientID: "raw", Type: "consumer", SessionTimeoutMs: 30_000, RebalanceTimeoutMs: 5000}
	m.Protocols = []GroupProtocol{{"range", Subscription{Topics: topics, Generation: -1}}}
	return m
}

// newID asks for a member id.
func (r *raw) newID() string {
	r.t.Helper()
	a := r.call(r.node, r.joinRequest("", "orders")).(JoinGroupResponse)
	r.expect("the first JoinGroup", a.Error, MEMBER_ID_REQUIRED)
	return a.Member
}

func (r *raw) sync(member string, generation int32, all ...string) SyncGroupResponse {
	m := SyncGroupRequest{Group: "g", Member: member, Generation: generation}
	for i, id := range all {
		m.Assignments = append(m.Assignments, MemberAssignment{id, []TopicParts{{"orders", []int32{int32(i)}}}})
	}
	return r.call(r.node, m).(SyncGroupResponse)
}

func (r *raw) heartbeatOf(member string, generation int32) Code {
	return r.call(r.node, HeartbeatRequest{Group: "g", Member: member, Generation: generation}).(HeartbeatResponse).Error
}

func (r *raw) commitOf(member string, generation int32, offset int64) Code {
	m := OffsetCommitRequest{Group: "g", Member: member, Generation: generation, Parts: []CommitPart{{Topic: "orders", Offset: offset, LeaderEpoch: -1}}}
	return r.call(r.node, m).(OffsetCommitResponse).Parts[0].Error
}

func (r *raw) fetchOf() int64 {
	m := OffsetFetchRequest{Group: "g", Parts: []NamedPartition{{"orders", 0}}}
	return r.call(r.node, m).(OffsetFetchResponse).Parts[0].Offset
}

// alone brings one member into generation 1.
func (r *raw) alone() string {
	r.t.Helper()
	a := r.newID()
	j := r.call(r.node, r.joinRequest(a, "orders")).(JoinGroupResponse)
	r.expect("generation", j.Generation, 1)
	r.expect("sync", r.sync(a, 1, a).Error, NONE)
	return a
}

// G-25, G-26, G-41: who does not join within the rebalance timeout is out; so is who joins and does not sync.
func TestRebalanceTimeouts(t *testing.T) {
	r := newRaw(t)
	a := r.alone()
	b := r.newID()
	from := r.Now
	j := r.call(r.node, r.joinRequest(b, "orders")).(JoinGroupResponse) // a never joins
	r.expect("error", j.Error, NONE)
	if took := r.Now - from; took < 5000*ms || took > 5100*ms {
		t.Errorf("the join phase took %d µs", took)
	}
	r.expect("generation", j.Generation, 2)
	r.expect("members", len(r.group().Members), 1)
	r.expect("the old one", r.heartbeatOf(a, 1), UNKNOWN_MEMBER_ID)
	r.run(6000 * ms) // b never syncs
	r.expect("members", len(r.group().Members), 0)
	r.expect("state", r.group().State, GroupEmpty)
}

// G-53, G-33: a pending member's id is void after its session; G-22, G-20: it must come with the id it was given.
func TestPendingMembers(t *testing.T) {
	r := newRaw(t)
	r.alone()
	b := r.newID()
	r.expect("pending", len(r.group().Pending), 1)
	r.run(31_000 * ms)
	r.expect("pending", len(r.group().Pending), 0)
	r.expect("too late", r.call(r.node, r.joinRequest(b, "orders")).(JoinGroupResponse).Error, UNKNOWN_MEMBER_ID)
}

// G-80 to G-87, C-69, S-13: what commits are taken.
func TestCommitsOfGenerations(t *testing.T) {
	r := newRaw(t)
	r.expect("an unknown group", r.commitOf("nobody", 3, 5), GROUP_ID_NOT_FOUND)
	a := r.alone()
	r.expect("a commit", r.commitOf(a, 1, 5), NONE)
	r.expect("back", r.commitOf(a, 1, 2), NONE)
	r.expect("fetched", r.fetchOf(), 2)
	r.expect("nobody", r.commitOf("", -1, 9), UNKNOWN_MEMBER_ID)
	b := r.newID()
	r.ask(r.node, r.joinRequest(b, "orders"))
	r.run(100 * ms)
	r.expect("heartbeat", r.heartbeatOf(a, 1), REBALANCE_IN_PROGRESS)
	r.expect("while members join", r.commitOf(a, 1, 7), NONE)
	j := r.call(r.node, r.joinRequest(a, "orders")).(JoinGroupResponse)
	r.expect("generation", j.Generation, 2)
	r.expect("while members sync", r.commitOf(a, 2, 8), REBALANCE_IN_PROGRESS)
	r.expect("of the old generation", r.commitOf(a, 1, 8), ILLEGAL_GENERATION)
	r.expect("heartbeat while members sync", r.heartbeatOf(a, 2), NONE)
	r.expect("sync", r.sync(a, 2, a, b).Error, NONE)
	r.expect("of the old generation", r.commitOf(a, 1, 8), ILLEGAL_GENERATION)
	r.expect("of another member", r.commitOf("nobody", 2, 8), UNKNOWN_MEMBER_ID)
	r.expect("fetched", r.fetchOf(), 7)
}

// G-32, G-29: what the coordinator refuses.
func TestJoinRefusals(t *testing.T) {
	r := newRaw(t, func(w *World) { w.Broker.Groups.MaxSize = 1 })
	m := r.joinRequest("", "orders")
	for ms, want := range map[int64]Code{5999: INVALID_SESSION_TIMEOUT, 6000: MEMBER_ID_REQUIRED, 1_800_000: MEMBER_ID_REQUIRED, 1_800_001: INVALID_SESSION_TIMEOUT} {
		m.SessionTimeoutMs, m.Group = ms, fmt.Sprint("other", ms)
		r.expect(fmt.Sprint(ms), r.call(r.findCoordinator(GroupCoordinator, m.Group), m).(JoinGroupResponse).Error, want)
	}
	r.alone()
	m = r.joinRequest("", "orders")
	r.expect("another member", r.call(r.node, m).(JoinGroupResponse).Error, GROUP_MAX_SIZE_REACHED)
}

// G-100: an empty group's offsets go so long after it became empty, and then the group; a commit's age does not count.
func TestOffsetsExpire(t *testing.T) {
	r := newRaw(t, func(w *World) { w.Broker.Groups.RetentionMinutes, w.Broker.Groups.RetentionCheckMs = 10, 60_000 })
	a := r.alone()
	r.expect("a commit", r.commitOf(a, 1, 5), NONE)
	for range 30 { // the group lives for longer than the retention
		r.run(20_000 * ms)
		r.expect("alive", r.heartbeatOf(a, 1), NONE)
	}
	r.call(r.node, LeaveGroupRequest{Group: "g", Members: []LeavingMember{{Member: a}}})
	r.run(8 * 60_000 * ms)
	r.expect("still there", r.fetchOf(), 5)
	r.run(4 * 60_000 * ms)
	r.expect("gone", r.fetchOf(), -1)
	r.run(2 * 60_000 * ms)
	if g := r.group(); g != nil {
		t.Errorf("the empty group is still there: %+v", g)
	}
}

// S-1, S-2, C-63: a crash in the middle of a batch. Committed after processing, the records since the last commit are done
// again (43 holds); committed before, they are left out (44 holds).
func TestCrashBeforeAndAfterCommit(t *testing.T) {
	for _, c := range []struct {
		mode        WorkMode
		every       int32
		again, left int64
	}{{CommitAfter, 0, 4, 0}, {CommitAfter, 3, 1, 0}, {CommitBefore, 0, 0, 6}} {
		g := newGroups(t, offsetsOne)
		g.spread("orders", 1)
		p := g.producer(func(p *config.Producer) { p.LingerMs = 1000 })
		manual := func(x *config.Consumer) { x.Member.EnableAutoCommit = false }
		c1 := g.member("c1", []string{"orders"}, manual)
		g.stable(1)
		work := Work{Consumer: c1, PollTimeout: 100 * ms, PerRecord: 100 * ms, Mode: c.mode, Every: c.every}
		g.apply(work)
		g.sendAll(p, "orders", 0, numbered(10)...)
		g.runUntil(10_000*ms, "four are done", func() bool { d := g.Consumers[c1].App.Done; return len(d) == 1 && d[0].To == 4 })
		g.run(50 * ms)
		g.apply(CrashConsumer{Consumer: c1})
		c2 := g.member("c2", []string{"orders"}, manual)
		work.Consumer, work.PerRecord = c2, 0
		g.apply(work)
		g.run(60_000 * ms)
		done := slices.Concat(g.Consumers[c1].App.Done, g.Consumers[c2].App.Done)
		var again, all int64
		seen := map[int64]bool{}
		for _, d := range done {
			for o := d.From; o < d.To; o++ {
				if seen[o] {
					again++
				}
				seen[o] = true
				all++
			}
		}
		g.expect(fmt.Sprintf("mode %d every %d: done again", c.mode, c.every), again, c.again)
		g.expect(fmt.Sprintf("mode %d every %d: left out", c.mode, c.every), 10-int64(len(seen)), c.left)
	}
}

// Check 24, C-61: an automatic commit is made in a poll, of what earlier polls returned. A crash before the next poll has
// committed nothing.
func TestAutoCommit(t *testing.T) {
	g := newGroups(t, offsetsOne)
	g.spread("orders", 1)
	p := g.producer()
	c1 := g.member("c1", []string{"orders"}, maxPoll(10), func(c *config.Consumer) { c.Member.AutoCommitIntervalMs = 1000 })
	g.stable(1)
	g.apply(Work{Consumer: c1, Stop: true})
	g.run(200 * ms)
	g.sendAll(p, "orders", 0, numbered(20)...)
	g.settle(p)
	first := g.poll(c1, 1000)
	g.expect("polled", len(first), 10)
	g.run(20_000 * ms)
	committed := func() int64 {
		x, b := g.GroupAt("g")
		if v := g.Stable(b, x, "orders", 0); v != nil {
			return v.Offset
		}
		return -1
	}
	g.expect("before the next poll", committed() <= 0, true)
	g.poll(c1, 100)
	g.run(100 * ms)
	g.expect("after it", committed(), 10)
}

// C-67, C-68, G-110, S-18: a commit while the coordinator is away waits for its successor, and counts there.
func TestCommitThroughFailover(t *testing.T) {
	g := newGroups(t, offsetsOne, quick)
	g.spread("orders", 2)
	p := g.producer()
	c1 := g.member("c1", []string{"orders"}, func(c *config.Consumer) { c.Member.EnableAutoCommit = false })
	g.stable(1)
	g.sendAll(p, "orders", 0, numbered(5)...)
	g.runUntil(5_000*ms, "read", func() bool { return len(g.Consumers[c1].App.Done) == 1 })
	first := g.Apply(Commit{Consumer: c1, Parts: []CommitPart{{Topic: "orders", Partition: 1, Offset: 7, LeaderEpoch: -1}}}).ID
	g.runUntil(5_000*ms, "committed", func() bool { return g.Consumers[c1].CommitOf(first).Done })
	generation := g.group().Generation
	old := g.coordinatorNode()
	g.apply(CrashBroker{Broker: old})
	n := g.Apply(Commit{Consumer: c1, Parts: []CommitPart{{Topic: "orders", Offset: 5, LeaderEpoch: 0}}}).ID
	g.runUntil(30_000*ms, "committed", func() bool { return g.Consumers[c1].CommitOf(n).Done })
	g.expect("error", g.Consumers[c1].CommitOf(n).Error, NONE)
	x, b := g.GroupAt("g")
	g.expect("offset", g.Stable(b, x, "orders", 0).Offset, 5)
	if v := g.Stable(b, x, "orders", 1); v == nil || v.Offset != 7 {
		t.Errorf("the commit from before the failover: %+v", v)
	}
	g.expect("generation", x.Generation, generation)
}

// G-89, G-90: a commit is answered when it is replicated, and nobody reads it before.
func TestReadsWhatIsReplicated(t *testing.T) {
	r := newRaw(t, func(w *World) { w.Broker.Groups.CommitTimeoutMs = 2000 })
	a := r.alone()
	r.expect("a commit", r.commitOf(a, 1, 5), NONE)
	for n := NodeID(1); n <= 3; n++ {
		if n != r.node {
			r.apply(CutLink{A: n, B: r.node})
		}
	}
	asked := r.ask(r.node, OffsetCommitRequest{Group: "g", Member: a, Generation: 1, Parts: []CommitPart{{Topic: "orders", Offset: 9, LeaderEpoch: -1}}})
	r.run(500 * ms)
	r.expect("answered", r.answered(asked), false)
	r.expect("read", r.fetchOf(), 5)
	r.run(2000 * ms)
	r.expect("too late", r.answers[asked].p.(OffsetCommitResponse).Parts[0].Error, COORDINATOR_NOT_AVAILABLE)
}
