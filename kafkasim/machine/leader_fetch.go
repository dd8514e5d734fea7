package machine

import (
	"slices"

	"kafkalab/kafkasim/partlog"
)

// Fetch, on the broker that is asked.
//
// A follower reads up to the log's end, and its fetch offset is its acknowledgement of everything below; a
// consumer reads up to the high watermark (R1.26). A fetch that finds nothing waits in the purgatory.
//
// Kafka: KafkaApis.handleFetchRequest, ReplicaManager.fetchMessages, Partition.fetchRecords, DelayedFetch.
// KIP-320 (epochs in fetches), KIP-392 (consumers may read from followers), KIP-595 (diverging epochs).

// fetchMaxBytes is the broker's own limit of a consumer's response (fetch.max.bytes).
const fetchMaxBytes = 57671680

// onFetch is one FetchRequest: answered at once, or parked (C-20).
func (s *State) onFetch(b *Broker, e Event, m FetchRequest) {
	s.limitFetch(b, e.From, &m)
	d := DelayedFetch{From: e.From, Conn: e.Conn, Correlation: e.Correlation, Deadline: s.Now + m.MaxWaitMs*1000, Request: m}
	if code := s.openFetch(b, &d); code != NONE {
		s.reply(b, e.From, e.Conn, e.Correlation, FetchResponse{Error: code})
		return
	}
	results, bytes, urgent := s.readFetch(b, &d, true)
	if m.MaxWaitMs <= 0 || d.Session == 0 && len(m.Parts) == 0 || bytes >= m.MinBytes || urgent {
		s.answerFetch(b, &d, results)
		return
	}
	if s.fetchReady(b, &d) {
		s.finishFetch(b, &d)
		return
	}
	b.Fetches = append(b.Fetches, d)
	s.wake(&b.PurgatoryAt, d.Deadline, b.ID, PurgatoryTimer{})
}

// finishFetch answers a fetch that waited. The log is read again, so the answer has the high watermark of
// now; the follower is not credited a second time (R2.5).
func (s *State) finishFetch(b *Broker, d *DelayedFetch) {
	results, _, _ := s.readFetch(b, d, false)
	s.answerFetch(b, d, results)
}

// readFetch reads what a fetch asks for within the limits, whole batches, and at least one batch of
// the first partition that has any (C-21). urgent is set by an error or a diverging log.
func (s *State) readFetch(b *Broker, d *DelayedFetch, credit bool) (results []FetchResult, bytes int64, urgent bool) {
	m, parts := &d.Request, s.fetchParts(b, d)
	results = make([]FetchResult, len(parts))
	left, at := m.MaxBytes, -1
	if m.Replica == NoNode {
		left = min(left, fetchMaxBytes)
	}
	for i := range parts {
		res := &results[i]
		n := s.readPart(b, m, &parts[i], res, max(left, 0), bytes == 0, credit, &at)
		bytes += n
		left -= n
		if res.Error != NONE || res.Diverging.Epoch >= 0 || res.PreferredReplica != NoNode {
			urgent = true
		}
	}
	return results, bytes, urgent
}

// readPart reads one partition into res, whose zero value it fills, and returns the bytes read. With
// credit, a follower's fetch counts (R2.4).
func (s *State) readPart(b *Broker, m *FetchRequest, p *FetchPart, res *FetchResult, left int64, first, credit bool, at *int) int64 {
	*res = FetchResult{TP: p.TP, HighWatermark: -1, LastStable: -1, LogStartOffset: -1, Diverging: noEpochEnd, LeaderEpoch: -1}
	r, code := s.fetchReplica(b, m.Replica, p, at)
	if code != NONE {
		s.failFetch(b, res, code)
		return 0
	}
	// The answer has the high watermark from before this fetch is credited (R2.4, step 2; G2).
	l := &r.Log
	res.HighWatermark, res.LastStable, res.LogStartOffset = l.HighWatermark, l.LastStable(), l.LogStart
	if res.PreferredReplica = s.preferredReplica(b, r, m, p.FetchOffset); res.PreferredReplica != NoNode {
		return 0 // nothing is read: the consumer is to ask there (C-51)
	}
	if p.LastFetchedEpoch >= 0 {
		epoch, end := l.Epochs.EndOffsetFor(p.LastFetchedEpoch, l.End)
		if s.mutant(EpochEndOffByOne) && end < l.End {
			end++
		}
		switch {
		case end < 0 || p.FetchOffset < l.LogStart:
			s.failFetch(b, res, OFFSET_OUT_OF_RANGE)
			return 0
		case epoch < p.LastFetchedEpoch || end < p.FetchOffset:
			res.Diverging = EpochEnd{epoch, end}
			if credit && m.Replica != NoNode && s.mutant(CreditsDiverging) {
				s.creditFetch(b, r, m, p)
			}
			return 0
		}
	}
	if p.FetchOffset < l.LogStart || p.FetchOffset > l.End {
		s.failFetch(b, res, OFFSET_OUT_OF_RANGE) // R1.27, C-24
		return 0
	}
	bound := s.fetchBound(l, m)
	var bytes int64
	if !s.leaderThrottles(b, r, m.Replica) {
		res.Batches, bytes = l.Read(p.FetchOffset, bound, min(p.MaxBytes, left), first)
	}
	if m.Committed && m.Replica == NoNode && len(res.Batches) > 0 {
		res.Aborted = l.AbortedIn(p.FetchOffset, res.Batches[len(res.Batches)-1].NextOffset())
	}
	if credit && m.Replica != NoNode {
		if code := s.creditFetch(b, r, m, p); code != NONE {
			s.failFetch(b, res, code)
			return 0
		}
	}
	return bytes
}

