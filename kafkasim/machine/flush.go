package machine

// Flushing logs to disk, beside segment rolls and clean stops (R4.2).
//
// flush.messages flushes at an append that leaves so many records unflushed. flush.ms is looked at only by a
// task that runs every log.flush.scheduler.interval.ms, which is practically never by default: flush.ms alone
// does nothing, in Kafka too.
//
// Kafka: UnifiedLog.append, LogManager.flushDirtyLogs.

// FlushTimer: a broker looks for logs whose last flush is flush.ms ago.
type FlushTimer struct{}

func (FlushTimer) payload() {}

// appended flushes a log that has too much unflushed.
func (s *State) appended(b *Broker, r *Replica) {
	if r.Log.End-r.Log.Flushed >= b.Image.Topics[r.TP.Topic].Props.FlushMessages {
		s.flushLog(b, r)
	}
}

func (s *State) flushLog(b *Broker, r *Replica) {
	b.Costs.flushed(r.Log.End > r.Log.Flushed)
	r.Log.Flush()
	r.FlushedAt = s.Now
}

// startFlushing starts the flush task, if it ever runs.
func (s *State) startFlushing(b *Broker) {
	if every := s.World.Broker.LogFlushSchedulerIntervalMs; every < never/ms {
		s.after(every*ms, b.ID, FlushTimer{})
	}
}

func (s *State) onFlushTimer(b *Broker) {
	for i := range b.Replicas {
		r := &b.Replicas[i]
		if due := b.Image.Topics[r.TP.Topic].Props.FlushMs; (s.Now-r.FlushedAt)/ms >= due {
			s.flushLog(b, r)
		}
	}
	s.startFlushing(b)
}
