package machine

import (
	"slices"

	"kafkalab/kafkasim/partlog"
)

// Acquiring: which records of what was read from the log a member gets, and are locked for it (H-4, H-9, H-12, H-13).
//
// Records that become available again keep to the batch in which they were acquired first. With share.acquire.mode
// batch_optimized whole batches of the log are acquired, and so more than was asked for. Batches that fail again and again
// come in ever smaller pieces. Offsets without a record (markers, what compaction has taken) are acquired as others are;
// the member says that they are gaps.
//
// Kafka: SharePartition.acquire, acquireNewBatchRecords, acquireSubsetBatchRecords, shouldThrottleRecordsDelivery.

// acquisition is one acquire on its way.
type acquisition struct {
	s       *State
	p       *SharePartition
	m       *ShareFetchRequest
	batches []partlog.Batch
	first   int64 // of what was read
	last    int64 // … and of what may be acquired
	left    int64 // how many records at most
	limit   int16 // of deliveries
	locks   int64 // µs: how long they are locked
	got     int64
	out     []AcquiredRecords
}

// canAcquire tells whether a partition has anything for anybody (SharePartition.canAcquireRecords).
func (s *State) canAcquire(p *SharePartition) bool {
	return p.nextFetch() != p.End() || int32(len(p.Window)) < s.shareGroups(p.Group).MaxRecordLocks || s.mutant(SharesWithoutLimit)
}

// acquire takes records for a member.
func (s *State) acquire(b *Broker, p *SharePartition, m *ShareFetchRequest, left int32, bytes int64) ShareFetchedPart {
	out := ShareFetchedPart{TP: p.TP}
	l := &b.replica(p.TP).Log
	if p.nextFetch() < l.LogStart {
		p.passOver(l.LogStart)
	}
	next, bound := p.nextFetch(), l.HighWatermark
	if s.shareConfig(p.Group).ReadCommitted {
		bound = l.LastStable()
	}
	if !s.canAcquire(p) || next >= bound || left <= 0 {
		return out
	}
	batches, _ := l.Read(next, bound, bytes, true)
	if len(batches) == 0 {
		return out
	}
	g := s.shareGroups(p.Group)
	a := acquisition{s: s, p: p, m: m, batches: batches, first: batches[0].BaseOffset, last: batches[len(batches)-1].NextOffset() - 1,
		left: int64(left), limit: int16(g.DeliveryLimit), locks: g.RecordLockMs * ms}
	a.bound(next, int64(g.MaxRecordLocks))
	a.skip(next)
	a.again()
	if a.left > a.got && a.last >= p.End() {
		a.fresh(max(a.first, p.End()), a.last)
	}
	if s.shareConfig(p.Group).ReadCommitted {
		a.dropAborted(l.AbortedIn(a.first, a.last+1))
	}
	out.Acquired = a.out
	if len(a.out) > 0 {
		out.Batches = batches
	}
	for i := range a.out {
		for at := a.out[i].First; at <= a.out[i].Last; at++ {
			s.shareDelivered(p, at, &p.Window[at-p.Start])
		}
	}
	return out
}

// bound keeps to the limit of records in flight: beyond it only what is in the window is acquired (H-9).
func (a *acquisition) bound(next, locks int64) {
	room := min(a.left, locks-int64(len(a.p.Window)))
	if a.s.mutant(SharesWithoutLimit) {
		return
	}
	if room <= 0 && next < a.p.End() {
		room = min(a.left, a.p.End()-next)
		a.last = min(a.last, a.p.End()-1)
	}
	a.left = room
}

// skip archives what was available and is not in the log any more: compaction has taken it.
func (a *acquisition) skip(next int64) {
	p := a.p
	for at := next; at < a.first && at < p.End(); at++ {
		if w := &p.Window[at-p.Start]; w.State == ShareAvailable && !w.Pending {
			w.State = ShareArchived
			a.s.shareGone(p, at, at+1)
		}
	}
	if end := p.End(); end < a.first {
		a.s.shareGone(p, end, a.first)
	}
	if len(p.Window) == 0 {
		p.Start = max(p.Start, a.first)
	}
	for p.End() < a.first {
		p.Window = append(p.Window, ShareRecord{State: ShareArchived, Base: p.End(), Size: 1})
	}
}

// again acquires from the window, one batch after the other.
func (a *acquisition) again() {
	p := a.p
	for at := max(a.first, p.Start); at <= a.last && at < p.End() && a.got < a.left; {
		hi := at
		for hi+1 < p.End() && p.Window[hi+1-p.Start].Base == p.Window[at-p.Start].Base {
			hi++
		}
		if p.Window[at-p.Start].Base == shareGap {
			a.fresh(at, min(hi, a.last))
			at = hi + 1
			continue
		}
		throttled := a.throttled(at, min(hi, a.last))
		if throttled && a.got > 0 {
			a.left = 0
			return
		}
		n := a.batch(at, min(hi, a.last))
		if throttled && n > 0 {
			a.left = 0
			return
		}
		at = hi + 1
	}
}

