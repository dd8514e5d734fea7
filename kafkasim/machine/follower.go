package machine

import (
	"slices"
)

// Replica, follower side: the fetcher.
//
// A broker has one fetcher per leader it follows, with one request in flight for all partitions of that
// leader. A follower asks from its own log end, appends what comes back, and takes the high watermark from
// the same answer. It never acknowledges: asking for offset n is the acknowledgement of everything below n.
//
// Kafka: ReplicaFetcherThread, AbstractFetcherThread, RemoteLeaderEndPoint. KIP-101, KIP-279, KIP-320.
// Simplified: num.replica.fetchers is 1; no fetch sessions (R2.8), no throttling.

// Fetcher fetches from one leader (R2.1).
type Fetcher struct {
	Leader  NodeID
	Channel Channel
	Parts   []FetchPart // of the request in flight
	Asking  Asking      // what the request in flight asks
	First   int32       // where the next request starts among the partitions, so that none starves
	WakeAt  int64
}

// Asking is what a fetcher's request asks for.
type Asking uint8

// The requests of a fetcher.
const (
	ForRecords Asking = iota // Fetch
	ForOffsets               // ListOffsets for Parts[0] (R2.11b)
	ForEpochs                // OffsetsForLeaderEpoch, before fetching (ByRequest)
)

// fetcher finds the fetcher for a leader: its index, or where it belongs.
func (b *Broker) fetcher(leader NodeID) (int, bool) {
	return slices.BinarySearchFunc(b.Fetchers, leader, func(f Fetcher, l NodeID) int { return int(f.Leader - l) })
}

// follows tells whether the replica is to be fetched from this leader.
func (r *Replica) follows(leader NodeID) bool {
	return r.Role == Follower && r.Leader == leader && !r.Failed
}

// restartFetchers starts fetchers that have something to fetch and ends those that have nothing (R2.3).
func (s *State) restartFetchers(b *Broker) {
	for i := range b.Replicas {
		if r := &b.Replicas[i]; r.Role == Follower && r.Leader != NoNode {
			if at, found := b.fetcher(r.Leader); !found {
				b.Fetchers = slices.Insert(b.Fetchers, at, Fetcher{Leader: r.Leader})
			}
		}
	}
	b.Fetchers = slices.DeleteFunc(b.Fetchers, func(f Fetcher) bool {
		idle := !slices.ContainsFunc(b.Replicas, func(r Replica) bool { return r.Role == Follower && r.Leader == f.Leader })
		if idle {
			s.hangUp(b.ID, f.Leader, &f.Channel)
		}
		return idle
	})
	for i := range b.Fetchers {
		s.fetch(b, &b.Fetchers[i])
	}
}

// fetch sends the next fetch of a fetcher, unless one is in flight. A partition that is added while a
// request is parked at the leader waits for its answer, as it does behind Kafka's fetcher thread.
func (s *State) fetch(b *Broker, f *Fetcher) {
	if f.Channel.InFlight {
		return
	}
	var parts, unsure []FetchPart
	retry := int64(0)
	n := len(b.Replicas)
	for i := range n {
		r := &b.Replicas[(int(f.First)+i)%n]
		if !r.follows(f.Leader) {
			continue
		}
		if r.DelayedUntil > s.Now {
			if retry == 0 || r.DelayedUntil < retry {
				retry = r.DelayedUntil
			}
			continue
		}
		p := FetchPart{
			TP: r.TP, FetchOffset: r.Log.End, LeaderEpoch: r.LeaderEpoch, LastFetchedEpoch: s.lastFetchedEpoch(r),
			LogStartOffset: r.Log.LogStart, MaxBytes: s.World.Broker.ReplicaFetchMaxBytes,
		}
		if r.Truncating {
			unsure = append(unsure, p)
		} else {
			parts = append(parts, p)
		}
	}
	if retry != 0 {
		s.wake(&f.WakeAt, retry, b.ID, FetcherTimer{Leader: f.Leader})
	}
	if len(unsure) > 0 {
		s.askEpochs(b, f, unsure)
		return
	}
	if len(parts) == 0 {
		return
	}
	cfg := &s.World.Broker
	f.Parts, f.Asking = parts, ForRecords
	s.request(b.ID, f.Leader, &f.Channel, cfg.ReplicaSocketTimeoutMs*1000, FetchRequest{
		Replica: b.ID, BrokerEpoch: s.fetchBrokerEpoch(b), MaxWaitMs: cfg.ReplicaFetchWaitMaxMs,
		MinBytes: cfg.ReplicaFetchMinBytes, MaxBytes: replicaFetchResponseMaxBytes, Parts: s.fenced(parts),
	})
	s.wake(&f.WakeAt, f.Channel.Deadline, b.ID, FetcherTimer{Leader: f.Leader})
}

// replicaFetchResponseMaxBytes is replica.fetch.response.max.bytes.
const replicaFetchResponseMaxBytes = 10485760

