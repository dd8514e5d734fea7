package machine

import (
	"cmp"
	"slices"
	"sort"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
)

// Share partition: the records of a partition that are in flight in a share group, at the partition's leader.
//
//	Available --acquire--> Acquired --accept--> Acknowledged
//	    ^                     |----reject-----> Archived
//	    +--release, lock ends-+  (… Archived, when it was delivered often enough)
//
// The window begins at the first record that is not dealt with (SPSO) and ends behind the last that was fetched (SPEO).
// What is decided is written to the share coordinator first, and until that is done nobody gets the record (H-3, H-19).
//
// Kafka: SharePartition, InFlightState, InFlightBatch. Simplified: the state is kept for each record, where Kafka keeps
// it for batches as long as it can; markers and offsets that compaction has emptied are archived as they are fetched,
// where Kafka waits for the member to say that they are gaps.

// sharePartition finds a partition of a share group; nil for none, and for one of an earlier leadership.
func (s *State) sharePartition(b *Broker, group string, tp TopicPartition) *SharePartition {
	i, found := b.findSharePartition(group, tp)
	if !found {
		return nil
	}
	p := &b.Share.Partitions[i]
	if r := b.replica(tp); r == nil || r.Role != Leader || r.LeaderEpoch != p.LeaderEpoch {
		return nil
	}
	return p
}

func (b *Broker) findSharePartition(group string, tp TopicPartition) (int, bool) {
	return sort.Find(len(b.Share.Partitions), func(i int) int {
		y := &b.Share.Partitions[i]
		return cmp.Or(cmp.Compare(tp.Topic, y.TP.Topic), cmp.Compare(tp.Partition, y.TP.Partition), cmp.Compare(group, y.Group))
	})
}

// beginSharePartition makes the partition that a member asks for first, and asks for its state.
func (s *State) beginSharePartition(b *Broker, group string, r *Replica) {
	i, found := b.findSharePartition(group, r.TP)
	n := SharePartition{Group: group, TP: r.TP, LeaderEpoch: r.LeaderEpoch}
	if found {
		b.Share.Partitions[i] = n
	} else {
		b.Share.Partitions = slices.Insert(b.Share.Partitions, i, n)
	}
	s.shareCall(b, ShareCall{Request: ShareStateRequest{Op: ReadShareState, Group: group, TP: r.TP, LeaderEpoch: r.LeaderEpoch}})
}

// shareRead begins a partition with the state that was read; one that was never decided begins by
// share.auto.offset.reset (H-14).
func (s *State) shareRead(b *Broker, c *ShareCall, a *ShareStateResponse) {
	p := s.sharePartition(b, c.Request.Group, c.Request.TP)
	if p == nil || p.LeaderEpoch != c.Request.LeaderEpoch {
		return
	}
	if a.Error != NONE {
		p.Error = a.Error
		s.tryShareJobs(b)
		i, _ := b.findSharePartition(c.Request.Group, c.Request.TP)
		b.Share.Partitions = slices.Delete(b.Share.Partitions, i, i+1)
		return
	}
	l := &b.replica(p.TP).Log
	p.Ready, p.StateEpoch, p.Start = true, a.StateEpoch, a.Start
	if p.Start < 0 {
		p.Start = s.shareReset(p.Group, l)
	}
	for _, o := range a.Batches {
		for p.End() <= o.Last {
			p.Window = append(p.Window, ShareRecord{Base: o.First, Size: int32(o.Last - o.First + 1)})
		}
		for at := max(o.First, p.Start); at <= o.Last; at++ {
			w := &p.Window[at-p.Start]
			w.State, w.Count = o.State, o.Count
			if s.mutant(ForgetsAcknowledged) && w.State == ShareAcknowledged {
				w.State = ShareAvailable
			}
		}
	}
	p.trim(l.LogStart)
	s.shareStarts(p)
	s.tryShareJobs(b)
}

// shareReset is where a group begins that has no state.
func (s *State) shareReset(group string, l *partlog.Log) int64 {
	switch r := s.shareConfig(group).AutoOffsetReset; r {
	case config.ResetLatest:
		return l.HighWatermark
	case config.ResetEarliest:
		return l.LogStart
	default:
		ago, _ := r.Duration()
		if at, _, _, ok := l.OffsetByTime(s.Now/ms-ago, l.HighWatermark); ok {
			return at
		}
		return l.HighWatermark
	}
}

// trim moves the start over what is dealt with, and over what the log has not any more.
func (p *SharePartition) trim(logStart int64) {
	n := 0
	for n < len(p.Window) && !p.Window[n].Pending && (p.Window[n].State.final() || p.Start+int64(n) < logStart) {
		n++
	}
	p.Window = slices.Clone(p.Window[n:])
	p.Start += int64(n)
	if len(p.Window) == 0 {
		p.Start = max(p.Start, logStart)
	}
}

