package machine

import (
	"cmp"
	"slices"

	"kafkalab/kafkasim/partlog"
	"kafkalab/kafkasim/view"
)

// Share consumer, what it sends: heartbeats, fetches within a poll, acknowledgements.

// goOnSharing does what the consumer can do now, and sets the timer for what comes next.
func (s *State) goOnSharing(c *ShareConsumer) {
	if c.Closed {
		return
	}
	for i := range c.Conns {
		if k := &c.Conns[i]; s.Now >= c.overdueAt(k) {
			s.shareAnswersLost(c, k, s.hangUpClient(&c.ClientIO, k))
		}
	}
	if s.Now >= c.overdueAt(&c.Second) {
		s.shareCoordinatorLost(c)
	}
	s.shareBeat(c)
	s.refreshMetadata(&c.ClientIO, consumerInFlight)
	for again := true; again; {
		s.sharePolls(c)
		again = c.App.On && s.goOnShareWork(c)
	}
	if c.Closing {
		s.goOnShareClose(c)
	}
	if !c.Closed {
		s.wakeAt(&c.ClientIO, s.shareDeadline(c))
	}
}

// sharePolls goes on with the poll, and with acknowledgements that are to be sent by themselves.
func (s *State) sharePolls(c *ShareConsumer) {
	if c.Poll.Running {
		switch {
		case c.Fatal != NONE:
			c.Poll.Running, c.Poll.Error = false, c.Fatal
		case len(c.Renewed) > 0:
			rows := c.Renewed
			c.Renewed = nil
			s.endSharePoll(c, rows)
		case len(c.Renews) == 0 && s.takeShareRows(c):
		default:
			s.sendShareFetches(c)
			if s.Now >= c.Poll.Until {
				c.Poll.Running = false
			}
		}
	}
	if c.Flush || c.Closing {
		s.sendShareAcks(c)
	}
}

// takeShareRows ends the poll with what was acquired: max.poll.records, and the rest of a batch (ShareFetchCollector). What
// are gaps alone is said at once, and the poll goes on.
func (s *State) takeShareRows(c *ShareConsumer) bool {
	var rows []ShareRow
	n := 0
	for ; n < len(c.Buffer); n++ {
		r := &c.Buffer[n]
		if same := n > 0 && c.Buffer[n-1].TP == r.TP && c.Buffer[n-1].Base == r.Base; int32(len(rows)) >= c.Config.MaxPollRecords && !same {
			break
		}
		if r.Place < 0 {
			c.Gaps = append(c.Gaps, SharePendingAck{ShareAck{r.TP, r.Offset, r.Offset, AckGap}, r.Broker})
		} else {
			rows = append(rows, *r)
		}
	}
	c.Buffer = slices.Clone(c.Buffer[n:])
	if len(rows) > 0 {
		s.endSharePoll(c, rows)
		return true
	}
	if len(c.Gaps) > 0 {
		c.Acks, c.Gaps, c.Flush = append(c.Acks, c.Gaps...), nil, true
	}
	return false
}

// endSharePoll hands records out.
func (s *State) endSharePoll(c *ShareConsumer, rows []ShareRow) {
	c.Poll.Running = false
	c.Poll.Rows = rows
	c.Held = append(slices.Clone(c.Held), rows...)
	for i := 0; i < len(rows); {
		first := i
		for i++; i < len(rows) && rows[i].TP == rows[first].TP && rows[i].Offset == rows[i-1].Offset+1; i++ {
		}
		s.note(view.Change{Kind: view.Consumed, Broker: -1, Partition: s.ordinal(rows[first].TP), Client: c.Name,
			A: rows[first].Offset, B: rows[i-1].Offset + 1})
	}
}

// sharePartsAt are the assigned partitions that a broker leads, as far as the consumer knows.
func (c *ShareConsumer) sharePartsAt(broker NodeID) []TopicPartition {
	var out []TopicPartition
	for _, tp := range c.Assigned {
		if p := c.Meta.part(c.Meta.local(tp.Topic), tp.Partition); p != nil && p.Leader == broker {
			out = append(out, tp)
		}
	}
	return out
}

