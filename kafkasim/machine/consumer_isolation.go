package machine

import (
	"slices"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
)

// Consumer, transactions: what a fetch brought and the application does not get (T-45 to T-48).
//
// Markers are handed to nobody. Under read_committed the broker sends nothing beyond the last stable offset, and with
// it the aborted transactions that overlap: their records travel, and are dropped here. The position moves past
// whatever is dropped.
//
// Kafka: CompletedFetch.nextFetchedRecord, consumeAbortedTransactionsUpTo, containsAbortMarker.

// committed tells whether the consumer reads under read_committed.
func (c *Consumer) committed() bool { return c.Config.IsolationLevel == config.ReadCommitted }

// skips tells whether the application does not get a batch, which is the next of the fetch.
func (f *CompletedFetch) skips(b *partlog.Batch, committed bool) bool {
	if !committed {
		return b.Control
	}
	for len(f.Aborted) > 0 && f.Aborted[0].First < b.NextOffset() {
		f.AbortedIDs = append(slices.Clip(f.AbortedIDs), f.Aborted[0].ProducerID)
		f.Aborted = f.Aborted[1:]
	}
	i := slices.Index(f.AbortedIDs, b.ProducerID)
	switch m, marker := b.Marker(); {
	case marker:
		if !m.Commit && i >= 0 {
			f.AbortedIDs = slices.Delete(slices.Clone(f.AbortedIDs), i, i+1)
		}
		return true
	case b.Control:
		return true
	}
	return b.Transactional && i >= 0
}

// behind is the position after a row of records that a poll returned: past the markers that follow it, too.
func (c *Consumer) behind(last *Polled) int64 {
	if p := c.part(last.TP); p != nil {
		return p.Position
	}
	return last.Offset + int64(last.To-last.From)
}
