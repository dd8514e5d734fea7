package machine

import (
	"fmt"
	"strings"
	"testing"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
)

// Share groups by raw requests: sessions, acknowledgements, fencing, the log of states, administrators.

// fetch is one ShareFetch of a raw member, at the partition's leader.
func (s *shares) fetch(member string, epoch int32, acks ...ShareAck) ShareFetchResponse {
	s.t.Helper()
	m := ShareFetchRequest{Group: "g", Member: member, Epoch: epoch, MaxWaitMs: 100, MaxBytes: 1 << 20, MaxRecords: 500, BatchSize: 500, Acks: acks}
	if epoch == 0 {
		m.Parts = []TopicPartition{s.tp}
	}
	return s.call(s.decided().partition(s.tp).Leader, m).(ShareFetchResponse)
}

// ackOf is what a fetch's acknowledgements came to.
func ackOf(r ShareFetchResponse) Code {
	if r.Error != NONE || len(r.Acks) == 0 {
		return r.Error
	}
	return r.Acks[0].Error
}

// acquired are the offsets that a fetch has acquired.
func acquired(r ShareFetchResponse) string {
	var out []string
	for _, p := range r.Parts {
		for _, a := range p.Acquired {
			out = append(out, fmt.Sprintf("%d-%d×%d", a.First, a.Last, a.Count))
		}
	}
	return strings.Join(out, " ")
}

// ready has a group with a state, and so many records.
func ready(t testing.TB, records int, tune ...func(*World)) *shares {
	s := newShares(t, tune...)
	for i := range records {
		s.sendAll(s.p, "q", 0, fmt.Sprint("r", i))
	}
	at := func() NodeID { return s.CoordinatorOf("g") }
	s.call(1, FindCoordinatorRequest{Kind: GroupCoordinator, Key: "g"})
	s.runUntil(20_000*ms, "a coordinator", func() bool { return at() > 0 })
	s.run(500 * ms)
	s.call(at(), ShareGroupHeartbeatRequest{Group: "g", Member: "raw", ClientID: "raw", Topics: []string{"q"}})
	s.runUntil(20_000*ms, "the state", func() bool { return s.ShareState("g", s.tp) != nil })
	s.run(100 * ms)
	return s
}

