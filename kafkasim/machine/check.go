package machine

import (
	"fmt"
	"slices"

	"kafkalab/kafkasim/partlog"
)

// The invariants of Kafka's replication, as far as they apply to what is modelled.
//
// Those that can be read off one state are State.Check, which looks at everything; Watch looks after each event
// at what it has touched, and at what may change. Some hold only while elections are clean and no disk has
// lost what it had answered for; the Truth knows.

// Violation is an invariant that does not hold.
type Violation struct {
	Invariant int    // its number, as Cluster.Check lists them
	Text      string // what is wrong, with the offsets and brokers
	At        int64  // µs: when it was seen; of a Watch
	Event     string // what broke it, in words; "" for a command, or when nobody watched
}

// String is the violation in words.
func (v Violation) String() string {
	s := fmt.Sprintf("invariant %d: %s", v.Invariant, v.Text)
	if v.Event != "" {
		s += fmt.Sprintf(", after t=%d.%03d ms  %s", v.At/1000, v.At%1000, v.Event)
	}
	return s
}

// decided is the cluster as the controller has written it down.
func (s *State) decided() *Image { return s.Metadata() }

// decidedLog is the metadata log that decided was built from.
func (s *State) decidedLog() []MetadataRecord { return s.MetadataLog() }

// checker collects violations.
type checker struct {
	s    *State
	list []Violation
}

func (c *checker) require(ok bool, invariant int, format string, args ...any) {
	if !ok {
		for i, a := range args {
			if tp, is := a.(TopicPartition); is {
				args[i] = c.s.PartitionName(tp)
			}
		}
		c.list = append(c.list, Violation{Invariant: invariant, Text: fmt.Sprintf(format, args...)})
	}
}

// Check tells which invariants do not hold in this state.
func (s *State) Check() []Violation {
	c := &checker{s: s}
	for _, tp := range s.decided().all() {
		c.registration(tp)
		c.leaders(tp)
		c.matching(tp)
		c.committed(tp)
		c.follows(tp)
		c.exposed(tp)
		c.thin(tp)
		c.takenBack(tp)
		c.compaction(tp)
	}
	for i := range s.Brokers {
		for j := range s.Brokers[i].Replicas {
			c.replica(&s.Brokers[i], &s.Brokers[i].Replicas[j])
			c.stuck(&s.Brokers[i], &s.Brokers[i].Replicas[j])
		}
	}
	c.quorum()
	c.consumerGroups()
	c.groups()
	c.transactions()
	c.acknowledged()
	for _, x := range s.Share.Broken {
		c.list = append(c.list, Violation{Invariant: x.Invariant, Text: x.Text, At: x.At})
	}
	return c.list
}

// registration checks the controller's record: invariants 1, 2, 20 and 21.
func (c *checker) registration(tp TopicPartition) {
	p := c.s.decided().partition(tp)
	inReplicas := func(ids []NodeID) bool {
		for i, id := range ids {
			if !slices.Contains(p.Replicas, id) || slices.Contains(ids[:i], id) {
				return false
			}
		}
		return true
	}
	overlap := slices.ContainsFunc(p.ELR, func(id NodeID) bool { return slices.Contains(p.ISR, id) })
	c.require(inReplicas(p.ISR) && !overlap, 1, "%v: ISR %v and ELR %v of replicas %v", tp, p.ISR, p.ELR, p.Replicas)
	c.require(p.Leader == NoNode || slices.Contains(p.ISR, p.Leader), 2, "%v: leader %d is not in ISR %v", tp, p.Leader, p.ISR)
	if p.Leader == NoNode && len(p.ISR) > 0 && !slices.ContainsFunc(p.ISR, func(id NodeID) bool { return !c.s.diskReplaced(id) }) {
		// Its members have lost their disks and are in sync again from new ones, and the controller had not heard
		// that they are there when the leader went (R3.21): nobody could be elected, and nobody is until something
		// else happens, as the assignment of a directory elects by what it was before.
	} else if c.s.World.ELR {
		c.require((len(p.ISR) == 0) == (p.Leader == NoNode), 2, "%v: leader %d with ISR %v", tp, p.Leader, p.ISR)
	} else {
		c.require(len(p.ISR) > 0 && (p.Leader != NoNode || len(p.ISR) == 1), 2, "%v: leader %d with ISR %v", tp, p.Leader, p.ISR)
	}
	if p.Leader != NoNode {
		c.require(c.s.decided().broker(p.Leader).active(), 20, "%v: leader %d is not active", tp, p.Leader)
	}
	c.require(len(p.ISR) < c.s.decided().effectiveMinISR(tp) || len(p.eligible()) == 0, 21, "%v: ELR %v although ISR %v is enough", tp, p.ELR, p.ISR)
	for _, id := range p.ISR {
		c.require(p.Leader == NoNode || c.s.decided().broker(id).active() || c.s.World.Rules.Without(FencedStayOut), 19, "%v: %d is in ISR %v and is not active", tp, id, p.ISR)
	}
}