// shareAcksFor takes the acknowledgements for a leader out, rows of one type together.
func (c *ShareConsumer) shareAcksFor(broker NodeID) (sent []SharePendingAck, acks []ShareAck) {
	var rest []SharePendingAck
	for _, a := range c.Acks {
		if a.Broker == broker {
			sent = append(sent, a)
		} else {
			rest = append(rest, a)
		}
	}
	c.Acks = rest
	slices.SortStableFunc(sent, func(a, b SharePendingAck) int {
		return cmp.Or(cmp.Compare(a.TP.Topic, b.TP.Topic), cmp.Compare(a.TP.Partition, b.TP.Partition), cmp.Compare(a.First, b.First))
	})
	for _, a := range sent {
		if n := len(acks); n > 0 && acks[n-1].TP == a.TP && acks[n-1].Last+1 == a.First && acks[n-1].Type == a.Type {
			acks[n-1].Last = a.Last
		} else {
			acks = append(acks, a.ShareAck)
		}
	}
	return sent, acks
}

// sendShareFetches asks every leader for records, with the acknowledgements for it.
func (s *State) sendShareFetches(c *ShareConsumer) {
	for i := range c.Conns {
		k, l := &c.Conns[i], &c.Links[i]
		parts := c.sharePartsAt(k.Broker)
		acks := slices.ContainsFunc(c.Acks, func(a SharePendingAck) bool { return a.Broker == k.Broker })
		if l.Busy || l.RetryAt > s.Now || !k.usable(s.Now) || len(parts) == 0 && !acks {
			continue
		}
		m := ShareFetchRequest{Group: c.Config.Member.GroupID, Member: c.Member, Epoch: l.Epoch, MaxWaitMs: c.Config.FetchMaxWaitMs,
			MaxBytes: c.Config.FetchMaxBytes, MaxRecords: c.Config.MaxPollRecords, BatchSize: c.Config.MaxPollRecords, RecordLimit: c.Config.Share.RecordLimit}
		for _, tp := range parts {
			if !slices.Contains(l.Known, tp) {
				m.Parts = append(m.Parts, tp)
			}
		}
		for _, tp := range l.Known {
			if !slices.Contains(parts, tp) {
				m.Forgotten = append(m.Forgotten, tp)
			}
		}
		l.Known = parts
		l.Sent, m.Acks = c.shareAcksFor(k.Broker)
		if len(c.Renews) > 0 { // nothing new comes before the locks are renewed
			m.MaxWaitMs, m.MaxBytes, m.MaxRecords = 0, 0, 0
		}
		if l.Epoch == 0 && len(m.Acks) > 0 { // a session that begins has nothing to acknowledge
			s.shareOutcome(c, l.Sent, NOT_LEADER_OR_FOLLOWER)
			l.Sent, m.Acks = nil, nil
		}
		s.sendShare(c, k, l, m)
	}
}

func (s *State) sendShare(c *ShareConsumer, k *Connection, l *ShareLink, m Payload) {
	l.Busy = true
	l.Epoch++
	s.clientRequest(&c.ClientIO, k, Request{Payload: m}, true)
}

// sendShareAcks sends acknowledgements by themselves, and when the consumer closes the end of each session.
func (s *State) sendShareAcks(c *ShareConsumer) {
	for i := range c.Conns {
		k, l := &c.Conns[i], &c.Links[i]
		acks := slices.ContainsFunc(c.Acks, func(a SharePendingAck) bool { return a.Broker == k.Broker })
		if l.Busy || l.Epoch == 0 || !k.usable(s.Now) || !acks && (!c.Closing || l.Ended) {
			continue
		}
		m := ShareAcknowledgeRequest{Group: c.Config.Member.GroupID, Member: c.Member, Epoch: l.Epoch}
		if c.Closing {
			m.Epoch, l.Ended = FinalFetchEpoch, true
		}
		l.Sent, m.Acks = c.shareAcksFor(k.Broker)
		s.sendShare(c, k, l, m)
	}
	if len(c.Acks) == 0 && !slices.ContainsFunc(c.Links, func(l ShareLink) bool { return len(l.Sent) > 0 }) {
		c.Flush = false
	}
}