func (s *shares) code(what string, got, want Code) {
	s.t.Helper()
	if got != want {
		s.t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// H-16: share sessions and their epochs; one that begins has nothing to acknowledge; a broker has only so many.
func TestShareSessionsH16(t *testing.T) {
	s := ready(t, 3, func(w *World) { w.Broker.Share.MaxSessions = 2 })
	ack := ShareAck{s.tp, 0, 2, AckAccept}
	s.code("a session that nobody began", s.fetch("a", 1).Error, SHARE_SESSION_NOT_FOUND)
	s.code("the end of one", s.fetch("a", FinalFetchEpoch).Error, SHARE_SESSION_NOT_FOUND)
	s.code("acknowledging in the first request", s.fetch("a", 0, ack).Error, INVALID_REQUEST)
	a := s.fetch("a", 0)
	s.want("a acquires", acquired(a), "0-2×1")
	s.code("out of turn", s.fetch("a", 2).Error, INVALID_SHARE_SESSION_EPOCH)
	s.code("the first again, by ShareAcknowledge", s.call(1, ShareAcknowledgeRequest{Group: "g", Member: "a", Acks: []ShareAck{ack}}).(ShareAcknowledgeResponse).Error, INVALID_SHARE_SESSION_EPOCH)
	s.code("in turn", ackOf(s.fetch("a", 1, ack)), NONE)
	s.code("b", s.fetch("b", 0).Error, NONE)
	s.code("one too many", s.fetch("c", 0).Error, SHARE_SESSION_LIMIT_REACHED)
	s.code("a ends its session", s.fetch("a", FinalFetchEpoch).Error, NONE)
	s.code("then there is room", s.fetch("c", 0).Error, NONE)
}

// H-10: acknowledging what one has not acquired, or not any more, or twice; what is before the start is dealt with, and what
// is beyond the window was never acquired. One wrong record refuses the whole request.
func TestShareAcknowledgeErrorsH10(t *testing.T) {
	s := ready(t, 4)
	one := func(o int64, a AckType) ShareAck { return ShareAck{s.tp, o, o, a} }
	s.fetch("a", 0)
	s.fetch("b", 0)
	s.code("another's record", ackOf(s.fetch("b", 1, one(0, AckAccept))), INVALID_RECORD_STATE)
	s.code("beyond the window", ackOf(s.fetch("a", 1, ShareAck{s.tp, 3, 4, AckAccept})), INVALID_REQUEST)
	s.code("twice in one request", ackOf(s.fetch("a", 2, one(1, AckAccept), one(1, AckReject))), INVALID_RECORD_STATE)
	if w := s.SharePartition("g", s.tp).Window[1]; w.State != ShareAcquired || w.Member != "a" {
		t.Errorf("after a refused request: %+v", w)
	}
	s.code("accepted", ackOf(s.fetch("a", 3, one(1, AckAccept))), NONE)
	s.code("again", ackOf(s.fetch("a", 4, one(1, AckAccept))), INVALID_RECORD_STATE)
	s.code("the first two", ackOf(s.fetch("a", 5, one(0, AckReject))), NONE)
	s.code("what is before the start", ackOf(s.fetch("a", 6, ShareAck{s.tp, 0, 1, AckAccept})), NONE)
	s.code("a part of it", ackOf(s.fetch("a", 7, ShareAck{s.tp, 1, 2, AckRelease})), NONE)
	if w := s.SharePartition("g", s.tp); w.Start != 2 || w.Window[0].Count != 2 {
		t.Errorf("window %+v, want record 2 acquired once more", w)
	}
	s.code("no such acknowledgement", ackOf(s.fetch("a", 8, one(3, AckRenew+1))), INVALID_RECORD_STATE)
	other := s.topic("r", 1, []NodeID{1, 2, 3})
	s.code("a partition that nobody has asked for", ackOf(s.fetch("a", 9, ShareAck{other, 0, 0, AckAccept})), UNKNOWN_TOPIC_OR_PARTITION)
}

// H-6, KIP-1222: RENEW begins the lock anew, unless the group forbids it.
func TestShareRenewH6(t *testing.T) {
	s := ready(t, 2)
	s.fetch("a", 0)
	s.run(2000 * ms)
	s.code("renew", ackOf(s.fetch("a", 1, ShareAck{s.tp, 0, 0, AckRenew})), NONE)
	s.run(2000 * ms)
	r := s.fetch("a", 2, ShareAck{s.tp, 0, 0, AckRenew})
	s.code("within the new lock", ackOf(r), NONE)
	s.want("the other's lock has ended, and it is acquired again", acquired(r), "1-1×2")
	s.apply(AlterShareGroup{Group: "g", Props: config.ShareGroup{NoRenew: true}})
	s.code("forbidden", ackOf(s.fetch("a", 3, ShareAck{s.tp, 0, 0, AckRenew})), INVALID_RECORD_STATE)
	s.code("accept", ackOf(s.fetch("a", 4, ShareAck{s.tp, 0, 0, AckAccept})), NONE)
}

// A renewed record comes once more with the next poll, and nothing else does (ShareConsumerImpl, KIP-1222).
func TestShareRenewByConsumer(t *testing.T) {
	s := newShares(t)
	s.sendAll(s.p, "q", 0, "a", "b")
	k := s.member("k", byHand)
	s.run(4000 * ms)
	s.want("first", s.poll(k), "0×1 1×1")
	s.apply(ShareAcknowledge{Consumer: k, Topic: s.tp.Topic, Offset: 1, Type: AckAccept})
	if code := s.say(k, AckRenew, 0); code != NONE {
		t.Fatal(code)
	}
	s.sendAll(s.p, "q", 0, "c")
	s.run(2500 * ms)
	s.want("what was renewed, and nothing new", s.poll(k), "0×1")
	s.apply(ShareAcknowledge{Consumer: k, Topic: s.tp.Topic, Offset: 0, Type: AckRenew})
	s.want("renewed within a poll", s.poll(k), "0×1")
	s.run(2500 * ms)
	if code := s.say(k, AckAccept, 0); code != NONE {
		t.Errorf("accepted 5 s after it was acquired, with a lock of 3 s: %v", code)
	}
	s.want("then what is new", s.poll(k), "2×1")
}

// H-15: read_committed leaves out aborted transactions and waits for open ones; read_uncommitted does neither. Markers are
// gaps, which the member acknowledges by itself.
func TestShareIsolationH15(t *testing.T) {
	for _, committed := range []bool{false, true} {
		s := newShares(t)
		s.apply(AlterShareGroup{Group: "g", Props: config.ShareGroup{AutoOffsetReset: config.ResetEarliest, ReadCommitted: committed}})
		x, y := s.newTxn("x"), s.newTxn("y")
		x.send(s.tp, "aborted")
		x.end(false)
		s.run(500 * ms)
		s.sendAll(s.p, "q", 0, "plain")
		s.settle(s.p)
		y.send(s.tp, "open")
		s.sendAll(s.p, "q", 0, "behind")
		s.settle(s.p)
		k := s.member("k", byHand)
		s.run(4000 * ms)
		want := "0×1 2×1 3×1 4×1"
		if committed {
			want = "2×1"
		}
		s.want(fmt.Sprint("read_committed ", committed), s.poll(k), want)
		var offsets []int64
		for _, h := range s.Share.Consumers[k].Held {
			offsets = append(offsets, h.Offset)
		}
		s.say(k, AckAccept, offsets...)
		if committed {
			y.end(true)
			s.want("when the transaction is committed", s.poll(k), "3×1 4×1")
			s.say(k, AckAccept, 3, 4)
		}
		s.poll(k) // the markers at the end: gaps
		s.run(1000 * ms)
		if p := s.SharePartition("g", s.tp); p.Start != s.LeaderLog(s.tp).HighWatermark {
			t.Errorf("read_committed %v: the window begins at %d of %d: %+v", committed, p.Start, s.LeaderLog(s.tp).HighWatermark, p.Window)
		}
	}
}

// H-14: a group begins at the end, at the beginning, or so long ago.
func TestShareResetH14(t *testing.T) {
	ago, problem := config.ParseShareGroup(config.ShareGroup{}, config.DefaultShareGroups, map[string]any{"share.auto.offset.reset": "by_duration:PT5S"})
	if problem != nil {
		t.Fatal(problem.Text)
	}
	for want, reset := range map[string]config.Reset{"2×1": ago.AutoOffsetReset, "0×1 1×1 2×1": config.ResetEarliest, "": config.ResetLatest} {
		s := newShares(t)
		s.apply(AlterShareGroup{Group: "g", Props: config.ShareGroup{AutoOffsetReset: reset}})
		s.sendAll(s.p, "q", 0, "a", "b")
		s.settle(s.p)
		s.run(6000 * ms)
		s.sendAll(s.p, "q", 0, "c")
		s.settle(s.p)
		k := s.member("k", byHand)
		s.run(3000 * ms)
		s.want("begins", s.poll(k), want)
	}
}

// H-8: a member that is gone has given back what it had; before 4.2 that delivery did not count.
func TestShareSessionEndsH8(t *testing.T) {
	for _, counts := range []bool{true, false} {
		s := newShares(t, func(w *World) {
			if !counts {
				w.Rules.Turn(ShareReleaseCounts, false)
			}
		})
		s.sendAll(s.p, "q", 0, "a")
		k := s.member("k", byHand)
		s.run(4000 * ms)
		s.want("first", s.poll(k), "0×1")
		s.apply(CrashShareConsumer{Consumer: k})
		k2 := s.member("k2", byHand)
		s.run(2000 * ms) // less than the lock
		want := "0×2"
		if !counts {
			want = "0×1"
		}
		s.want(fmt.Sprint("deliveries count ", counts), s.poll(k2), want)
	}
}

// H-19: who has read a state fences older leaders, also when the share coordinator has moved since; who sets it anew fences
// who has read it before.
func TestShareStateFencingH19(t *testing.T) {
	s := ready(t, 3)
	write := func(at NodeID, leader, state int32) Code {
		return s.call(at, ShareStateRequest{Op: WriteShareState, Group: "g", TP: s.tp, LeaderEpoch: leader, StateEpoch: state, Start: 0,
			Batches: []ShareStateBatch{{0, 0, ShareAcknowledged, 1}}}).(ShareStateResponse).Error
	}
	read := func(at NodeID, leader int32) ShareStateResponse {
		return s.call(at, ShareStateRequest{Op: ReadShareState, Group: "g", TP: s.tp, LeaderEpoch: leader}).(ShareStateResponse)
	}
	at := func() NodeID {
		im := s.Metadata()
		return im.Topics[im.topic(ShareGroupStateTopic)].Partitions[0].Leader
	}
	epoch := s.ShareState("g", s.tp).StateEpoch
	s.code("read by a leader of epoch 7", read(at(), 7).Error, NONE)
	s.code("written by it", write(at(), 7, epoch), NONE)
	s.code("an older leader writes", write(at(), 6, epoch), FENCED_LEADER_EPOCH)
	s.code("an older leader reads", read(at(), 6).Error, FENCED_LEADER_EPOCH)
	s.apply(CrashBroker{at()})
	old := at()
	s.runUntil(20_000*ms, "another share coordinator", func() bool { return at() != old && at() != NoNode })
	s.run(1000 * ms)
	s.code("also after a failover", write(at(), 6, epoch), FENCED_LEADER_EPOCH)
	s.code("set anew", s.call(at(), ShareStateRequest{Op: InitializeShareState, Group: "g", TP: s.tp, StateEpoch: epoch + 2, Start: 1}).(ShareStateResponse).Error, NONE)
	s.code("an older state", write(at(), 7, epoch), FENCED_STATE_EPOCH)
	s.code("an older state set", s.call(at(), ShareStateRequest{Op: InitializeShareState, Group: "g", TP: s.tp, StateEpoch: epoch + 1}).(ShareStateResponse).Error, FENCED_STATE_EPOCH)
	s.code("a state that is not there", s.call(at(), ShareStateRequest{Op: ReadShareState, Group: "nobody", TP: s.tp}).(ShareStateResponse).Error, INVALID_REQUEST)
	if a := read(at(), 8); a.Start != 1 || len(a.Batches) != 0 || a.StateEpoch != epoch+2 {
		t.Errorf("read after that: %+v", a)
	}
}

// H-19: the states are a log of their own: a snapshot, updates of what changes, a snapshot after so many of them; a share
// coordinator that takes over has the same. What it cannot be: an older state.
func TestShareStateLogH19(t *testing.T) {
	s := newShares(t, func(w *World) { w.Broker.Share.UpdatesPerSnapshot = 3 })
	k := s.member("k", byHand)
	s.run(4000 * ms)
	for i := range 10 {
		s.sendAll(s.p, "q", 0, fmt.Sprint("v", i))
		s.want("poll", s.poll(k), fmt.Sprintf("%d×1", i))
		if i%3 != 1 {
			s.say(k, AckAccept, int64(i))
		} else {
			s.say(k, AckReject, int64(i))
		}
	}
	im := s.Metadata()
	tp := TopicPartition{im.topic(ShareGroupStateTopic), 0}
	var kinds []string
	s.LeaderLog(tp).Batches(0, func(b *partlog.Batch) bool {
		for _, r := range b.Records.All() {
			kinds = append(kinds, fmt.Sprint(r.Key[1]))
		}
		return true
	})
	if got := strings.Join(kinds, ""); !strings.HasPrefix(got, "0111011101") {
		t.Errorf("records of the log: %s, want a snapshot, and one after each third update", got)
	}
	before := *s.ShareState("g", s.tp)
	s.apply(CrashBroker{im.Topics[tp.Topic].Partitions[0].Leader})
	s.runUntil(30_000*ms, "another share coordinator", func() bool { y := s.ShareState("g", s.tp); return y != nil })
	s.run(1000 * ms)
	after := *s.ShareState("g", s.tp)
	after.LeaderEpoch, after.Updates, after.Snapshot = before.LeaderEpoch, before.Updates, before.Snapshot
	if got, want := fmt.Sprintf("%+v", after), fmt.Sprintf("%+v", before); got != want {
		t.Errorf("after a failover %s, before %s", got, want)
	}
}

// H-19: what is redundant in the log of states is deleted, states that are not written to get a snapshot, and a share
// coordinator that takes over has them all.
func TestShareStatePrunedH19(t *testing.T) {
	s := newShares(t, func(w *World) {
		w.Broker.Share.UpdatesPerSnapshot, w.Broker.Share.PruneIntervalMs, w.Broker.Share.ColdIntervalMs = 4, 20_000, 60_000
	})
	s.topic("cold", 1, []NodeID{2, 3, 1})
	k, cold := s.member("k", byHand), s.member("cold", byHand)
	s.apply(ShareSubscribe{Consumer: cold, Topics: []string{"cold"}})
	s.run(4000 * ms)
	for i := range 12 {
		s.sendAll(s.p, "q", 0, fmt.Sprint("v", i))
		s.want("poll", s.poll(k), fmt.Sprintf("%d×1", i))
		s.say(k, AckAccept, int64(i))
	}
	im := s.Metadata()
	tp := TopicPartition{im.topic(ShareGroupStateTopic), 0}
	s.run(25_000 * ms)
	early := s.LeaderLog(tp).LogStart // the cold partition's only snapshot is at the beginning
	s.run(150_000 * ms)
	if late := s.LeaderLog(tp).LogStart; early > 1 || late < 10 {
		t.Errorf("the log begins at %d, and when there is a snapshot of the cold partition at %d", early, late)
	}
	before := len(s.States())
	s.apply(CrashBroker{im.Topics[tp.Topic].Partitions[0].Leader})
	s.run(20_000 * ms)
	if y := s.ShareState("g", s.tp); y == nil || y.Start < 11 || len(s.States()) != before {
		t.Errorf("after a failover %+v, and %d states of %d", y, len(s.States()), before)
	}
}

// States are all states that share coordinators have.
func (s *shares) States() (out []ShareState) {
	for i := range s.Brokers {
		for j := range s.Brokers[i].Shards {
			if s.Brokers[i].alive() {
				out = append(out, s.Brokers[i].Shards[j].Share.States...)
			}
		}
	}
	return out
}

// H-19: a topic that is deleted takes its states along; a group that is deleted, too, and only when it is empty.
func TestShareStateDeletedH19(t *testing.T) {
	s := ready(t, 1)
	s.fetch("raw", 0)
	del := func() Code {
		return s.call(s.CoordinatorOf("g"), DeleteGroupRequest{Group: "g"}).(DeleteGroupResponse).Error
	}
	s.code("with a member", del(), NON_EMPTY_GROUP)
	s.call(s.CoordinatorOf("g"), ShareGroupHeartbeatRequest{Group: "g", Member: "raw", Epoch: -1})
	s.code("empty", del(), NONE)
	s.run(500 * ms)
	if y := s.ShareState("g", s.tp); y != nil {
		t.Errorf("of a deleted group there is %+v", y)
	}
	s.code("once more", del(), GROUP_ID_NOT_FOUND)

	s.call(s.CoordinatorOf("g"), ShareGroupHeartbeatRequest{Group: "g", Member: "raw", ClientID: "raw", Topics: []string{"q"}})
	s.runUntil(20_000*ms, "the state", func() bool { g, _ := s.ShareGroup("g"); return g != nil && len(g.Ready) == 1 })
	s.administer(DeleteTopic{"q"})
	s.run(2000 * ms)
	if y := s.ShareState("g", s.tp); y != nil {
		t.Errorf("of a deleted topic there is %+v", y)
	}
	if g, _ := s.ShareGroup("g"); len(g.Ready) != 0 {
		t.Errorf("the group has states of %v", g.Ready)
	}
}

// Start offsets are set when nobody is there; whoever comes begins at them, and who had read the state before is fenced.
func TestShareAlterOffsets(t *testing.T) {
	s := ready(t, 5)
	s.want("acquired", acquired(s.fetch("raw", 0)), "0-4×1")
	at := func() NodeID { return s.CoordinatorOf("g") }
	alter := AlterShareOffsetsRequest{Group: "g", Parts: []CommitPart{{Topic: "q", Offset: 3}, {Topic: "no", Offset: 0}}}
	s.code("with a member", s.call(at(), alter).(AlterShareOffsetsResponse).Error, NON_EMPTY_GROUP)
	s.call(at(), ShareGroupHeartbeatRequest{Group: "g", Member: "raw", Epoch: -1})
	a := s.call(at(), alter).(AlterShareOffsetsResponse)
	if a.Error != NONE || a.Parts[0].Error != NONE || a.Parts[1].Error != UNKNOWN_TOPIC_OR_PARTITION {
		t.Fatalf("%+v", a)
	}
	s.written(3)
	r := s.fetch("raw", 1, ShareAck{s.tp, 0, 0, AckAccept})
	s.code("who had it before", ackOf(r), NOT_LEADER_OR_FOLLOWER)
	s.want("from the new start on", acquired(r), "3-4×1")
	d := s.call(at(), DeleteShareOffsetsRequest{Group: "g", Topics: []string{"q", "no"}}).(DeleteShareOffsetsResponse)
	if d.Error != NONE || d.Parts[0].Error != NONE || d.Parts[1].Error != UNKNOWN_TOPIC_OR_PARTITION {
		t.Fatalf("%+v", d)
	}
	if y := s.ShareState("g", s.tp); y != nil {
		t.Errorf("there is %+v", y)
	}
	s.code("of a group that is not there", s.call(at(), DeleteShareOffsetsRequest{Group: "none"}).(DeleteShareOffsetsResponse).Error, GROUP_ID_NOT_FOUND)
}

// A name belongs to one type of group: the others' requests are refused.
func TestShareGroupOfAnotherType(t *testing.T) {
	s := ready(t, 0)
	at := s.CoordinatorOf("g")
	join := JoinGroupRequest{Group: "g", Type: "consumer", SessionTimeoutMs: 10000, RebalanceTimeoutMs: 10000}
	s.code("JoinGroup", s.call(at, join).(JoinGroupResponse).Error, INCONSISTENT_GROUP_PROTOCOL)
	beat := ConsumerGroupHeartbeatRequest{Group: "g", Member: "m", Full: true, HasOwned: true, RebalanceTimeoutMs: 1000, Topics: []string{"q"}}
	s.code("ConsumerGroupHeartbeat", s.call(at, beat).(ConsumerGroupHeartbeatResponse).Error, GROUP_ID_NOT_FOUND)
	commit := OffsetCommitRequest{Group: "g", Generation: -1, Parts: []CommitPart{{Topic: "q", LeaderEpoch: -1}}}
	s.code("OffsetCommit", s.call(at, commit).(OffsetCommitResponse).Parts[0].Error, GROUP_ID_NOT_FOUND)
	join.Group = "h"
	s.call(at, join)
	s.code("ShareGroupHeartbeat", s.call(s.CoordinatorOf("h"), ShareGroupHeartbeatRequest{Group: "h", Member: "m", Topics: []string{"q"}}).(ShareGroupHeartbeatResponse).Error, GROUP_ID_NOT_FOUND)
}

// The group's states and epochs: Empty, Stable, Dead; who is ahead or too far behind is fenced, one answer lost is not.
func TestShareGroupStates(t *testing.T) {
	s := ready(t, 0)
	at := s.CoordinatorOf("g")
	beat := func(member string, epoch int32) ShareGroupHeartbeatResponse {
		m := ShareGroupHeartbeatRequest{Group: "g", Member: member, ClientID: member, Epoch: epoch}
		if epoch == 0 {
			m.Topics = []string{"q"}
		}
		return s.call(at, m).(ShareGroupHeartbeatResponse)
	}
	state := func() string {
		if g, _ := s.ShareGroup("g"); g != nil {
			return fmt.Sprint(g.State(), " ", g.Epoch, " ", len(g.Members))
		}
		return "Dead"
	}
	s.want("a member", state(), "Stable 2 1")
	if a := beat("raw", 2); a.Epoch != 3 || len(a.Parts) != 1 {
		t.Errorf("when the state is there: %+v (H-20)", a)
	}
	if a := beat("raw", 2); a.Error != NONE || a.Epoch != 3 {
		t.Errorf("the epoch before, after a lost answer: %+v", a)
	}
	s.code("ahead", beat("raw", 4).Error, FENCED_MEMBER_EPOCH)
	s.code("two behind", beat("raw", 1).Error, FENCED_MEMBER_EPOCH)
	s.code("nobody", beat("who", 3).Error, UNKNOWN_MEMBER_ID)
	beat("b", 0)
	s.want("another", state(), "Stable 4 2")
	beat("raw", -1)
	s.want("one leaves", state(), "Stable 5 1")
	s.run(50_000 * ms) // b says nothing
	s.want("one is silent", state(), "Empty 6 0")
	s.call(at, DeleteGroupRequest{Group: "g"})
	s.want("deleted", state(), "Dead")
}