// replica checks one log by itself: invariants 5 and 6.
func (c *checker) replica(b *Broker, r *Replica) {
	if r.Role == Offline {
		return // a dead process has no high watermark, and its log is put right when it is loaded
	}
	l := &r.Log
	c.require(l.LogStart <= l.HighWatermark && l.HighWatermark <= l.End, 5, "broker %d %v: log start %d, HW %d, LEO %d", b.ID, r.TP, l.LogStart, l.HighWatermark, l.End)
	for i, e := range l.Epochs {
		c.require(i == 0 || e.Epoch > l.Epochs[i-1].Epoch && e.StartOffset > l.Epochs[i-1].StartOffset, 6, "broker %d %v: epochs %v", b.ID, r.TP, l.Epochs)
		c.require(e.StartOffset <= l.End && e.Epoch <= r.LeaderEpoch, 6, "broker %d %v: epochs %v, LEO %d, E %d", b.ID, r.TP, l.Epochs, l.End, r.LeaderEpoch)
	}
	last := int32(-1)
	l.Batches(max(l.LogStart, l.End-tail), func(batch *partlog.Batch) bool {
		c.require(batch.LeaderEpoch >= last && batch.LeaderEpoch <= r.LeaderEpoch, 6, "broker %d %v: epoch %d at offset %d after %d, E %d", b.ID, r.TP, batch.LeaderEpoch, batch.BaseOffset, last, r.LeaderEpoch)
		c.require(l.Epochs.EpochAt(max(batch.BaseOffset, l.LogStart)) == batch.LeaderEpoch, 6, "broker %d %v: epoch %d at offset %d, the cache says %d", b.ID, r.TP, batch.LeaderEpoch, batch.BaseOffset, l.Epochs.EpochAt(max(batch.BaseOffset, l.LogStart)))
		last = batch.LeaderEpoch
		return true
	})
}

// tail is how many offsets at the end of a log Check compares; what is before was compared when it was the
// tail.
const tail = 1000

// leaders checks that no two brokers lead one epoch, and what the leader believes of its ISR: invariants 4,
// 16.
func (c *checker) leaders(tp TopicPartition) {
	s := c.s
	reg := s.decided().partition(tp)
	for i := range s.Brokers {
		r := s.Brokers[i].replica(tp)
		if r == nil || r.Role != Leader {
			continue
		}
		for j := i + 1; j < len(s.Brokers); j++ {
			if o := s.Brokers[j].replica(tp); o != nil && o.Role == Leader {
				c.require(o.LeaderEpoch != r.LeaderEpoch, 4, "%v: brokers %d and %d lead epoch %d", tp, i+1, j+1, r.LeaderEpoch)
			}
		}
		if r.upToDate(reg) {
			for _, id := range reg.ISR {
				c.require(r.inMaximalISR(id), 16, "%v: %d is in the controller's ISR %v but not in the leader's maximal ISR %v", tp, id, reg.ISR, r.ISR)
			}
		}
	}
}

