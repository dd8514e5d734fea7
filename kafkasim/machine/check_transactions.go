package machine

import (
	"slices"

	"kafkalab/kafkasim/partlog"
)

// Invariants of transactions: 28 to 31, and 33. They are read off the logs of leaders, as a reader would, and what
// coordinators know.

// transactions checks every leader's log, and what coordinators know.
func (c *checker) transactions() {
	var ends []txnEnd
	known := c.s.coordinated()
	for i := range c.s.Brokers {
		b := &c.s.Brokers[i]
		for j := range b.Replicas {
			if r := &b.Replicas[j]; r.Role == Leader && len(r.Log.Producers) > 0 && c.leads(b.ID, r.TP) {
				ends = c.transactionsOf(r, ends)
				c.hanging(r, known)
			}
		}
		c.coordinators(b)
	}
}

// leads tells whether the controller has a broker as a partition's leader.
func (c *checker) leads(id NodeID, tp TopicPartition) bool {
	reg := c.s.decided().partition(tp)
	return reg != nil && reg.Leader == id
}

// txnEnd is a marker, as an outcome of a producer's epoch.
type txnEnd struct {
	id     int64
	epoch  int16
	commit bool
	tp     TopicPartition
}

// transactionsOf is one leader's log: the last stable offset is at or below the high watermark and the first record
// without a marker (28); neither a producer's epoch nor its coordinator's goes back, so who is fenced has written nothing
// (30); with transactions v2 all markers of one epoch say the same (31).
func (c *checker) transactionsOf(r *Replica, ends []txnEnd) []txnEnd {
	l := &r.Log
	type last struct {
		id          int64
		epoch       int16
		open        int64
		coordinator int32
	}
	var known []last
	find := func(b *partlog.Batch) *last {
		for i := range known {
			if known[i].id == b.ProducerID {
				return &known[i]
			}
		}
		known = append(known, last{b.ProducerID, b.ProducerEpoch, -1, -1})
		return &known[len(known)-1]
	}
	kept := c.s.decisionsKept()
	l.Batches(l.LogStart, func(b *partlog.Batch) bool {
		if b.ProducerID < 0 {
			return true
		}
		p := find(b)
		c.require(b.ProducerEpoch >= p.epoch, 30, "%v: producer %d wrote with epoch %d at offset %d, after epoch %d", r.TP, b.ProducerID, b.ProducerEpoch, b.BaseOffset, p.epoch)
		p.epoch = b.ProducerEpoch
		m, marker := b.Marker()
		switch {
		case marker:
			c.require(m.CoordinatorEpoch >= p.coordinator, 30, "%v: a coordinator of epoch %d wrote a marker of producer %d at offset %d, after epoch %d", r.TP, m.CoordinatorEpoch, b.ProducerID, b.BaseOffset, p.coordinator)
			p.open, p.coordinator = -1, m.CoordinatorEpoch
			if c.s.World.Rules.On(TransactionsV2) && c.s.clean(r.TP) && kept {
				ends = c.outcome(ends, txnEnd{b.ProducerID, b.ProducerEpoch, m.Commit, r.TP})
			}
		case b.Transactional && p.open < 0:
			p.open = b.BaseOffset
		}
		return true
	})
	stable := l.LastStable()
	c.require(stable <= l.HighWatermark, 28, "%v: last stable offset %d is above the high watermark %d", r.TP, stable, l.HighWatermark)
	for i := range known {
		c.require(known[i].open < 0 || stable <= known[i].open, 28, "%v: last stable offset %d is beyond offset %d, where producer %d has a transaction open", r.TP, stable, known[i].open, known[i].id)
	}
	return ends
}

// decisionsKept tells whether the coordinators' logs have lost nothing: who has forgotten a decision may decide anew.
func (s *State) decisionsKept() bool {
	t := s.decided().topic(TransactionStateTopic)
	for i := 0; t >= 0 && i < len(s.decided().Topics[t].Partitions); i++ {
		if !s.clean(TopicPartition{t, int32(i)}) {
			return false
		}
	}
	return true
}

// outcome compares a marker with those of the same epoch elsewhere.
func (c *checker) outcome(ends []txnEnd, e txnEnd) []txnEnd {
	for _, o := range ends {
		if o.id == e.id && o.epoch == e.epoch {
			c.require(o.commit == e.commit, 31, "producer %d epoch %d: %s in %v, %s in %v", e.id, e.epoch, outcome(o.commit), o.tp, outcome(e.commit), e.tp)
			return ends
		}
	}
	return append(ends, e)
}

// coordinators is invariant 29: a transactional id is at one coordinator of the present epoch, with one producer id and
// at most one open transaction, which begins where it says.
func (c *checker) coordinators(b *Broker) {
	for i := range b.Shards {
		x := &b.Shards[i]
		if x.Kind != TransactionCoordinator || x.Loading || !c.leads(b.ID, x.TP) {
			continue
		}
		for j := range x.Transactions {
			t := &x.Transactions[j]
			c.require(t.State != TxnOngoing || len(t.Partitions) > 0 && t.StartedMs >= 0, 29, "transactional id %s is %v without partitions", t.ID, t.State)
			for k := range j {
				c.require(x.Transactions[k].ProducerID != t.ProducerID, 29, "transactional ids %s and %s have the same producer id %d", x.Transactions[k].ID, t.ID, t.ProducerID)
			}
		}
	}
}

// coordinated is what the coordinators of the present know, by producer id.
func (s *State) coordinated() []*TransactionMetadata {
	var list []*TransactionMetadata
	for i := range s.Brokers {
		b := &s.Brokers[i]
		for j := range b.Shards {
			if x := &b.Shards[j]; x.Kind == TransactionCoordinator && !x.Loading && s.clean(x.TP) && s.decided().partition(x.TP).Leader == b.ID {
				for k := range x.Transactions {
					list = append(list, &x.Transactions[k])
				}
			}
		}
	}
	return list
}

// hanging is invariant 33: a coordinator knows of every open transaction, and will end it.
func (c *checker) hanging(r *Replica, known []*TransactionMetadata) {
	if !c.s.clean(r.TP) || c.s.mayHang() {
		return
	}
	for _, o := range r.Log.Transactions.Open {
		for _, t := range known {
			if t.ProducerID == o.ProducerID {
				ends := t.State == TxnOngoing || t.State.Prepared()
				c.require(ends && slices.Contains(t.Partitions, r.TP), 33, "%v: producer %d has a transaction open at offset %d, and its coordinator does not know of it (%v)", r.TP, o.ProducerID, o.First, t.State)
			}
		}
	}
}

// mayHang tells whether transactions may hang by the rules: partition leaders do not ask the coordinator before they
// append (T-70).
func (s *State) mayHang() bool { return s.transactionsV1() && s.takesUnasked() }

// takesUnasked tells whether partition leaders trust clients of the first protocol.
func (s *State) takesUnasked() bool {
	return s.World.Rules.Without(VerifyTransactions) || !s.World.Broker.Transactions.VerifyPartitions
}
