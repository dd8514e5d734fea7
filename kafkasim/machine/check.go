package machine

import (
	"fmt"
	"slices"

	"kafkalab/kafkasim/partlog"
)

// The invariants of kafka-replication.md §8, as far as they apply to what is modelled.
//
// Those that can be read off one state are State.Check; those about a change are Watch, which remembers the
// state before. Some hold only while elections are clean and no disk has lost what it had answered for; the
// Truth knows.

// Violation is an invariant that does not hold.
type Violation struct {
	Invariant int    // the number in §8
	Text      string // what is wrong, with the numbers
}

// String is the violation in words.
func (v Violation) String() string { return fmt.Sprintf("invariant %d: %s", v.Invariant, v.Text) }

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
		c.list = append(c.list, Violation{invariant, fmt.Sprintf(format, args...)})
	}
}

// Check tells which invariants do not hold in this state.
func (s *State) Check() []Violation {
	c := &checker{s: s}
	for _, tp := range s.Controller.Image.all() {
		c.registration(tp)
		c.leaders(tp)
		c.matching(tp)
		c.committed(tp)
		c.follows(tp)
		c.exposed(tp)
		c.thin(tp)
		c.takenBack(tp)
	}
	for i := range s.Brokers {
		for j := range s.Brokers[i].Replicas {
			c.replica(&s.Brokers[i], &s.Brokers[i].Replicas[j])
			c.stuck(&s.Brokers[i], &s.Brokers[i].Replicas[j])
		}
	}
	c.acknowledged()
	return c.list
}

// registration checks the controller's record: invariants 1, 2, 20 and 21.
func (c *checker) registration(tp TopicPartition) {
	p := c.s.Controller.Image.partition(tp)
	inReplicas := func(ids []NodeID) bool {
		for i, id := range ids {
			if !slices.Contains(p.Replicas, id) || slices.Contains(ids[:i], id) {
				return false
			}
		}
		return true
	}
	overlap := slices.ContainsFunc(p.ELR, func(id NodeID) bool { return slices.Contains(p.ISR, id) })
	c.require(inReplicas(p.ISR) && inReplicas(p.ELR) && !overlap, 1, "%v: ISR %v and ELR %v of replicas %v", tp, p.ISR, p.ELR, p.Replicas)
	c.require(p.Leader == NoNode || slices.Contains(p.ISR, p.Leader), 2, "%v: leader %d is not in ISR %v", tp, p.Leader, p.ISR)
	if c.s.World.ELR {
		c.require((len(p.ISR) == 0) == (p.Leader == NoNode), 2, "%v: leader %d with ISR %v", tp, p.Leader, p.ISR)
	} else {
		c.require(len(p.ISR) > 0 && (p.Leader != NoNode || len(p.ISR) == 1), 2, "%v: leader %d with ISR %v", tp, p.Leader, p.ISR)
	}
	if p.Leader != NoNode {
		c.require(c.s.Controller.Image.broker(p.Leader).active(), 20, "%v: leader %d is not active", tp, p.Leader)
	}
	c.require(len(p.ISR) < c.s.Controller.Image.effectiveMinISR(tp) || len(p.ELR) == 0, 21, "%v: ELR %v although ISR %v is enough", tp, p.ELR, p.ISR)
	for _, id := range p.ISR {
		c.require(p.Leader == NoNode || c.s.Controller.Image.broker(id).active(), 19, "%v: %d is in ISR %v and is not active", tp, id, p.ISR)
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
		c.require(l.Epochs.EpochAt(batch.BaseOffset) == batch.LeaderEpoch, 6, "broker %d %v: epoch %d at offset %d, the cache says %d", b.ID, r.TP, batch.LeaderEpoch, batch.BaseOffset, l.Epochs.EpochAt(batch.BaseOffset))
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
	reg := s.Controller.Image.partition(tp)
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
		if r.LeaderEpoch == reg.LeaderEpoch && (r.PartitionEpoch == reg.PartitionEpoch || r.Change.Kind != NoChange) {
			for _, id := range reg.ISR {
				c.require(r.inMaximalISR(id), 16, "%v: %d is in the controller's ISR %v but not in the leader's maximal ISR %v", tp, id, reg.ISR, r.ISR)
			}
		}
	}
}

// clean tells whether a partition has had neither an unclean election nor a loss on disk.
func (c *checker) clean(tp TopicPartition) bool {
	t := c.s.Truth.partition(c.s, tp)
	return !t.Unclean && !t.DiskLoss
}