// shareFetched takes a leader's answer.
func (s *State) shareFetched(c *ShareConsumer, from NodeID, a *ShareFetchResponse) {
	s.shareAcknowledged(c, from, a.Error, a.Acks)
	for i := range a.Parts {
		p := &a.Parts[i]
		if p.Error != NONE {
			if p.Error.asksMetadata() {
				c.Meta.Requested = true
			}
			c.Links[from-1].RetryAt = s.Now + c.Times.RetryBackoff
			continue
		}
		for _, got := range p.Acquired {
			s.shareAcquired(c, from, p, got)
		}
	}
}

// shareAcquired buffers records that were acquired, and offsets without one.
func (s *State) shareAcquired(c *ShareConsumer, from NodeID, p *ShareFetchedPart, got AcquiredRecords) {
	at := got.First
	row := func(base, offset int64, place int32, records partlog.Records) {
		c.Buffer = append(c.Buffer, ShareRow{TP: p.TP, Offset: offset, Count: got.Count, Broker: from, Records: records, Place: place, Base: base})
		at = offset + 1
	}
	for j := range p.Batches {
		b := &p.Batches[j]
		for place := range b.Records.All() {
			offset := b.BaseOffset + int64(place)
			if b.Control || offset < got.First || offset > got.Last {
				continue
			}
			for at < offset {
				row(b.BaseOffset, at, -1, partlog.Records{})
			}
			row(b.BaseOffset, offset, int32(place), b.Records)
		}
	}
	for at <= got.Last {
		row(-1, at, -1, partlog.Records{})
	}
}

// shareAcknowledged takes what a leader says about acknowledgements, and about the session.
func (s *State) shareAcknowledged(c *ShareConsumer, from NodeID, code Code, acks []ShareAckResult) {
	l := &c.Links[from-1]
	l.Busy = false
	if code != NONE {
		s.shareSessionLost(c, from, code)
		return
	}
	for _, r := range acks {
		var of []SharePendingAck
		for _, a := range l.Sent {
			if a.TP == r.TP {
				of = append(of, a)
			}
		}
		s.shareOutcome(c, of, r.Error)
	}
	l.Sent = nil
}

// shareBeat looks for the coordinator and sends heartbeats; a consumer that does not poll leaves.
func (s *State) shareBeat(c *ShareConsumer) {
	if len(c.Topics) > 0 && !c.Away && !c.Closing && s.Now >= c.PollEnds {
		c.Away = true
		s.leaveShare(c)
	}
	switch {
	case len(c.Topics) == 0 || c.Away || c.Closing || c.Fatal != NONE:
	case c.Coordinator == NoNode:
		s.findShareCoordinator(c)
	case c.Beating || s.Now < c.HeartbeatAt || !c.Second.usable(s.Now):
	default:
		m := ShareGroupHeartbeatRequest{Group: c.Config.Member.GroupID, Member: c.Member, ClientID: c.Name, Epoch: c.Epoch}
		if c.Epoch == 0 || !slices.Equal(c.Told, c.Topics) {
			m.Topics, c.Told = c.Topics, c.Topics
		}
		c.Beating = true
		s.clientRequest(&c.ClientIO, &c.Second, Request{Payload: m}, true)
	}
}

func (s *State) findShareCoordinator(c *ShareConsumer) {
	if c.Finding || s.Now < c.FindAt {
		return
	}
	if k := s.leastLoaded(&c.ClientIO, consumerInFlight); k != nil {
		c.Finding = true
		s.clientRequest(&c.ClientIO, k, Request{Payload: FindCoordinatorRequest{Kind: GroupCoordinator, Key: c.Config.Member.GroupID}}, true)
	}
}

