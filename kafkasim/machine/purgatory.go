package machine

// The purgatories: where requests wait that cannot be answered yet.
//
// A request leaves when what it waits for happens, or at its deadline. One timer per broker stands for the
// earliest deadline.
//
// Kafka: DelayedOperationPurgatory, DelayedProduce, DelayedFetch.

// DelayedFetch is a fetch that waits in the purgatory.
type DelayedFetch struct {
	From              NodeID
	Conn, Correlation uint32
	Deadline          int64 // µs
	Request           FetchRequest
	Session           int32 // of a request that names only what has changed; 0 for a full one
}

// wakes tells whether a fetch that waits can be answered because something has happened to a partition. Where one
// byte is enough the other partitions need not be looked at: nothing has happened to them.
func (s *State) wakes(b *Broker, d *DelayedFetch, tp TopicPartition) bool {
	f := b.session(d.Session)
	if d.Session != 0 && f == nil {
		return true // evicted: nobody remembers what it asks for
	}
	p := d.part(f, tp)
	switch {
	case p == nil:
		return false
	case d.Request.MinBytes <= 1:
		return s.partsReady(b, &d.Request, []FetchPart{*p})
	}
	return s.fetchReady(b, d)
}

// part is what a fetch asks for a partition, nil for nothing.
func (d *DelayedFetch) part(f *FetchSession, tp TopicPartition) *FetchPart {
	if f != nil {
		if k, found := f.place(tp); found {
			return &f.Parts[k].FetchPart
		}
		return nil
	}
	for i := range d.Request.Parts {
		if d.Request.Parts[i].TP == tp {
			return &d.Request.Parts[i]
		}
	}
	return nil
}

// touches tells whether a produce request waits for a partition.
func (d *DelayedProduce) touches(tp TopicPartition) bool {
	for i := range d.Parts {
		if d.Parts[i].Waiting && d.Parts[i].Result.TP == tp {
			return true
		}
	}
	return false
}

// completeProduces tries the produce requests that wait for a partition (R1.16).
func (s *State) completeProduces(b *Broker, tp TopicPartition) {
	kept := b.Produces[:0]
	for i := range b.Produces {
		d := b.Produces[i]
		if !d.touches(tp) || !s.tryProduce(b, &d) {
			kept = append(kept, d)
		}
	}
	clear(b.Produces[len(kept):])
	b.Produces = kept
}

// completeFetches tries the fetches that wait for a partition (R1.32, R2.5).
func (s *State) completeFetches(b *Broker, tp TopicPartition) {
	kept := b.Fetches[:0]
	for i := range b.Fetches {
		d := b.Fetches[i]
		if !s.wakes(b, &d, tp) {
			kept = append(kept, d)
			continue
		}
		s.finishFetch(b, &d)
	}
	clear(b.Fetches[len(kept):])
	b.Fetches = kept
}

// highWatermarkMoved lets requests go that waited for the high watermark of a partition.
func (s *State) highWatermarkMoved(b *Broker, tp TopicPartition) {
	if !s.mutant(ForgetsPurgatory) {
		s.completeProduces(b, tp)
	}
	s.completeFetches(b, tp)
	s.shareNews(b)
}

// onPurgatoryTimer ends the requests whose time is over: a produce with REQUEST_TIMED_OUT for what still
// waits (R1.14), a fetch with whatever there is. What was appended stays in the log and may still be
// committed (R4.7).
func (s *State) onPurgatoryTimer(b *Broker, e Event) {
	if e.At != b.PurgatoryAt {
		return
	}
	b.PurgatoryAt = 0
	s.expireProduces(b)
	s.expireFetches(b)
	s.expireDeletes(b)
}

func (s *State) expireProduces(b *Broker) {
	kept := b.Produces[:0]
	for i := range b.Produces {
		d := b.Produces[i]
		if d.Deadline > s.Now {
			kept = append(kept, d)
			s.wake(&b.PurgatoryAt, d.Deadline, b.ID, PurgatoryTimer{})
			continue
		}
		for j := range d.Parts {
			if p := &d.Parts[j]; p.Waiting {
				p.Result.Error, p.Result.BaseOffset, p.Result.LogStartOffset = REQUEST_TIMED_OUT, -1, -1
				s.refused(b, p.Result.TP, REQUEST_TIMED_OUT)
			}
		}
		s.finishProduce(b, &d)
	}
	clear(b.Produces[len(kept):])
	b.Produces = kept
}

func (s *State) expireFetches(b *Broker) {
	kept := b.Fetches[:0]
	for i := range b.Fetches {
		d := b.Fetches[i]
		if d.Deadline > s.Now {
			kept = append(kept, d)
			s.wake(&b.PurgatoryAt, d.Deadline, b.ID, PurgatoryTimer{})
			continue
		}
		s.finishFetch(b, &d)
	}
	clear(b.Fetches[len(kept):])
	b.Fetches = kept
}
