// Consumer, positions: where reading begins, and whether what was read still exists.
//
// A partition without a position asks the leader for the log's beginning or end (C-30, C-32). A position
// remembers the leader epoch of the last record read; when the metadata show another leader, that leader
// is asked where the epoch ended, and a smaller answer means that records which were read are gone (C-41).
//
// Kafka: OffsetFetcher, OffsetsForLeaderEpochUtils, SubscriptionState.maybeCompleteValidation (KIP-320).
package machine

import "kafkalab/kafkasim/config"

// reset lets the position be asked for: EarliestTimestamp or LatestTimestamp.
func (p *ConsumerPart) reset(to int64) {
	p.State, p.ResetTo, p.Asked = PositionAwaitReset, to, false
	p.Position, p.Epoch = -1, -1
}

// follow takes the partition's leader from the metadata, without validation.
func (c *Consumer) follow(p *ConsumerPart) {
	if m := c.Meta.part(c.Meta.local(p.TP.Topic), p.TP.Partition); m != nil {
		p.Leader, p.LeaderEpoch = m.Leader, m.LeaderEpoch
	}
}

// timestampByDuration lets a position be asked for by time, at the moment of asking: so many ms before it (C-34).
const timestampByDuration int64 = -1000

// resetTimestamp is what to ask for. Virtual time begins at 0: a longer duration than it has lasted means the first
// record.
func (s *State) resetTimestamp(c *Consumer, p *ConsumerPart) int64 {
	if p.ResetTo != timestampByDuration {
		return p.ResetTo
	}
	d, _ := c.Config.AutoOffsetReset.Duration()
	return max(s.Now/ms-d, 0)
}

// initialize begins a partition by auto.offset.reset, since there is no committed offset (C-4, C-31). It
// tells whether there is a way to begin: with none there is not (C-33).
func (c *Consumer) initialize(p *ConsumerPart) bool {
	if _, ok := c.Config.AutoOffsetReset.Duration(); ok {
		p.reset(timestampByDuration)
		return true
	}
	switch c.Config.AutoOffsetReset {
	case config.ResetEarliest:
		p.reset(EarliestTimestamp)
	case config.ResetLatest:
		p.reset(LatestTimestamp)
	default:
		return false
	}
	return true
}

// updatePositions asks for what is needed before partitions can be fetched. It throws for a partition that
// cannot begin (C-33).
func (s *State) updatePositions(c *Consumer) {
	s.askOffsets(c)
	for i := range c.Parts {
		p := &c.Parts[i]
		switch p.State {
		case PositionInitializing:
			if waits := c.Config.Member.GroupID != "" && !p.NoCommit; !waits && !c.initialize(p) {
				c.throw(p, NO_OFFSET, -1)
			}
		case PositionFetching, PositionAwaitValidation:
			c.maybeValidate(p, s.validatesPositions())
		}
	}
	for i := range c.Conns {
		s.listOffsets(c, &c.Conns[i])
		s.validateEpochs(c, &c.Conns[i])
	}
}

// validatesPositions tells whether consumers ask a new leader about what they have read.
func (s *State) validatesPositions() bool {
	return s.World.Rules.On(PositionValidation) && !s.mutant(SkipsValidation)
}

// maybeValidate notices a new leader or epoch (C-41). A position that no record was read for needs no
// validation.
func (c *Consumer) maybeValidate(p *ConsumerPart, validates bool) {
	m := c.Meta.part(c.Meta.local(p.TP.Topic), p.TP.Partition)
	if m == nil || m.Leader == NoNode {
		c.Meta.Requested = true
		return
	}
	if m.Leader == p.Leader && m.LeaderEpoch == p.LeaderEpoch {
		return
	}
	p.Leader, p.LeaderEpoch, p.Asked = m.Leader, m.LeaderEpoch, false
	p.dropPreferred()
	p.State = PositionFetching
	if p.Epoch >= 0 && validates {
		p.State = PositionAwaitValidation
	}
}

// waiting tells whether a partition in this state is to be asked for at this broker now.
func (c *Consumer) waiting(p *ConsumerPart, state PositionState, k *Connection, now int64) bool {
	if p.State != state || p.Asked || p.RetryAt > now {
		return false
	}
	m := c.Meta.part(c.Meta.local(p.TP.Topic), p.TP.Partition)
	if m == nil || m.Leader == NoNode {
		c.Meta.Requested = true
		return false
	}
	return m.Leader == k.Broker && k.usable(now)
}

