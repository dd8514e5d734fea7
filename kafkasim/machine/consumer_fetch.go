// Consumer, fetching.
//
// A broker is asked for all partitions at once, one request at a time, and not at all while records of it
// wait in the buffer (C-5). Fetched records wait there, oldest first, until a poll takes them (C-6).
//
// Kafka: AbstractFetch, FetchBuffer, FetchCollector, CompletedFetch (KIP-227, KIP-320, KIP-951; KAFKA-17182).
// Simplified: after an error a partition waits for retry.backoff.ms, where Kafka asks again at once.
package machine

import (
	"slices"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
)

// CompletedFetch is a partition's answer to a fetch, not consumed yet.
type CompletedFetch struct {
	TP      TopicPartition
	Offset  int64 // of the next record to hand out
	Error   Code
	Batches []partlog.Batch
	// What the answer said beside.
	HighWatermark, LogStart int64
	Leader                  NodeID
	LeaderEpoch             int32
	Aborted                 []partlog.AbortedTransaction // by First, those that were not met yet
	AbortedIDs              []int64                      // producers whose aborted transaction goes on at Offset
}

// sendFetches asks every broker for the partitions that can be fetched there (C-3, C-5). What the broker's
// session knows is not said again (C-25).
func (s *State) sendFetches(c *Consumer) {
	for i := range c.Conns {
		k := &c.Conns[i]
		if !k.usable(s.Now) || k.fetching() || s.bufferedAt(c, k.Broker) {
			continue
		}
		var parts []FetchPart
		for _, p := range c.byTurn() {
			if p.State == PositionFetching && !p.Paused && !p.Revoking && s.readsFrom(c, p) == k.Broker && p.RetryAt <= s.Now {
				parts = append(parts, FetchPart{TP: p.TP, FetchOffset: p.Position, LeaderEpoch: s.expectedEpoch(p.LeaderEpoch),
					LastFetchedEpoch: -1, LogStartOffset: -1, MaxBytes: c.Config.MaxPartitionFetchBytes})
			}
		}
		if len(parts) > 0 {
			s.sendFetch(c, k, parts)
		}
	}
}

// sendFetch asks one broker for partitions, and no others.
func (s *State) sendFetch(c *Consumer, k *Connection, parts []FetchPart) {
	h, named := &k.Session, parts
	var forgotten []TopicPartition
	if h.full() {
		h.begin(parts)
	} else {
		named, forgotten = nil, h.forgetOthers(parts)
		for i := range parts {
			if h.ask(&parts[i]) {
				named = append(named, parts[i])
			}
		}
	}
	s.clientRequest(&c.ClientIO, k, Request{Payload: FetchRequest{Replica: NoNode, BrokerEpoch: -1, MaxWaitMs: c.Config.FetchMaxWaitMs,
		MinBytes: c.Config.FetchMinBytes, MaxBytes: c.Config.FetchMaxBytes, Rack: c.Config.ClientRack,
		Committed: c.committed(),
		SessionID: h.ID, SessionEpoch: h.Epoch, Parts: named, Forgotten: forgotten}}, true)
}

// endFetchSession tells a broker on the way out that its session is needed no more; nobody waits for the answer.
func (s *State) endFetchSession(c *Consumer, k *Connection) {
	if k.Session.ID != 0 {
		s.clientRequest(&c.ClientIO, k, Request{Payload: FetchRequest{Replica: NoNode, BrokerEpoch: -1,
			SessionID: k.Session.ID, SessionEpoch: FinalFetchEpoch}}, false)
	}
}

// byTurn lists the partitions, those served longest ago first, so that none starves.
func (c *Consumer) byTurn() []*ConsumerPart {
	parts := make([]*ConsumerPart, len(c.Parts))
	for i := range c.Parts {
		parts[i] = &c.Parts[i]
	}
	slices.SortStableFunc(parts, func(a, b *ConsumerPart) int { return int(a.Turn - b.Turn) })
	return parts
}

// fetching tells whether a fetch is in flight on the connection.
func (k *Connection) fetching() bool {
	return slices.ContainsFunc(k.InFlight, func(r Request) bool { _, ok := r.Payload.(FetchRequest); return ok })
}

// bufferedAt tells whether records of a partition that is read from this broker wait in the buffer.
func (s *State) bufferedAt(c *Consumer, b NodeID) bool {
	return slices.ContainsFunc(c.Buffer, func(f CompletedFetch) bool {
		p := c.part(f.TP)
		return p != nil && s.readsFrom(c, p) == b && (f.Error == NONE || p.Position == f.Offset)
	})
}