// fetchBound is how far a fetch may read (R1.26, C-22, T-45): a follower to the log's end, a consumer to the high
// watermark, and under read_committed to the last stable offset.
func (s *State) fetchBound(l *partlog.Log, m *FetchRequest) int64 {
	switch {
	case m.Replica != NoNode || s.mutant(ConsumersReadToEnd):
		return l.End
	case m.Committed:
		return l.LastStable()
	}
	return l.HighWatermark
}

// noEpochEnd is "the logs do not diverge".
var noEpochEnd = EpochEnd{Epoch: -1, Offset: -1}

// failFetch makes an answer an error.
func (s *State) failFetch(b *Broker, res *FetchResult, code Code) {
	*res = FetchResult{TP: res.TP, Error: code, HighWatermark: -1, LastStable: -1, LogStartOffset: -1, Diverging: noEpochEnd, LeaderEpoch: -1}
	if code == NOT_LEADER_OR_FOLLOWER || code == FENCED_LEADER_EPOCH {
		res.Leader, res.LeaderEpoch = s.leaderHint(b, res.TP)
	}
}

// fetchReplica finds the replica that a fetch may read, in R2.4's order of checks: the epoch before the
// leadership (R1.28); a follower must be one of the partition's replicas. A consumer may read any replica
// that this broker hosts (R1.29). at is as in replicaAfter.
func (s *State) fetchReplica(b *Broker, fetcher NodeID, p *FetchPart, at *int) (*Replica, Code) {
	if b.Image.partition(p.TP) == nil {
		return nil, UNKNOWN_TOPIC_OR_PARTITION
	}
	r := b.replicaAfter(p.TP, at)
	switch {
	case r != nil && b.Dirs[r.Dir].Offline:
		return nil, KAFKA_STORAGE_ERROR
	case r == nil || r.Role == Offline:
		return nil, NOT_LEADER_OR_FOLLOWER
	}
	if code := r.checkEpoch(p.LeaderEpoch); code != NONE && !s.mutant(CreditsAnyEpoch) {
		return nil, code
	}
	if fetcher == NoNode && s.World.Rules.On(FollowerReads) {
		return r, NONE
	}
	if r.Role != Leader {
		return nil, NOT_LEADER_OR_FOLLOWER
	}
	if fetcher != NoNode && !slices.Contains(r.Replicas, fetcher) {
		return nil, UNKNOWN_LEADER_EPOCH
	}
	return r, NONE
}

// checkEpoch compares the epoch that a request believes in with the replica's (R1.28); -1 is not checked.
func (r *Replica) checkEpoch(e int32) Code {
	switch {
	case e < 0 || e == r.LeaderEpoch:
		return NONE
	case e < r.LeaderEpoch:
		return FENCED_LEADER_EPOCH
	}
	return UNKNOWN_LEADER_EPOCH
}

// fetchReady tells whether a parked fetch can be answered (R1.32, R2.5, C-23): there are enough bytes below
// the bound, an error, a diverging log, or the fetch reads an older segment.
func (s *State) fetchReady(b *Broker, d *DelayedFetch) bool {
	return s.partsReady(b, &d.Request, s.fetchParts(b, d))
}

func (s *State) partsReady(b *Broker, m *FetchRequest, parts []FetchPart) bool {
	var bytes int64
	at := -1
	for i := range parts {
		p := &parts[i]
		r, code := s.fetchReplica(b, m.Replica, p, &at)
		if code != NONE {
			return true
		}
		l := &r.Log
		bound := s.fetchBound(l, m)
		if p.FetchOffset > l.End || p.FetchOffset < l.LogStart {
			return true
		}
		if p.LastFetchedEpoch >= 0 {
			if epoch, end := l.Epochs.EndOffsetFor(p.LastFetchedEpoch, l.End); epoch < p.LastFetchedEpoch || end < p.FetchOffset {
				return true
			}
		}
		if s.wantsHighWatermark(r, m.Replica) {
			return true
		}
		if s.leaderThrottles(b, r, m.Replica) {
			continue
		}
		n, older := l.Available(p.FetchOffset, bound, m.MinBytes-bytes)
		bytes += n
		if older || bytes >= m.MinBytes {
			return true
		}
	}
	return false
}
