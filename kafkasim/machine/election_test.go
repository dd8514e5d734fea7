package machine

import (
	"slices"
	"testing"
)

// The election table of R3.10 to R3.16: what one change of the target ISR does to a partition's record.
func TestPartitionChange(t *testing.T) {
	type reg = PartitionRegistration
	ids := func(list ...NodeID) []NodeID { return list }
	cases := []struct {
		name    string
		old     reg // Replicas 1,2,3 where nil
		isr     []NodeID
		active  []NodeID
		unclean []NodeID // shut down uncleanly
		minISR  int
		elr     bool
		how     Election
		want    reg
	}{
		{name: "a follower goes: PE grows, E does not (R3.10)",
			old: reg{ISR: ids(1, 2, 3), Leader: 1}, isr: ids(1, 2), active: ids(1, 2), minISR: 1,
			want: reg{ISR: ids(1, 2), Leader: 1, PartitionEpoch: 1}},
		{name: "the leader goes: the first of the replica list that is in the ISR, whatever the ISR's order (R3.13)",
			old: reg{Replicas: ids(1, 3, 2), ISR: ids(2, 3, 1), Leader: 1}, isr: ids(2, 3), active: ids(2, 3), minISR: 1,
			want: reg{ISR: ids(2, 3), Leader: 3, LeaderEpoch: 1, PartitionEpoch: 1}},
		{name: "the last member stays in the ISR without ELR (R3.12)",
			old: reg{ISR: ids(1), Leader: 1}, isr: ids(), active: ids(2, 3), minISR: 1,
			want: reg{ISR: ids(1), Leader: NoNode, LeaderEpoch: 1, PartitionEpoch: 1}},
		{name: "with ELR the ISR empties and the leader is remembered (R3.12, R3.16)",
			old: reg{ISR: ids(1), Leader: 1}, isr: ids(), active: ids(2, 3), minISR: 1, elr: true,
			want: reg{ISR: ids(), ELR: ids(1), LastKnownELR: ids(1), Leader: NoNode, LeaderEpoch: 1, PartitionEpoch: 1}},
		{name: "below the minimum whoever leaves is eligible (R3.16)",
			old: reg{ISR: ids(1, 2), Leader: 1}, isr: ids(1), active: ids(1), minISR: 2, elr: true,
			want: reg{ISR: ids(1), ELR: ids(2), Leader: 1, PartitionEpoch: 1}},
		{name: "with enough in sync nobody else is eligible (R3.16)",
			old: reg{ISR: ids(1), ELR: ids(2), Leader: 1}, isr: ids(1, 3), active: ids(1, 2, 3), minISR: 2, elr: true,
			want: reg{ISR: ids(1, 3), Leader: 1, PartitionEpoch: 1}},
		{name: "an eligible replica is elected when the ISR is empty, and that is clean (R3.15)",
			old: reg{ISR: ids(3), ELR: ids(2), Leader: 3}, isr: ids(), active: ids(2), minISR: 2, elr: true,
			want: reg{ISR: ids(2), ELR: ids(3), Leader: 2, LeaderEpoch: 1, PartitionEpoch: 1}},
		{name: "an unclean shutdown leaves the ELR and changes nothing else (R3.18)",
			old: reg{ELR: ids(1, 2), LastKnownELR: ids(1), Leader: NoNode}, active: ids(), unclean: ids(2), minISR: 2, elr: true,
			want: reg{ELR: ids(1), LastKnownELR: ids(1), Leader: NoNode, PartitionEpoch: 1}},
		{name: "the last known leader comes back: unclean, though unclean election is off (R3.16)",
			old: reg{LastKnownELR: ids(1), Leader: NoNode}, active: ids(1, 2), minISR: 2, elr: true,
			want: reg{ISR: ids(1), Leader: 1, LeaderEpoch: 1, PartitionEpoch: 1, Recovering: true}},
		{name: "not while somebody else is eligible",
			old: reg{ELR: ids(3), LastKnownELR: ids(1), Leader: NoNode}, active: ids(1, 2), minISR: 2, elr: true,
			want: reg{ELR: ids(3), LastKnownELR: ids(1), Leader: NoNode}},
		{name: "unclean: the first active replica, the ISR is it alone, RECOVERING (R3.14)",
			old: reg{ISR: ids(1), Leader: 1}, isr: ids(), active: ids(2, 3), minISR: 1, how: UncleanElection,
			want: reg{ISR: ids(2), Leader: 2, LeaderEpoch: 1, PartitionEpoch: 1, Recovering: true}},
		{name: "unclean election is the last resort",
			old: reg{ISR: ids(1, 3), Leader: 1}, isr: ids(3), active: ids(2, 3), minISR: 1, how: UncleanElection,
			want: reg{ISR: ids(3), Leader: 3, LeaderEpoch: 1, PartitionEpoch: 1}},
		{name: "the current leader stays when it may, preferred or not",
			old: reg{ISR: ids(1, 2), Leader: 2}, isr: ids(1, 2), active: ids(1, 2), minISR: 1,
			want: reg{ISR: ids(1, 2), Leader: 2}},
		{name: "preferred: replicas[0] when it is in the ISR and active",
			old: reg{ISR: ids(1, 2), Leader: 2}, isr: ids(1, 2), active: ids(1, 2), minISR: 1, how: PreferredElection,
			want: reg{ISR: ids(1, 2), Leader: 1, LeaderEpoch: 1, PartitionEpoch: 1}},
		{name: "preferred, but it is not in the ISR",
			old: reg{ISR: ids(2, 3), Leader: 2}, isr: ids(2, 3), active: ids(1, 2, 3), minISR: 1, how: PreferredElection,
			want: reg{ISR: ids(2, 3), Leader: 2}},
		{name: "a leader that is to lead on clears the last known leader",
			old: reg{ISR: ids(2), LastKnownELR: ids(1), Leader: NoNode}, isr: ids(2), active: ids(2), minISR: 1, elr: true,
			want: reg{ISR: ids(2), Leader: 2, LeaderEpoch: 1, PartitionEpoch: 1}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.old.Replicas == nil {
				c.old.Replicas = ids(1, 2, 3)
			}
			c.want.Replicas = c.old.Replicas
			change := partitionChange{
				old: &c.old, isr: c.isr, replicas: c.old.Replicas, elr: c.old.ELR, unclean: c.unclean, minISR: c.minISR, elrEnabled: c.elr, election: c.how,
				acceptable: func(id NodeID) bool { return slices.Contains(c.active, id) && !slices.Contains(c.unclean, id) },
			}
			got, _ := change.build()
			if !got.same(&c.want) || got.LeaderEpoch != c.want.LeaderEpoch || got.PartitionEpoch != c.want.PartitionEpoch {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// R3.16, R3.35: when a move ends with fewer replicas in sync than the minimum was, those that leave are in the ELR, although
// they are replicas no more (4.3.1). They cannot be elected.
func TestReplicasThatLeaveStayEligible(t *testing.T) {
	b := newBench(t, 3, withELR)
	tp := b.topic("orders", 2, []NodeID{1, 2})
	b.run(1000 * ms)
	b.apply(Reassign{TP: tp, Replicas: []NodeID{3}})
	b.runUntil(60_000*ms, "the move", func() bool { return len(b.registration(tp).Replicas) == 1 })
	if reg := b.registration(tp); !slices.Equal(reg.ISR, []NodeID{3}) || !slices.Equal(reg.ELR, []NodeID{1, 2}) || reg.Leader != 3 {
		t.Fatalf("after the move ISR %v, ELR %v, leader %d; want 3, 1 and 2, 3", reg.ISR, reg.ELR, reg.Leader)
	}
	// A clean stop leaves 3 eligible, too, and it leads again when it is back.
	b.apply(StopBroker{Broker: 3})
	b.runUntil(60_000*ms, "no process", func() bool { return b.Brokers[2].Process == NotRunning })
	b.apply(StartBroker{Broker: 3})
	b.runUntil(60_000*ms, "a leader", func() bool { return b.registration(tp).Leader == 3 })
	if reg := b.registration(tp); !slices.Equal(reg.ELR, []NodeID{1, 2}) {
		t.Errorf("ELR %v with leader 3, want 1 and 2", reg.ELR)
	}
	// After a kill it is not eligible, and not elected as the last known leader, because somebody else is on the list.
	b.apply(CrashBroker{Broker: 3})
	b.runUntil(60_000*ms, "a partition without leader", func() bool { return b.registration(tp).Leader == NoNode })
	b.apply(StartBroker{Broker: 3})
	b.run(60_000 * ms)
	if reg := b.registration(tp); reg.Leader != NoNode || !slices.Equal(reg.ELR, []NodeID{1, 2}) || !slices.Equal(reg.LastKnownELR, []NodeID{3}) {
		t.Errorf("a minute after the kill: leader %d, ELR %v, last known %v; want none, 1 and 2, 3", reg.Leader, reg.ELR, reg.LastKnownELR)
	}
}

// R2.21: AlterPartition is validated in this order; each request is wrong in everything that comes later too.
func TestAlterPartitionRefusals(t *testing.T) {
	b := newBench(t, 4)
	tp := b.topic("orders", 1, []NodeID{1, 2, 3})
	b.run(1000 * ms)
	b.fence(3) // PE 1
	b.Metadata().Topics[0].Partitions[0].LeaderEpoch = 5
	reg := b.registration(tp)
	epoch := func(id NodeID) int64 { return b.Metadata().broker(id).Epoch }
	isr := func(ids ...NodeID) []BrokerEpoch {
		var out []BrokerEpoch
		for _, id := range ids {
			out = append(out, BrokerEpoch{id, epoch(id)})
		}
		return out
	}
	ask := func(sender NodeID, p AlterPart) Code { return b.validateAlter(b.ActiveController(), sender, &p) }
	good := AlterPart{TP: tp, LeaderEpoch: 5, PartitionEpoch: 1, ISR: isr(1, 2)}
	with := func(f func(*AlterPart)) AlterPart { p := good; f(&p); return p }
	for _, c := range []struct {
		what   string
		sender NodeID
		p      AlterPart
		want   Code
	}{
		{"unknown topic", 2, AlterPart{TP: TopicPartition{9, 9}}, UNKNOWN_TOPIC_ID},
		{"unknown partition", 2, AlterPart{TP: TopicPartition{tp.Topic, 9}}, UNKNOWN_TOPIC_OR_PARTITION},
		{"newer leader epoch", 2, AlterPart{TP: tp, LeaderEpoch: 6}, NOT_CONTROLLER},
		{"newer partition epoch", 2, AlterPart{TP: tp, LeaderEpoch: 4, PartitionEpoch: 2}, NOT_CONTROLLER},
		{"older leader epoch", 2, AlterPart{TP: tp, LeaderEpoch: 4}, FENCED_LEADER_EPOCH},
		{"not the leader", 2, AlterPart{TP: tp, LeaderEpoch: 5}, INVALID_REQUEST},
		{"older partition epoch", 1, AlterPart{TP: tp, LeaderEpoch: 5, ISR: isr(4)}, INVALID_UPDATE_VERSION},
		{"not a replica", 1, with(func(p *AlterPart) { p.ISR = isr(1, 4) }), INVALID_REQUEST},
		{"twice", 1, with(func(p *AlterPart) { p.ISR = isr(1, 2, 2) }), INVALID_REQUEST},
		{"without the leader", 1, with(func(p *AlterPart) { p.ISR = isr(2) }), INVALID_REQUEST},
		{"RECOVERED to RECOVERING", 1, with(func(p *AlterPart) { p.ISR, p.Recovering = isr(1), true }), INVALID_REQUEST},
		{"fenced member", 1, with(func(p *AlterPart) { p.ISR = isr(1, 2, 3) }), INELIGIBLE_REPLICA},
		{"another life of a member (C11)", 1, with(func(p *AlterPart) { p.ISR = []BrokerEpoch{{1, epoch(1)}, {2, epoch(2) - 1}} }), INELIGIBLE_REPLICA},
		{"unknown life", 1, with(func(p *AlterPart) { p.ISR = []BrokerEpoch{{1, epoch(1)}, {2, -1}} }), NONE},
		{"right", 1, good, NONE},
	} {
		if got := ask(c.sender, c.p); got != c.want {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
	reg.Recovering = true
	if got := ask(1, with(func(p *AlterPart) { p.Recovering = true })); got != INVALID_REQUEST {
		t.Errorf("RECOVERING with two members: %v", got)
	}
	// The whole request: a sender whose own epoch is old.
	b.onAlterPartition(b.ActiveController(), Event{From: 1, To: FirstController, Conn: 99, Correlation: 7}, AlterPartitionRequest{Broker: 1, BrokerEpoch: epoch(1) - 1})
	found := false
	for _, e := range b.Queue {
		if m, ok := e.Payload.(AlterPartitionResponse); ok && e.Conn == 99 {
			found = m.Error == STALE_BROKER_EPOCH
		}
	}
	if !found {
		t.Error("an old sender does not get STALE_BROKER_EPOCH")
	}
}

// R3.20, R3.6: a controlled shutdown moves the leaderships first, leaves all ISRs, waits until every active
// broker has read that, and leaves a clean marker.
func TestControlledShutdown(t *testing.T) {
	b := newBench(t, 3)
	lead := b.topic("lead", 1, []NodeID{1, 2, 3})
	follow := b.topic("follow", 1, []NodeID{2, 1, 3})
	solo := b.topic("solo", 1, []NodeID{1})
	b.run(1000 * ms)
	b.produce(1, solo, 1, "v")
	epoch := b.broker(1).Lifecycle.Epoch
	b.apply(StopBroker{1})
	b.runUntil(100*ms, "the leadership moves", func() bool { return b.registration(lead).Leader == 2 })
	if b.broker(1).Process != PendingControlledShutdown {
		t.Errorf("the broker is %v", b.broker(1).Process)
	}
	b.expectPartition(lead, 2, 1, 1, []NodeID{2, 3}, nil)
	b.expectPartition(follow, 2, 0, 1, []NodeID{2, 3}, nil)
	b.expectPartition(solo, NoNode, 1, 1, []NodeID{1}, nil)
	b.runUntil(10_000*ms, "the exit", func() bool { return !b.broker(1).alive() })
	if !b.Metadata().broker(1).Fenced || b.broker(1).CleanEpoch != epoch {
		t.Errorf("fenced %v, clean marker %d, want true and %d", b.Metadata().broker(1).Fenced, b.broker(1).CleanEpoch, epoch)
	}
	if l := b.log(1, solo); l.Flushed != 1 || b.broker(1).replica(solo).Checkpoint != 1 {
		t.Errorf("flushed %d, checkpoint %d: want both 1", l.Flushed, b.broker(1).replica(solo).Checkpoint)
	}
	b.unfence(1)
	b.run(2000 * ms)
	b.expectPartition(solo, 1, 2, 2, []NodeID{1}, nil)
	if n := len(b.registration(lead).ISR); n != 3 {
		t.Errorf("ISR of %d after the return", n)
	}
}

// R3.25: elections on request.
func TestElectLeaders(t *testing.T) {
	b := newBench(t, 2)
	tp := b.topic("orders", 1, []NodeID{1, 2})
	b.run(1000 * ms)
	expect := func(c ElectLeaders, want Code) {
		t.Helper()
		if got := b.Apply(c).Error; got != want {
			t.Errorf("%+v: %v, want %v", c, got, want)
		}
	}
	expect(ElectLeaders{TP: tp}, ELECTION_NOT_NEEDED)
	expect(ElectLeaders{TP: tp, Unclean: true}, ELECTION_NOT_NEEDED)
	expect(ElectLeaders{TP: TopicPartition{5, 0}}, UNKNOWN_TOPIC_OR_PARTITION)
	b.fence(1)
	expect(ElectLeaders{TP: tp}, PREFERRED_LEADER_NOT_AVAILABLE)
	b.fence(2)
	expect(ElectLeaders{TP: tp, Unclean: true}, ELIGIBLE_LEADERS_NOT_AVAILABLE)
	b.unfence(1) // not in the ISR, so it is not elected
	expect(ElectLeaders{TP: tp, Unclean: true}, NONE)
	b.expectPartition(tp, 1, 3, 3, []NodeID{1}, nil)
}
