package machine

import "kafkalab/kafkasim/partlog"

// Producer state on the leader: how long a log remembers a producer (P-86, P-89).
//
// Kafka: ProducerStateManager.removeExpiredProducers, ProducerAppendInfo.checkSequence. A task looks for expired
// producers every ten minutes; here they go when somebody could notice, at the next append, if the task
// would have come by.

// producerExpirationCheckMs is producer.id.expiration.check.interval.ms.
const producerExpirationCheckMs = 600_000

// expireProducers drops what the log should not remember any more when a producer's batch comes.
func (s *State) expireProducers(r *Replica) {
	now := s.Now / ms
	look := now - now%producerExpirationCheckMs
	if s.World.Rules.Without(MarkerTimestamps) {
		r.Log.ExpireWithoutMarkers(look, s.World.Broker.ProducerIDExpirationMs)
	} else {
		r.Log.ExpireProducers(look - s.World.Broker.ProducerIDExpirationMs)
	}
	if s.World.Rules.Without(StateOutlastsRecords) {
		r.Log.ForgetRemoved()
	}
}

// unknownProducer tells whether a batch of a producer without state is refused for its sequence. Since 2.5 any first
// sequence will do (P-86).
func (s *State) unknownProducer(r *Replica, b *partlog.Batch) bool {
	return s.World.Rules.Without(AnyFirstSequence) && b.BaseSequence != 0 && !r.Log.Knows(b.ProducerID)
}

// verdict is what the log says to a batch of an idempotent producer (P-84, P-85).
func (s *State) verdict(r *Replica, b *partlog.Batch) (partlog.Verdict, partlog.SeenBatch) {
	verdict, seen := r.Log.CheckSequence(b)
	switch m := s.World.Mutant; {
	case m == AppendsDuplicates && verdict == partlog.Duplicate, m == IgnoresSequence && verdict == partlog.OutOfOrder,
		m == TakesOldEpochs && verdict == partlog.StaleEpoch:
		return partlog.Append, seen
	case m == DuplicatesAtEnd && verdict == partlog.Duplicate:
		seen.BaseOffset = r.Log.End
	}
	return verdict, seen
}