// upToDate tells whether a leader knows the controller's record, or has asked for just that one. (A proposal
// that metadata of the same partition epoch has cancelled may still be granted; the answer is then ignored,
// in Kafka as here, until the metadata log brings it.)
func (r *Replica) upToDate(reg *PartitionRegistration) bool {
	return r.LeaderEpoch == reg.LeaderEpoch && (r.PartitionEpoch == reg.PartitionEpoch ||
		r.Change.Kind != NoChange && r.PartitionEpoch == reg.PartitionEpoch-1 && slices.Equal(r.Change.ISR, reg.ISR))
}

// clean tells whether a partition has had neither an unclean election, nor a leader that had lost records, nor
// one of the races in which Kafka does not keep its word.
func (s *State) clean(tp TopicPartition) bool {
	t := s.Truth.partition(s, tp)
	return !t.Unclean && !t.DiskLoss && !t.Raced && !t.Granted
}

// matching is invariant 7: what two replicas hold at one offset in one epoch is the same.
func (c *checker) matching(tp TopicPartition) {
	reg := c.s.decided().partition(tp)
	for i, a := range reg.Replicas {
		for _, b := range reg.Replicas[i+1:] {
			x, y := c.s.broker(a).replica(tp), c.s.broker(b).replica(tp)
			if x == nil || y == nil {
				continue
			}
			x.Log.Batches(max(min(x.Log.End, y.Log.End)-tail, x.Log.LogStart, y.Log.LogStart), func(p *partlog.Batch) bool {
				q := y.Log.BatchAt(p.BaseOffset)
				if q != nil && q.LeaderEpoch == p.LeaderEpoch {
					c.require(sameBatch(p, q), 7, "%v: brokers %d and %d differ at offset %d in epoch %d", tp, a, b, p.BaseOffset, p.LeaderEpoch)
				}
				return true
			})
		}
	}
}

// sameBatch tells whether two batches are copies of one.
func sameBatch(p, q *partlog.Batch) bool {
	return p.BaseOffset == q.BaseOffset && p.LeaderEpoch == q.LeaderEpoch && p.Sender == q.Sender && p.Serial == q.Serial &&
		p.Records.Count == q.Records.Count
}

// committed is invariants 9 and 10: every record below the high watermark of any broker that believes to
// lead is on every member of the controller's ISR, and of its ELR.
func (c *checker) committed(tp TopicPartition) {
	if !c.s.clean(tp) {
		return
	}
	reg := c.s.decided().partition(tp)
	for i := range c.s.Brokers {
		r := c.s.Brokers[i].replica(tp)
		if r == nil || r.Role != Leader {
			continue
		}
		hw := r.Log.HighWatermark
		for k, id := range slices.Concat(reg.ISR, reg.eligible()) {
			invariant := 9
			if k >= len(reg.ISR) {
				invariant = 10
			}
			if c.s.lossy(tp, id) || invariant == 10 && !c.s.eligibleHold(tp) {
				continue
			}
			m := c.s.broker(id).replica(tp)
			if m == nil || m.Log.End < hw {
				c.require(hw == 0, invariant, "%v: HW %d of leader %d is above the log end of member %d", tp, hw, r.Leader, id)
				continue
			}
			r.Log.Batches(max(r.Log.LogStart, m.Log.LogStart, hw-tail), func(p *partlog.Batch) bool {
				if p.BaseOffset >= hw {
					return false
				}
				q := m.Log.BatchAt(p.BaseOffset)
				same := q != nil && sameBatch(p, q) || q == nil && c.s.compacted(tp, p.BaseOffset)
				c.require(same, invariant, "%v: member %d lacks the record at offset %d below HW %d of leader %d", tp, id, p.BaseOffset, hw, r.Leader)
				return true
			})
		}
	}
}

// acknowledged is invariant 12: no record acknowledged with acks=all is ever lost.
func (c *checker) acknowledged() {
	for i := range c.s.Truth.Acked {
		a := &c.s.Truth.Acked[i]
		c.require(!a.Lost || a.Acks != -1 || !c.s.clean(a.TP), 12, "%v: acknowledged with acks=all and lost: offset %d", a.TP, a.BaseOffset)
	}
}
