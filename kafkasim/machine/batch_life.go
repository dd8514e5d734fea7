package machine

import "kafkalab/kafkasim/partlog"

// BatchLife is what a producer knows of a batch that one of its records went to.
type BatchLife struct {
	BatchOutcome
	Serial int32
	Index  int32 // of the record in the batch
	Size   int32 // bytes, as it was last sent; 0 once nothing of it is in memory
	Tries  []Try // attempts that failed
}

// BatchLives are the batches that the record with this number went to: one, unless the first was cut up (P-67). There
// is none while the send() is blocked, or was when the producer crashed.
func (s *State) BatchLives(producer int32, number int64) []BatchLife {
	p := &s.Producers[producer]
	if number >= p.Placed {
		return nil
	}
	run := p.Runs.find(number)
	var lives []BatchLife
	serial, index := run.Batch, run.Index+int32(number-run.First)
	for {
		o := p.Outcomes.at(serial)
		life := BatchLife{BatchOutcome: *o, Serial: serial, Index: index}
		life.Records = *p.records(serial)
		life.Count = life.Records.Count
		for i := range p.Live {
			if b := &p.Live[i]; b.Status != batchFree && b.Batch.Serial == serial {
				life.Size = b.Batch.Size
			}
		}
		for _, t := range p.Outcomes.Tries {
			if t.Serial == serial {
				life.Tries = append(life.Tries, t)
			}
		}
		lives = append(lives, life)
		if o.Split == 0 {
			return lives
		}
		for serial = o.Split; index >= p.Outcomes.at(serial).Count; serial++ {
			index -= p.Outcomes.at(serial).Count
		}
	}
}

// BlockedFor is what the send() with this number waits for.
func (s *State) BlockedFor(producer int32, number int64) Wait {
	p := &s.Producers[producer]
	if p.Blocked.number(number) == nil {
		return WaitNothing
	}
	return p.Blocked.For
}

// SameRecords tells whether two batches hold the same records in memory: one is a copy of the other's batch.
func SameRecords(a, b *partlog.Records) bool {
	return a.Count > 0 && a.Count == b.Count && a.Start() == b.Start()
}
