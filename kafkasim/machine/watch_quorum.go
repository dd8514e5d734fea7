package machine

import "fmt"

// Invariant 27: the metadata quorum is one, and forgets nothing. These are the properties of Kafka's
// RaftEventSimulationTest: MonotonicEpoch, MonotonicHighWatermark, SingleLeader, MajorityReachedHighWatermark,
// ConsistentCommittedData, and that neither a leader nor a truncation lacks what was committed.

// quorumMark is a controller as it was when it was last looked at.
type quorumMark struct {
	epoch       int32
	incarnation uint32
	hw          int64
	end         int64
	agreed      int64 // records of its log that were compared with the committed ones
}

// quorumWatch is what a Watch knows of the quorum.
type quorumWatch struct {
	marks     []quorumMark  // by controller
	leaders   []epochLeader // who has led, by epoch
	committed int
}

// clone is a quorumWatch for a clone of the world.
func (q *quorumWatch) clone() quorumWatch {
	return quorumWatch{append([]quorumMark(nil), q.marks...), append([]epochLeader(nil), q.leaders...), q.committed}
}

// quorumStep looks at the controllers after an event at one of them, or after a command (NoNode).
func (w *Watch) quorumStep(at NodeID) {
	if w.s.soleController() {
		return
	}
	q := &w.quorum
	if q.marks == nil {
		q.marks = make([]quorumMark, len(w.s.Controllers))
	}
	cut := false
	for i := range w.s.Controllers {
		if c := &w.s.Controllers[i]; at == NoNode || c.ID == at {
			cut = w.controllerStep(c, &q.marks[i]) || cut
		}
	}
	if n := len(w.s.decidedLog()); cut || n != q.committed {
		q.committed = n
		if text := w.s.minority(); text != "" {
			w.broken(27, "%s", text)
		}
	}
}

// controllerStep looks at one controller; true when its log was cut.
func (w *Watch) controllerStep(c *Controller, m *quorumMark) bool {
	q, end := &c.Quorum, int64(len(c.Log))
	if q.Epoch < m.epoch {
		w.broken(27, "controller %d: epoch %d after %d", c.ID, q.Epoch, m.epoch)
	}
	if q.HighWatermark < m.hw && c.Running && c.Incarnation == m.incarnation {
		w.broken(27, "controller %d: high watermark %d after %d", c.ID, q.HighWatermark, m.hw)
	}
	if q.State == QuorumLeader {
		w.quorumLeads(c)
	}
	cut := end < m.end
	m.agreed = min(m.agreed, end)
	if text := w.s.disagreement(c, m.agreed); text != "" {
		w.broken(27, "%s", text)
	}
	*m = quorumMark{q.Epoch, c.Incarnation, q.HighWatermark, end, min(max(m.agreed, q.HighWatermark), end)}
	return cut
}

// quorumLeads notes that a controller leads an epoch: nobody else has, and it has all that was committed.
func (w *Watch) quorumLeads(c *Controller) {
	q := &w.quorum
	n := len(q.leaders)
	for i := n - 1; i >= 0 && q.leaders[i].epoch >= c.Quorum.Epoch; i-- {
		if q.leaders[i].epoch == c.Quorum.Epoch {
			if q.leaders[i].broker != c.ID {
				w.broken(27, "controllers %d and %d lead epoch %d", q.leaders[i].broker, c.ID, c.Quorum.Epoch)
			}
			return
		}
	}
	q.leaders = append(q.leaders, epochLeader{c.Quorum.Epoch, c.ID})
	if len(c.Log) < len(w.s.decidedLog()) {
		w.broken(27, "controller %d leads epoch %d with a log that ends at %d, and %d records are committed", c.ID, c.Quorum.Epoch, len(c.Log), len(w.s.decidedLog()))
	}
}

// minority tells, in words, that what is committed is not on a majority of the controllers' logs.
func (s *State) minority() string {
	log := s.decidedLog()
	n := len(log)
	if n == 0 {
		return ""
	}
	have := 0
	for i := range s.Controllers {
		if l := s.Controllers[i].Log; len(l) >= n && l[n-1].Epoch == log[n-1].Epoch {
			have++
		}
	}
	if have < s.majority() {
		return fmt.Sprintf("%d of %d controllers have the %d committed records", have, len(s.Controllers), n)
	}
	return ""
}

// disagreement tells, in words, where a controller takes for committed what is not, from a record on.
func (s *State) disagreement(c *Controller, from int64) string {
	log, hw := s.decidedLog(), c.Quorum.HighWatermark
	switch {
	case hw > int64(len(c.Log)):
		return fmt.Sprintf("controller %d: high watermark %d above its log end %d", c.ID, hw, len(c.Log))
	case hw > int64(len(log)):
		return fmt.Sprintf("controller %d: high watermark %d, and %d records are committed", c.ID, hw, len(log))
	}
	for i := from; i < hw; i++ {
		if !sameRecord(&c.Log[i], &log[i]) {
			return fmt.Sprintf("controller %d: committed record %d is another one (epoch %d, not %d)", c.ID, i, c.Log[i].Epoch, log[i].Epoch)
		}
	}
	return ""
}

// sameRecord tells whether two records are copies of one.
func sameRecord(a, b *MetadataRecord) bool {
	return a.Epoch == b.Epoch && a.Kind == b.Kind && a.TP == b.TP && a.Name == b.Name && a.NextID == b.NextID && a.Leader == b.Leader &&
		a.Broker.ID == b.Broker.ID && a.Broker.Epoch == b.Broker.Epoch && a.Broker.Fenced == b.Broker.Fenced &&
		a.Partition.Leader == b.Partition.Leader && a.Partition.LeaderEpoch == b.Partition.LeaderEpoch && a.Partition.PartitionEpoch == b.Partition.PartitionEpoch
}

// quorum is invariant 27 as far as one moment shows it: no two leaders in one epoch, what is committed on a
// majority, and the newest of it the same for everybody who knows of it.
func (c *checker) quorum() {
	s := c.s
	if s.soleController() {
		return
	}
	text := s.minority()
	c.require(text == "", 27, "%s", text)
	for i := range s.Controllers {
		a := &s.Controllers[i]
		text := s.disagreement(a, max(a.Quorum.HighWatermark-tail, 0))
		c.require(text == "", 27, "%s", text)
		for j := range s.Controllers[:i] {
			b := &s.Controllers[j]
			c.require(a.Quorum.State != QuorumLeader || b.Quorum.State != QuorumLeader || a.Quorum.Epoch != b.Quorum.Epoch, 27,
				"controllers %d and %d lead epoch %d", b.ID, a.ID, a.Quorum.Epoch)
		}
	}
}
