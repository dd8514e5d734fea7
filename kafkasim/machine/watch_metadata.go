package machine

import "slices"

// What a Watch looks at when the controller has written: each record as a change, and what it has touched.

// newRecords looks at the metadata records since the last time.
func (w *Watch) newRecords() {
	log := w.s.decidedLog()
	if w.records >= int64(len(log)) {
		return
	}
	first := w.records
	for ; w.records < int64(len(log)); w.records++ {
		w.record(&log[w.records])
	}
	w.stirred = w.s.Now
	w.grow(w.s)
	for i := first; i < w.records; i++ {
		switch r := &log[i]; r.Kind {
		case PartitionRecord, PartitionChangeRecord:
			w.partition(r.TP)
		case RegisterBrokerRecord, BrokerRegistrationChangeRecord, UnregisterBrokerRecord:
			w.inactive(r.Broker.ID)
		}
	}
	w.byProposal(first)
}

// record looks at one record as a change: invariants 3, 20, 22, and those of the ISR's members when it has
// grown.
func (w *Watch) record(r *MetadataRecord) {
	switch r.Kind {
	case RegisterBrokerRecord, BrokerRegistrationChangeRecord:
		w.registered(w.image.broker(r.Broker.ID), &r.Broker)
	case PartitionChangeRecord:
		if old := w.image.partition(r.TP); old != nil {
			w.proposed(r.TP, old)
			w.changed(r.TP, old, &r.Partition)
		}
	}
	w.image.apply(r)
}

// registered is invariant 22: broker epochs grow, and a new one begins fenced; it is unfenced only when the
// broker has read its own registration.
func (w *Watch) registered(old, now *BrokerRegistration) {
	if now.Epoch < old.Epoch || now.Epoch == old.Epoch && now.Incarnation != old.Incarnation {
		w.broken(22, "broker %d: epoch %d after %d", now.ID, now.Epoch, old.Epoch)
	}
	if now.Epoch > old.Epoch && !now.Fenced {
		w.broken(22, "broker %d: begins its epoch %d unfenced", now.ID, now.Epoch)
	}
	if !now.Fenced && old.Fenced && w.s.broker(now.ID).Image.Offset <= now.Epoch {
		w.broken(22, "broker %d: unfenced in epoch %d, and has read metadata up to %d only", now.ID, now.Epoch, w.s.broker(now.ID).Image.Offset)
	}
}

// changed is invariants 3 and 20: epochs grow as they may; a leader is chosen from the ISR, or from the
// eligible ones when the ISR is empty, and otherwise the election is marked unclean and somebody allows it.
func (w *Watch) changed(tp TopicPartition, old, now *PartitionRegistration) {
	pe, e := now.PartitionEpoch-old.PartitionEpoch, now.LeaderEpoch-old.LeaderEpoch
	if pe != 1 || e < 0 || e > 1 || now.Leader != old.Leader && e != 1 {
		w.broken(3, "%s: leader epoch %d after %d, partition epoch %d after %d, leader %d after %d", w.name(tp), now.LeaderEpoch, old.LeaderEpoch, now.PartitionEpoch, old.PartitionEpoch, now.Leader, old.Leader)
	}
	if now.Leader == NoNode || now.Leader == old.Leader {
		return
	}
	moved := len(old.Adding)+len(old.Removing) > 0 && slices.Contains(now.ISR, now.Leader) // a reassignment's last change
	clean := slices.Contains(old.ISR, now.Leader) || slices.Contains(old.ELR, now.Leader) || moved
	marked := now.Recovering && len(now.ISR) == 1 && len(now.ELR) == 0
	lastKnown := w.s.World.ELR && slices.Equal(old.LastKnownELR, []NodeID{now.Leader})
	allowed := w.image.Topics[tp.Topic].Props.UncleanLeaderElectionEnable || lastKnown || w.s.Truth.partition(w.s, tp).Asked
	if !clean && !(marked && allowed) {
		w.broken(20, "%s: leader %d was elected from ISR %v, ELR %v, last known leader %v", w.name(tp), now.Leader, old.ISR, old.ELR, old.LastKnownELR)
	}
}

// proposed is invariant 16 for what an AlterPartition is about to change: the leader knew what it changes.
func (w *Watch) proposed(tp TopicPartition, old *PartitionRegistration) {
	if w.event == nil {
		return
	}
	m, _ := w.event.Payload.(AlterPartitionRequest)
	for i := range m.Parts {
		if x := &m.Parts[i]; x.TP == tp && (x.PartitionEpoch != old.PartitionEpoch || x.LeaderEpoch != old.LeaderEpoch) {
			w.broken(16, "%s: an ISR that was proposed in partition epoch %d and leader epoch %d was taken in %d and %d", w.name(tp),
				x.PartitionEpoch, x.LeaderEpoch, old.PartitionEpoch, old.LeaderEpoch)
		}
	}
}

// partition looks at a partition that the controller has changed, as it is after the whole batch of records:
// invariants 1, 2, 9, 10, 16, 19, 20 and 21.
func (w *Watch) partition(tp TopicPartition) {
	reg := w.image.partition(tp)
	if reg == nil {
		return // deleted since
	}
	c := checker{s: w.s}
	c.registration(tp)
	w.found = append(w.found, c.list...)
	if !w.s.clean(tp) {
		p := w.part(tp)
		p.exposed, p.high = nil, 0
		return
	}
	for _, id := range reg.ISR {
		w.memberOf(tp, id, 9)
	}
	if w.s.eligibleHold(tp) {
		for _, id := range reg.eligible() {
			w.memberOf(tp, id, 10)
		}
	}
	if reg.Leader != NoNode {
		if b := w.s.broker(reg.Leader); b.replica(tp) != nil && b.replica(tp).Role == Leader {
			w.maximalISR(b, b.replica(tp))
		}
	}
}

// inactive is invariants 19 and 20 for a broker that may have gone: it leads nothing, and is in no ISR with a
// leader.
func (w *Watch) inactive(id NodeID) {
	if w.image.broker(id).active() {
		return
	}
	for t := range w.image.Topics {
		for p := range w.image.Topics[t].Partitions {
			reg, tp := &w.image.Topics[t].Partitions[p], TopicPartition{int32(t), int32(p)}
			if reg.Leader == id {
				w.broken(20, "%s: leader %d is fenced or shutting down", w.name(tp), id)
			} else if reg.Leader != NoNode && slices.Contains(reg.ISR, id) && w.s.World.Rules.On(FencedStayOut) {
				w.broken(19, "%s: %d is in ISR %v and is fenced or shutting down", w.name(tp), id, reg.ISR)
			}
		}
	}
}

// byProposal is invariant 19 for what an AlterPartition has changed: every member of the new ISR is in the
// life in which the leader heard of it.
func (w *Watch) byProposal(first int64) {
	if w.event == nil {
		return
	}
	m, ok := w.event.Payload.(AlterPartitionRequest)
	if !ok {
		return
	}
	for i := first; i < w.records; i++ {
		r := &w.s.decidedLog()[i]
		k := slices.IndexFunc(m.Parts, func(p AlterPart) bool { return p.TP == r.TP })
		if r.Kind != PartitionChangeRecord || k < 0 {
			continue
		}
		for _, x := range m.Parts[k].ISR {
			if reg := w.image.broker(x.ID); x.Epoch != -1 && x.Epoch != reg.Epoch {
				w.broken(19, "%s: %d came into the ISR by its broker epoch %d, and is in epoch %d", w.name(r.TP), x.ID, x.Epoch, reg.Epoch)
			}
		}
	}
}
