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
// What a member says is written to the share coordinator first, and until that is done nobody gets the record (H-3, H-19);
// a lock that ends makes its records available at once, whatever becomes of the write. How records are acquired is in
// share_acquire.go.
//
// Kafka: SharePartition, InFlightState, InFlightBatch, SharePartitionCache. Simplified: the state is kept for each record,
// with the batch that it was acquired in, where Kafka keeps it for batches as long as it can.

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
	s.shareBegins(&n)
	s.shareCall(b, ShareCall{Request: ShareStateRequest{Op: ReadShareState, Group: group, TP: r.TP, LeaderEpoch: r.LeaderEpoch}})
}

// shareRead begins a partition with the state that was read; one that was never decided begins by
// share.auto.offset.reset (H-14).
func (s *State) shareRead(b *Broker, c *ShareCall, a *ShareStateResponse) {
	p := s.sharePartition(b, c.Request.Group, c.Request.TP)
	if p == nil || p.LeaderEpoch != c.Request.LeaderEpoch {
		return
	}
	if code := persisterError(a.Error); code != NONE {
		p.Error = code
		s.tryShareJobs(b)
		b.dropSharePartition(c.Request.Group, c.Request.TP)
		return
	}
	l := &b.replica(p.TP).Log
	p.Ready, p.StateEpoch, p.Start = true, a.StateEpoch, a.Start
	if p.Start < 0 {
		p.Start = s.shareReset(p.Group, l)
	}
	for _, o := range a.Batches {
		for p.End() < o.First {
			p.Window = append(p.Window, ShareRecord{Base: shareGap})
		}
		for at := max(o.First, p.Start); at <= o.Last; at++ {
			w := ShareRecord{State: o.State, Count: o.Count, Base: o.First, Size: int32(o.Last - o.First + 1)}
			if s.mutant(ForgetsAcknowledged) && w.State == ShareAcknowledged {
				w.State = ShareAvailable
			}
			p.Window = append(p.Window, w)
		}
	}
	p.trim()
	s.shareStarts(p, l.LogStart)
	s.tryShareJobs(b)
}

// shareGap is the batch of records between those that a new leader has read a state of: nobody has had them.
const shareGap = -1

// dropSharePartition forgets a partition: whoever asks for it next makes the leader read its state.
func (b *Broker) dropSharePartition(group string, tp TopicPartition) {
	if i, found := b.findSharePartition(group, tp); found {
		b.Share.Partitions = slices.Delete(b.Share.Partitions, i, i+1)
	}
}

