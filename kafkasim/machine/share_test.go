package machine

import (
	"fmt"
	"strings"
	"testing"

	"kafkalab/kafkasim/config"
)

// shares is a world under test with share consumers.
type shares struct {
	*clients
	p  int32
	tp TopicPartition
}

// sharesQuick is what the recordings q1 and q2 set: one partition of each internal topic, locks of 3 s.
func sharesQuick(w *World) {
	offsetsOne(w)
	w.Broker.Share = config.DefaultShareGroups
	w.Broker.Share.StateTopic.Partitions, w.Broker.Share.StateTopic.MinISR = 1, 1
	w.Broker.Share.RecordLockMs, w.Broker.Share.HeartbeatIntervalMs, w.Broker.Share.AssignmentIntervalMs = 3000, 1000, 0
}

func newShares(t testing.TB, tune ...func(*World)) *shares {
	s := &shares{clients: newClients(t, 3, append([]func(*World){quick, sharesQuick}, tune...)...)}
	s.tp = s.topic("q", 1, []NodeID{1, 2, 3})
	s.p = s.producer()
	s.apply(AlterShareGroup{Group: "g", Props: config.ShareGroup{AutoOffsetReset: config.ResetEarliest}})
	return s
}

func (s *shares) member(name string, given map[string]any) int32 {
	s.t.Helper()
	all := map[string]any{"group.id": "g"}
	for k, v := range given {
		all[k] = v
	}
	props, problem := config.ParseShareConsumer(all)
	if problem != nil {
		s.t.Fatal(problem.Text)
	}
	id := s.Apply(NewShareConsumer{Name: name, Props: props}).ID
	s.apply(ShareSubscribe{Consumer: id, Topics: []string{"q"}})
	return id
}

var byHand = map[string]any{"share.acknowledgement.mode": "explicit"}

// poll polls for 5 s at most, and returns offsets with delivery counts.
func (s *shares) poll(id int32) string {
	s.t.Helper()
	s.apply(StartSharePoll{Consumer: id, Timeout: 5000 * ms})
	c := func() *ShareConsumer { return &s.Share.Consumers[id] }
	s.runUntil(6000*ms, "poll", func() bool { return !c().Poll.Running })
	var out []string
	for _, r := range c().Poll.Rows {
		out = append(out, fmt.Sprintf("%d×%d", r.Offset, r.Count))
	}
	return strings.Join(out, " ")
}

// say acknowledges offsets of what was polled, and commits.
func (s *shares) say(id int32, as AckType, offsets ...int64) Code {
	s.t.Helper()
	for _, o := range offsets {
		s.apply(ShareAcknowledge{Consumer: id, Topic: s.tp.Topic, Partition: 0, Offset: o, Type: as})
	}
	s.apply(ShareCommit{Consumer: id})
	c := func() *ShareConsumer { return &s.Share.Consumers[id] }
	s.runUntil(20_000*ms, "commit", func() bool { return !c().Flush })
	last := c().Results[len(c().Results)-1]
	return last.Code
}

