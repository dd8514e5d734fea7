package machine

import "slices"

// ShareFetch and ShareAcknowledge, at the leader that is asked.
//
// A share session says which partitions a member asks for, and orders its requests by epochs; it ends with the
// connection, and what the member had acquired of them is released then (H-8). When the last of a group's sessions here
// ends with its connection, the leader forgets the group's windows, too. A request's acknowledgements are written before
// anything is acquired; a fetch that finds nothing waits, as other fetches do. A session's partitions take turns in being
// served first.
//
// Kafka: SharePartitionManager, ShareSession, ShareSessionCache, DelayedShareFetch, PartitionRotateStrategy,
// PartitionMaxBytesStrategy. Simplified: a fetch waits for any record, not for fetch.min.bytes.

// shareSession finds a member's session, nil for none.
func (b *Broker) shareSession(group, member string) *ShareSession {
	for i := range b.Share.Sessions {
		if x := &b.Share.Sessions[i]; x.Group == group && x.Member == member {
			return x
		}
	}
	return nil
}

// openShare finds out what a request is about: its session goes one further, begins or ends.
func (s *State) openShare(b *Broker, e *Event, m *ShareFetchRequest, fetch bool) Code {
	x := b.shareSession(m.Group, m.Member)
	switch {
	case m.Epoch == InitialFetchEpoch && !fetch:
		return INVALID_SHARE_SESSION_EPOCH
	case m.Epoch == InitialFetchEpoch:
		if len(m.Acks) > 0 {
			return INVALID_REQUEST // nothing can have been acquired in a session that begins
		}
		if x != nil { // what the member had acquired stays locked
			b.removeShareSession(m.Group, m.Member)
		}
		if int32(len(b.Share.Sessions)) >= s.World.Broker.Share.MaxSessions {
			return SHARE_SESSION_LIMIT_REACHED
		}
		b.Share.Sessions = append(b.Share.Sessions, ShareSession{Group: m.Group, Member: m.Member})
		x = &b.Share.Sessions[len(b.Share.Sessions)-1]
	case x == nil:
		return SHARE_SESSION_NOT_FOUND
	case m.Epoch == FinalFetchEpoch:
		return NONE
	case m.Epoch != x.Epoch && !s.mutant(TakesAnyShareEpoch):
		return INVALID_SHARE_SESSION_EPOCH
	}
	x.Node, x.Conn = e.From, e.Conn
	x.Epoch = m.Epoch + 1
	parts := slices.DeleteFunc(slices.Clone(x.Parts), func(tp TopicPartition) bool { return slices.Contains(m.Forgotten, tp) })
	for _, tp := range m.Parts {
		if !slices.Contains(parts, tp) {
			parts = append(parts, tp)
		}
	}
	x.Parts = parts
	return NONE
}

// onShareFetch is one ShareFetch.
func (s *State) onShareFetch(b *Broker, e Event, m ShareFetchRequest) {
	if code := s.openShare(b, &e, &m, true); code != NONE {
		s.reply(b, e.From, e.Conn, e.Correlation, ShareFetchResponse{Error: code})
		return
	}
	s.beginShareJob(b, ShareJob{Who: parked(&e), Fetch: true, Request: m, Deadline: s.Now + m.MaxWaitMs*ms})
}

// onShareAcknowledge is one ShareAcknowledge.
func (s *State) onShareAcknowledge(b *Broker, e Event, m ShareAcknowledgeRequest) {
	r := ShareFetchRequest{Group: m.Group, Member: m.Member, Epoch: m.Epoch, Acks: m.Acks}
	if code := s.openShare(b, &e, &r, false); code != NONE {
		s.reply(b, e.From, e.Conn, e.Correlation, ShareAcknowledgeResponse{Error: code})
		return
	}
	s.beginShareJob(b, ShareJob{Who: parked(&e), Request: r})
}

// beginShareJob carries out a request's acknowledgements, and then goes on with it.
func (s *State) beginShareJob(b *Broker, j ShareJob) {
	b.Share.LastJob++
	j.ID = b.Share.LastJob
	acks := j.Request.Acks
	for i := range acks {
		if !slices.ContainsFunc(j.Acks, func(r ShareAckResult) bool { return r.TP == acks[i].TP }) {
			j.Acks = append(j.Acks, ShareAckResult{TP: acks[i].TP})
		}
	}
	b.Share.Jobs = append(b.Share.Jobs, j)
	for i := range j.Acks {
		code, waits := s.acknowledge(b, &j.Request, j.Acks[i].TP, j.ID, int32(i))
		if at := b.shareJob(j.ID); at != nil {
			if waits {
				at.Left++
			} else {
				at.Acks[i].Error = code
			}
		}
	}
	if j.Request.Epoch == FinalFetchEpoch {
		s.endShareSession(b, j.Request.Group, j.Request.Member)
	}
	s.sendShareCalls(b)
	s.tryShareJobs(b)
	s.watchShares(b)
}

