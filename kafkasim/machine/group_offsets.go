package machine

import (
	"cmp"
	"slices"

	"kafkalab/kafkasim/partlog"
)

// Committed offsets.
//
// A commit is a record in the group's partition of __consumer_offsets, and is answered when it is replicated (G-89).
// Nobody asks whether the offset exists or is lower than the last one (C-69), nor whether the member owns the partition
// (G-91): membership and generation are all. Who reads sees what is committed in the log, and no more.
//
// Kafka: OffsetMetadataManager, ClassicGroup.validateOffsetCommit, validateOffsetDelete; KIP-211, KIP-447.

// GroupOffset is a partition's committed offset: Versions has the last one and those that are not replicated yet.
type GroupOffset struct {
	Topic     string
	Partition int32
	Versions  []OffsetVersion // oldest first; never empty, immutable
}

// OffsetVersion is one commit.
type OffsetVersion struct {
	At          int64 // offset of its record in the log
	Offset      int64
	LeaderEpoch int32 // -1 for unknown
	Metadata    string
	CommitMs    int64
	Gone        bool // a tombstone
}

// TxnOffset is a commit that counts when its transaction is committed (T-60).
type TxnOffset struct {
	ProducerID int64
	Topic      string
	Partition  int32
	Version    OffsetVersion
}

// OffsetsStored answers a commit when its record is replicated.
type OffsetsStored struct {
	Group string
	To    Parked
	Txn   bool
	Parts []CommitResult
}

func (OffsetsStored) payload() {}

