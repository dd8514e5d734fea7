package machine

import "slices"

// Client quotas, on the broker that is asked.
//
// A broker counts what a client sends and fetches. One that is above its quota is answered, with the time that it is
// to be silent in the answer (throttle_time_ms), and for so long the broker reads nothing from that connection; a
// well-behaved client sends nothing in the meantime (KIP-219). A fetch above the quota is answered empty.
//
// Kafka: ClientQuotaManager, ThrottledChannel, KafkaApis.handleProduceRequest and handleFetchRequest. KIP-13, KIP-219.
// The oracle's dc1 has throttle times of a real broker. The time that requests cost is request_quota.go,
// what the controller is asked to make mutation_quota.go.

// BrokerQuotas are a broker's counts for quotas; they end with its process.
type BrokerQuotas struct {
	Clients          []ClientRate // in the order of first use
	Leader, Follower Rate         // of throttled replication
}

// ClientRate is what the traffic of an entity counts.
type ClientRate struct {
	Entity            QuotaEntity
	Produced, Fetched Rate // bytes
	Worked            Rate // ns of request handler threads
}

// UnthrottleTimer: a broker reads a throttled connection again.
type UnthrottleTimer struct {
	Node NodeID
	Conn uint32
}

func (UnthrottleTimer) payload() {}

func (q *BrokerQuotas) unshare() {
	q.Clients = slices.Clone(q.Clients)
	for i := range q.Clients {
		x := &q.Clients[i]
		x.Produced, x.Fetched, x.Worked = x.Produced.clone(), x.Fetched.clone(), x.Worked.clone()
	}
	q.Leader, q.Follower = q.Leader.clone(), q.Follower.clone()
}

// rate finds an entity's counts.
func (q *BrokerQuotas) rate(e QuotaEntity) *ClientRate {
	for i := range q.Clients {
		if q.Clients[i].Entity == e {
			return &q.Clients[i]
		}
	}
	q.Clients = append(q.Clients, ClientRate{Entity: e})
	return &q.Clients[len(q.Clients)-1]
}

// ProbeClientID is the client id of raw requests.
const ProbeClientID = "probe"

// clientID is what a client calls itself in its requests.
func (s *State) clientID(n NodeID) string {
	switch {
	case n == AdminNode:
		return AdminClientID
	case n >= FirstProbe:
		return ProbeClientID
	}
	return s.client(n).Name
}

func (s *State) quotaWindows() windows {
	return windows{max(s.World.Broker.QuotaWindowNum, 1), max(s.World.Broker.QuotaWindowSizeSeconds, 1) * 1000}
}

func producerRate(q *Quota) int64 { return q.Producer }
func consumerRate(q *Quota) int64 { return q.Consumer }

// throttleProduce counts a ProduceRequest when it is answered, and says how long its sender is to be silent, in ms.
func (s *State) throttleProduce(b *Broker, from NodeID, bytes int64) int64 {
	bound, counts := s.boundOf(b, from, producerRate)
	if bound == 0 {
		return 0
	}
	r, w := &counts.Produced, s.quotaWindows()
	r.record(w, s.Now/ms, bytes)
	return s.throttled(r, w, bound)
}

// boundOf is a client's quota of a kind, 0 for none, and where its traffic counts.
func (s *State) boundOf(b *Broker, from NodeID, kind func(*Quota) int64) (int64, *ClientRate) {
	if len(b.Image.Quotas) == 0 || !from.IsClient() {
		return 0, nil
	}
	bound, who := b.Image.clientQuota(s.clientID(from), kind)
	if bound == 0 {
		return 0, nil
	}
	return bound, b.Quotas.rate(who)
}

func (s *State) throttled(r *Rate, w windows, bound int64) int64 {
	if !r.exceeds(w, s.Now/ms, bound, false) || s.mutant(QuotaNeverThrottles) {
		return 0
	}
	return r.throttleMs(w, s.Now/ms, bound)
}

