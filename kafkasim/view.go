package kafkasim

import (
	"slices"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/partlog"
	"kafkalab/kafkasim/view"
)

// recordsShown is how many of a log's newest records a view holds.
const recordsShown = 256

// View is a picture of the whole cluster as it is now, for charts: brokers, partitions with every
// replica's log, clients, groups, messages on the wire. Of a long log it holds the newest records. Kafka's own topics
// (__consumer_offsets and the like) are not in it: Topic shows them.
func (c *Cluster) View() *view.Cluster {
	v := &view.Cluster{Now: c.s.Now, Tick: c.s.World.Tick}
	for i := range c.s.Brokers {
		v.Brokers = append(v.Brokers, c.viewBroker(&c.s.Brokers[i]))
	}
	v.Controllers = c.Controllers()
	for t := range c.image().Topics {
		if topic := &c.image().Topics[t]; !topic.Deleted && !machine.InternalTopic(topic.Name) {
			v.Topics = append(v.Topics, c.viewTopic(int32(t), recordsShown))
		}
	}
	for i := range c.s.Producers {
		v.Producers = append(v.Producers, c.viewProducer(int32(i)))
	}
	for i := range c.s.Consumers {
		v.Consumers = append(v.Consumers, c.viewConsumer(int32(i)))
	}
	for _, id := range c.Groups() {
		if g, code := c.viewGroup(id); code == machine.NONE {
			v.Groups = append(v.Groups, *g)
		}
	}
	for _, id := range c.s.ShareGroups() {
		v.ShareGroups = append(v.ShareGroups, c.ShareGroup(id).View())
	}
	v.Txns = c.transactions()
	for _, m := range c.InFlight() {
		v.InFlight = append(v.InFlight, view.Message{Number: m.Number, Arrives: m.Arrives.Microseconds(), From: m.From, To: m.To, Text: m.Text,
			Held: m.Held, Housekeeping: housekeeping(m.e.Payload)})
	}
	v.Cuts = c.viewCuts()
	return v
}

// image is the controller's: what the cluster's metadata say.
func (c *Cluster) image() *machine.Image { return c.s.Metadata() }

func (c *Cluster) topicCount() int { return len(c.topicNames()) }

// topicNames are the names of the topics that there are, in the order of their creation.
func (c *Cluster) topicNames() []string {
	var names []string
	for i := range c.image().Topics {
		if t := &c.image().Topics[i]; !t.Deleted {
			names = append(names, t.Name)
		}
	}
	return names
}

// findTopic finds a topic, -1 for none.
func (c *Cluster) findTopic(name string) int32 {
	for i := range c.image().Topics {
		if t := &c.image().Topics[i]; t.Name == name && !t.Deleted {
			return int32(i)
		}
	}
	return -1
}

// topicIndex finds a topic, or panics in the name of where.
func (c *Cluster) topicIndex(where, name string) int32 {
	if i := c.findTopic(name); i >= 0 {
		return i
	}
	if slices.ContainsFunc(c.image().Topics, func(t machine.TopicImage) bool { return t.Name == name }) {
		misuse(where, "topic %q was deleted; create it anew with CreateTopic", name)
	}
	misuse(where, "there is no topic %q%s", name, meant(name, c.topicNames(), "create it with CreateTopic"))
	return -1
}

// partitionOf finds a partition, or panics in the name of where.
func (c *Cluster) partitionOf(where, topic string, partition int) machine.TopicPartition {
	t := c.topicIndex(where, topic)
	if n := len(c.image().Topics[t].Partitions); partition < 0 || partition >= n {
		misuse(where, "topic %q has no partition %d; it has %s", topic, partition, numbered(n))
	}
	return machine.TopicPartition{Topic: t, Partition: int32(partition)}
}

// partitionNames are all partitions in the order of their numbers in the trace.
func (c *Cluster) partitionNames() []view.PartitionName {
	out := make([]view.PartitionName, len(c.s.Truth.Partitions))
	for n := range out {
		tp := c.byOrdinal(n)
		out[n] = view.PartitionName{Topic: c.image().Topics[tp.Topic].Name, ID: int(tp.Partition)}
		if reg := c.registration(tp); reg != nil {
			out[n].Replicas = ints(reg.Replicas)
		}
	}
	return out
}

