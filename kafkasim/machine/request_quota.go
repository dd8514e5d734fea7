package machine

// The quota of request time, on the broker that is asked.
//
// request_percentage says how much of one request handler thread a client may keep busy: 100 is one thread all the
// time. What a broker's threads spend on its requests counts, and one that is above its quota is muted until the
// rate is down again, but never longer than one window. Brokers' own requests (fetches of followers, markers) are
// exempt, and so are produce requests without an answer (acks=0).
//
// Here a request takes no time. What it would have cost is a model: requestNs for each, and appendNsPerKB for what a
// ProduceRequest brings to a log. A fetch costs no more than another request, because the kernel sends its bytes.
//
// Kafka: ClientRequestQuotaManager, QuotaUtils.boundedThrottleTime, RequestHandlerHelper. KIP-124, KIP-219.
// Simplified: answers other than those to Produce and Fetch do not say that the client is throttled; its next request
// is read when the time is over all the same.

const (
	requestNs     = 200_000 // ns of a handler for a request
	appendNsPerKB = 10_000  // ns more for each KiB that is appended
	percentNs     = 10_000  // ns/s in a thousandth of a per cent
)

func requestRate(q *Quota) int64 { return q.Work.Requests }

// throttleWork counts what a client's request cost, and says how long the client is to be silent, in ms.
func (s *State) throttleWork(b *Broker, from NodeID, cost int64) int64 {
	bound, counts := s.boundOf(b, from, requestRate)
	if bound == 0 {
		return 0
	}
	r, w := &counts.Worked, s.quotaWindows()
	r.record(w, s.Now/ms, cost)
	wait := s.throttled(r, w, bound*percentNs)
	if s.mutant(RequestThrottleUnbounded) {
		return wait
	}
	return min(wait, w.ms)
}
