package machine

import (
	"slices"
	"testing"
)

// R3.16: a ClearElrRecord forgets the last known leader with the eligible ones. A partition that has no leader
// at that moment never gets one by itself again, whoever comes back; an unclean election by hand helps.
func TestAlterTopicStrandsALeaderlessPartition(t *testing.T) {
	b := newBench(t, 3, withELR)
	tp := b.topic("orders", 2, []NodeID{1, 2, 3})
	b.run(1000 * ms)
	for _, id := range []NodeID{3, 2, 1} {
		b.apply(CrashBroker{id})
		b.run(15_000 * ms)
	}
	b.expectPartition(tp, NoNode, 1, 3, nil, []NodeID{1, 2})
	props := topicDefaults()
	b.apply(AlterTopic{Topic: "orders", Props: props, Set: []string{minISRName}})
	b.expectPartition(tp, NoNode, 1, 4, nil, nil)
	for _, id := range []NodeID{1, 2, 3} {
		b.apply(StartBroker{id})
	}
	b.run(60_000 * ms)
	b.expectPartition(tp, NoNode, 1, 4, nil, nil)
	if r := b.Apply(ElectLeaders{TP: tp, Unclean: true}); r.Error != NONE {
		t.Fatalf("unclean election: %v", r.Error)
	}
	b.run(1000 * ms)
	if reg := b.registration(tp); reg.Leader != 1 || len(reg.ISR) != 3 {
		t.Errorf("after an unclean election by hand: %+v", *reg)
	}
}

// R3.35: a way back to replicas of which none is in sync is refused, unless the topic allows unclean elections. Then
// the first of them is the ISR: it leads if it lives, and is not marked as recovering; the next one leads, marked,
// if it does not (PartitionReassignmentRevert).
func TestCancelWithoutOriginals(t *testing.T) {
	for _, c := range []struct {
		unclean    bool
		back       []NodeID
		want       Code
		leader     NodeID
		isr        []NodeID
		recovering bool
	}{
		{false, []NodeID{1}, INVALID_REPLICA_ASSIGNMENT, 3, []NodeID{3}, false},
		{true, []NodeID{1}, NONE, 1, []NodeID{1}, false},
		{true, []NodeID{2}, NONE, 2, []NodeID{2}, true},
		{true, nil, NONE, NoNode, []NodeID{1}, false},
	} {
		b := newBench(t, 4)
		props := topicDefaults()
		props.MinInSyncReplicas, props.UncleanLeaderElectionEnable = 1, c.unclean
		tp := b.topicWith("orders", props, []NodeID{1, 2})
		b.run(1000 * ms)
		b.apply(CutLink{A: 3, B: 4})
		b.apply(CutLink{A: 1, B: 4})
		b.apply(CutLink{A: 2, B: 4})
		b.apply(Reassign{TP: tp, Replicas: []NodeID{3, 4}})
		b.runUntil(10_000*ms, "3 in sync", func() bool { return slices.Contains(b.registration(tp).ISR, 3) })
		for _, id := range []NodeID{1, 2} {
			b.apply(CrashBroker{id})
		}
		b.runUntil(60_000*ms, "3 alone in sync", func() bool { return slices.Equal(b.registration(tp).ISR, []NodeID{3}) })
		for _, id := range c.back {
			b.apply(CutLink{A: id, B: 3}) // it is alive, and not in sync
			b.apply(StartBroker{id})
			b.runUntil(60_000*ms, "its return", func() bool { return !b.Metadata().broker(id).Fenced })
		}
		res := b.Apply(Reassign{TP: tp})
		reg := b.registration(tp)
		if res.Error != c.want || reg.Leader != c.leader || !slices.Equal(reg.ISR, c.isr) || reg.Recovering != c.recovering {
			t.Errorf("unclean %v, back %v: %v, leader %d, ISR %v, recovering %v", c.unclean, c.back, res.Error, reg.Leader, reg.ISR, reg.Recovering)
		}
		b.run(1000 * ms)
	}
}

