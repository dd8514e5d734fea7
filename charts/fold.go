package charts

import (
	"slices"
	"strconv"
	"strings"

	"kafkalab/kafkasim/view"
)

func partitionName(topic string, id int) string { return topic + "-" + strconv.Itoa(id) }

// newBoard is the board before the first change of a trace.
func newBoard(trace *view.Trace) *board {
	b := &board{keys: newKeyTable()}
	for _, id := range trace.Brokers {
		b.brokers = append(b.brokers, boardBroker{id: id, state: "NOT_RUNNING", fenced: true})
	}
	for i := range trace.Controllers {
		b.controllers = append(b.controllers, controllerOf(&trace.Controllers[i]))
	}
	slices.SortFunc(b.brokers, func(x, y boardBroker) int { return x.id - y.id })
	for _, name := range trace.Partitions {
		p := boardPartition{name: partitionName(name.Topic, name.ID), topic: name.Topic, replicas: name.Replicas, leader: -1, epoch: -1}
		for _, id := range name.Replicas {
			p.logs = append(p.logs, boardLog{broker: id, role: "offline", epoch: -1})
		}
		b.partitions = append(b.partitions, p)
	}
	return b
}

// apply folds one change.
func (b *board) apply(c *view.Change) {
	switch c.Kind {
	case view.BrokerState:
		b.broker(c.Broker).state = c.Text
		if b.broker(c.Broker).picture() == BrokerDown {
			b.offline(c.Broker)
		}
	case view.BrokerFenced:
		b.broker(c.Broker).fenced = c.A == 1
	case view.ControllerState:
		b.applyController(c)
	case view.OffsetCommitted:
		b.group(c.Client).moveTo(c.Partition, c.A)
	}
	if client := b.clientOf(c); client != nil {
		b.applyClient(client, c)
	}
	if c.Partition < 0 || c.Partition >= len(b.partitions) {
		return
	}
	p := &b.partitions[c.Partition]
	switch c.Kind {
	case view.PartitionState:
		p.created, p.leader, p.epoch, p.isr = true, int(c.A), int(c.B), c.List
	case view.Acked:
		for i := range c.B {
			if c.A >= 0 && !b.bare {
				p.remark(c.A+i, view.MarkWritten, view.MarkAcked, func(a, b int64) bool { return a > b })
			}
		}
	case view.Lost:
		for i := range c.B {
			if b.bare {
				break
			}
			p.remark(c.A+i, view.MarkAcked, view.MarkLost, func(a, b int64) bool { return a < b })
		}
	default:
		if l := p.logOf(c.Broker); l != nil {
			b.applyLog(p, l, c)
		}
	}
}

// offline makes every log of a broker that died unreachable.
func (b *board) offline(broker int) {
	for i := range b.partitions {
		if l := b.partitions[i].logOf(broker); l != nil {
			l.role = "offline"
		}
	}
}

func (b *board) applyLog(p *boardPartition, l *boardLog, c *view.Change) {
	switch c.Kind {
	case view.BecameLeader:
		l.role, l.epoch = "leader", c.A
	case view.BecameFollower:
		l.role, l.epoch = "follower", c.B
	case view.Appended:
		for i := range c.Records {
			if b.bare {
				break
			}
			r := &c.Records[i]
			epoch := int64(r.LeaderEpoch)
			l.put(Cell{r.Offset, b.keys.of(r), epoch, p.markOf(r.Offset, epoch)})
		}
		l.end = c.B
	case view.Truncated:
		l.cut(c.A)
	case view.HighWatermark:
		l.hw = c.A
	case view.LogStart:
		l.start = c.A
	}
}

// clientOf is the client that a change belongs to. A loss names none: it is the only producer's, if
// there is only one.
func (b *board) clientOf(c *view.Change) *boardClient {
	switch c.Kind {
	case view.Sent, view.Acked, view.Failed, view.Retried, view.Consumed, view.PositionSet:
		return b.client(c.Client)
	case view.Lost:
	default:
		return nil // a group, or a transactional id, is no client
	}
	var only *boardClient
	for i := range b.clients {
		if b.clients[i].producer {
			if only != nil {
				return nil
			}
			only = &b.clients[i]
		}
	}
	return only
}

