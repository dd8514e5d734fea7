package machine

// calm is how long nothing must have happened before everything must be replicated (invariant 26), µs: an
// answer that was lost has been given up by then, and whoever backed off has asked again.
func (s *State) calm() int64 {
	c, slowest := &s.World.Broker, s.World.Latency
	for i := range s.Links {
		slowest = max(slowest, s.Links[i].Latency)
	}
	return (c.ReplicaSocketTimeoutMs+c.ReplicaFetchBackoffMs+4*c.ReplicaFetchWaitMaxMs)*1000 + 20*slowest
}

// Stuck is invariant 26: where an ISR is large enough and all its members can fetch, and nothing was written
// or done for long enough, all of them have everything, and all of it is committed.
func (w *Watch) Stuck(s *State) []Violation {
	if len(s.Holds)+len(s.Held) > 0 || s.Now-w.stirred < s.calm() {
		return nil
	}
	for i := range s.Links {
		if s.Links[i].Cut {
			return nil
		}
	}
	w.begin(s, nil)
	for _, tp := range s.decided().all() {
		if s.Now-w.part(tp).stirred >= s.calm() {
			w.stuck(tp)
		}
	}
	w.end()
	w.happened("", s.Now)
	return w.found
}

// stuck looks at one partition in a calm cluster.
func (w *Watch) stuck(tp TopicPartition) {
	reg := w.image.partition(tp)
	if reg.Leader == NoNode || len(reg.ISR) < w.image.effectiveMinISR(tp) && w.s.World.Rules.On(StrictMinISR) {
		return
	}
	for _, id := range reg.ISR {
		if b := w.s.broker(id); !b.serves() || b.Paused {
			return
		}
	}
	leader := w.s.broker(reg.Leader).replica(tp)
	if leader == nil || leader.Role != Leader {
		w.broken(26, "%s: broker %d does not know that it leads", w.name(tp), reg.Leader)
		return
	}
	for _, id := range reg.ISR {
		r := w.s.broker(id).replica(tp)
		if r != nil && r.Log.End == leader.Log.End && leader.Log.HighWatermark == leader.Log.End && w.isUntold(id, r, leader.Log.HighWatermark) {
			continue
		}
		if r == nil || r.Log.End != leader.Log.End || r.Log.HighWatermark != leader.Log.End {
			end, hw := int64(-1), int64(-1)
			if r != nil {
				end, hw = r.Log.End, r.Log.HighWatermark
			}
			w.broken(26, "%s: broker %d of ISR %v has LEO %d and HW %d, leader %d has LEO %d", w.name(tp), id, reg.ISR, end, hw, reg.Leader, leader.Log.End)
		}
	}
}

// Untold is a follower's high watermark that its leader believes to have told: it came with word of where the logs
// part, from which a follower takes nothing else (R2.10), or too late, when the follower had been told of another
// epoch (R2.6). The leader's fetch session remembers what was sent
// (CachedPartition.maybeUpdateResponseData), and does not send it again until it changes: on an idle partition
// the follower stays behind, in Kafka as here.
type Untold struct {
	Broker        NodeID
	TP            TopicPartition
	HighWatermark int64
}

// untold keeps that for the followers.
func (w *Watch) untold() {
	for _, u := range w.s.Untold {
		if j, found := w.s.broker(u.Broker).findReplica(u.TP); found && j < len(w.marks[u.Broker-1]) {
			w.marks[u.Broker-1][j].untold = u.HighWatermark + 1
		}
	}
	w.s.Untold = w.s.Untold[:0]
}

// isUntold tells whether a high watermark is one that the leader of a follower does not send again.
func (w *Watch) isUntold(id NodeID, r *Replica, hw int64) bool {
	j, found := w.s.broker(id).findReplica(r.TP)
	return found && r.Role == Follower && j < len(w.marks[id-1]) && w.marks[id-1][j].untold == hw+1
}