func (b *Broker) shareJob(id int64) *ShareJob {
	for i := range b.Share.Jobs {
		if b.Share.Jobs[i].ID == id {
			return &b.Share.Jobs[i]
		}
	}
	return nil
}

// acknowledge carries out what a member says about records of one partition: all of it, or nothing when one of the
// records is not the member's (H-6, H-10). What is before the start offset is dealt with already. waits tells that it is
// being written.
func (s *State) acknowledge(b *Broker, m *ShareFetchRequest, tp TopicPartition, job int64, ack int32) (code Code, waits bool) {
	p := s.sharePartition(b, m.Group, tp)
	if p == nil {
		return UNKNOWN_TOPIC_OR_PARTITION, false
	}
	var undo []ShareUndo
	for _, a := range m.Acks {
		if a.TP != tp || a.Last < p.Start {
			continue
		}
		if code = s.acknowledgeRange(p, m.Member, &a, &undo); code != NONE {
			break
		}
	}
	if code != NONE {
		for _, u := range slices.Backward(undo) {
			p.Window[u.Offset-p.Start] = u.Was
		}
		return code, false
	}
	if len(undo) == 0 {
		return NONE, false
	}
	slices.SortFunc(undo, func(x, y ShareUndo) int { return int(x.Offset - y.Offset) })
	s.decide(b, p, undo, true, job, ack)
	return NONE, true
}

// acknowledgeRange is one acknowledgement.
func (s *State) acknowledgeRange(p *SharePartition, member string, a *ShareAck, undo *[]ShareUndo) Code {
	switch {
	case len(p.Window) == 0 || a.Type > AckRenew:
		return INVALID_RECORD_STATE
	case a.Last >= p.End():
		return INVALID_REQUEST // beyond what was acquired
	}
	for at := max(a.First, p.Start); at <= a.Last; at++ {
		w := &p.Window[at-p.Start]
		if (w.State != ShareAcquired || w.Pending || w.Member != member || w.LockEnds <= s.Now) && !s.mutant(TakesAnyAck) {
			return INVALID_RECORD_STATE
		}
		if a.Type == AckRenew {
			if s.shareConfig(p.Group).NoRenew {
				return INVALID_RECORD_STATE
			}
			w.LockEnds = s.Now + s.shareGroups(p.Group).RecordLockMs*ms
			s.shareRenewed(p, at, w)
			continue
		}
		*undo = append(*undo, ShareUndo{at, *w})
		switch a.Type {
		case AckAccept:
			w.State = ShareAcknowledged
		case AckRelease:
			s.shareRelease(p.Group, w, false)
		default:
			w.State = ShareArchived
		}
		w.Member = ""
	}
	return NONE
}

// shareJobGoesOn counts a write that a request has waited for.
func (s *State) shareJobGoesOn(b *Broker, c *ShareCall, code Code) {
	if j := b.shareJob(c.Job); j != nil {
		j.Acks[c.Ack].Error = code
		j.Left--
	}
}

// tryShareJobs answers what can be answered, oldest first.
func (s *State) tryShareJobs(b *Broker) {
	for i := 0; i < len(b.Share.Jobs); {
		j := b.Share.Jobs[i]
		answer, done := Payload(nil), false
		if j.Left == 0 {
			answer, done = s.tryShareJob(b, &j)
		}
		if !done {
			i++
			continue
		}
		k := slices.IndexFunc(b.Share.Jobs, func(x ShareJob) bool { return x.ID == j.ID })
		b.Share.Jobs = slices.Delete(b.Share.Jobs, k, k+1)
		s.answerParked(b, &j.Who, answer)
		i = min(i, k)
	}
}

func (s *State) tryShareJob(b *Broker, j *ShareJob) (Payload, bool) {
	m := &j.Request
	if !j.Fetch {
		return ShareAcknowledgeResponse{Acks: j.Acks}, true
	}
	x := b.shareSession(m.Group, m.Member)
	if x == nil || m.Epoch == FinalFetchEpoch || x.Conn != j.Who.Conn {
		return ShareFetchResponse{Acks: j.Acks}, true // nothing is acquired for somebody who is gone
	}
	res := ShareFetchResponse{Acks: j.Acks, LockMs: s.shareGroups(m.Group).RecordLockMs}
	parts := x.inTurn(m.Epoch)
	left, bytes := m.MaxRecords, m.MaxBytes/max(1, s.acquirable(b, m.Group, parts))
	for _, tp := range parts {
		part, any := s.shareFetchPart(b, m, tp, left, bytes)
		if any {
			res.Parts = append(res.Parts, part)
			for _, a := range part.Acquired {
				left -= int32(a.Last - a.First + 1)
			}
		}
	}
	return res, len(res.Parts) > 0 || s.Now >= j.Deadline
}

