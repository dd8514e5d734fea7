package machine

import (
	"slices"

	"kafkalab/kafkasim/partlog"
)

// follows is invariant 8: once a follower has had an answer of its leader's epoch without divergence, its log is
// the beginning of the leader's. It holds whatever was elected and whatever was lost.
func (c *checker) follows(tp TopicPartition) {
	for _, id := range c.s.decided().partition(tp).Replicas {
		r := c.s.broker(id).replica(tp)
		if r == nil || r.Role != Follower || !r.Aligned || r.Leader == NoNode {
			continue
		}
		leader := c.s.broker(r.Leader).replica(tp)
		if leader == nil || leader.Role != Leader || leader.LeaderEpoch != r.LeaderEpoch {
			continue
		}
		c.require(r.Log.End <= leader.Log.End, 8, "%v: follower %d ends at %d, its leader %d at %d", tp, id, r.Log.End, r.Leader, leader.Log.End)
		r.Log.Batches(max(r.Log.LogStart, leader.Log.LogStart, r.Log.End-tail), func(p *partlog.Batch) bool {
			q := leader.Log.BatchAt(p.BaseOffset)
			same := q != nil && sameBatch(p, q) || p.BaseOffset < leader.Log.LogStart || q == nil && c.s.compacted(tp, p.BaseOffset)
			c.require(same, 8, "%v: follower %d has another record at offset %d than its leader %d", tp, id, p.BaseOffset, r.Leader)
			return same
		})
	}
}

// exposed is invariant 11, by what was ever exposed: the log of the newest leader has all of it.
func (c *checker) exposed(tp TopicPartition) {
	reg := c.s.decided().partition(tp)
	if reg.Leader == NoNode || !c.s.clean(tp) {
		return
	}
	if r := c.s.broker(reg.Leader).replica(tp); r != nil && r.Role == Leader && r.LeaderEpoch == reg.LeaderEpoch {
		hw := c.s.Truth.partition(c.s, tp).Exposed
		c.require(r.Log.End >= hw, 11, "%v: leader %d ends at %d, HW %d was exposed", tp, reg.Leader, r.Log.End, hw)
	}
}

// toldLatest keeps the truth about a latest offset that a consumer is told: the newest leader takes back what was
// exposed when it says less.
func (s *State) toldLatest(r *Replica, offset int64) {
	if reg := s.Metadata().partition(r.TP); reg == nil || r.LeaderEpoch != reg.LeaderEpoch {
		return // an old leader's word: whoever asks it has old metadata too
	}
	if t := s.Truth.partition(s, r.TP); offset < t.Exposed {
		t.TakenBack = offset + 1
	}
}

// takenBack is invariant 14, across leaders: what was exposed is never taken back.
func (c *checker) takenBack(tp TopicPartition) {
	t := c.s.Truth.partition(c.s, tp)
	c.require(t.TakenBack == 0 || !c.s.clean(tp), 14, "%v: a consumer was told the latest offset %d after HW %d was exposed", tp, t.TakenBack-1, t.Exposed)
}

// stuck is invariant 26: a follower that is told where the logs part gets on by it.
func (c *checker) stuck(b *Broker, r *Replica) {
	const patience = 10
	c.require(r.Stuck < patience, 26, "%v: broker %d was told %d times where its log parts from its leader's, and nothing changed", r.TP, b.ID, r.Stuck)
}

// thin is invariant 15: the high watermark stands still while the ISR is below its minimum.
func (c *checker) thin(tp TopicPartition) {
	to := c.s.Truth.partition(c.s, tp).Thin
	c.require(to == 0, 15, "%v: HW moved to %d while the ISR was below min.insync.replicas", tp, to)
}

// LostAnyway lists acknowledged acks=all records that are lost, and why Kafka does not count that as broken: an
// unclean election, or a disk that lost what it had answered for, ends the promise (invariant 12's scope).
func (s *State) LostAnyway() []Violation {
	c := &checker{s: s}
	for i := range s.Truth.Acked {
		a := &s.Truth.Acked[i]
		if !a.Lost || a.Acks != -1 || c.s.clean(a.TP) {
			continue
		}
		why := "an unclean election"
		if s.Truth.partition(s, a.TP).DiskLoss {
			why = "a disk that lost records"
		} else if s.Truth.partition(s, a.TP).Granted {
			why = "a replica joined the ISR that its leader had forgotten it had proposed"
		} else if s.Truth.partition(s, a.TP).Raced {
			why = "min.insync.replicas was raised and the leader had not read it"
		}
		c.require(false, 12, "%v: acknowledged with acks=all and lost: offset %d (after %s)", a.TP, a.BaseOffset, why)
	}
	return slices.Clip(c.list)
}