// fetched takes an answer into the buffer. Empty ones only tell the high watermark.
func (s *State) fetched(c *Consumer, k *Connection, a *FetchResponse) {
	if !k.Session.answered(a) {
		return
	}
	for i := range a.Parts {
		res := &a.Parts[i]
		p := c.part(res.TP)
		bound := res.HighWatermark
		if c.committed() {
			bound = res.LastStable
		}
		asked, found := k.Session.part(res.TP)
		switch {
		case p == nil || !found:
		case res.Error == NONE && len(res.Batches) == 0:
			p.HighWatermark, p.LogStart = bound, res.LogStartOffset
			c.Stats.at(p)
			if res.PreferredReplica != NoNode && p.Position == k.Session.Parts[asked].FetchOffset {
				s.prefer(c, p, res.PreferredReplica)
			}
		default:
			c.Buffer = append(c.Buffer, CompletedFetch{TP: p.TP, Offset: k.Session.Parts[asked].FetchOffset, Error: res.Error, Batches: res.Batches,
				HighWatermark: bound, LogStart: res.LogStartOffset, Leader: res.Leader, LeaderEpoch: res.LeaderEpoch, Aborted: res.Aborted})
		}
	}
}

// collect takes up to max.poll.records from the buffer, the oldest fetch first (C-6). Fetches of paused
// partitions stay where they are (C-10); those whose offset is not the position any more are dropped (C-9).
func (s *State) collect(c *Consumer) {
	room := c.Config.MaxPollRecords
	kept := c.Buffer[:0:0]
	for i := range c.Buffer {
		f := c.Buffer[i]
		p := c.part(f.TP)
		switch {
		case p == nil:
		case room == 0 || p.Paused || p.Revoking || c.Poll.Error != NONE:
			kept = append(kept, f)
		case f.Error != NONE:
			if !s.fetchRefused(c, p, &f) {
				kept = append(kept, f)
			}
		case p.State != PositionFetching || p.Position != f.Offset:
		default:
			p.HighWatermark, p.LogStart = f.HighWatermark, f.LogStart
			room -= s.take(c, p, &f, room)
			c.Stats.at(p)
			if len(f.Batches) > 0 {
				kept = append(kept, f)
			}
		}
	}
	c.Buffer = kept
}

// until is the place behind at most room records from a place on, and how many records that are. Where records were
// compacted away there may be none, and the position moves all the same (C-12).
func until(r *partlog.Records, from int64, room int32) (to int64, n int32) {
	if r.Removed == 0 {
		to = min(from+int64(room), int64(r.Count))
		return to, int32(max(to-from, 0))
	}
	for c := r.From(int(from)); c.Next(); n++ {
		if n == room {
			return int64(c.Place()), n
		}
	}
	return int64(r.Count), n
}

// take hands out up to room records of a fetch and moves the position behind them (C-7).
func (s *State) take(c *Consumer, p *ConsumerPart, f *CompletedFetch, room int32) int32 {
	taken := int32(0)
	for len(f.Batches) > 0 && taken < room {
		b := &f.Batches[0]
		if f.skips(b, c.committed()) {
			p.Epoch, f.Offset = b.LeaderEpoch, b.NextOffset()
			f.Batches = f.Batches[1:]
			continue
		}
		from := max(f.Offset-b.BaseOffset, 0) // batches come whole, also from before the position (C-21)
		if s.mutant(ReadsBelowPosition) && taken == 0 {
			from = 0
		}
		to, n := until(&b.Records, from, room-taken)
		if from < to {
			c.Poll.Records = append(c.Poll.Records, Polled{TP: p.TP, Offset: b.BaseOffset + from, LeaderEpoch: b.LeaderEpoch,
				Records: b.Records, From: int32(from), To: int32(to)})
			taken += n
			p.Epoch = b.LeaderEpoch
			f.Offset = b.BaseOffset + to
		}
		if to < int64(b.Records.Count) {
			break
		}
		f.Batches = f.Batches[1:]
	}
	c.Poll.Advanced = c.Poll.Advanced || p.Position != f.Offset
	p.Position = f.Offset
	if len(f.Batches) == 0 {
		c.Turns++
		p.Turn = c.Turns
	}
	c.Poll.Count += taken
	c.Stats.Records += int64(taken)
	return taken
}

// fetchRefused reacts to a partition's error. It tells whether the answer is
// done with: one that throws stays for the next poll when this one has records to return.
func (s *State) fetchRefused(c *Consumer, p *ConsumerPart, f *CompletedFetch) bool {
	if p.Position != f.Offset {
		return true // about another position than the present one
	}
	// The leader is asked before anything is believed that another replica says (C-36).
	elsewhere := !s.mutant(KeepsPreferredReplica) && p.dropPreferred()
	switch f.Error {
	case OFFSET_OUT_OF_RANGE:
		if elsewhere {
			return true
		}
		if c.Config.AutoOffsetReset != config.ResetNone {
			c.initialize(p)
			return true
		}
		if c.Poll.Count == 0 {
			c.throw(p, POSITION_OUT_OF_RANGE, -1)
		}
		return c.Poll.Count == 0
	case UNKNOWN_LEADER_EPOCH: // the broker is behind; no refresh
	default:
		c.Meta.Requested = true
	}
	if f.Error == NOT_LEADER_OR_FOLLOWER || f.Error == FENCED_LEADER_EPOCH {
		if c.Meta.hint(p.TP, f.Leader, f.LeaderEpoch) {
			c.maybeValidate(p, s.validatesPositions())
			return true
		}
	}
	s.askLater(c, p.TP)
	return true
}
