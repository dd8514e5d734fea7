package machine

// ConsumerStats are a consumer's numbers since it was made, of which its metrics are computed. They are no part of a world's
// hash: they tell what has been, and nothing follows from them.
//
// Kafka: FetchMetricsManager, ConsumerCoordinatorMetrics, AbstractCoordinator.GroupCoordinatorMetrics, KafkaConsumerMetrics,
// RebalanceMetricsManager. Simplified: Kafka's averages and maxima are those of the last half minute.
type ConsumerStats struct {
	Born     int64 // µs
	Polls    int64
	LastPoll int64    // µs
	Between  Duration // from one poll to the next

	Fetch                   Duration // from a fetch to its answer
	Throttled, MaxThrottled int64    // ms that answers told it to be silent: sum, and most
	Bytes, MaxBytes         int64    // of batches in answers: sum, and most in one
	Records                 int64    // handed out
	MaxLag                  int64    // records behind the high watermark, of any partition at any answer
	MinLead                 int64    // … and before the log's start; -1 before the first
	Commit                  Duration // from a commit to its answer
	Heartbeat, Join, Sync   Duration // … and of these requests
	LastHeartbeat           int64    // µs of the last answer; 0 for none

	Rebalance       Duration // from the first JoinGroup, or the first sight of a target, to the assignment
	Failed          int64    // rebalances that came to nothing
	RebalanceBegan  int64    // µs; 0 for none under way
	LastRebalanceAt int64    // µs at which one ended; 0 for none
}

// Duration counts times: how many, their sum and the longest, µs.
type Duration struct{ Count, Sum, Max int64 }

func (d *Duration) add(us int64) {
	d.Count++
	d.Sum += us
	d.Max = max(d.Max, us)
}

func (x *ConsumerStats) polled(now int64) {
	if x.Polls > 0 {
		x.Between.add(now - x.LastPoll)
	}
	x.Polls++
	x.LastPoll = now
}

// answered counts what an answer tells.
func (x *ConsumerStats) answered(r *Request, answer Payload, now int64) {
	after := now - r.SentAt
	switch a := answer.(type) {
	case FetchResponse:
		x.Fetch.add(after)
		x.Throttled += a.ThrottleMs
		x.MaxThrottled = max(x.MaxThrottled, a.ThrottleMs)
		size := int64(0)
		for i := range a.Parts {
			for j := range a.Parts[i].Batches {
				size += int64(a.Parts[i].Batches[j].Size)
			}
		}
		x.Bytes += size
		x.MaxBytes = max(x.MaxBytes, size)
	case OffsetCommitResponse:
		x.Commit.add(after)
	case HeartbeatResponse, ConsumerGroupHeartbeatResponse:
		x.Heartbeat.add(after)
		x.LastHeartbeat = now
	case JoinGroupResponse:
		x.Join.add(after)
	case SyncGroupResponse:
		x.Sync.add(after)
	}
}

// at notes how far a partition is from both ends of its log.
func (x *ConsumerStats) at(p *ConsumerPart) {
	if p.HighWatermark < 0 || p.Position < 0 {
		return
	}
	x.MaxLag = max(x.MaxLag, p.HighWatermark-p.Position)
	if lead := p.Position - p.LogStart; p.LogStart >= 0 && (x.MinLead < 0 || lead < x.MinLead) {
		x.MinLead = lead
	}
}

func (x *ConsumerStats) rebalanceBegins(now int64) {
	if x.RebalanceBegan == 0 {
		x.RebalanceBegan = now
	}
}

func (x *ConsumerStats) rebalanceEnds(now int64) {
	if x.RebalanceBegan != 0 {
		x.Rebalance.add(now - x.RebalanceBegan)
		x.RebalanceBegan, x.LastRebalanceAt = 0, now
	}
}

func (x *ConsumerStats) rebalanceFails() {
	if x.RebalanceBegan != 0 {
		x.Failed++
	}
}
