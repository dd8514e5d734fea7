package machine

import "kafkalab/kafkasim/partlog"

// What a Watch looks at when brokers and clients talk: fetches that count, answers that promise, records that
// are handed out.

// Answer is what a broker has told a producer about one partition of a request, for whoever watches.
type Answer struct {
	Broker   NodeID
	TP       TopicPartition
	Error    Code
	Required int64 // the offset after the batch's last record
	All      bool  // acks=all
}

// promised notes an answer for whoever watches.
func (s *State) promised(b *Broker, parts []DelayedPart) {
	if !s.Watching {
		return
	}
	for i := range parts {
		p := &parts[i]
		s.Answers = append(s.Answers, Answer{b.ID, p.Result.TP, p.Result.Error, p.Required, !p.Waiting})
	}
}

// exchange looks at an event between brokers: a fetch that must not count (19), an answer that must have
// aligned the logs (8).
func (w *Watch) exchange() {
	switch m := w.event.Payload.(type) {
	case FetchRequest:
		if m.Replica != NoNode {
			w.credited(w.s.broker(w.event.To), &m)
		}
	case FetchResponse:
		w.aligned(w.s.broker(w.event.To), &m)
	}
}

// credited is invariant 19's second half: a leader credits no fetch from another epoch.
func (w *Watch) credited(b *Broker, m *FetchRequest) {
	for i := range m.Parts {
		p := &m.Parts[i]
		j, found := b.findReplica(p.TP)
		if !found {
			continue
		}
		r, mark := &b.Replicas[j], &w.marks[b.ID-1][j]
		if r.Role == Leader && mark.role == Leader && p.LeaderEpoch >= 0 && p.LeaderEpoch != r.LeaderEpoch && len(mark.remotes) == len(r.Remotes) {
			for k := range r.Remotes {
				x := &r.Remotes[k]
				was := mark.remotes[k]
				// A session that rested writes down earlier fetches now; only this one's time is now.
				if x.Broker == m.Replica && (x.End != was.end || x.LastFetch != was.at && x.LastFetch == w.s.Now) {
					w.broken(19, "%s: leader %d in epoch %d credited a fetch of %d from epoch %d", w.name(p.TP), b.ID, r.LeaderEpoch, m.Replica, p.LeaderEpoch)
				}
			}
		}
		mark.set(r)
	}
}

// aligned marks the followers that have had an undiverged answer in their epoch, and looks at their logs.
func (w *Watch) aligned(b *Broker, m *FetchResponse) {
	for i := range m.Parts {
		p := &m.Parts[i]
		j, found := b.findReplica(p.TP)
		if !found || p.Error != NONE || p.Diverging.Epoch >= 0 || len(p.Batches) == 0 {
			continue
		}
		r, mark := &b.Replicas[j], &w.marks[b.ID-1][j]
		last := &p.Batches[len(p.Batches)-1]
		if r.Role == Follower && r.Leader == w.event.From && r.Log.End == last.NextOffset() {
			mark.aligned = r.LeaderEpoch
			w.prefix(b, r)
		}
	}
}

// answers looks at what producers were told. A success with acks=all is below the high watermark, and at
// least the minimum of replicas held it (17); a refusal for too few replicas has appended nothing (18).
func (w *Watch) answers() {
	for i := range w.s.Answers {
		a := &w.s.Answers[i]
		r := w.s.broker(a.Broker).replica(a.TP)
		if a.Error != NONE || !a.All || r == nil || !w.s.clean(a.TP) {
			continue
		}
		if r.Log.HighWatermark < a.Required && w.event != nil {
			w.broken(17, "%s: leader %d acknowledged up to offset %d with acks=all, its HW is %d", w.name(a.TP), a.Broker, a.Required-1, r.Log.HighWatermark)
		}
		if w.event == nil {
			continue // a process that went on after a pause has done much at once, and may have cut since
		}
		x := r.Log.BatchAt(a.Required - 1)
		if x == nil && (a.Required <= r.Log.LogStart || w.s.compacted(a.TP, a.Required-1)) {
			continue // a repetition of what has gone since, by retention or compaction: nobody holds it any more
		}
		held := 0
		for _, id := range r.Replicas {
			if w.s.lossy(a.TP, id) {
				held++
			} else if m := w.s.broker(id).replica(a.TP); m != nil && x != nil {
				y := m.Log.BatchAt(a.Required - 1)
				if y != nil && sameBatch(x, y) || a.Required <= m.Log.LogStart || y == nil && w.s.broker(id).Incarnation > 1 {
					// It has it, or retention has been there, or it may have lost it since: this may be a repetition.
					held++
				}
			}
		}
		if need := w.s.broker(a.Broker).Image.effectiveMinISR(a.TP); held < need && w.s.World.Rules.On(StrictMinISR) {
			w.broken(17, "%s: leader %d acknowledged offset %d with acks=all, %d replicas hold it, the minimum is %d", w.name(a.TP), a.Broker, a.Required-1, held, need)
		}
	}
	w.s.Answers = w.s.Answers[:0]
}

