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
// Simplified: num.replica.fetchers is 1.

// Fetcher fetches from one leader (R2.1).
type Fetcher struct {
	Leader  NodeID
	Channel Channel
	Session SessionHandler
	News    []TopicPartition // that may have to be asked for otherwise than before, sorted
	Later   []TopicPartition // that have to wait, or are to be cut first, sorted
	Parts   []FetchPart      // what the request in flight names
	Asking  Asking           // what the request in flight asks
	First   int32            // where the next request starts among the partitions, so that none starves
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
	candidates := f.candidates(b)
	var unsure []FetchPart
	retry := int64(0)
	f.Later = nil
	for _, tp := range candidates {
		r := b.replica(tp)
		switch {
		case r == nil || !r.follows(f.Leader):
			continue
		case r.DelayedUntil > s.Now:
			if retry == 0 || r.DelayedUntil < retry {
				retry = r.DelayedUntil
			}
		case s.followerThrottles(b, r) && !r.Truncating: // asked for again after a backoff, or with the others
			if at := s.Now + s.World.Broker.ReplicaFetchBackoffMs*ms; retry == 0 || at < retry {
				retry = at
			}
		case r.Truncating:
			unsure = append(unsure, s.fetchPart(r))
		default:
			continue
		}
		f.Later = insertPartition(f.Later, tp)
	}
	if retry != 0 {
		s.wake(&f.WakeAt, retry, b.ID, FetcherTimer{Leader: f.Leader})
	}
	if len(unsure) > 0 {
		if !f.Session.full() {
			f.News = candidates
		}
		s.askEpochs(b, f, unsure)
		return
	}
	named, forgotten := s.named(b, f, candidates)
	f.News = nil
	if len(f.Session.Parts) == 0 && len(forgotten) == 0 {
		return
	}
	cfg := &s.World.Broker
	f.Parts, f.Asking = named, ForRecords
	s.request(b.ID, f.Leader, &f.Channel, cfg.ReplicaSocketTimeoutMs*1000, FetchRequest{
		Replica: b.ID, BrokerEpoch: s.fetchBrokerEpoch(b), MaxWaitMs: cfg.ReplicaFetchWaitMaxMs,
		MinBytes: cfg.ReplicaFetchMinBytes, MaxBytes: replicaFetchResponseMaxBytes,
		SessionID: f.Session.ID, SessionEpoch: f.Session.Epoch, Parts: s.fenced(named), Forgotten: forgotten,
	})
	s.wake(&f.WakeAt, f.Channel.Deadline, b.ID, FetcherTimer{Leader: f.Leader})
}

// candidates are the partitions to look at for the next request, all of the broker's for a full one.
func (f *Fetcher) candidates(b *Broker) []TopicPartition {
	if !f.Session.full() {
		return merged(f.News, f.Later)
	}
	n := len(b.Replicas)
	all := make([]TopicPartition, 0, n)
	for i := range n {
		if r := &b.Replicas[(int(f.First)+i)%n]; r.follows(f.Leader) {
			all = append(all, r.TP)
		}
	}
	return all
}

// named is what the next request says: the partitions that are asked otherwise than before, and those that are
// asked no more.
func (s *State) named(b *Broker, f *Fetcher, candidates []TopicPartition) (named []FetchPart, forgotten []TopicPartition) {
	full := f.Session.full()
	for _, tp := range candidates {
		r := b.replica(tp)
		if r == nil || !r.follows(f.Leader) || r.DelayedUntil > s.Now || r.Truncating || s.followerThrottles(b, r) {
			if !full && f.Session.forget(tp) {
				forgotten = append(forgotten, tp)
			}
			continue
		}
		if p := s.fetchPart(r); full || f.Session.ask(&p) {
			named = append(named, p)
		}
	}
	if full {
		f.Session.begin(named)
	}
	return named, forgotten
}

// fetchPart is what a follower asks for a partition (R2.1).
func (s *State) fetchPart(r *Replica) FetchPart {
	return FetchPart{
		TP: r.TP, FetchOffset: r.Log.End, LeaderEpoch: r.LeaderEpoch, LastFetchedEpoch: s.lastFetchedEpoch(r),
		LogStartOffset: r.Log.LogStart, MaxBytes: s.World.Broker.ReplicaFetchMaxBytes,
	}
}

// refetch lets the fetchers look at a partition before their next request.
func (b *Broker) refetch(tp TopicPartition) {
	for i := range b.Fetchers {
		f := &b.Fetchers[i]
		f.News = insertPartition(f.News, tp)
	}
}

// insertPartition adds a partition to a sorted list.
func insertPartition(list []TopicPartition, tp TopicPartition) []TopicPartition {
	i := len(list)
	for i > 0 && tp.less(list[i-1]) {
		i--
	}
	if i > 0 && list[i-1] == tp {
		return list
	}
	return slices.Insert(list, i, tp)
}