func (s *shares) want(what, got, want string) {
	s.t.Helper()
	if got != want {
		s.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func (s *shares) written(start int64) {
	s.t.Helper()
	if x := s.ShareState("g", s.tp); x == nil || x.Start != start {
		s.t.Errorf("the share coordinator has %+v, want start %d", x, start)
	}
}

// The recording q1, step by step: H-2 to H-7, H-10, H-13, H-19; a record that is released five times is archived (check 23).
func TestShareGroupQ1(t *testing.T) {
	s := newShares(t)
	s.sendAll(s.p, "q", 0, "r0", "r1", "r2", "r3", "r4")
	k := s.member("k", byHand)
	s.run(4000 * ms)
	s.want("first", s.poll(k), "0×1 1×1 2×1 3×1 4×1")
	s.apply(ShareAcknowledge{Consumer: k, Topic: s.tp.Topic, Offset: 1, Type: AckRelease})
	s.apply(ShareAcknowledge{Consumer: k, Topic: s.tp.Topic, Offset: 2, Type: AckReject})
	s.apply(ShareAcknowledge{Consumer: k, Topic: s.tp.Topic, Offset: 3, Type: AckRelease})
	if code := s.say(k, AckAccept, 0, 4); code != NONE {
		t.Error(code)
	}
	s.written(0)
	for _, want := range []string{"1×2 3×2", "1×3 3×3", "1×4 3×4"} {
		s.want("released", s.poll(k), want)
		s.say(k, AckRelease, 1, 3)
	}
	s.want("the last delivery is alone", s.poll(k), "1×5")
	s.say(k, AckRelease, 1)
	s.want("the last delivery is alone", s.poll(k), "3×5")
	s.say(k, AckRelease, 3)
	s.written(3)
	s.sendAll(s.p, "q", 0, "s5", "s6")
	s.want("new ones", s.poll(k), "5×1 6×1")
	s.run(3100 * ms)
	if code := s.say(k, AckAccept, 5, 6); code != INVALID_RECORD_STATE {
		t.Errorf("after the lock's end: %v", code)
	}
	s.want("again", s.poll(k), "5×2 6×2")
	s.say(k, AckAccept, 5, 6)
	s.written(5)
	s.sendAll(s.p, "q", 0, "t7", "t8", "t9")
	s.want("new ones", s.poll(k), "7×1 8×1 9×1")
	s.apply(CloseShareConsumer{Consumer: k})
	s.runUntil(10_000*ms, "close", func() bool { return s.Share.Consumers[k].Closed })
	k2 := s.member("k2", byHand)
	s.run(4000 * ms)
	s.want("who comes after a close", s.poll(k2), "7×2 8×2 9×2")
	s.apply(ShareAcknowledge{Consumer: k2, Topic: s.tp.Topic, Offset: 8, Type: AckRelease})
	s.apply(ShareAcknowledge{Consumer: k2, Topic: s.tp.Topic, Offset: 9, Type: AckRelease})
	s.say(k2, AckAccept, 7)
	s.written(7)
}

// A new leader knows what was dealt with, and nothing of locks (H-19).
func TestShareGroupFailover(t *testing.T) {
	s := newShares(t)
	s.sendAll(s.p, "q", 0, "a", "b", "c")
	k := s.member("k", byHand)
	s.run(4000 * ms)
	s.want("first", s.poll(k), "0×1 1×1 2×1")
	s.say(k, AckAccept, 1)
	s.apply(CrashBroker{1})
	s.run(10_000 * ms)
	s.apply(ShareAcknowledge{Consumer: k, Topic: s.tp.Topic, Offset: 0, Type: AckAccept})
	s.apply(ShareAcknowledge{Consumer: k, Topic: s.tp.Topic, Offset: 2, Type: AckAccept})
	s.run(2000 * ms)
	s.want("at the new leader", s.poll(k), "0×1 2×1")
}

// Records in flight are limited (H-9): nothing new is acquired, until some are dealt with.
func TestShareGroupRecordLocksH9(t *testing.T) {
	s := newShares(t, func(w *World) { w.Broker.Share.MaxRecordLocks = 100 })
	for range 30 {
		s.sendAll(s.p, "q", 0, "a", "b", "c", "d", "e")
		s.settle(s.p)
	}
	k, k2 := s.member("k", map[string]any{"max.poll.records": 90, "share.acquire.mode": "record_limit"}), s.member("k2", byHand)
	s.run(6000 * ms)
	if got := len(strings.Fields(s.poll(k))); got != 90 {
		t.Errorf("record_limit: %d records, want 90 (H-12)", got)
	}
	if got := len(strings.Fields(s.poll(k2))); got < 10 || got > 14 {
		t.Errorf("%d records beside 90, want what makes 100 and the rest of a batch", got)
	}
	if p := s.SharePartition("g", s.tp); len(p.Window) > 104 {
		t.Errorf("%d records in flight", len(p.Window))
	}
}
