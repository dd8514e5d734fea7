package machine

import (
	"fmt"
	"slices"
	"testing"

	"kafkalab/kafkasim/partlog"
)

// sessionGap looks for a partition that a session or a fetcher believes to be at rest and that is not: what makes
// sessions cheap must not hide anything. "" when all is well.
func (s *State) sessionGap() string {
	for i := range s.Brokers {
		b := &s.Brokers[i]
		for j := range b.Sessions {
			for k := range b.Sessions[j].Parts {
				if p := &b.Sessions[j].Parts[k]; !p.Dirty && !s.atRest(b, &b.Sessions[j], p) {
					return fmt.Sprintf("broker %d takes %s to be at rest in session %d of %d: %+v", b.ID, s.PartitionName(p.TP), b.Sessions[j].ID, b.Sessions[j].Replica, *p)
				}
			}
		}
		for j := range b.Fetchers {
			if gap := s.fetcherGap(b, &b.Fetchers[j]); gap != "" {
				return gap
			}
		}
	}
	return ""
}

// atRest reads a partition as a fetch would.
func (s *State) atRest(b *Broker, f *FetchSession, p *SessionPart) bool {
	var res FetchResult
	at := -1
	m := FetchRequest{Replica: f.Replica, MaxBytes: 1 << 20}
	s.readPart(b, &m, &p.FetchPart, &res, 1<<20, true, false, &at)
	if res.Error != NONE || len(res.Batches) > 0 || res.Diverging.Epoch >= 0 || res.HighWatermark != p.HighWatermark || res.LogStartOffset != p.LogStart {
		return false
	}
	if f.Replica == NoNode {
		return true
	}
	r := b.replica(p.TP)
	x := r.remote(f.Replica)
	return x != nil && x.Session == f.ID && x.End == r.Log.End && slices.Contains(r.ISR, f.Replica)
}

func (s *State) fetcherGap(b *Broker, f *Fetcher) string {
	if f.Session.full() || f.Channel.InFlight && f.Asking != ForRecords {
		return ""
	}
	for i := range b.Replicas {
		r := &b.Replicas[i]
		k, asked := f.Session.part(r.TP)
		wanted := r.follows(f.Leader) && r.DelayedUntil <= s.Now && !r.Truncating
		noticed := slices.Contains(f.News, r.TP) || slices.Contains(f.Later, r.TP)
		if !noticed && (wanted != asked || wanted && f.Session.Parts[k] != s.fetchPart(r)) {
			return fmt.Sprintf("broker %d will not tell %d what has become of %s", b.ID, f.Leader, s.PartitionName(r.TP))
		}
	}
	return ""
}

// sessionBench is a broker with four partitions of two records each, and a way to fetch from it.
type sessionBench struct {
	*bench
	tp TopicPartition
}

func newSessionBench(t *testing.T, tune ...func(*World)) *sessionBench {
	x := &sessionBench{bench: newBench(t, 1, tune...)}
	x.tp = x.topic("orders", 1, []NodeID{1}, []NodeID{1}, []NodeID{1}, []NodeID{1})
	x.run(100 * ms)
	for i := range int32(4) {
		x.put(i)
		x.put(i)
	}
	return x
}

func (x *sessionBench) at(i int32) TopicPartition { return TopicPartition{x.tp.Topic, i} }

func (x *sessionBench) put(i int32) { x.produce(1, x.at(i), 1, "v") }

func (x *sessionBench) want(i int32, offset int64) FetchPart {
	return FetchPart{TP: x.at(i), FetchOffset: offset, LeaderEpoch: -1, LastFetchedEpoch: -1, LogStartOffset: -1, MaxBytes: 1 << 20}
}

func (x *sessionBench) fetch(id, epoch int32, forget []TopicPartition, parts ...FetchPart) FetchResponse {
	x.t.Helper()
	res := x.call(1, FetchRequest{BrokerEpoch: -1, MinBytes: 1, MaxBytes: 1 << 20, SessionID: id, SessionEpoch: epoch, Parts: parts, Forgotten: forget})
	return res.(FetchResponse)
}

// told is what an answer says, in its order.
func told(m FetchResponse) (out []string) {
	for i := range m.Parts {
		r := &m.Parts[i]
		out = append(out, fmt.Sprintf("%d:%d", r.TP.Partition, recordsIn(r.Batches)))
	}
	return out
}

func recordsIn(batches []partlog.Batch) (n int) {
	for i := range batches {
		n += batches[i].Records.Len()
	}
	return n
}

func (x *sessionBench) expect(what string, m FetchResponse, code Code, parts ...string) {
	x.t.Helper()
	if got := told(m); m.Error != code || !slices.Equal(got, parts) {
		x.t.Errorf("%s: %v %v, want %v %v", what, m.Error, got, code, parts)
	}
}