// merged is two sorted lists as one.
func merged(a, b []TopicPartition) []TopicPartition {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	out := slices.Clone(a)
	for _, tp := range b {
		out = insertPartition(out, tp)
	}
	return out
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
	asked := f.Parts
	if f.Asking == ForRecords {
		asked = f.Session.Parts
		f.Session.failed()
	}
	for i := range asked {
		if r := b.replica(asked[i].TP); r != nil && r.follows(f.Leader) {
			s.backOff(b, r)
		}
	}
	f.Parts, f.Asking = nil, ForRecords
}

// backOff delays a partition by replica.fetch.backoff.ms (R2.9).
func (s *State) backOff(b *Broker, r *Replica) {
	b.refetch(r.TP)
	r.DelayedUntil = s.Now + s.World.Broker.ReplicaFetchBackoffMs*1000
}

// onFetchResponse takes the leader's answer, partition by partition, and asks on.
func (s *State) onFetchResponse(b *Broker, e Event, m FetchResponse) {
	i, found := b.fetcher(e.From)
	if !found || b.Fetchers[i].Asking != ForRecords || !b.Fetchers[i].Channel.answers(&e) {
		return
	}
	f := &b.Fetchers[i]
	named := f.Parts
	f.Parts = nil
	ask := -1
	if f.Session.answered(&m) {
		ask = s.takeFetched(b, f, &m)
		s.alignUntold(b, f, named, &m)
	}
	if ask >= 0 {
		s.askLeaderOffsets(b, f, f.Session.Parts[ask])
		return
	}
	s.fetch(b, f)
}

// takeFetched takes what an answer says of each partition. It returns the place in the session of one that the
// leader has nothing of at the follower's offset, -1 for none.
func (s *State) takeFetched(b *Broker, f *Fetcher, m *FetchResponse) (ask int) {
	ask = -1
	for j := range m.Parts {
		res := &m.Parts[j]
		k, asked := f.Session.part(res.TP)
		if !asked {
			continue
		}
		sent := &f.Session.Parts[k]
		r := b.replica(res.TP)
		if !s.stillAsked(f, r, sent) {
			s.leftUntold(b, r, res)
			continue
		}
		switch {
		case res.Error == OFFSET_OUT_OF_RANGE:
			ask = k
		case res.Error != NONE:
			s.fetchError(b, r, sent.LeaderEpoch, res.Error)
		case res.Diverging.Epoch >= 0:
			s.truncateOnDivergence(b, r, res.Diverging)
			s.leftUntold(b, r, res)
		default:
			if s.appendFetched(b, r, sent.LeaderEpoch, res) {
				at, _ := b.findReplica(r.TP)
				f.First = int32((at + 1) % len(b.Replicas))
			}
		}
	}
	return ask
}

// leftUntold notes for the Watch a high watermark that came in an answer from which nothing else is taken.
func (s *State) leftUntold(b *Broker, r *Replica, res *FetchResult) {
	if s.Watching && r != nil && res.Error == NONE {
		s.Untold = append(s.Untold, Untold{b.ID, r.TP, res.HighWatermark})
	}
}

// stillAsked tells whether a replica is where it was when it was asked for. A response is discarded when it answers
// an older state of the follower: between asking and hearing back it may have been told of a new leader, or have
// been truncated (R2.6).
func (s *State) stillAsked(f *Fetcher, r *Replica, sent *FetchPart) bool {
	return r != nil && r.follows(f.Leader) && !s.otherEpoch(r, sent) && r.Log.End == sent.FetchOffset &&
		r.DelayedUntil <= s.Now && !r.Truncating
}

// alignUntold marks the replicas that were asked for anew and that the answer does not mention: it found nothing
// wrong with them.
func (s *State) alignUntold(b *Broker, f *Fetcher, named []FetchPart, m *FetchResponse) {
	for i := range named {
		p := &named[i]
		told := slices.ContainsFunc(m.Parts, func(r FetchResult) bool { return r.TP == p.TP })
		if r := b.replica(p.TP); !told && s.stillAsked(f, r, p) {
			r.Aligned = r.Aligned || p.LeaderEpoch == r.LeaderEpoch
		}
	}
}

// fetchError is R2.9. A follower that is fenced in the epoch it believes in stops until metadata tells of a
// newer one; every other error is tried again after a pause.
func (s *State) fetchError(b *Broker, r *Replica, sent int32, code Code) {
	if code == FENCED_LEADER_EPOCH && r.LeaderEpoch == sent {
		r.Failed = true
		b.refetch(r.TP)
		return
	}
	s.backOff(b, r)
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
	s.countCopied(b, r, res, n)
	r.Aligned = r.Aligned || sent == r.LeaderEpoch
	b.refetch(r.TP) // it may have failed, or forgotten its epoch
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