// limitFetch lets a consumer's fetch ask for no more than its quota gives in all windows but one.
func (s *State) limitFetch(b *Broker, from NodeID, m *FetchRequest) {
	if len(b.Image.Quotas) == 0 || !from.IsClient() || m.Replica != NoNode {
		return
	}
	if bound, _ := b.Image.clientQuota(s.clientID(from), consumerRate); bound > 0 {
		w := s.quotaWindows()
		m.MaxBytes = min(m.MaxBytes, bound*int64(max(w.num-1, 1))*w.ms/1000)
		m.MinBytes = min(m.MinBytes, m.MaxBytes)
	}
}

// throttleFetch counts the answer to a consumer's fetch. Above the quota it is not sent, and does not count.
func (s *State) throttleFetch(b *Broker, d *DelayedFetch, results []FetchResult) int64 {
	if len(b.Image.Quotas) == 0 || d.Request.Replica != NoNode {
		return 0
	}
	wait := s.throttleWork(b, d.From, requestNs)
	bound, counts := s.boundOf(b, d.From, consumerRate)
	if bound == 0 {
		return wait
	}
	bytes := s.fetchSize(b, d, results)
	r, w := &counts.Fetched, s.quotaWindows()
	r.record(w, s.Now/ms, bytes)
	wait = max(wait, s.throttled(r, w, bound))
	if wait > 0 {
		r.record(w, s.Now/ms, -bytes)
	}
	return wait
}

// produceSize is how long a ProduceRequest is on the wire, without its length (message spec of version 13, header 2).
func (s *State) produceSize(from NodeID, m *ProduceRequest) int64 {
	if !from.IsClient() {
		return 0
	}
	const header, body, topic, part = 11, 9, 18, 8
	bytes, last := int64(header+len(s.clientID(from))+body+len(m.TransactionalID)), int32(-1)
	for i := range m.Parts {
		if t := m.Parts[i].TP.Topic; t != last {
			bytes, last = bytes+topic, t
		}
		bytes += part + int64(m.Parts[i].Batch.Size)
	}
	return bytes
}

// fetchSize is how long the answer to a fetch would be (FetchResponse.sizeOf). A consumer's limits cut in the middle
// of a batch, which the consumer then throws away (KIP-74), so an answer that does not reach the end is full.
func (s *State) fetchSize(b *Broker, d *DelayedFetch, results []FetchResult) int64 {
	const body, topic, part = 16, 18, 39
	left := min(d.Request.MaxBytes, fetchMaxBytes)
	total, last, at := int64(body), int32(-1), -1
	parts := s.fetchParts(b, d)
	for i := range results {
		res := &results[i]
		if res.TP.Topic != last {
			total, last = total+topic, res.TP.Topic
		}
		bytes := int64(0)
		for j := range res.Batches {
			bytes += int64(res.Batches[j].Size)
		}
		if r := b.replicaAfter(res.TP, &at); r != nil && bytes > 0 && i < len(parts) {
			next := res.Batches[len(res.Batches)-1].NextOffset()
			if more, _ := r.Log.Available(next, s.fetchBound(&r.Log, &d.Request), 1); more > 0 {
				bytes = max(bytes, min(parts[i].MaxBytes, left))
			}
		}
		left -= bytes
		total += part + bytes
	}
	return total
}

// replyThrottled answers a request and leaves its connection muted for so many ms (P-54).
func (s *State) replyThrottled(b *Broker, to NodeID, conn, correlation uint32, p Payload, wait int64) {
	if wait == 0 {
		s.sendAnswer(b, to, conn, correlation, p)
		return
	}
	if i, found := b.conn(to, conn); found && !b.Conns[i].Closed {
		s.countAnswer(b, to, p)
		s.send(b.ID, to, conn, correlation, p)
		s.muteFor(b, to, conn, wait)
	}
}

// muteFor unmutes a connection when the time of a throttled client is over.
func (s *State) muteFor(b *Broker, node NodeID, conn uint32, wait int64) {
	if s.mutant(QuotaLeavesUnmuted) {
		wait = 0
	}
	s.after(wait*ms, b.ID, UnthrottleTimer{Node: node, Conn: conn})
}

// onUnthrottle reads a connection again.
func (s *State) onUnthrottle(b *Broker, t UnthrottleTimer) {
	if i, found := b.conn(t.Node, t.Conn); found && !b.Conns[i].Closed {
		s.unmute(b, &b.Conns[i])
	}
}