// R2.8, C-25: an answer tells only what is new, partitions that had records go to the end, and requests must come
// in their turn.
func TestFetchSession(t *testing.T) {
	x := newSessionBench(t)
	first := x.fetch(0, InitialFetchEpoch, nil, x.want(0, 0), x.want(1, 2), x.want(2, 2))
	x.expect("a full request", first, NONE, "0:2", "1:0", "2:0")
	id := first.SessionID
	x.expect("the same again: the offset of 0 has not moved", x.fetch(id, 1, nil), NONE, "0:2")
	x.expect("all read", x.fetch(id, 2, nil, x.want(0, 2)), NONE)
	x.put(2)
	x.put(0)
	x.expect("news in two; 0 was served last", x.fetch(id, 3, nil), NONE, "2:1", "0:1")
	x.put(1)
	x.expect("1 was served longest ago", x.fetch(id, 4, nil), NONE, "1:1", "2:1", "0:1")
	x.expect("one epoch twice", x.fetch(id, 4, nil), INVALID_FETCH_SESSION_EPOCH)
	x.expect("one left out", x.fetch(id, 6, nil), INVALID_FETCH_SESSION_EPOCH)
	x.expect("no such session", x.fetch(id+9, 1, nil), FETCH_SESSION_ID_NOT_FOUND)
	x.expect("2 forgotten, 3 new", x.fetch(id, 5, []TopicPartition{x.at(2)}, x.want(3, 0), x.want(0, 3), x.want(1, 3)), NONE, "3:2")
	x.put(2)
	x.expect("2 is not asked for", x.fetch(id, 6, nil, x.want(3, 2)), NONE)
	x.expect("another end", x.fetch(id, FinalFetchEpoch, nil), NONE)
	x.expect("after it", x.fetch(id, 7, nil), FETCH_SESSION_ID_NOT_FOUND)
	if n := len(x.broker(1).Sessions); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
	second := x.fetch(0, InitialFetchEpoch, nil, x.want(0, 3))
	last := x.fetch(second.SessionID, 1, []TopicPartition{x.at(0)})
	if x.expect("the last partition is forgotten", last, NONE); last.SessionID != 0 || len(x.broker(1).Sessions) != 0 {
		t.Errorf("a session without partitions goes on as %d", last.SessionID)
	}
}

// R2.8: a high watermark that moves without new records is news, and so is a log start.
func TestFetchSessionTellsWatermarks(t *testing.T) {
	b := newBench(t, 2)
	tp := b.topic("orders", 1, []NodeID{1, 2})
	b.run(1000 * ms)
	b.produce(1, tp, 1, "v")
	b.run(2000 * ms)
	b.expectLog(2, tp, 1, 1)
	x := &sessionBench{bench: b, tp: tp}
	id := x.fetch(0, InitialFetchEpoch, nil, x.want(0, 1)).SessionID
	x.expect("nothing", x.fetch(id, 1, nil), NONE)
	b.apply(DeleteRecords{TP: tp, Before: 1})
	b.run(100 * ms)
	x.expect("a log start", x.fetch(id, 2, nil), NONE, "0:0")
	x.expect("once", x.fetch(id, 3, nil), NONE)
}

// KIP-227: the cache has so many slots; a session that is worth less, or was silent for two minutes, makes room.
func TestFetchSessionEviction(t *testing.T) {
	x := newSessionBench(t, func(w *World) { w.Broker.MaxIncrementalFetchSessionCacheSlots = 2 })
	one := x.fetch(0, InitialFetchEpoch, nil, x.want(0, 2)).SessionID
	two := x.fetch(0, InitialFetchEpoch, nil, x.want(0, 2), x.want(1, 2)).SessionID
	if id := x.fetch(0, InitialFetchEpoch, nil, x.want(0, 2), x.want(1, 2), x.want(2, 2)).SessionID; one == 0 || two == 0 || id != 0 {
		t.Errorf("sessions %d, %d, %d: young ones must stay", one, two, id)
	}
	x.run(119_000 * ms)
	x.fetch(two, 1, nil)
	x.run(2_000 * ms)
	three := x.fetch(0, InitialFetchEpoch, nil, x.want(3, 2)).SessionID
	if b := x.broker(1); three == 0 || b.session(one) != nil || b.session(two) == nil {
		t.Errorf("the silent session has not made room: %v", b.Sessions)
	}
	x.run(3_000 * ms)
	x.fetch(two, 2, nil)
	four := x.fetch(0, InitialFetchEpoch, nil, x.want(0, 2), x.want(1, 2), x.want(2, 2)).SessionID
	if b := x.broker(1); four == 0 || b.session(two) != nil || b.session(three) == nil {
		t.Errorf("the old session of two partitions stays before one of three: %v", b.Sessions)
	}
	if id := x.fetch(0, InitialFetchEpoch, nil, x.want(0, 2)).SessionID; id != 0 {
		t.Errorf("session %d takes the place of a young one", id)
	}
	x.expect("the one that had to go", x.fetch(two, 3, nil), FETCH_SESSION_ID_NOT_FOUND)
}