// nextFetch is the first offset that could be acquired.
func (p *SharePartition) nextFetch() int64 {
	for i := range p.Window {
		if w := &p.Window[i]; w.State == ShareAvailable && !w.Pending {
			return p.Start + int64(i)
		}
	}
	return p.End()
}

// acquire takes records for a member (H-4, H-9, H-12, H-13).
func (s *State) acquire(b *Broker, p *SharePartition, m *ShareFetchRequest, left int32, bytes int64) ShareFetchedPart {
	out := ShareFetchedPart{TP: p.TP}
	l := &b.replica(p.TP).Log
	p.trim(l.LogStart)
	next := p.nextFetch()
	locks := int(s.World.Broker.Share.MaxRecordLocks)
	bound := l.HighWatermark
	if s.shareConfig(p.Group).ReadCommitted {
		bound = l.LastStable()
	}
	if next == p.End() && len(p.Window) >= locks && !s.mutant(SharesWithoutLimit) || next < l.LogStart || next >= bound || left <= 0 {
		return out
	}
	batches, _ := l.Read(next, bound, bytes, true)
	a := acquisition{s: s, p: p, m: m, left: left, next: next, locks: locks}
	if s.shareConfig(p.Group).ReadCommitted && len(batches) > 0 {
		a.aborted = l.AbortedIn(next, batches[len(batches)-1].NextOffset())
	}
	for i := range batches {
		if !a.batch(&batches[i]) {
			break
		}
	}
	out.Acquired = a.out
	if len(a.out) > 0 {
		out.Batches = batches
	}
	p.trim(l.LogStart)
	return out
}

// acquisition is one acquire on its way.
type acquisition struct {
	s       *State
	p       *SharePartition
	m       *ShareFetchRequest
	left    int32
	next    int64
	locks   int
	aborted []partlog.AbortedTransaction
	out     []AcquiredRecords
	throttled
}

// throttled is how many more records of a batch that fails again and again are acquired (H-13).
type throttled struct {
	on   bool
	base int64
	room int64
}

// batch acquires what it can of a batch; false when the acquisition is over.
func (a *acquisition) batch(x *partlog.Batch) bool {
	p := a.p
	from := max(x.BaseOffset, a.next)
	first, size := from, int32(x.NextOffset()-from)
	dead := x.Control || a.isAborted(x)
	live := make([]bool, x.Records.Count)
	for place := range x.Records.All() {
		live[place] = true
	}
	for p.End() < from { // what compaction has taken away
		p.Window = append(p.Window, ShareRecord{State: ShareArchived})
	}
	for at := from; at < x.NextOffset(); at++ {
		if at < p.Start {
			continue
		}
		if at == p.End() {
			if a.m.RecordLimit && (a.left <= 0 || len(p.Window) >= a.locks) {
				return false
			}
			if len(a.out) > 0 && a.on {
				return false // after records that fail again nothing new is taken
			}
			p.Window = append(p.Window, ShareRecord{Base: first, Size: size})
		}
		w := &p.Window[at-p.Start]
		if dead || !live[at-x.BaseOffset] {
			if w.State == ShareAvailable {
				w.State = ShareArchived
			}
			continue
		}
		if w.State != ShareAvailable && !(w.State == ShareAcquired && a.s.mutant(SharesTwice)) || w.Pending {
			continue
		}
		if a.m.RecordLimit && a.left <= 0 || !a.allowed(w) {
			return false
		}
		a.take(at, w)
	}
	return a.left > 0 && (len(p.Window) < a.locks || x.NextOffset() < p.End() || a.s.mutant(SharesWithoutLimit))
}

// allowed is H-13: records that were delivered often are acquired in ever smaller pieces, at last alone.
func (a *acquisition) allowed(w *ShareRecord) bool {
	limit := int16(a.s.World.Broker.Share.DeliveryLimit)
	threshold := max(2, (limit+1)/2)
	switch {
	case a.on && (w.Base != a.base || a.room <= 0):
		return false
	case a.on || w.Count < threshold:
		a.room--
		return true
	case w.Count >= limit-1 && limit > 2:
		a.on, a.base, a.room = true, w.Base, 0
		return len(a.out) == 0
	}
	if len(a.out) > 0 {
		return false
	}
	a.on, a.base = true, w.Base
	a.room = max(int64(w.Size)>>(w.Count-threshold+1), 1) - 1
	return true
}

// take acquires a record.
func (a *acquisition) take(at int64, w *ShareRecord) {
	w.State, w.Member = ShareAcquired, a.m.Member
	w.Count++
	w.LockEnds = a.s.Now + a.s.shareLock(a.p.Group)
	a.left--
	if n := len(a.out); n > 0 && a.out[n-1].Last+1 == at && a.out[n-1].Count == w.Count {
		a.out[n-1].Last = at
	} else {
		a.out = append(a.out, AcquiredRecords{at, at, w.Count})
	}
	a.s.shareDelivered(a.p, at, w)
}