func (s *State) findShareLater(c *ShareConsumer) {
	c.Finding = false
	c.FindAt = s.Now + s.retryBackoff(&c.ClientIO, c.FindFails, uint64(s.Now), 1)
	c.FindFails++
}

func (s *State) shareCoordinatorLost(c *ShareConsumer) {
	c.Coordinator, c.Beating = NoNode, false
	if c.Second.ID != 0 {
		s.hangUpClient(&c.ClientIO, &c.Second)
	}
}

// shareBeaten takes the coordinator's answer.
func (s *State) shareBeaten(c *ShareConsumer, a *ShareGroupHeartbeatResponse) {
	c.Beating = false
	c.HeartbeatAt = s.Now + c.Times.RetryBackoff
	switch a.Error {
	case NONE:
		if a.Epoch < 0 || c.Away {
			return
		}
		c.Epoch = a.Epoch
		c.HeartbeatAt = s.Now + a.IntervalMs*ms
		if a.Assigned {
			c.Assigned = a.Parts
		}
	case COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR:
		s.shareCoordinatorLost(c)
	case COORDINATOR_LOAD_IN_PROGRESS:
	case UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH: // it joins anew
		c.Epoch, c.Assigned = 0, nil
		c.HeartbeatAt = s.Now
	default:
		c.Fatal = a.Error
	}
}

// leaveShare says goodbye to the coordinator.
func (s *State) leaveShare(c *ShareConsumer) {
	if c.Epoch > 0 && c.Coordinator != NoNode && c.Second.usable(s.Now) {
		s.clientRequest(&c.ClientIO, &c.Second, Request{Payload: ShareGroupHeartbeatRequest{Group: c.Config.Member.GroupID, Member: c.Member, Epoch: -1}}, true)
	}
	c.Epoch, c.Assigned, c.Told, c.HeartbeatAt = 0, nil, nil, s.Now
}

// goOnShareClose ends the consumer when its sessions are ended, and it has left.
func (s *State) goOnShareClose(c *ShareConsumer) {
	busy := slices.ContainsFunc(c.Links, func(l ShareLink) bool { return l.Busy || l.Epoch > 0 && !l.Ended })
	if (busy || len(c.Acks) > 0) && s.Now < c.CloseBy {
		return
	}
	if c.Epoch > 0 {
		s.leaveShare(c)
		return
	}
	if len(c.Second.InFlight) == 0 || s.Now >= c.CloseBy {
		s.endShareConsumer(c)
	}
}

// shareDeadline is when the consumer has something to do by itself.
func (s *State) shareDeadline(c *ShareConsumer) int64 {
	at := min(c.overdueAt(&c.Second), c.orReconnect(s.metadataAt(&c.ClientIO), s.Now))
	for i := range c.Conns {
		at = min(at, c.overdueAt(&c.Conns[i]))
		if r := max(c.Links[i].RetryAt, c.Conns[i].RetryAt); r > s.Now && (c.Poll.Running || c.Flush || c.Closing) {
			at = min(at, r)
		}
	}
	if len(c.Topics) > 0 && !c.Away && !c.Closing && c.Fatal == NONE {
		at = min(at, c.PollEnds)
		switch {
		case c.Coordinator == NoNode && !c.Finding:
			at = min(at, c.orReconnect(c.FindAt, s.Now))
		case c.Coordinator != NoNode && !c.Beating:
			at = min(at, max(c.HeartbeatAt, c.Second.RetryAt))
		}
	}
	if c.Poll.Running {
		at = min(at, c.Poll.Until)
	}
	if c.Closing {
		at = min(at, c.CloseBy)
	}
	if c.App.On && c.App.Busy {
		at = min(at, c.App.Ends)
	}
	if at <= s.Now {
		at = s.Now + ms
	}
	return at
}
