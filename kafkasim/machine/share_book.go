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
//	64  nothing is lost: the start offset passes what is acknowledged, archived, or not in the log any more
//	65  a state is written by its newest leader, and by nobody who has read it before it was set anew
//
// Across leaders 60 means the time in which one leads: a lock ends with the leader that gave it (H-19). Offsets that an
// administrator sets begin a new book.

// The invariants' numbers.
const (
	OneOwner = 60 + iota
	DeliveryLimit
	AcknowledgedOnce
	StartMonotonic
	NothingLost
	OneShareWriter
)

// ShareBook is what is known of one partition of a share group.
type ShareBook struct {
	Group string
	TP    TopicPartition
	Epoch int32 // the newest leader epoch that has delivered
	Read  int32 // the newest leader epoch that has read the state
	State int32 // the newest state epoch
	Start int64 // the highest start since that leader has read the state; -1 for none
	Begun int64 // the first start; -1 for none
	Saved int64 // the highest start that is written
	Limit int32 // the highest limit of deliveries that there was
	Held  []ShareHolder
	Done  []OffsetRange // that a written decision has ended; sorted, immutable
	Gone  []OffsetRange // … or the leader alone: aborted, compacted, delivered too often
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
		s.Share.Book = append(s.Share.Book, s.newShareBook(group, tp))
	}
	return &s.Share.Book[i]
}

func (s *State) newShareBook(group string, tp TopicPartition) ShareBook {
	return ShareBook{Group: group, TP: tp, Start: -1, Begun: -1, Read: -1, State: -1, Limit: s.shareGroups(group).DeliveryLimit}
}

// shareLimits notes that a group may have another limit of deliveries now.
func (s *State) shareLimits(group string) {
	for i := range s.Share.Book {
		if k := &s.Share.Book[i]; k.Group == group {
			k.Limit = max(k.Limit, s.shareGroups(group).DeliveryLimit)
		}
	}
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
	if int32(w.Count) > k.Limit {
		s.shareBroken(DeliveryLimit, "%s offset %d of group %s was delivered %d times", name, at, p.Group, w.Count)
	}
	if covers(k.Done, at) && p.StateEpoch >= k.State {
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

// shareBegins notes that a leader reads a state: what it knew of the partition before is gone.
func (s *State) shareBegins(p *SharePartition) {
	if k := s.shareBook(p.Group, p.TP); p.LeaderEpoch >= k.Epoch {
		k.Start, k.Held, k.Gone = -1, nil, nil
	}
}

// shareDecided notes what is written: records that are done, and who has given what back.
func (s *State) shareDecided(c *ShareCall) {
	k := s.shareBook(c.Request.Group, c.Request.TP)
	if c.Request.StateEpoch < k.State {
		return
	}
	s.shareCovered(k, max(k.Saved, 0), c.Request.Start)
	k.Saved = max(k.Saved, c.Request.Start)
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

// shareRenewed notes that a lock lasts longer.
func (s *State) shareRenewed(p *SharePartition, at int64, w *ShareRecord) {
	k := s.shareBook(p.Group, p.TP)
	for i := range k.Held {
		if h := &k.Held[i]; h.Offset == at && h.Member == w.Member {
			h.Until = w.LockEnds
		}
	}
}

// shareGone notes records that a leader has archived by itself.
func (s *State) shareGone(p *SharePartition, from, to int64) {
	k := s.shareBook(p.Group, p.TP)
	k.Gone = addRange(k.Gone, OffsetRange{from, to})
}

// shareStarts notes where a window begins.
func (s *State) shareStarts(p *SharePartition, logStart int64) {
	k := s.shareBook(p.Group, p.TP)
	if p.LeaderEpoch < k.Epoch || p.StateEpoch < k.State || !p.Ready {
		return
	}
	if p.Start < k.Start && p.LeaderEpoch == k.Epoch || p.Start < k.Saved {
		s.shareBroken(StartMonotonic, "%s of group %s began at %d, and then at %d", s.PartitionName(p.TP), p.Group, max(k.Start, k.Saved), p.Start)
	}
	if k.Start >= 0 && p.LeaderEpoch == k.Epoch {
		s.shareCovered(k, max(k.Start, logStart), p.Start)
	} else if k.Begun < 0 {
		k.Begun = p.Start
	}
	k.Start, k.Epoch = p.Start, p.LeaderEpoch
}

// shareCovered checks that what a start offset passes is dealt with.
func (s *State) shareCovered(k *ShareBook, from, start int64) {
	if l := s.LeaderLog(k.TP); l != nil {
		from = max(from, l.LogStart)
	}
	for at := max(from, k.Begun); k.Begun >= 0 && at < start; at++ {
		if !covers(k.Done, at) && !covers(k.Gone, at) {
			s.shareBroken(NothingLost, "%s of group %s begins at %d, and %d is not dealt with", s.PartitionName(k.TP), k.Group, start, at)
			return
		}
	}
}

// shareStateWritten notes what the share coordinator takes.
func (s *State) shareStateWritten(m *ShareStateRequest) {
	k := s.shareBook(m.Group, m.TP)
	switch m.Op {
	case ReadShareState:
		k.Read = max(k.Read, m.LeaderEpoch)
	case WriteShareState:
		if m.LeaderEpoch < k.Read || m.StateEpoch < k.State {
			s.shareBroken(OneShareWriter, "%s of group %s: a leader of epoch %d wrote to state %d, after epoch %d and state %d", s.PartitionName(m.TP), m.Group,
				m.LeaderEpoch, m.StateEpoch, k.Read, k.State)
		}
	default:
		*k = s.newShareBook(m.Group, m.TP)
		if m.Op == InitializeShareState {
			k.State = m.StateEpoch
		}
	}
}

func covers(list []OffsetRange, at int64) bool {
	return slices.ContainsFunc(list, func(r OffsetRange) bool { return r.From <= at && at < r.To })
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
