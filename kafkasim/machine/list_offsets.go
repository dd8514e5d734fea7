package machine

// ListOffsets and OffsetsForLeaderEpoch: questions about a log's offsets.
//
// Kafka: Partition.fetchOffsetForTimestamp, lastOffsetForLeaderEpoch; ReplicaManager. KIP-207, KIP-320.

// onListOffsets answers per partition (R1.31).
func (s *State) onListOffsets(b *Broker, e Event, m ListOffsetsRequest) {
	res := ListOffsetsResponse{Parts: make([]ListOffsetsResult, len(m.Parts))}
	for i := range m.Parts {
		res.Parts[i] = s.listOffset(b, &m, &m.Parts[i])
		if code := res.Parts[i].Error; code != NONE {
			s.refused(b, m.Parts[i].TP, code)
		}
	}
	s.reply(b, e.From, e.Conn, e.Correlation, res)
}

// listOffset answers for one partition. To a consumer "latest" is the high watermark, and a new leader whose
// high watermark has not reached the start of its epoch does not say it, so that it never goes backwards
// across a failover (KIP-207). To a follower it is the log's end.
func (s *State) listOffset(b *Broker, m *ListOffsetsRequest, p *ListOffsetsPart) ListOffsetsResult {
	fetcher := m.Replica
	res := ListOffsetsResult{TP: p.TP, Offset: -1, LeaderEpoch: -1}
	r, code := b.epochReplica(p.TP, p.LeaderEpoch)
	if code != NONE {
		res.Error = code
		return res
	}
	l := &r.Log
	bound := l.HighWatermark
	switch {
	case fetcher != NoNode:
		bound = l.End
	case m.Committed: // to read_committed, "latest" is the last stable offset
		bound = l.LastStable()
	}
	switch p.Timestamp {
	case EarliestTimestamp:
		res.Offset, res.LeaderEpoch = l.LogStart, l.Epochs.EpochAt(l.LogStart)
	case LatestTimestamp:
		if fetcher == NoNode && l.HighWatermark < r.EpochStart && s.World.Rules.On(MonotonicLatest) {
			res.Error = OFFSET_NOT_AVAILABLE
			return res
		}
		res.Offset, res.LeaderEpoch = bound, r.LeaderEpoch
		if fetcher == NoNode && !m.Committed {
			s.toldLatest(r, bound)
		}
	default:
		at := p.Timestamp
		if at == MaxTimestamp {
			at = l.MaxTimestamp()
		}
		if offset, _, epoch, ok := l.OffsetByTime(at, bound); ok {
			res.Offset, res.LeaderEpoch = offset, epoch
		}
	}
	return res
}

// epochReplica finds the replica that this broker leads in the epoch that the asker believes in: the epoch is
// checked before the leadership (R1.28).
func (b *Broker) epochReplica(tp TopicPartition, epoch int32) (*Replica, Code) {
	if b.Image.partition(tp) == nil {
		return nil, UNKNOWN_TOPIC_OR_PARTITION
	}
	r := b.replica(tp)
	switch {
	case r == nil:
		return nil, NOT_LEADER_OR_FOLLOWER
	case b.Dirs[r.Dir].Offline:
		return nil, KAFKA_STORAGE_ERROR
	}
	if code := r.checkEpoch(epoch); code != NONE {
		return nil, code
	}
	return b.leaderReplica(tp)
}

// onOffsetsForLeaderEpoch answers where epochs end (R2.11c, R1.6); leader only.
func (s *State) onOffsetsForLeaderEpoch(b *Broker, e Event, m OffsetsForLeaderEpochRequest) {
	res := OffsetsForLeaderEpochResponse{Parts: make([]EpochAnswer, len(m.Parts))}
	for i := range m.Parts {
		q := &m.Parts[i]
		a := EpochAnswer{TP: q.TP, End: noEpochEnd}
		r, code := b.epochReplica(q.TP, q.CurrentEpoch)
		if code != NONE {
			a.Error = code
			s.refused(b, q.TP, code)
		} else {
			a.End = s.endOfEpoch(r, q.Epoch)
		}
		res.Parts[i] = a
	}
	s.reply(b, e.From, e.Conn, e.Correlation, res)
}

// endOfEpoch is where an epoch ended in a replica's log (R1.6). Before KIP-279 the answer was for the epoch
// that was asked about, and there was none for one older than the log.
func (s *State) endOfEpoch(r *Replica, asked int32) EpochEnd {
	epoch, end := r.Log.Epochs.EndOffsetFor(asked, r.Log.End)
	if s.World.Rules.Without(EpochInAnswer) && epoch >= 0 {
		if asked < r.Log.Epochs[0].Epoch {
			return noEpochEnd
		}
		epoch = asked
	}
	return EpochEnd{epoch, end}
}
