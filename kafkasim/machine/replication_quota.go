package machine

import (
	"strconv"
	"strings"
)

// Throttled replication (KIP-73): so that moving partitions leaves room for the clients.
//
// A topic's property names the replicas that are throttled, a broker's says how fast. A leader that is over its rate
// leaves throttled partitions out of an answer to a follower, a follower that is over its own does not ask for them.
// Neither holds back a replica that is in sync, so that no ISR shrinks for it; what it copies still counts.
//
// Kafka: ReplicationQuotaManager, ReplicaManager.shouldLeaderThrottle, RemoteLeaderEndPoint.shouldFollowerThrottle,
// DelayedFetch. Simplified: bytes are those of batches; the headers of answers are not counted.

// lists tells whether a list of throttled replicas, "partition:broker,…" or "*", has a partition on a broker.
func lists(list string, partition int32, broker NodeID) bool {
	if list == "*" {
		return true
	}
	want := strconv.Itoa(int(partition)) + ":" + strconv.Itoa(int(broker))
	for list != "" {
		one, rest, _ := strings.Cut(list, ",")
		if strings.TrimSpace(one) == want {
			return true
		}
		list = rest
	}
	return false
}

func (s *State) replicationWindows() windows {
	return windows{max(s.World.Broker.ReplicationQuotaWindowNum, 1), max(s.World.Broker.ReplicationQuotaWindowSizeSeconds, 1) * 1000}
}

// leaderQuota is whether a partition is throttled on this broker as a leader.
func (b *Broker) leaderQuota(tp TopicPartition) bool {
	l := b.Image.Topics[tp.Topic].Props.LeaderThrottled
	return l != "" && lists(string(l), tp.Partition, b.ID)
}

// followerQuota is whether a partition is throttled on this broker as a follower.
func (b *Broker) followerQuota(tp TopicPartition) bool {
	l := b.Image.Topics[tp.Topic].Props.FollowerThrottled
	return l != "" && lists(string(l), tp.Partition, b.ID)
}

// leaderThrottles tells whether a leader gives a follower nothing of a partition now.
func (s *State) leaderThrottles(b *Broker, r *Replica, fetcher NodeID) bool {
	if fetcher == NoNode || !b.leaderQuota(r.TP) || r.inISR(fetcher) && !s.mutant(ThrottlesInSync) {
		return false
	}
	bound := b.Image.Quota(QuotaEntity{Broker: b.ID}).Leader
	return bound > 0 && b.Quotas.Leader.exceeds(s.replicationWindows(), s.Now/ms, bound, true)
}

// inISR tells whether a broker is in the leader's committed ISR.
func (r *Replica) inISR(id NodeID) bool {
	for _, x := range r.ISR {
		if x == id {
			return true
		}
	}
	return false
}

// countSent counts what a leader sends of throttled partitions to a follower.
func (s *State) countSent(b *Broker, results []FetchResult) {
	bytes := int64(0)
	for i := range results {
		if res := &results[i]; len(res.Batches) > 0 && b.leaderQuota(res.TP) {
			for j := range res.Batches {
				bytes += int64(res.Batches[j].Size)
			}
		}
	}
	if bytes > 0 {
		b.Quotas.Leader.record(s.replicationWindows(), s.Now/ms, bytes)
	}
}

// followerThrottles tells whether a follower does not ask for a partition now. It is in sync when it had all that
// the leader had committed at the last answer with records, or the first
// of its leader's epoch; before any it is not.
func (s *State) followerThrottles(b *Broker, r *Replica) bool {
	if !b.followerQuota(r.TP) || r.CaughtUp {
		return false
	}
	bound := b.Image.Quota(QuotaEntity{Broker: b.ID}).Follower
	return bound > 0 && b.Quotas.Follower.exceeds(s.replicationWindows(), s.Now/ms, bound, true)
}

// countCopied counts what a follower has copied of a throttled partition, and notes whether it has caught up.
func (s *State) countCopied(b *Broker, r *Replica, res *FetchResult, n int) {
	if n > 0 && b.followerQuota(r.TP) {
		bytes := int64(0)
		for i := range res.Batches[:n] {
			bytes += int64(res.Batches[i].Size)
		}
		b.Quotas.Follower.record(s.replicationWindows(), s.Now/ms, bytes)
	}
	if n > 0 || !r.Aligned { // an empty answer changes nothing that is known (PartitionFetchState.lag)
		r.CaughtUp = r.Log.End >= res.HighWatermark
	}
}