func (b *board) applyClient(client *boardClient, c *view.Change) {
	switch c.Kind {
	case view.Sent:
		client.producer = true
		client.sent += c.A
	case view.Acked:
		client.acked += c.B
		client.retrying = false
	case view.Failed:
		client.failed += c.A
		client.retrying = false
	case view.Retried:
		client.retrying = true
	case view.Lost:
		client.lost += c.B
	case view.Consumed:
		client.read += c.B - c.A
		client.moveTo(c.Partition, c.B)
	case view.PositionSet:
		client.moveTo(c.Partition, c.A)
	}
}

func (c *boardClient) moveTo(partition int, offset int64) {
	if partition >= 0 && partition < len(c.positions) {
		c.positions[partition] = offset
	}
}

// boardOf is the board of a view: one moment. The trace only gives the keys their numbers.
func boardOf(cluster *view.Cluster, trace *view.Trace) *board {
	b := &board{keys: keysOf(trace)}
	for _, v := range cluster.Brokers {
		b.brokers = append(b.brokers, boardBroker{id: v.ID, state: stateOf(&v), fenced: v.Fenced})
	}
	for i := range cluster.Controllers {
		b.controllers = append(b.controllers, controllerOf(&cluster.Controllers[i]))
	}
	for _, t := range cluster.Topics {
		for i := range t.Partitions {
			b.partitions = append(b.partitions, b.partitionOf(&t.Partitions[i]))
		}
	}
	for _, p := range cluster.Producers {
		acked := int64(p.Acked)
		b.clients = append(b.clients, boardClient{id: p.ID, producer: true, acks: p.Acks, sent: acked + int64(p.Failed+p.Pending),
			acked: acked, failed: int64(p.Failed), lost: int64(p.LostAcks), retrying: p.Retrying > 0})
	}
	for _, c := range cluster.Consumers {
		client := b.client(c.ID)
		for _, at := range c.Positions {
			for i, p := range b.partitions {
				if p.name == partitionName(at.Topic, at.Partition) {
					client.positions[i] = at.Offset
				}
			}
		}
	}
	return b
}

// stateOf is a broker's state in the words of a trace.
func stateOf(v *view.Broker) string {
	switch {
	case !v.Alive:
		return "NOT_RUNNING"
	case v.Paused:
		return "PAUSED"
	}
	return v.State
}

func (b *board) partitionOf(v *view.Partition) boardPartition {
	p := boardPartition{name: partitionName(v.Topic, v.ID), topic: v.Topic, replicas: v.Replicas, created: true,
		leader: v.Leader, epoch: v.LeaderEpoch, isr: v.ISR}
	for i := range v.Logs {
		r := &v.Logs[i]
		l := boardLog{broker: r.Broker, role: r.Role, epoch: int64(r.LeaderEpoch), start: r.LogStartOffset, end: r.LogEndOffset, hw: r.HighWatermark}
		for j := max(0, len(r.Records)-keepCells); j < len(r.Records); j++ {
			record := &r.Records[j]
			l.cells = append(l.cells, Cell{record.Offset, b.keys.of(record), int64(record.LeaderEpoch), int64(record.Mark)})
		}
		p.logs = append(p.logs, l)
	}
	return p
}

// keysOf numbers the keys of a trace: those of the learner's own topics first, for the coordinators write keys of
// their own.
func keysOf(trace *view.Trace) *keyTable {
	keys := newKeyTable()
	internal := make([]bool, len(trace.Partitions))
	for i := range trace.Partitions {
		internal[i] = isInternal(trace.Partitions[i].Topic)
	}
	number := func(which bool) {
		for i := range trace.Changes {
			c := &trace.Changes[i]
			if len(c.Records) == 0 || c.Partition >= 0 && c.Partition < len(internal) && internal[c.Partition] != which {
				continue
			}
			for j := range c.Records {
				keys.of(&c.Records[j])
			}
		}
	}
	number(false)
	keys.own = len(keys.names)
	if slices.Contains(internal, true) {
		number(true)
	}
	return keys
}

// isInternal says whether a topic is one of Kafka's own.
func isInternal(topic string) bool { return strings.HasPrefix(topic, "__") }