// onFetcherTimer lets a fetcher go on after a backoff, or gives up a request that was not answered.
func (s *State) onFetcherTimer(b *Broker, e Event, t FetcherTimer) {
	i, found := b.fetcher(t.Leader)
	if !found || e.At != b.Fetchers[i].WakeAt {
		return
	}
	f := &b.Fetchers[i]
	f.WakeAt = 0
	if f.Channel.InFlight {
		if s.Now < f.Channel.Deadline {
			s.wake(&f.WakeAt, f.Channel.Deadline, b.ID, t)
			return
		}
		s.fetchFailed(b, f)
	}
	s.fetch(b, f)
}

// fetcherDisconnected is the loss of a fetcher's connection.
func (s *State) fetcherDisconnected(b *Broker, e Event) {
	i, found := b.fetcher(e.From)
	if !found || b.Fetchers[i].Channel.Conn != e.Conn {
		return
	}
	f := &b.Fetchers[i]
	f.Channel.Answered = false // the peer has closed it; it need not hear of our close
	f.Channel.Conn = 0
	if f.Channel.InFlight {
		s.fetchFailed(b, f)
	}
	s.fetch(b, f)
}

// fetchFailed is a request without an answer: all its partitions back off (R2.9).
func (s *State) fetchFailed(b *Broker, f *Fetcher) {
	s.hangUp(b.ID, f.Leader, &f.Channel)
	f.Channel.InFlight = false
	for i := range f.Parts {
		if r := b.replica(f.Parts[i].TP); r != nil && r.follows(f.Leader) {
			s.backOff(r)
		}
	}
	f.Parts, f.Asking = nil, ForRecords
}

// backOff delays a partition by replica.fetch.backoff.ms (R2.9).
func (s *State) backOff(r *Replica) {
	r.DelayedUntil = s.Now + s.World.Broker.ReplicaFetchBackoffMs*1000
}

// onFetchResponse takes the leader's answer, partition by partition, and asks on.
func (s *State) onFetchResponse(b *Broker, e Event, m FetchResponse) {
	i, found := b.fetcher(e.From)
	if !found || b.Fetchers[i].Asking != ForRecords || !b.Fetchers[i].Channel.answers(&e) {
		return
	}
	f := &b.Fetchers[i]
	sent := f.Parts
	f.Parts = nil
	ask := -1
	for j := range m.Parts {
		r := b.replica(sent[j].TP)
		// A response is discarded when it answers an older state of the follower: between asking and
		// hearing back it may have been told of a new leader, or have been truncated (R2.6).
		if r == nil || !r.follows(f.Leader) || s.otherEpoch(r, &sent[j]) || r.Log.End != sent[j].FetchOffset ||
			r.DelayedUntil > s.Now || r.Truncating {
			continue
		}
		res := &m.Parts[j]
		switch {
		case res.Error == OFFSET_OUT_OF_RANGE:
			ask = j
		case res.Error != NONE:
			s.fetchError(r, sent[j].LeaderEpoch, res.Error)
		case res.Diverging.Epoch >= 0:
			s.truncateOnDivergence(b, r, res.Diverging)
		default:
			if s.appendFetched(b, r, sent[j].LeaderEpoch, res) {
				at, _ := b.findReplica(r.TP)
				f.First = int32((at + 1) % len(b.Replicas))
			}
		}
	}
	if ask >= 0 {
		s.askLeaderOffsets(b, f, sent[ask])
		return
	}
	s.fetch(b, f)
}

// fetchError is R2.9. A follower that is fenced in the epoch it believes in stops until metadata tells of a
// newer one; every other error is tried again after a pause.
func (s *State) fetchError(r *Replica, sent int32, code Code) {
	if code == FENCED_LEADER_EPOCH && r.LeaderEpoch == sent {
		r.Failed = true
		return
	}
	s.backOff(r)
}

// appendFetched is R2.6: append, then take the leader's high watermark as it is (it may be lower), then its
// log start. It tells whether there were records.
func (s *State) appendFetched(b *Broker, r *Replica, sent int32, res *FetchResult) bool {
	n := 0
	for n < len(res.Batches) && (res.Batches[n].LeaderEpoch <= r.LeaderEpoch || s.World.Rules.Without(HigherEpochDropped)) {
		if res.Batches[n].BaseOffset < r.Log.End {
			r.Failed = true // half of the batch is there already, from another log: UnexpectedAppendOffsetException
			break
		}
		s.appendBatch(b, r, res.Batches[n])
		n++ // the rest was written under a leader this follower does not know yet (KAFKA-18723)
	}
	if n > 0 {
		s.appended(b, r)
		s.noteAppended(b.ID, r.TP, r.Log.End, res.Batches[:n])
	}
	r.Aligned = r.Aligned || sent == r.LeaderEpoch
	r.NoEpoch = n == 0 && s.World.Rules.Without(EmptyFetchKeepsEpoch)
	if r.Log.End >= res.HighWatermark {
		s.recordsFetched(r.TP, b.ID)
	}
	hw := res.HighWatermark
	if s.mutant(FollowerCommitsAll) {
		hw = r.Log.End
	}
	moved := s.setHighWatermark(b, r, hw)
	s.raiseLogStart(b, r, res.LogStartOffset)
	if moved {
		s.completeFetches(b, r.TP) // consumers may read from followers (R1.30)
	}
	return n > 0
}