// inTurn are a session's partitions, another one first each time.
func (x *ShareSession) inTurn(epoch int32) []TopicPartition {
	if len(x.Parts) < 2 || epoch < 1 {
		return x.Parts
	}
	k := int(epoch) % len(x.Parts)
	return slices.Concat(x.Parts[k:], x.Parts[:k])
}

// acquirable counts the partitions among which a request's bytes are shared.
func (s *State) acquirable(b *Broker, group string, parts []TopicPartition) (n int64) {
	for _, tp := range parts {
		if p := s.sharePartition(b, group, tp); p != nil && p.Ready && s.canAcquire(p) {
			n++
		}
	}
	return n
}

// shareFetchPart acquires records of one partition; any tells that there is something to say.
func (s *State) shareFetchPart(b *Broker, m *ShareFetchRequest, tp TopicPartition, left int32, bytes int64) (out ShareFetchedPart, any bool) {
	out.TP = tp
	r := b.replica(tp)
	switch {
	case b.Image.partition(tp) == nil:
		out.Error = UNKNOWN_TOPIC_OR_PARTITION
	case r == nil || r.Role != Leader:
		out.Error = NOT_LEADER_OR_FOLLOWER
	case b.Dirs[r.Dir].Offline:
		out.Error = KAFKA_STORAGE_ERROR
	}
	if out.Error != NONE {
		return out, true
	}
	p := s.sharePartition(b, m.Group, tp)
	switch {
	case p == nil:
		s.beginSharePartition(b, m.Group, r)
		return out, false
	case p.Error != NONE:
		out.Error = p.Error
		return out, true
	case !p.Ready:
		return out, false
	}
	out = s.acquire(b, p, m, left, bytes)
	s.shareStarts(p, r.Log.LogStart)
	return out, len(out.Acquired) > 0
}

func (b *Broker) removeShareSession(group, member string) {
	b.Share.Sessions = slices.DeleteFunc(b.Share.Sessions, func(x ShareSession) bool { return x.Group == group && x.Member == member })
}

// endShareSession ends a session: what the member has acquired of its partitions is released (H-8).
func (s *State) endShareSession(b *Broker, group, member string) {
	x := b.shareSession(group, member)
	if x == nil {
		return
	}
	parts := x.Parts
	b.removeShareSession(group, member)
	for _, tp := range parts {
		if p := s.sharePartition(b, group, tp); p != nil && !s.mutant(KeepsOfTheGone) {
			s.releaseWhere(b, p, true, true, func(w *ShareRecord) bool { return w.Member == member })
		}
	}
}

// shareDisconnected ends the sessions of a connection that is gone; of a group without sessions the leader forgets
// everything (SharePartitionManager.ShareGroupListenerImpl).
func (s *State) shareDisconnected(b *Broker, node NodeID, conn uint32) {
	for i := 0; i < len(b.Share.Sessions); i++ {
		if x := b.Share.Sessions[i]; x.Node == node && x.Conn == conn {
			s.endShareSession(b, x.Group, x.Member)
			i = -1
		}
	}
	b.Share.Partitions = slices.DeleteFunc(b.Share.Partitions, func(p SharePartition) bool {
		return !slices.ContainsFunc(b.Share.Sessions, func(x ShareSession) bool { return x.Group == p.Group })
	})
	s.tryShareJobs(b)
	s.watchShares(b)
}

// shareNews lets fetches go on that waited for records of a partition.
func (s *State) shareNews(b *Broker) {
	if len(b.Share.Jobs) > 0 {
		s.tryShareJobs(b)
		s.watchShares(b)
	}
}

// handleShare carries out a request of share groups.
func (s *State) handleShare(b *Broker, e Event) {
	switch p := e.Payload.(type) {
	case ShareGroupHeartbeatRequest:
		s.onShareGroupHeartbeat(b, e, p)
	case ShareFetchRequest:
		s.onShareFetch(b, e, p)
	case ShareAcknowledgeRequest:
		s.onShareAcknowledge(b, e, p)
	case ShareStateRequest:
		s.onShareState(b, e, p)
	case AlterShareOffsetsRequest:
		s.onAlterShareOffsets(b, e, p)
	case DeleteShareOffsetsRequest:
		s.onDeleteShareOffsets(b, e, p)
	}
}