// isAborted tells whether a batch is of an aborted transaction, under read_committed.
func (a *acquisition) isAborted(x *partlog.Batch) bool {
	return x.Transactional && slices.ContainsFunc(a.aborted, func(t partlog.AbortedTransaction) bool {
		return t.ProducerID == x.ProducerID && t.First <= x.BaseOffset && x.BaseOffset <= t.Last
	})
}

// decide gives records another state, and writes that. What cannot be written is taken back.
func (s *State) decide(b *Broker, p *SharePartition, undo []ShareUndo, job int64, ack int32) {
	c := ShareCall{Undo: undo, Job: job, Ack: ack}
	c.Request = ShareStateRequest{Op: WriteShareState, Group: p.Group, TP: p.TP, StateEpoch: p.StateEpoch, LeaderEpoch: p.LeaderEpoch, Start: p.Start}
	for _, u := range undo {
		w := &p.Window[u.Offset-p.Start]
		w.Pending = true
		n := len(c.Request.Batches)
		if n > 0 && c.Request.Batches[n-1].Last+1 == u.Offset && c.Request.Batches[n-1].State == w.State && c.Request.Batches[n-1].Count == w.Count {
			c.Request.Batches[n-1].Last = u.Offset
			continue
		}
		c.Request.Batches = append(c.Request.Batches, ShareStateBatch{u.Offset, u.Offset, w.State, w.Count})
	}
	s.shareCall(b, c)
}

// shareRelease makes an acquired record available again, or archives it when it was delivered often enough (H-7).
func (s *State) shareRelease(w *ShareRecord, giveBack bool) {
	if giveBack && s.World.Rules.Without(ShareReleaseCounts) { // H-8
		w.Count--
	}
	w.State, w.Member, w.LockEnds = ShareAvailable, "", 0
	if w.Count >= int16(s.World.Broker.Share.DeliveryLimit) && !s.mutant(DeliversForEver) {
		w.State = ShareArchived
	}
}

// shareWritten goes on after a write.
func (s *State) shareWritten(b *Broker, c *ShareCall, code Code) {
	if code == UNKNOWN_TOPIC_OR_PARTITION || code == FENCED_LEADER_EPOCH || code == FENCED_STATE_EPOCH {
		// The state is another's now (SharePartition.fencedLocked).
		if code != UNKNOWN_TOPIC_OR_PARTITION {
			code = NOT_LEADER_OR_FOLLOWER
		}
	}
	p := s.sharePartition(b, c.Request.Group, c.Request.TP)
	if p == nil || p.LeaderEpoch != c.Request.LeaderEpoch || p.StateEpoch != c.Request.StateEpoch {
		if code == NONE {
			s.shareDecided(c)
		}
		s.shareJobGoesOn(b, c, cmp.Or(code, NOT_LEADER_OR_FOLLOWER))
		return
	}
	for _, u := range c.Undo {
		if u.Offset < p.Start {
			continue
		}
		w := &p.Window[u.Offset-p.Start]
		w.Pending = false
		if code != NONE {
			*w = u.Was
		}
	}
	if code == NONE {
		s.shareDecided(c)
	}
	if !s.mutant(SharesStartJumps) || len(p.Window) == 0 {
		p.trim(b.replica(p.TP).Log.LogStart)
	} else {
		p.Start, p.Window = p.Start-1, append([]ShareRecord{{State: ShareAvailable}}, p.Window...)
	}
	s.shareStarts(p)
	s.shareJobGoesOn(b, c, code)
	s.expireShareLocks(b)
	s.tryShareJobs(b)
	s.watchShares(b)
}

// expireShareLocks ends the locks whose time is over (H-5).
func (s *State) expireShareLocks(b *Broker) {
	for i := range b.Share.Partitions {
		p := &b.Share.Partitions[i]
		if s.sharePartition(b, p.Group, p.TP) == nil {
			continue
		}
		s.releaseWhere(b, p, false, func(w *ShareRecord) bool { return w.LockEnds <= s.Now && !s.mutant(LocksForEver) })
	}
}

// releaseWhere releases acquired records of a partition.
func (s *State) releaseWhere(b *Broker, p *SharePartition, giveBack bool, which func(*ShareRecord) bool) {
	var undo []ShareUndo
	for j := range p.Window {
		w := &p.Window[j]
		if w.State == ShareAcquired && !w.Pending && which(w) {
			undo = append(undo, ShareUndo{p.Start + int64(j), *w})
			s.shareRelease(w, giveBack)
		}
	}
	if len(undo) > 0 {
		s.decide(b, p, undo, 0, 0)
	}
}