// threshold is the number of deliveries from which on a batch comes in pieces.
func (a *acquisition) threshold() int16 { return max(2, (a.limit+1)/2) }

func (a *acquisition) throttled(from, to int64) bool {
	most := int16(0)
	for at := from; at <= to; at++ {
		if w := &a.p.Window[at-a.p.Start]; w.State == ShareAvailable && !w.Pending {
			most = max(most, w.Count)
		}
	}
	return most >= a.threshold()
}

// batch acquires what is available of one batch; pieces of it, or a record alone, when it was delivered often (H-13).
func (a *acquisition) batch(from, to int64) (n int64) {
	piece, remaining := int64(-1), a.left-a.got
	for at := from; at <= to; at++ {
		w := &a.p.Window[at-a.p.Start]
		if (w.State != ShareAvailable || w.Pending) && !(w.State == ShareAcquired && a.s.mutant(SharesTwice)) {
			continue
		}
		if a.limit > 2 && w.Count == a.limit-1 && n > 0 {
			break
		}
		if w.Count >= a.threshold() && piece < 0 {
			piece = max(1, int64(w.Size)>>(w.Count-a.threshold()+1))
		}
		a.take(at, w)
		n++
		if w.Count == a.limit && a.limit > 2 || a.m.RecordLimit && n == remaining || n == piece {
			break
		}
	}
	a.got += n
	return n
}

// fresh acquires records that nobody has had, as batches of about as many as the member takes at once.
func (a *acquisition) fresh(from, to int64) {
	p, most := a.p, a.left-a.got
	if most <= 0 || from > to {
		return
	}
	if most < to-from+1 {
		to = min(a.batchEnd(from+most-1), to)
	}
	for p.End() <= to {
		p.Window = append(p.Window, ShareRecord{Base: shareGap})
	}
	size := max(1, int64(a.m.BatchSize))
	for first := from; first <= to; {
		last := to
		if !a.m.RecordLimit && to-from+1 > size {
			for i := range a.batches {
				if base := a.batches[i].BaseOffset; base-first >= size && base <= to {
					last = base - 1
					break
				}
			}
		}
		for at := first; at <= last; at++ {
			w := &p.Window[at-p.Start]
			*w = ShareRecord{Base: first, Size: int32(last - first + 1)}
			if !a.m.RecordLimit || at-from < most {
				a.take(at, w)
				a.got++
			}
		}
		first = last + 1
	}
}

// batchEnd is the last offset of the log's batch that an offset is in.
func (a *acquisition) batchEnd(at int64) int64 {
	for i := range a.batches {
		if b := &a.batches[i]; b.BaseOffset <= at && at < b.NextOffset() {
			return b.NextOffset() - 1
		}
	}
	return at
}

// take acquires a record.
func (a *acquisition) take(at int64, w *ShareRecord) {
	w.State, w.Member = ShareAcquired, a.m.Member
	w.Count++
	w.LockEnds = a.s.Now + a.locks
	if n := len(a.out); n > 0 && a.out[n-1].Last+1 == at && a.out[n-1].Count == w.Count {
		a.out[n-1].Last = at
	} else {
		a.out = append(a.out, AcquiredRecords{at, at, w.Count})
	}
}

// dropAborted archives what belongs to aborted transactions, and leaves it out (H-15;
// SharePartition.maybeFilterAbortedTransactionalAcquiredRecords).
func (a *acquisition) dropAborted(aborted []partlog.AbortedTransaction) {
	dead := func(at int64) bool {
		i := slices.IndexFunc(a.batches, func(b partlog.Batch) bool { return b.BaseOffset <= at && at < b.NextOffset() })
		if i < 0 || !a.batches[i].Transactional || a.batches[i].Control {
			return false
		}
		b := &a.batches[i]
		return slices.ContainsFunc(aborted, func(t partlog.AbortedTransaction) bool {
			return t.ProducerID == b.ProducerID && t.First <= b.BaseOffset && b.BaseOffset <= t.Last
		})
	}
	taken := a.out
	a.out = nil
	for _, r := range taken {
		for at := r.First; at <= r.Last; at++ {
			w := &a.p.Window[at-a.p.Start]
			if dead(at) && !a.s.mutant(SharesAborted) {
				w.State, w.Member, w.LockEnds = ShareArchived, "", 0
				a.s.shareGone(a.p, at, at+1)
				continue
			}
			if n := len(a.out); n > 0 && a.out[n-1].Last+1 == at && a.out[n-1].Count == r.Count {
				a.out[n-1].Last = at
			} else {
				a.out = append(a.out, AcquiredRecords{at, at, r.Count})
			}
		}
	}
}