// listOffsets asks one broker for the positions that it can give (C-32).
func (s *State) listOffsets(c *Consumer, k *Connection) {
	var parts []ListOffsetsPart
	for i := range c.Parts {
		if p := &c.Parts[i]; c.waiting(p, PositionAwaitReset, k, s.Now) {
			c.follow(p)
			p.Asked = true
			parts = append(parts, ListOffsetsPart{TP: p.TP, Timestamp: s.resetTimestamp(c, p), LeaderEpoch: s.expectedEpoch(p.LeaderEpoch)})
		}
	}
	if len(parts) > 0 {
		s.clientRequest(&c.ClientIO, k, Request{Payload: ListOffsetsRequest{Committed: c.committed(), Parts: parts}}, true)
	}
}

// listed takes over positions; an error is tried again, with new metadata (C-35).
func (s *State) listed(c *Consumer, r ListOffsetsRequest, a *ListOffsetsResponse) {
	for i := range a.Parts {
		res := &a.Parts[i]
		p := c.part(r.Parts[i].TP)
		if p == nil || p.State != PositionAwaitReset || p.ResetTo != r.Parts[i].Timestamp && (p.ResetTo != timestampByDuration || r.Parts[i].Timestamp < 0) {
			continue // assigned away or sought elsewhere meanwhile
		}
		if res.Error == NONE && res.Offset < 0 && s.mutant(ResetsByDurationToEnd) {
			p.reset(LatestTimestamp)
			continue
		}
		if res.Error != NONE || res.Offset < 0 {
			s.askLater(c, p.TP)
			c.Meta.Requested = true
			continue
		}
		p.Asked = false
		p.Position, p.Epoch, p.State = res.Offset, res.LeaderEpoch, PositionFetching
		if s.World.Rules.On(PositionValidation) {
			c.Meta.seen(p.Topic, p.TP.Partition, res.LeaderEpoch)
		}
		s.notePosition(c, p)
	}
}

// validateEpochs asks one broker where the epochs of the positions that it leads end (C-41).
func (s *State) validateEpochs(c *Consumer, k *Connection) {
	var parts []EpochQuery
	for i := range c.Parts {
		if p := &c.Parts[i]; c.waiting(p, PositionAwaitValidation, k, s.Now) {
			p.Asked = true
			parts = append(parts, EpochQuery{TP: p.TP, CurrentEpoch: p.LeaderEpoch, Epoch: p.Epoch})
		}
	}
	if len(parts) > 0 {
		s.clientRequest(&c.ClientIO, k, Request{Payload: OffsetsForLeaderEpochRequest{Parts: parts}}, true)
	}
}

// validated compares the ends of epochs with the positions (C-42 to C-44): an end below the position is a
// truncation, and the position goes to where the logs part, or the poll throws if there is no policy.
func (s *State) validated(c *Consumer, r OffsetsForLeaderEpochRequest, a *OffsetsForLeaderEpochResponse) {
	for i := range a.Parts {
		res, asked := &a.Parts[i], &r.Parts[i]
		p := c.part(asked.TP)
		if p == nil || p.State != PositionAwaitValidation || p.Epoch != asked.Epoch || p.LeaderEpoch != asked.CurrentEpoch {
			continue
		}
		p.Asked = false
		undefined := res.End.Epoch < 0 || res.End.Offset < 0
		switch {
		case res.Error != NONE:
			s.askLater(c, p.TP)
			c.Meta.Requested = true
		case !undefined && res.End.Offset >= p.Position:
			p.State = PositionFetching // C-44
		case c.Config.AutoOffsetReset == config.ResetNone:
			if c.Poll.Running { // else the next poll asks again, and throws
				c.throw(p, LOG_TRUNCATION, res.End.Offset)
			}
		case undefined:
			c.initialize(p)
		default:
			p.Position, p.Epoch, p.State = res.End.Offset, res.End.Epoch, PositionFetching // C-43
			s.notePosition(c, p)
		}
	}
}