// C-25: a follower whose session is gone begins anew, and loses nothing.
func TestFollowerBeginsAnewWithoutItsSession(t *testing.T) {
	b := newBench(t, 2)
	tp := b.topic("orders", 2, []NodeID{1, 2})
	b.run(1000 * ms)
	if n := len(b.broker(1).Sessions); n != 1 {
		t.Fatalf("%d sessions at the leader", n)
	}
	b.endSession(b.broker(1), b.broker(1).Sessions[0].ID)
	b.record()
	b.run(1000 * ms)
	b.produce(1, tp, -1, "v")
	b.expectLog(2, tp, 1, 0)
	refused := slices.ContainsFunc(b.seen, func(e Event) bool {
		m, ok := e.Payload.(FetchResponse)
		return ok && m.Error == FETCH_SESSION_ID_NOT_FOUND
	})
	if !refused || len(b.broker(1).Sessions) != 1 {
		t.Errorf("refused %v, sessions %v", refused, b.broker(1).Sessions)
	}
}

// R2.12: a follower that rests in a session counts as fetching all the same: when a record comes it was caught up at
// its session's last request.
func TestRestingFollowerIsCredited(t *testing.T) {
	b := newBench(t, 2)
	tp := b.topic("orders", 1, []NodeID{1, 2})
	b.run(60_000 * ms)
	last := b.broker(1).Sessions[0].At
	x := b.broker(1).replica(tp).remote(2)
	if x.Session == 0 || x.LastFetch > b.Now-30_000*ms {
		t.Fatalf("the follower does not rest: %+v", *x)
	}
	b.apply(CutLink{1, 2})
	b.produce(1, tp, 1, "v")
	if x := b.broker(1).replica(tp).remote(2); x.LastCaughtUp != last || x.LastFetch != last {
		t.Errorf("last caught up at %d µs, fetched at %d µs, want %d", x.LastCaughtUp, x.LastFetch, last)
	}
	b.run(29_000 * ms)
	if isr := b.registration(tp).ISR; len(isr) != 2 {
		t.Errorf("ISR %v before 30 s are over", isr)
	}
}

// R1.28, R2.12: a fetch that is refused counts for nothing, though its partition had rested in the session.
func TestRefusedFetchOfARestingFollowerIsNotCredited(t *testing.T) {
	b := newBench(t, 2)
	tp := b.topic("orders", 1, []NodeID{1, 2})
	b.run(60_000 * ms)
	b.apply(CutLink{1, 2})
	b.run(600 * ms) // what the follower has asked is answered or lost
	session := b.broker(1).Sessions[0]
	part := session.Parts[0].FetchPart
	part.LeaderEpoch = 7 // the follower knows of an epoch that the leader has not heard of
	for i := range int32(3) {
		m := FetchRequest{Replica: 2, BrokerEpoch: -1, SessionID: session.ID, SessionEpoch: session.Epoch + i, MaxBytes: 1 << 20, Parts: []FetchPart{part}}
		if res := b.call(1, m).(FetchResponse); res.Error != NONE || len(res.Parts) != 1 || res.Parts[0].Error != UNKNOWN_LEADER_EPOCH {
			t.Fatalf("request %d is answered with %+v", i, res)
		}
		b.run(100 * ms)
	}
	b.produce(1, tp, 1, "v")
	if x := b.broker(1).replica(tp).remote(2); x.LastFetch != session.At || x.LastCaughtUp != session.At {
		t.Errorf("caught up at %d µs, fetched at %d µs, want both at %d, the last request that was in the leader's epoch", x.LastCaughtUp, x.LastFetch, session.At)
	}
}

// R2.6, R2.8: a high watermark that comes in an answer to an older epoch is discarded with it, and the session does
// not say it again until it changes.
func TestWatermarkOfADiscardedAnswerIsNotToldAgain(t *testing.T) {
	b := newBench(t, 2)
	tp := b.topic("orders", 1, []NodeID{1, 2})
	b.run(1000 * ms)
	b.Watching = true
	b.Untold = nil
	f, r := b.broker(2), b.broker(2).replica(tp)
	r.LeaderEpoch++ // as a change of metadata does while the answer is on its way
	at, _ := f.fetcher(1)
	sent := &f.Fetchers[at].Session.Parts[0]
	b.takeFetched(f, &f.Fetchers[at], &FetchResponse{Parts: []FetchResult{{TP: tp, HighWatermark: 3, Diverging: noEpochEnd, LeaderEpoch: -1}}})
	if r.Log.HighWatermark != 0 {
		t.Errorf("high watermark %d from an answer to epoch %d in epoch %d", r.Log.HighWatermark, sent.LeaderEpoch, r.LeaderEpoch)
	}
	if want := []Untold{{2, tp, 3}}; !slices.Equal(b.Untold, want) {
		t.Errorf("untold %v, want %v", b.Untold, want)
	}
}
