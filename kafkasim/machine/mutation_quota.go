package machine

// The quota of mutations, on the controller.
//
// controller_mutation_rate says how many partitions a client may have made or deleted, a second. It is a bucket of
// tokens: it fills by the rate, holds what the rate gives in all windows (controller.quota.window.num of
// controller.quota.window.size.seconds), and every partition takes one. A request is refused while the bucket is below
// zero, and one that is not refused may take it there: so a topic of a thousand partitions can be made, and is paid
// for afterwards. Who is refused is told THROTTLING_QUOTA_EXCEEDED, and after how long the bucket is at zero again.
//
// Administrators' requests are those of Kafka's tools, which do not try again (retryOnQuotaViolation is off in them), and
// new enough to be refused (strict). Kafka: ControllerMutationQuotaManager, StrictControllerMutationQuota, TokenBucket,
// ReplicationControlManager (applyPartitionChangeQuota). KIP-599.

// AdminClientID is the client id of Kafka's tools.
const AdminClientID = "adminclient-1"

// MutationQuotas are a controller's buckets; they end with its reign.
type MutationQuotas struct {
	Buckets []TokenBucket // in the order of first use
}

// TokenBucket is what an entity may still do. Tokens are in millionths, so that thousandths a second for whole ms are
// exact.
type TokenBucket struct {
	Entity QuotaEntity
	Tokens int64
	At     int64 // ms: when they were counted
}

// ThrottleTime is how long somebody is to wait, in ms.
type ThrottleTime struct{ Ms int64 }

func mutationRate(q *Quota) int64 { return q.Work.Mutations }

// chargeMutations takes tokens for partitions that are to be made or deleted, or refuses.
func (s *State) chargeMutations(c *Controller, partitions int) Result {
	if len(c.Image.Quotas) == 0 {
		return Result{}
	}
	rate, who := c.Image.clientQuota(AdminClientID, mutationRate)
	if rate == 0 {
		return Result{}
	}
	t := c.Mutations.bucket(who)
	t.refill(rate, s.mutationBurst(rate), s.Now/ms)
	if t.Tokens < 0 && !s.mutant(MutationsUnchecked) {
		return Result{Error: THROTTLING_QUOTA_EXCEEDED, ID: -1, Throttle: ThrottleTime{(-t.Tokens*2 + rate) / (2 * rate)}}
	}
	t.Tokens -= int64(partitions) * 1_000_000
	return Result{}
}

// mutationBurst is what a bucket holds at most.
func (s *State) mutationBurst(rate int64) int64 {
	w := &s.World.Broker.ControllerQuota
	return rate * 1000 * int64(max(w.WindowNum, 1)) * max(w.WindowSizeSeconds, 1)
}

// bucket finds an entity's bucket; a new one is full.
func (q *MutationQuotas) bucket(e QuotaEntity) *TokenBucket {
	for i := range q.Buckets {
		if q.Buckets[i].Entity == e {
			return &q.Buckets[i]
		}
	}
	q.Buckets = append(q.Buckets, TokenBucket{Entity: e, At: never0 / ms})
	return &q.Buckets[len(q.Buckets)-1]
}

// refill adds what has come since the last time.
func (t *TokenBucket) refill(rate, burst, now int64) {
	if elapsed := now - t.At; elapsed >= (burst-t.Tokens)/rate { // full; and no overflow at the first time
		t.Tokens = burst
	} else {
		t.Tokens = min(burst, t.Tokens+rate*elapsed)
	}
	t.At = now
}