// matching is invariant 7: what two replicas hold at one offset in one epoch is the same.
func (c *checker) matching(tp TopicPartition) {
	if c.s.Truth.partition(c.s, tp).DiskLoss {
		return
	}
	reg := c.s.Controller.Image.partition(tp)
	for i, a := range reg.Replicas {
		for _, b := range reg.Replicas[i+1:] {
			x, y := c.s.broker(a).replica(tp), c.s.broker(b).replica(tp)
			if x == nil || y == nil {
				continue
			}
			x.Log.Batches(min(x.Log.End, y.Log.End)-tail, func(p *partlog.Batch) bool {
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
		len(p.Records) == len(q.Records)
}

// committed is invariants 9 and 10: every record below the high watermark of any broker that believes to
// lead is on every member of the controller's ISR, and of its ELR.
func (c *checker) committed(tp TopicPartition) {
	if !c.clean(tp) {
		return
	}
	reg := c.s.Controller.Image.partition(tp)
	for i := range c.s.Brokers {
		r := c.s.Brokers[i].replica(tp)
		if r == nil || r.Role != Leader {
			continue
		}
		hw := r.Log.HighWatermark
		for k, id := range slices.Concat(reg.ISR, reg.ELR) {
			invariant := 9
			if k >= len(reg.ISR) {
				invariant = 10
			}
			m := c.s.broker(id).replica(tp)
			if m == nil || m.Log.End < hw {
				c.require(hw == 0, invariant, "%v: HW %d of leader %d is above the log end of member %d", tp, hw, r.Leader, id)
				continue
			}
			r.Log.Batches(max(r.Log.LogStart, hw-tail), func(p *partlog.Batch) bool {
				if p.BaseOffset >= hw {
					return false
				}
				q := m.Log.BatchAt(p.BaseOffset)
				c.require(q != nil && sameBatch(p, q), invariant, "%v: member %d lacks the record at offset %d below HW %d of leader %d", tp, id, p.BaseOffset, hw, r.Leader)
				return true
			})
		}
	}
}

// acknowledged is invariant 12: no record acknowledged with acks=all is ever lost.
func (c *checker) acknowledged() {
	for i := range c.s.Truth.Acked {
		a := &c.s.Truth.Acked[i]
		c.require(!a.Lost || a.Acks != -1 || !c.clean(a.TP), 12, "%v: acknowledged with acks=all and lost: offset %d", a.TP, a.BaseOffset)
	}
}

// Watch remembers a state and checks what may change: invariants 3, 11, 14, 15, 22 and 24.
type Watch struct {
	partitions []PartitionRegistration // by number
	brokers    []BrokerRegistration
	replicas   [][]replicaMark // by broker
	exposed    []int64         // by partition number: the highest high watermark any leader has had
}

type replicaMark struct {
	tp       TopicPartition
	role     Role
	epoch    int32
	hw       int64
	logStart int64
	end      int64
	isr      int
}

// NewWatch begins to watch a state.
func NewWatch(s *State) *Watch {
	w := &Watch{}
	w.remember(s)
	return w
}

// Observe checks a state against the one before and against itself, and remembers it.
func (w *Watch) Observe(s *State) []Violation {
	c := &checker{s: s}
	for len(w.exposed) < len(s.Truth.Partitions) {
		w.exposed = append(w.exposed, 0)
	}
	for _, tp := range s.Controller.Image.all() {
		n := s.ordinal(tp)
		if n < len(w.partitions) {
			c.partitionStep(tp, &w.partitions[n])
		}
		w.expose(c, n, tp)
	}
	for i := range s.Controller.Image.Brokers {
		old, now := &w.brokers[i], &s.Controller.Image.Brokers[i]
		c.require(now.Epoch >= old.Epoch && (now.Epoch == old.Epoch || now.Fenced), 22, "broker %d: epoch %d after %d, fenced %v", now.ID, now.Epoch, old.Epoch, now.Fenced)
	}
	for i := range s.Brokers {
		for _, old := range w.replicas[i] {
			if r := s.Brokers[i].replica(old.tp); r != nil {
				c.replicaStep(&s.Brokers[i], r, &old)
			}
		}
	}
	w.remember(s)
	return append(c.list, s.Check()...)
}

// partitionStep is invariants 3 and 20: epochs grow as they may, and a leader is chosen from the ISR, or
// from the ELR when the ISR is empty; otherwise the election is marked unclean, and the topic or the last
// known leader must allow it.
func (c *checker) partitionStep(tp TopicPartition, old *PartitionRegistration) {
	now := c.s.Controller.Image.partition(tp)
	pe, e := now.PartitionEpoch-old.PartitionEpoch, now.LeaderEpoch-old.LeaderEpoch
	c.require(pe >= 0 && e >= 0 && e <= pe, 3, "%v: E %d after %d, PE %d after %d", tp, now.LeaderEpoch, old.LeaderEpoch, now.PartitionEpoch, old.PartitionEpoch)
	if e == 0 || now.Leader == NoNode || pe != 1 {
		return
	}
	moved := len(old.Adding)+len(old.Removing) > 0 && slices.Contains(now.ISR, now.Leader) // the change that completes a reassignment
	clean := slices.Contains(old.ISR, now.Leader) || slices.Contains(old.ELR, now.Leader) || moved
	marked := now.Recovering && len(now.ISR) == 1 && len(now.ELR) == 0
	lastKnown := c.s.World.ELR && slices.Equal(old.LastKnownELR, []NodeID{now.Leader})
	allowed := c.s.Controller.Image.Topics[tp.Topic].Props.UncleanLeaderElectionEnable || lastKnown || c.s.Truth.partition(c.s, tp).Asked
	c.require(clean || marked && allowed, 20, "%v: leader %d was elected from ISR %v, ELR %v, last known %v", tp, now.Leader, old.ISR, old.ELR, old.LastKnownELR)
}

// expose is invariant 11: a leader that begins has every record that any leader has ever exposed.
func (w *Watch) expose(c *checker, n int, tp TopicPartition) {
	for i := range c.s.Brokers {
		b := &c.s.Brokers[i]
		r := b.replica(tp)
		if r == nil || r.Role != Leader {
			continue
		}
		newest := r.LeaderEpoch == c.s.Controller.Image.partition(tp).LeaderEpoch
		if newest && c.clean(tp) {
			c.require(r.Log.End >= w.exposed[n], 11, "%v: leader %d ends at %d, HW %d was exposed", tp, b.ID, r.Log.End, w.exposed[n])
		}
		w.exposed[n] = max(w.exposed[n], r.Log.HighWatermark)
	}
}

// replicaStep is invariants 14, 15 and 24.
func (c *checker) replicaStep(b *Broker, r *Replica, old *replicaMark) {
	if r.Role == Leader && old.role == Leader && r.LeaderEpoch == old.epoch {
		c.require(r.Log.HighWatermark >= old.hw, 14, "broker %d %v: HW %d after %d in epoch %d", b.ID, r.TP, r.Log.HighWatermark, old.hw, old.epoch)
		short := len(r.ISR) < b.Image.effectiveMinISR(r.TP) && old.isr < b.Image.effectiveMinISR(r.TP)
		c.require(!short || r.Log.HighWatermark == old.hw, 15, "broker %d %v: HW moved %d to %d with ISR %v", b.ID, r.TP, old.hw, r.Log.HighWatermark, r.ISR)
	}
	c.require(r.Log.LogStart >= old.logStart || r.Log.End < old.end, 24, "broker %d %v: log start %d after %d", b.ID, r.TP, r.Log.LogStart, old.logStart)
}

// remember keeps what the next Observe compares with.
func (w *Watch) remember(s *State) {
	for len(w.partitions) < len(s.Truth.Partitions) {
		w.partitions = append(w.partitions, PartitionRegistration{})
	}
	for _, tp := range s.Controller.Image.all() {
		w.partitions[s.ordinal(tp)] = *s.Controller.Image.partition(tp)
	}
	w.brokers = append(w.brokers[:0], s.Controller.Image.Brokers...)
	if w.replicas == nil {
		w.replicas = make([][]replicaMark, len(s.Brokers))
	}
	for i := range s.Brokers {
		marks := w.replicas[i][:0]
		for j := range s.Brokers[i].Replicas {
			r := &s.Brokers[i].Replicas[j]
			marks = append(marks, replicaMark{r.TP, r.Role, r.LeaderEpoch, r.Log.HighWatermark, r.Log.LogStart, r.Log.End, len(r.ISR)})
		}
		w.replicas[i] = marks
	}
}
