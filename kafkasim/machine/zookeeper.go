package machine

import (
	"slices"

	"kafkalab/kafkasim/view"
)

// ZooKeeper, as far as it can go wrong: the controller that does not know that it is none any more.
//
// Under ZooKeeper a broker is the controller while its session lasts. Paused for longer (a long garbage collection), it
// loses the session, another one becomes the controller, and does what is to be done: so brokers that died meanwhile are
// taken out of their ISRs when the pause ends. (Here the controller is one node, and the other one's work is done by
// the same node, at that moment.) The old one wakes up, does not know, and does it again. Its requests to the brokers
// are refused, since they have heard of a newer controller epoch. But before 2.1 its writes to ZooKeeper were not: what
// it wrote again has a version and a leader epoch that no broker has heard of. From then on a leader cannot change
// its ISR: "Cached zkVersion [N] not equal to that in zookeeper, skip updating ISR", for ever, until a controller
// changes the partition for another reason, or its leader is started again.
//
// Since 2.1 every write of a controller is made under the condition that the controller's epoch is still its own.
//
// ZooKeeper itself lives through such a pause, and brokers' sessions with it; with KRaft it is the controller that
// hears their heartbeats. Kafka: KafkaController (Expire, onControllerFailover), KafkaZkClient.updateTopicPartitionState,
// ReplicaManager.becomeLeaderOrFollower (stale controller epoch), Partition.updateIsr. KAFKA-2729, KAFKA-6082.
// Simplified: one controller; of ZooKeeper's own outages only a cut link to where the controller is.

// A controller that is new reads everything from ZooKeeper before it does anything, partition by partition, and before
// that the session of the one before it has to end. Until then nobody leads what a dead broker led. Leaders go on without
// a controller: they write their ISRs to ZooKeeper themselves. (KIP-500 ended both: a KRaft controller has read it all.)

// How long a new controller reads, µs for each partition: 28 s for 100,000 partitions before 1.1, half of that since
// (the measurements of KAFKA-5642, in the announcement of 1.1).
const (
	readSerially = 280
	readAsync    = 140
)

// ControllerPause is since when a controller is paused or gone, µs; 0 for not at all.
type ControllerPause struct{ Since int64 }

// ControllerLoaded: a new controller has read ZooKeeper.
type ControllerLoaded struct{}

func (ControllerLoaded) payload() {}

// loadFromZooKeeper lets a controller that has started act when the session before is over and everything is read.
func (s *State) loadFromZooKeeper(c *Controller) {
	each := int64(readAsync)
	if s.World.Rules.Without(AsyncZooKeeper) {
		each = readSerially
	}
	wait := max(c.Pause.Since+s.sessionTimeout()-s.Now, 0)
	if c.Pause.Since == 0 {
		wait = 0
	}
	c.Pause = ControllerPause{}
	s.after(wait+each*int64(len(c.Image.all())), c.ID, ControllerLoaded{})
}

// Unheard marks a record that was written to ZooKeeper, and that no broker was told of.
type Unheard struct{ Yes bool }

// UnheardChanges are the changes that a broker was not told of, the newest of each partition.
type UnheardChanges struct {
	Changes []MetadataRecord // immutable
}

// zooKeeper is where leaders write ISRs, whether a controller lives or not.
func (s *State) zooKeeper() *Controller {
	if s.World.Rules.On(KRaft) { // the switch alone: its controller is where ISRs are
		return s.ActiveController()
	}
	return &s.Controllers[0]
}

// atZooKeeper tells whether a broker keeps its session up now.
func (s *State) atZooKeeper(c *Controller, b *Broker) bool {
	return b.Process != NotRunning && !b.Paused && !s.link(b.ID, c.ID).Cut
}

// outlivedSession ends a pause. It tells whether the controller has lost its session at ZooKeeper in it.
func (s *State) outlivedSession(c *Controller) bool {
	paused := s.Now - c.Pause.Since
	c.Pause = ControllerPause{}
	if s.World.Rules.On(KRaft) {
		return false
	}
	for i := range c.Sessions {
		if s.atZooKeeper(c, &s.Brokers[i]) {
			c.Sessions[i].LastContact = s.Now
		}
	}
	return paused > s.sessionTimeout() && s.World.Rules.Without(ControllerFencing)
}

// writeAgain is what the controller that has lost its session does: the same changes once more.
func (s *State) writeAgain(c *Controller, before *Image) {
	var records []MetadataRecord
	for _, tp := range c.Image.all() {
		old, now := before.partition(tp), *c.Image.partition(tp)
		if old == nil || old.LeaderEpoch == now.LeaderEpoch {
			continue
		}
		now.LeaderEpoch++
		now.PartitionEpoch++
		records = append(records, MetadataRecord{Kind: PartitionChangeRecord, TP: tp, Partition: now, Unheard: Unheard{true}})
	}
	s.commit(c, records)
}

// skip keeps a change that the broker is not told of.
func (im *Image) skip(r *MetadataRecord) {
	list := slices.DeleteFunc(slices.Clone(im.Unheard.Changes), func(x MetadataRecord) bool { return x.TP == r.TP })
	im.Unheard.Changes = append(list, *r)
	im.Offset++
	im.Epoch = r.Epoch
}

// hearAll tells a broker that has started everything, and returns what it had not heard.
func (im *Image) hearAll() (changed []TopicPartition) {
	for i := range im.Unheard.Changes {
		r := &im.Unheard.Changes[i]
		if p := im.partition(r.TP); p != nil && p.PartitionEpoch < r.Partition.PartitionEpoch {
			im.ownTopic(r.TP.Topic).Partitions[r.TP.Partition] = r.Partition
			changed = addChanged(changed, r.TP)
		}
	}
	im.Unheard = UnheardChanges{}
	return changed
}

// staleZkVersion notes that a leader cannot change the ISR, and why.
func (s *State) staleZkVersion(b *Broker, r *Replica, version int32) {
	s.note(view.Change{Kind: view.StaleZkVersion, Broker: int(b.ID), Partition: s.ordinal(r.TP), A: int64(r.PartitionEpoch), B: int64(version)})
}