// offset finds a partition's commits: its index, or where it belongs.
func (g *Group) offset(topic string, partition int32) (int, bool) {
	return slices.BinarySearchFunc(g.Offsets, GroupOffset{Topic: topic, Partition: partition}, func(a, b GroupOffset) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
}

// setOffset adds a commit; hw is the high watermark of the log, below which older ones are not looked at any more.
func (g *Group) setOffset(topic string, partition int32, v OffsetVersion, hw int64) {
	i, found := g.offset(topic, partition)
	if !found {
		g.Offsets = slices.Insert(g.Offsets, i, GroupOffset{Topic: topic, Partition: partition})
	}
	o := &g.Offsets[i]
	for len(o.Versions) > 1 && o.Versions[1].At < hw {
		o.Versions = o.Versions[1:]
	}
	o.Versions = append(slices.Clip(o.Versions), v)
	if v.Gone && len(o.Versions) == 1 {
		g.Offsets = slices.Delete(g.Offsets, i, i+1)
	}
}

// stable is the last commit that is replicated, nil for none.
func (o *GroupOffset) stable(hw int64) *OffsetVersion {
	for i := len(o.Versions) - 1; i >= 0; i-- {
		if v := &o.Versions[i]; v.At < hw {
			if v.Gone {
				return nil
			}
			return v
		}
	}
	return nil
}

// validateCommit says whether somebody may commit (G-80 to G-85).
func (s *State) validateCommit(g *Group, member, instance string, generation int32, parts []CommitPart, txn bool) Code {
	if g.Consumer.On {
		return s.validateConsumerCommit(&g.Consumer, member, generation, parts, txn)
	}
	if !txn && generation < 0 && g.State == GroupEmpty {
		return NONE // G-81
	}
	switch {
	case generation >= 0 || member != "" || instance != "": // G-82
		if code := s.check(g, member, instance); code != NONE {
			return code
		}
		if generation != g.Generation && !s.mutant(IgnoresGeneration) {
			return ILLEGAL_GENERATION
		}
	case !txn && g.State != GroupEmpty: // G-83
		return UNKNOWN_MEMBER_ID
	}
	if !txn && g.State == GroupCompletingRebalance {
		return REBALANCE_IN_PROGRESS // G-84
	}
	return NONE // G-85
}

// refuseCommit answers every partition of a commit with one error.
func (s *State) refuseCommit(b *Broker, p *Parked, parts []CommitPart, code Code) {
	r := OffsetCommitResponse{}
	for i := range parts {
		r.Parts = append(r.Parts, CommitResult{parts[i].Topic, parts[i].Partition, code})
	}
	s.answerParked(b, p, r)
}

// onOffsetCommit is one OffsetCommit.
func (s *State) onOffsetCommit(b *Broker, e Event, m OffsetCommitRequest) {
	p := parked(&e)
	fail := func(code Code) { s.refuseCommit(b, &p, m.Parts, code) }
	x, code := s.groupShard(b, m.Group)
	if code == NONE && x.shareGroup(m.Group) != nil {
		code = GROUP_ID_NOT_FOUND // a share group has the name, and has no offsets
	}
	if code != NONE {
		fail(code)
		return
	}
	g := x.group(m.Group)
	switch {
	case g == nil && m.Generation >= 0 && m.Old: // G-87
		fail(ILLEGAL_GENERATION)
		return
	case g == nil && m.Generation >= 0:
		fail(GROUP_ID_NOT_FOUND)
		return
	case g == nil:
		g = x.addGroup(m.Group)
	}
	if code := s.validateCommit(g, m.Member, m.Instance, m.Generation, m.Parts, false); code != NONE {
		fail(code)
		return
	}
	if member := g.member(m.Member); member != nil && (g.State == GroupStable || g.State == GroupPreparingRebalance) {
		s.alive(member) // G-86
	}
	results, records, versions := s.commitRecords(b, g.ID, m.Parts)
	if len(records) == 0 {
		s.answerParked(b, &p, OffsetCommitResponse{Parts: results})
		return
	}
	base := b.replica(x.TP).Log.End
	if code := s.coordinatorAppend(b, x, s.ownBatch(b, records...), s.commitTimeout(), OffsetsStored{Group: g.ID, To: p, Parts: results}); code != NONE {
		fail(code)
		return
	}
	s.remember(b, x, g, results, versions, base)
	if g.BornAt < 0 {
		g.BornAt = base
	}
	s.watchOffsets(b, x)
}

func (s *State) commitTimeout() int64 { return s.World.Broker.Groups.CommitTimeoutMs * ms }

// commitRecords are the answers to a commit as far as they are known, and the records of what is to be written.
func (s *State) commitRecords(b *Broker, group string, parts []CommitPart) (results []CommitResult, records []partlog.Record, versions []OffsetVersion) {
	for i := range parts {
		c := &parts[i]
		r := CommitResult{Topic: c.Topic, Partition: c.Partition}
		v := OffsetVersion{Offset: c.Offset, LeaderEpoch: c.LeaderEpoch, Metadata: c.Metadata, CommitMs: s.Now / ms}
		switch {
		case b.Image.partition(TopicPartition{b.Image.topic(c.Topic), c.Partition}) == nil:
			r.Error = UNKNOWN_TOPIC_OR_PARTITION
		case len(c.Metadata) > int(s.World.Broker.Groups.OffsetMetadataMaxBytes):
			r.Error = OFFSET_METADATA_TOO_LARGE // G-88
		default:
			records = append(records, offsetRecord(group, c.Topic, c.Partition, &v))
		}
		results, versions = append(results, r), append(versions, v)
	}
	return results, records, versions
}

// remember adds what was written, from offset base on, to the group.
func (s *State) remember(b *Broker, x *CoordinatorShard, g *Group, results []CommitResult, versions []OffsetVersion, base int64) {
	for i := range results {
		if results[i].Error == NONE {
			versions[i].At = base
			base++
			g.setOffset(results[i].Topic, results[i].Partition, versions[i], b.replica(x.TP).Log.HighWatermark)
			s.noteCommitted(b, g, results[i].Topic, results[i].Partition, versions[i].Offset)
		}
	}
}

// offsetsStored answers a commit.
func (s *State) offsetsStored(b *Broker, m OffsetsStored, code Code) {
	parts := slices.Clone(m.Parts)
	for i := range parts {
		if parts[i].Error == NONE {
			parts[i].Error = code
		}
		if parts[i].Error == NONE && !m.Txn {
			s.promiseCommit(CommitAnswer{m.Group, parts[i].Topic, parts[i].Partition, false})
		}
	}
	s.answerParked(b, &m.To, OffsetCommitResponse{Parts: parts})
}

// onTxnOffsetCommit writes offsets as part of a transaction (T-60, T-62).
func (s *State) onTxnOffsetCommit(b *Broker, e Event, m TxnOffsetCommitRequest) {
	p := parked(&e)
	fail := func(code Code) { s.refuseCommit(b, &p, m.Parts, code) }
	x, code := s.groupShard(b, m.Group)
	if code != NONE {
		fail(code)
		return
	}
	g := x.group(m.Group)
	if g == nil && m.Generation >= 0 {
		fail(ILLEGAL_GENERATION)
		return
	}
	g = x.addGroup(m.Group)
	if code := s.validateCommit(g, m.Member, m.Instance, m.Generation, m.Parts, true); code != NONE {
		fail(code)
		return
	}
	results, records, versions := s.commitRecords(b, g.ID, m.Parts)
	if len(records) == 0 {
		s.answerParked(b, &p, OffsetCommitResponse{Parts: results})
		return
	}
	batch := s.ownBatch(b, records...)
	batch.ProducerID, batch.ProducerEpoch, batch.Transactional = m.ProducerID, m.ProducerEpoch, true
	base := b.replica(x.TP).Log.End
	if code := s.coordinatorAppend(b, x, batch, s.commitTimeout(), OffsetsStored{Group: g.ID, To: p, Txn: true, Parts: results}); code != NONE {
		fail(code)
		return
	}
	for i := range results {
		if results[i].Error == NONE {
			versions[i].At = base
			base++
			g.addTxnOffset(m.ProducerID, results[i].Topic, results[i].Partition, versions[i])
		}
	}
}

func (g *Group) addTxnOffset(id int64, topic string, partition int32, v OffsetVersion) {
	for i := range g.Txn {
		if t := &g.Txn[i]; t.ProducerID == id && t.Topic == topic && t.Partition == partition {
			t.Version = v
			return
		}
	}
	g.Txn = append(g.Txn, TxnOffset{id, topic, partition, v})
}

// endTransaction lets the offsets of a producer's transaction count, or not, when its marker is in the log of the shard,
// at the offset at; hw is the log's high watermark. A plain commit that came later than one of them stands.
func (x *CoordinatorShard) endTransaction(id int64, committed bool, at, hw int64, count func(g *Group, t *TxnOffset)) {
	for i := range x.Groups {
		g := &x.Groups[i]
		kept := g.Txn[:0:0]
		for _, t := range g.Txn {
			if t.ProducerID != id {
				kept = append(kept, t)
				continue
			}
			j, found := g.offset(t.Topic, t.Partition)
			if later := found && g.Offsets[j].Versions[len(g.Offsets[j].Versions)-1].At > t.Version.At; later || !committed {
				continue
			}
			t.Version.At = at
			g.setOffset(t.Topic, t.Partition, t.Version, hw)
			count(g, &t)
		}
		g.Txn = kept
	}
}

// groupMarker is endTransaction for a marker that was just appended, if the partition is one of groups.
func (s *State) groupMarker(b *Broker, tp TopicPartition, id int64, committed bool, at int64) {
	if x := b.shard(tp); x != nil && x.Kind == GroupCoordinator {
		x.endTransaction(id, committed, at, b.replica(tp).Log.HighWatermark, func(g *Group, t *TxnOffset) {
			s.noteCommitted(b, g, t.Topic, t.Partition, t.Version.Offset)
		})
	}
}

// onOffsetFetch answers from what is replicated (G-90).
func (s *State) onOffsetFetch(b *Broker, e Event, m OffsetFetchRequest) {
	x, code := s.groupShard(b, m.Group)
	if code == NONE {
		code = x.validateOffsetFetch(&m)
	}
	r := OffsetFetchResponse{Error: code}
	if code == NONE {
		r.Parts = s.fetchOffsets(b, x, &m)
	}
	s.reply(b, e.From, e.Conn, e.Correlation, r)
}

func (s *State) fetchOffsets(b *Broker, x *CoordinatorShard, m *OffsetFetchRequest) []FetchedOffset {
	g := x.group(m.Group)
	asked := m.Parts
	if len(asked) == 0 && g != nil {
		for i := range g.Offsets {
			asked = append(asked, NamedPartition{g.Offsets[i].Topic, g.Offsets[i].Partition})
		}
	}
	hw := b.replica(x.TP).Log.HighWatermark
	if s.mutant(ReadsUncommitted) {
		hw = never
	}
	out := make([]FetchedOffset, 0, len(asked))
	for _, p := range asked {
		f := FetchedOffset{Topic: p.Topic, Partition: p.Partition, Offset: -1, LeaderEpoch: -1}
		if g != nil {
			if m.RequireStable && slices.ContainsFunc(g.Txn, func(t TxnOffset) bool { return t.Topic == p.Topic && t.Partition == p.Partition }) {
				f.Error = UNSTABLE_OFFSET_COMMIT
			} else if i, found := g.offset(p.Topic, p.Partition); found {
				if v := g.Offsets[i].stable(hw); v != nil {
					f.Offset, f.LeaderEpoch, f.Metadata = v.Offset, v.LeaderEpoch, v.Metadata
				}
			}
		}
		out = append(out, f)
	}
	return out
}
