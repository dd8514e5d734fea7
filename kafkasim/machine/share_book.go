package machine

import (
	"cmp"
	"fmt"
	"slices"
)

// The book of share groups: what was promised, kept apart from the brokers' own state, so that a broken promise is seen
// whoever has forgotten it.
//
//	60  a record is acquired by one member at a time
//	61  a record's delivery count never exceeds the limit
//	62  an acknowledged record is never delivered again
//	63  the start offset of a share partition never goes back
//
// Across leaders 60 means the time in which one leads: a lock ends with the leader that gave it (H-19).

// The invariants' numbers.
const (
	OneOwner = 60 + iota
	DeliveryLimit
	AcknowledgedOnce
	StartMonotonic
)

// ShareBook is what is known of one partition of a share group.
type ShareBook struct {
	Group string
	TP    TopicPartition
	Epoch int32 // the newest leader epoch that has delivered
	Start int64 // the highest start that is written
	Held  []ShareHolder
	Done  []OffsetRange // that a written acknowledgement has ended; sorted, immutable
}

// ShareHolder has a record until its lock ends.
type ShareHolder struct {
	Offset int64
	Member string
	Until  int64 // µs
}

// OffsetRange is a row of offsets: From to before To.
type OffsetRange struct{ From, To int64 }

// ShareBroken is a promise that was broken.
type ShareBroken struct {
	Invariant int
	At        int64 // µs
	Text      string
}

func (s *State) shareBook(group string, tp TopicPartition) *ShareBook {
	i := slices.IndexFunc(s.Share.Book, func(x ShareBook) bool { return x.Group == group && x.TP == tp })
	if i < 0 {
		i = len(s.Share.Book)
		s.Share.Book = append(s.Share.Book, ShareBook{Group: group, TP: tp, Start: -1})
	}
	return &s.Share.Book[i]
}

func (s *State) shareBroken(invariant int, format string, args ...any) {
	if len(s.Share.Broken) < 20 {
		s.Share.Broken = append(s.Share.Broken, ShareBroken{invariant, s.Now, fmt.Sprintf(format, args...)})
	}
}

// shareDelivered notes that a record was acquired.
func (s *State) shareDelivered(p *SharePartition, at int64, w *ShareRecord) {
	k := s.shareBook(p.Group, p.TP)
	name := s.PartitionName(p.TP)
	if int32(w.Count) > s.World.Broker.Share.DeliveryLimit {
		s.shareBroken(DeliveryLimit, "%s offset %d of group %s was delivered %d times", name, at, p.Group, w.Count)
	}
	if slices.ContainsFunc(k.Done, func(r OffsetRange) bool { return r.From <= at && at < r.To }) {
		s.shareBroken(AcknowledgedOnce, "%s offset %d of group %s was delivered again, to %s", name, at, p.Group, w.Member)
	}
	if p.LeaderEpoch != k.Epoch {
		k.Held, k.Epoch = nil, max(k.Epoch, p.LeaderEpoch)
	}
	i, found := slices.BinarySearchFunc(k.Held, at, func(h ShareHolder, at int64) int { return cmp.Compare(h.Offset, at) })
	if !found {
		k.Held = slices.Insert(k.Held, i, ShareHolder{})
	} else if h := &k.Held[i]; h.Until > s.Now {
		s.shareBroken(OneOwner, "%s offset %d of group %s went to %s while %s had it", name, at, p.Group, w.Member, h.Member)
	}
	k.Held[i] = ShareHolder{at, w.Member, w.LockEnds}
}

// shareDecided notes what is written: records that are done, and who has given what back.
func (s *State) shareDecided(c *ShareCall) {
	k := s.shareBook(c.Request.Group, c.Request.TP)
	for _, u := range c.Undo {
		if u.Was.State == ShareAcquired && (k.Epoch == c.Request.LeaderEpoch) {
			k.Held = slices.DeleteFunc(k.Held, func(h ShareHolder) bool { return h.Offset == u.Offset && h.Member == u.Was.Member })
		}
	}
	for _, o := range c.Request.Batches {
		if o.State == ShareAcknowledged || o.State == ShareArchived {
			k.Done = addRange(k.Done, OffsetRange{o.First, o.Last + 1})
		}
	}
}

// shareStarts notes where a window begins.
func (s *State) shareStarts(p *SharePartition) {
	k := s.shareBook(p.Group, p.TP)
	if p.LeaderEpoch < k.Epoch || !p.Ready {
		return
	}
	if p.Start < k.Start && p.LeaderEpoch == k.Epoch {
		s.shareBroken(StartMonotonic, "%s of group %s began at %d, and then at %d", s.PartitionName(p.TP), p.Group, k.Start, p.Start)
	}
	k.Start, k.Epoch = p.Start, p.LeaderEpoch
}

// addRange puts a range into sorted ranges.
func addRange(list []OffsetRange, n OffsetRange) []OffsetRange {
	var out []OffsetRange
	for _, r := range list {
		switch {
		case r.To < n.From:
			out = append(out, r)
		case r.From > n.To:
			if n.To >= n.From {
				out = append(out, n)
				n = OffsetRange{0, -1}
			}
			out = append(out, r)
		default:
			n = OffsetRange{min(r.From, n.From), max(r.To, n.To)}
		}
	}
	if n.To >= n.From {
		out = append(out, n)
	}
	return out
}