// acknowledged is invariant 12: what a producer was told is written with acks=all is in the leader's log. A
// loss that comes later is in the books of the Truth, which is looked at when a leader has begun or a log was
// cut.
func (w *Watch) acknowledged() {
	t := &w.s.Truth
	for ; w.acked < len(t.Acked); w.acked++ {
		a := &t.Acked[w.acked]
		reg := w.image.partition(a.TP)
		if a.Acks != -1 || a.BaseOffset < 0 || reg == nil || reg.Leader == NoNode || !w.s.clean(a.TP) {
			continue
		}
		r := w.s.broker(reg.Leader).replica(a.TP)
		if r == nil || r.Role != Leader || r.LeaderEpoch != reg.LeaderEpoch || a.BaseOffset < r.Log.LogStart {
			continue
		}
		if b := r.Log.BatchAt(a.BaseOffset); b == nil && !w.s.compacted(a.TP, a.BaseOffset) || b != nil && (b.Sender != a.Sender || b.Serial != a.Serial) {
			w.broken(12, "%s: acknowledged with acks=all at offset %d, and leader %d does not have it", w.name(a.TP), a.BaseOffset, reg.Leader)
		}
	}
	for _, i := range w.s.Losses {
		if a := &t.Acked[i]; a.Acks == -1 && a.Lost && w.s.clean(a.TP) {
			w.broken(12, "%s: offset %d was acknowledged with acks=all, and the leader of epoch %d does not have it", w.name(a.TP), a.BaseOffset, w.image.partition(a.TP).LeaderEpoch)
		}
	}
	w.s.Losses = w.s.Losses[:0]
}

// client looks at what a client was sent: a consumer gets nothing but what was exposed (13).
func (w *Watch) client() {
	m, ok := w.event.Payload.(FetchResponse)
	if !ok || w.event.To >= FirstProbe {
		return
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Error != NONE || w.image.partition(p.TP) == nil || !w.s.clean(p.TP) {
			continue
		}
		for j := range p.Batches {
			w.delivered(p.TP, &p.Batches[j])
		}
	}
}

// delivered compares one batch that a consumer got with what was exposed at its offset.
func (w *Watch) delivered(tp TopicPartition, b *partlog.Batch) {
	p := w.part(tp)
	known, found := p.at(b.BaseOffset)
	switch {
	case found && known != markOf(b):
		w.broken(13, "%s: a consumer got offset %d of epoch %d; one of epoch %d was exposed there", w.name(tp), b.BaseOffset, b.LeaderEpoch, known.epoch)
	case !found && b.NextOffset() > w.most(tp):
		w.broken(13, "%s: a consumer got offset %d, no high watermark was above %d", w.name(tp), b.BaseOffset, w.most(tp))
	}
}

// parked is the part of invariant 26 that one broker answers for: no produce request waits for what has
// happened.
func (w *Watch) parked(b *Broker) {
	for i := range b.Produces {
		for j := range b.Produces[i].Parts {
			p := &b.Produces[i].Parts[j]
			if r := b.replica(p.Result.TP); p.Waiting && r != nil && r.Role == Leader && r.Log.HighWatermark >= p.Required {
				w.broken(26, "%s: leader %d has HW %d, and a produce request that waits for %d is not answered", w.name(r.TP), b.ID, r.Log.HighWatermark, p.Required)
			}
		}
	}
}