// registration is the controller's record of a partition; of a deleted one, the last.
func (c *Cluster) registration(tp machine.TopicPartition) *machine.PartitionRegistration {
	t := &c.image().Topics[tp.Topic]
	for _, ps := range [][]machine.PartitionRegistration{t.Partitions, t.Gone} {
		if int(tp.Partition) < len(ps) {
			return &ps[tp.Partition]
		}
	}
	return nil
}

// byOrdinal turns a partition's number in the trace back into the partition.
func (c *Cluster) byOrdinal(n int) machine.TopicPartition {
	for _, a := range c.s.Added {
		if at := int32(n) - a.Base; at >= 0 && at < a.Count {
			return machine.TopicPartition{Topic: a.Topic, Partition: a.First + at}
		}
	}
	t, found := slices.BinarySearch(c.s.TopicBase, int32(n))
	if !found {
		t--
	}
	return machine.TopicPartition{Topic: int32(t), Partition: int32(n) - c.s.TopicBase[t]}
}

func (c *Cluster) ordinalName(n int) string {
	if n < 0 || len(c.s.TopicBase) == 0 {
		return ""
	}
	return c.s.PartitionName(c.byOrdinal(n))
}

// leads tells whether the controller has the broker as the leader of the partition with this number.
func (c *Cluster) leads(broker, ordinal int) bool {
	reg := c.registration(c.byOrdinal(ordinal))
	return reg != nil && int(reg.Leader) == broker
}

func ints(ids []machine.NodeID) []int {
	out := make([]int, len(ids))
	for i, id := range ids {
		out[i] = int(id)
	}
	return out
}

func (c *Cluster) viewBroker(b *machine.Broker) view.Broker {
	reg := c.image().Brokers[b.ID-1]
	v := view.Broker{
		ID: int(b.ID), State: b.Process.String(), Alive: b.Process != machine.NotRunning, Paused: b.Paused,
		Fenced: reg.Fenced || reg.Epoch < 0, Epoch: reg.Epoch, MetadataOffset: b.Image.Offset,
	}
	if len(c.s.World.Racks) > 0 {
		v.Rack = c.s.World.Racks[b.ID-1]
	}
	for i := range b.Replicas {
		if b.Replicas[i].Role == machine.Leader {
			v.Leads++
		}
	}
	return v
}

func (c *Cluster) viewTopic(t int32, records int) view.Topic {
	topic := &c.image().Topics[t]
	v := view.Topic{Name: topic.Name}
	for p := range topic.Partitions {
		v.Partitions = append(v.Partitions, c.viewPartition(machine.TopicPartition{Topic: t, Partition: int32(p)}, records))
	}
	return v
}

// viewPartition is a partition by the controller's record, with every replica's log as it lies on its
// broker.
func (c *Cluster) viewPartition(tp machine.TopicPartition, records int) view.Partition {
	topic := &c.image().Topics[tp.Topic]
	reg := &topic.Partitions[tp.Partition]
	v := view.Partition{
		Topic: topic.Name, ID: int(tp.Partition), Leader: -1, LeaderEpoch: int(reg.LeaderEpoch), PartitionEpoch: int(reg.PartitionEpoch),
		Replicas: ints(reg.Replicas), ISR: ints(reg.ISR), ELR: ints(reg.ELR), LastKnownELR: ints(reg.LastKnownELR), Adding: ints(reg.Adding), Removing: ints(reg.Removing),
		MinISR: min(int(topic.Props.MinInSyncReplicas), len(reg.Replicas)), HighWatermark: -1, LogEndOffset: -1,
	}
	if reg.Leader != machine.NoNode {
		v.Leader = int(reg.Leader)
	}
	for _, id := range reg.Replicas {
		r := c.replica(id, tp)
		if r == nil {
			v.Logs = append(v.Logs, view.Replica{Broker: int(id), Role: machine.Offline.String(), LeaderEpoch: -1, InISR: slices.Contains(reg.ISR, id)})
			continue
		}
		v.Logs = append(v.Logs, c.viewReplica(id, r, reg, records))
		if id == c.leaderOrLast(tp, reg) {
			v.HighWatermark, v.LogEndOffset = r.Log.HighWatermark, r.Log.End
		}
	}
	return v
}