// R3.35: cancelling brings the replicas back, not their order; a removed replica loses its log.
func TestReassign(t *testing.T) {
	b := newBench(t, 4)
	tp := b.topic("orders", 1, []NodeID{2, 1})
	b.run(1000 * ms)
	b.produce(2, tp, -1, "a", "b")
	b.apply(CutLink{2, 3})
	b.apply(Reassign{TP: tp, Replicas: []NodeID{3, 1}})
	if reg := b.registration(tp); !slices.Equal(reg.Replicas, []NodeID{3, 1, 2}) || !slices.Equal(reg.Adding, []NodeID{3}) || !slices.Equal(reg.Removing, []NodeID{2}) {
		t.Errorf("reassigning: %+v", *reg)
	}
	b.apply(Reassign{TP: tp})
	b.expectPartition(tp, 2, 1, 2, []NodeID{1, 2}, nil)
	if reg := b.registration(tp); !slices.Equal(reg.Replicas, []NodeID{1, 2}) {
		t.Errorf("cancelled: %+v", *reg)
	}
	b.apply(HealLink{2, 3})
	b.apply(Reassign{TP: tp, Replicas: []NodeID{3, 4}})
	b.runUntil(10_000*ms, "the reassignment is over", func() bool { return len(b.registration(tp).Adding) == 0 })
	b.run(2000 * ms)
	if reg := b.registration(tp); reg.Leader != 3 || !slices.Equal(reg.Replicas, []NodeID{3, 4}) {
		t.Errorf("moved: %+v", *reg)
	}
	b.expectLog(3, tp, 2, 2)
	b.expectLog(4, tp, 2, 2)
	if b.broker(1).replica(tp) != nil || b.broker(2).replica(tp) != nil {
		t.Error("the old replicas are still there")
	}
	for _, c := range []struct {
		cmd  Command
		want Code
	}{
		{Reassign{TP: tp}, NO_REASSIGNMENT_IN_PROGRESS},
		{Reassign{TP: tp, Replicas: []NodeID{9, 1}}, INVALID_REPLICA_ASSIGNMENT},
		{Reassign{TP: tp, Replicas: []NodeID{1, 1}}, INVALID_REPLICA_ASSIGNMENT},
		{Reassign{TP: TopicPartition{7, 0}, Replicas: []NodeID{1}}, UNKNOWN_TOPIC_OR_PARTITION},
		{AddPartitions{"orders", 1}, INVALID_PARTITIONS},
		{AddPartitions{"nothing", 3}, UNKNOWN_TOPIC_OR_PARTITION},
		{DeleteTopic{"nothing"}, UNKNOWN_TOPIC_OR_PARTITION},
		{ElectLeaders{TP: tp}, ELECTION_NOT_NEEDED},
		{ElectLeaders{TP: tp, Unclean: true}, ELECTION_NOT_NEEDED},
	} {
		before := b.Hash()
		if got := b.Apply(c.cmd).Error; got != c.want || b.Hash() != before {
			t.Errorf("%T%+v: %v, want %v; state changed %v", c.cmd, c.cmd, got, c.want, b.Hash() != before)
		}
	}
}

// R3.34: the numbers of partitions in a trace stay what they were when partitions are added.
func TestAddedPartitionsAreNumbered(t *testing.T) {
	b := newBench(t, 3)
	one := b.topic("one", 1, []NodeID{1, 2}, []NodeID{2, 3})
	two := b.topic("two", 1, []NodeID{1, 2})
	b.apply(AddPartitions{"one", 4})
	b.apply(AddPartitions{"two", 2})
	for want, tp := range []TopicPartition{{one.Topic, 0}, {one.Topic, 1}, {two.Topic, 0}, {one.Topic, 2}, {one.Topic, 3}, {two.Topic, 1}} {
		if got := b.ordinal(tp); got != want {
			t.Errorf("%v has number %d, want %d", tp, got, want)
		}
	}
	b.run(1000 * ms)
	b.apply(DeleteTopic{"one"})
	b.run(1000 * ms)
	for i := range b.Brokers {
		for _, r := range b.Brokers[i].Replicas {
			if r.TP.Topic == one.Topic {
				t.Errorf("broker %d still has %v", i+1, r.TP)
			}
		}
	}
}