// persisterError is how a leader's members hear of a share coordinator's error (SharePartition.fetchPersisterError).
func persisterError(code Code) Code {
	switch code {
	case NONE, GROUP_ID_NOT_FOUND, UNKNOWN_TOPIC_OR_PARTITION, COORDINATOR_NOT_AVAILABLE:
		return code
	case NOT_COORDINATOR, COORDINATOR_LOAD_IN_PROGRESS:
		return COORDINATOR_NOT_AVAILABLE
	case FENCED_LEADER_EPOCH, FENCED_STATE_EPOCH:
		return NOT_LEADER_OR_FOLLOWER
	}
	return UNKNOWN_SERVER_ERROR
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

// trim moves the start over what is dealt with.
func (p *SharePartition) trim() {
	n := 0
	for n < len(p.Window) && !p.Window[n].Pending && p.Window[n].State.final() {
		n++
	}
	p.Window = slices.Clone(p.Window[n:])
	p.Start += int64(n)
}

// passOver moves the start to the log's, when that has passed what would be fetched next: the records are no more
// (SharePartition.updateCacheAndOffsets).
func (p *SharePartition) passOver(logStart int64) {
	n := min(max(logStart-p.Start, 0), int64(len(p.Window)))
	p.Window = slices.Clone(p.Window[n:])
	p.Start = max(p.Start, logStart)
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

// decide writes records' new states. What a member has decided is Pending until it is written, and taken back if it cannot
// be; what a lock's end has decided holds at once.
func (s *State) decide(b *Broker, p *SharePartition, undo []ShareUndo, pending bool, job int64, ack int32) {
	c := ShareCall{Undo: undo, Sure: !pending, Job: job, Ack: ack}
	c.Request = ShareStateRequest{Op: WriteShareState, Group: p.Group, TP: p.TP, StateEpoch: p.StateEpoch, LeaderEpoch: p.LeaderEpoch, Start: p.Start}
	for i := range p.Window {
		if p.Window[i].State.final() {
			c.Request.Complete++
		}
	}
	for _, u := range undo {
		w := &p.Window[u.Offset-p.Start]
		w.Pending = pending
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
func (s *State) shareRelease(group string, w *ShareRecord, giveBack bool) {
	if giveBack && s.World.Rules.Without(ShareReleaseCounts) { // H-8
		w.Count--
	}
	w.State, w.Member, w.LockEnds = ShareAvailable, "", 0
	if w.Count >= int16(s.shareGroups(group).DeliveryLimit) && !s.mutant(DeliversForEver) {
		w.State = ShareArchived
	}
}

// shareWritten goes on after a write. A leader whose state is another's now forgets the partition
// (SharePartitionManager.fencedSharePartitionHandler).
func (s *State) shareWritten(b *Broker, c *ShareCall, code Code) {
	if code == NONE {
		s.shareDecided(c)
	}
	code = persisterError(code)
	p := s.sharePartition(b, c.Request.Group, c.Request.TP)
	if p == nil || p.LeaderEpoch != c.Request.LeaderEpoch || p.StateEpoch != c.Request.StateEpoch || !p.Ready {
		s.shareJobGoesOn(b, c, code)
		return
	}
	s.settleShare(p, c, code)
	switch {
	case (code == NOT_LEADER_OR_FOLLOWER || code == UNKNOWN_TOPIC_OR_PARTITION || code == GROUP_ID_NOT_FOUND) && !c.Sure:
		b.dropSharePartition(p.Group, p.TP)
	case s.mutant(SharesStartJumps) && len(p.Window) > 0:
		p.Start, p.Window = p.Start-1, append([]ShareRecord{{State: ShareAvailable}}, p.Window...)
		s.shareStarts(p, b.replica(p.TP).Log.LogStart)
	case s.mutant(SkipsUnsettled) && len(p.Window) > 1:
		p.Start, p.Window = p.Start+1, slices.Clone(p.Window[1:])
		s.shareStarts(p, b.replica(p.TP).Log.LogStart)
	default:
		p.trim()
		s.shareStarts(p, b.replica(p.TP).Log.LogStart)
	}
	s.shareJobGoesOn(b, c, code)
	s.expireShareLocks(b)
	s.tryShareJobs(b)
	s.watchShares(b)
}

// settleShare ends the changes of a write; without it the records are what they were, and free if their lock has ended
// meanwhile (InFlightState.completeStateTransition).
func (s *State) settleShare(p *SharePartition, c *ShareCall, code Code) {
	for _, u := range c.Undo {
		if u.Offset < p.Start || c.Sure {
			continue
		}
		w := &p.Window[u.Offset-p.Start]
		w.Pending = false
		if code == NONE {
			continue
		}
		*w = u.Was
		if w.LockEnds <= s.Now && !s.mutant(LocksForEver) {
			s.shareRelease(p.Group, w, false)
			if w.State.final() {
				s.shareGone(p, u.Offset, u.Offset+1)
			}
		}
	}
}

// expireShareLocks ends the locks whose time is over (H-5).
func (s *State) expireShareLocks(b *Broker) {
	for i := range b.Share.Partitions {
		p := &b.Share.Partitions[i]
		if s.sharePartition(b, p.Group, p.TP) == nil {
			continue
		}
		s.releaseWhere(b, p, false, false, func(w *ShareRecord) bool { return w.LockEnds <= s.Now && !s.mutant(LocksForEver) })
	}
}

// releaseWhere releases acquired records of a partition; pending says that it holds when it is written.
func (s *State) releaseWhere(b *Broker, p *SharePartition, giveBack, pending bool, which func(*ShareRecord) bool) {
	var undo []ShareUndo
	for j := range p.Window {
		w := &p.Window[j]
		if w.State == ShareAcquired && !w.Pending && which(w) {
			undo = append(undo, ShareUndo{p.Start + int64(j), *w})
			s.shareRelease(p.Group, w, giveBack)
			if w.State.final() && !pending {
				s.shareGone(p, p.Start+int64(j), p.Start+int64(j)+1)
			}
		}
	}
	if len(undo) > 0 {
		s.decide(b, p, undo, pending, 0, 0)
	}
}
