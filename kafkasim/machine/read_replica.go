package machine

import (
	"slices"

	"kafkalab/kafkasim/config"
)

// Fetch from follower: which replica a consumer reads from (KIP-392).
//
// A consumer asks the leader first. A leader whose brokers look at racks (replica.selector.class) answers with the
// replica that is best for the consumer's rack, and without records; the consumer reads from that one for
// metadata.max.age.ms, until an error, or until there is another leader (C-50, C-51). A follower gives what lies below
// its own high watermark, which is behind the leader's (C-52, R1.30).
//
// Kafka: ReplicaManager.findPreferredReadReplica, RackAwareReplicaSelector, SubscriptionState.preferredReadReplica,
// AbstractFetch.selectReadReplica.

// preferredReplica is where a consumer had better read a partition that this broker leads, NoNode for here: the
// leader if it is in the consumer's rack; else, of those in it that are in sync and have the offset, the one with
// the highest log end, then the one that was caught up last, then the highest id.
func (s *State) preferredReplica(b *Broker, r *Replica, m *FetchRequest, offset int64) NodeID {
	if m.Replica != NoNode || m.Rack == "" || r.Role != Leader || !s.selectsByRack() || s.rack(b.ID) == m.Rack {
		return NoNode
	}
	var best *Remote
	for i := range r.Remotes {
		x := &r.Remotes[i]
		inISR := slices.Contains(r.ISR, x.Broker) || s.mutant(SendsToLaggingReplica)
		if s.rack(x.Broker) != m.Rack || !inISR || b.Image.broker(x.Broker).Fenced || x.LogStart > offset ||
			x.End < offset && !s.mutant(SendsToLaggingReplica) {
			continue
		}
		if best == nil || x.End > best.End || x.End == best.End && s.lastCaughtUp(b, x) >= s.lastCaughtUp(b, best) {
			best = x
		}
	}
	if best == nil {
		return NoNode
	}
	return best.Broker
}

// lastCaughtUp is when a follower was caught up last, resting in a session or not.
func (s *State) lastCaughtUp(b *Broker, x *Remote) int64 {
	if f := b.session(x.Session); x.Session != 0 && f != nil {
		return max(x.LastCaughtUp, f.At)
	}
	return x.LastCaughtUp
}

// selectsByRack tells whether leaders look at racks.
func (s *State) selectsByRack() bool {
	return s.World.Broker.ReplicaSelector == config.SelectByRack && s.World.Rules.On(FollowerReads)
}

// rack is that of a broker, "" for none.
func (s *State) rack(id NodeID) string {
	if int(id) > len(s.World.Racks) {
		return ""
	}
	return s.World.Racks[id-1]
}

// prefer lets a consumer read a partition from a replica that its leader has named.
func (s *State) prefer(c *Consumer, p *ConsumerPart, id NodeID) {
	p.Preferred, p.PreferredUntil = id, s.Now+c.Times.MetadataMaxAge
	if s.mutant(PrefersForEver) {
		p.PreferredUntil = never
	}
}

// readsFrom is the broker that a partition is read from now: the preferred replica while it is live and its time
// is not over, else the leader.
func (s *State) readsFrom(c *Consumer, p *ConsumerPart) NodeID {
	switch {
	case p.Preferred == NoNode:
	case s.Now >= p.PreferredUntil:
		p.Preferred = NoNode
	case !slices.Contains(c.Meta.Brokers, p.Preferred):
		c.Meta.Requested = true
	default:
		return p.Preferred
	}
	return p.Leader
}

// dropPreferred goes back to the leader, and tells whether the partition was read elsewhere.
func (p *ConsumerPart) dropPreferred() bool {
	was := p.Preferred != NoNode
	p.Preferred = NoNode
	return was
}