// leaderOrLast is the leader; without one, the member of the ISR or ELR that led last.
func (c *Cluster) leaderOrLast(tp machine.TopicPartition, reg *machine.PartitionRegistration) machine.NodeID {
	if reg.Leader != machine.NoNode {
		return reg.Leader
	}
	for _, ids := range [][]machine.NodeID{reg.LastKnownELR, reg.ISR, reg.ELR} {
		if len(ids) > 0 {
			return ids[0]
		}
	}
	return machine.NoNode
}

// replica finds a broker's replica of a partition, nil when it has none yet.
func (c *Cluster) replica(id machine.NodeID, tp machine.TopicPartition) *machine.Replica {
	b := &c.s.Brokers[id-1]
	for i := range b.Replicas {
		if b.Replicas[i].TP == tp {
			return &b.Replicas[i]
		}
	}
	return nil
}

func (c *Cluster) viewReplica(id machine.NodeID, r *machine.Replica, reg *machine.PartitionRegistration, records int) view.Replica {
	v := view.Replica{
		Broker: int(id), Role: r.Role.String(), InISR: slices.Contains(reg.ISR, id), LeaderEpoch: int(r.LeaderEpoch),
		LogStartOffset: r.Log.LogStart, HighWatermark: r.Log.HighWatermark, LogEndOffset: r.Log.End, LastStable: r.Log.LastStable(),
	}
	for _, e := range r.Log.Epochs {
		v.Epochs = append(v.Epochs, view.EpochStart{Epoch: int(e.Epoch), StartOffset: e.StartOffset})
	}
	v.Segments = viewSegments(&r.Log)
	if records > 0 {
		v.Records = c.viewLog(r, max(r.Log.LogStart, r.Log.End-int64(records)))
	}
	return v
}

// viewLog copies a log's records from an offset on, with their marks.
func (c *Cluster) viewLog(r *machine.Replica, from int64) []view.Record {
	var out []view.Record
	r.Log.Batches(from, func(b *partlog.Batch) bool {
		records := viewRecords(b, from)
		if mark := c.acked.mark(c.s, r.TP, b); mark != view.MarkWritten {
			for i := range records {
				records[i].Mark = mark
			}
		}
		out = append(out, records...)
		return true
	})
	return out
}

// ackIndex finds what clients were told about a batch. It follows the state's list, which only grows.
type ackIndex struct {
	seen  int
	where map[[2]int32]int32 // sender and serial: index into Truth.Acked
}

// mark is the mark of a batch's records: what the producer that built it was told of the copy at this
// place.
func (x *ackIndex) mark(s *machine.State, tp machine.TopicPartition, b *partlog.Batch) view.Mark {
	switch a := x.find(s, b.Sender, b.Serial); {
	case a == nil, a.TP != tp, a.BaseOffset >= 0 && a.BaseOffset != b.BaseOffset:
		return view.MarkWritten
	case a.Lost:
		return view.MarkLost
	}
	return view.MarkAcked
}

// find is what a client was told about a batch of its own, nil for nothing.
func (x *ackIndex) find(s *machine.State, sender, serial int32) *machine.AckedBatch {
	if x.where == nil {
		x.where = map[[2]int32]int32{}
	}
	for ; x.seen < len(s.Truth.Acked); x.seen++ {
		a := &s.Truth.Acked[x.seen]
		x.where[[2]int32{a.Sender, a.Serial}] = int32(x.seen)
	}
	if i, ok := x.where[[2]int32{sender, serial}]; ok {
		return &s.Truth.Acked[i]
	}
	return nil
}

func (c *Cluster) viewProducer(i int32) view.Producer {
	p := &c.s.Producers[i]
	v := view.Producer{
		ID: c.producerName(i), Acks: acksWord(p.Config.Acks), Pending: int(p.Undecided()), Retrying: int(p.Retrying()),
		Acked: int(p.AckedRecords), Failed: int(p.FailedRecords), Batches: c.viewBatches(p), Limits: viewLimits(p),
	}
	for j := range c.s.Truth.Acked {
		if a := &c.s.Truth.Acked[j]; a.Lost && a.Sender == i {
			v.LostAcks += int(a.Count)
		}
	}
	return v
}

func acksWord(acks int8) string {
	switch acks {
	case config.AcksNone:
		return "0"
	case config.AcksLeader:
		return "1"
	}
	return "all"
}
