package connect

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"kafkalab/kafkasim"
)

// What one asks of connectors while they are there: pause, resume, stop, restart, and their offsets (K-11, K-12).
//
// Kafka: ConnectorsResource, AbstractHerder, TargetState. KIP-745 (restart of a connector with its tasks), KIP-875
// (STOPPED, and offsets).

// What a connector is to do.
const (
	started = "STARTED"
	paused  = "PAUSED"
	stopped = "STOPPED"
)

// Pause lets a connector's tasks do nothing (PUT /connectors/NAME/pause). They stay where they are, a sink's consumers in
// their group, and go on with Resume.
func (k *Connect) Pause(name string) *Status { return k.aim("Pause", name, paused) }

// Stop shuts a connector's tasks down (PUT /connectors/NAME/stop). The connector stays, without tasks: then its offsets
// can be altered and reset.
func (k *Connect) Stop(name string) *Status { return k.aim("Stop", name, stopped) }

// Resume lets a connector that was paused or stopped go on (PUT /connectors/NAME/resume).
func (k *Connect) Resume(name string) *Status { return k.aim("Resume", name, started) }

// aim gives a connector something else to do. Tasks that come or go make a rebalance.
func (k *Connect) aim(verb, name, target string) *Status {
	k.wake()
	defer k.sleep()
	x := k.needs(verb, name)
	was := x.target
	x.target = target
	if was != target && !k.standalone {
		k.log.writeTarget(x)
	}
	if was != target && (was == stopped || target == stopped) {
		k.group.rebalanceBy(k, "connector "+name+" is "+target)
	}
	for _, w := range k.workers {
		if target != stopped && w.state == workerUp {
			w.noteStates(k, x)
		}
	}
	return k.Status()
}

// noteStates writes the states of a worker's running items down.
func (w *Worker) noteStates(k *Connect, x *connector) {
	for _, i := range w.items {
		if i.Connector == x.name {
			if s := k.itemStatus(i); s.State != "FAILED" {
				k.log.status(k, i, s.State, w.name)
			}
		}
	}
}

// RestartFailed restarts a connector and those of its tasks that have FAILED (POST
// /connectors/NAME/restart?includeTasks=true&onlyFailed=true, KIP-745). Others go on.
func (k *Connect) RestartFailed(name string) *Status {
	k.needs("RestartFailed", name)
	for _, i := range k.Status().Items {
		if n, ok := strings.CutPrefix(i.Name, name+"-"); ok && i.State == "FAILED" {
			var task int
			if _, err := fmt.Sscanf(n, "%d", &task); err == nil && (item{name, task}).String() == i.Name {
				k.Restart(name, task)
			}
		}
	}
	return k.Status()
}

// Reply is what REST answers to a request that changes something.
type Reply struct {
	Code    int // HTTP status: 200 or 400
	Message string
}

// OK tells whether the answer is 200.
func (r *Reply) OK() bool { return r.Code == 200 }

// String is the answer in a line.
func (r *Reply) String() string { return fmt.Sprintf("%d: %s", r.Code, r.Message) }

// notStopped refuses a change of offsets: 400 unless the connector is STOPPED.
func (x *connector) notStopped() *Reply {
	if x.target == stopped {
		return nil
	}
	return &Reply{400, fmt.Sprintf("Connectors must be in the STOPPED state before their offsets can be modified. This can be done "+
		"for the specified connector by issuing a 'PUT' request to the '/connectors/%s/stop' endpoint", x.name)}
}

// Offsets are how far a connector is (GET /connectors/NAME/offsets): a source's as they were written down, a sink's as its
// group has committed them.
func (k *Connect) Offsets(name string) *Offsets {
	k.wake()
	defer k.sleep()
	x := k.needs("Offsets", name)
	out := &Offsets{source: x.conf.source}
	if x.conf.source {
		for _, table := range slices.Sorted(slices.Values(x.conf.tables)) {
			if at := k.log.offset(k, name, table); at > 0 {
				out.Offsets = append(out.Offsets, Offset{Table: table, Offset: int64(at)})
			}
		}
		return out
	}
	for _, o := range k.c.Group("connect-" + name).Offsets {
		if o.Committed >= 0 {
			out.Offsets = append(out.Offsets, Offset{Topic: o.Topic, Partition: o.Partition, Offset: o.Committed})
		}
	}
	return out
}

// Offsets are how far a connector is.
type Offsets struct {
	Offsets []Offset
	source  bool
}

// Offset is one of them: of a source's table, or of a sink's partition.
type Offset struct {
	Table     string
	Topic     string
	Partition int
	Offset    int64
}

// String is the answer of REST.
func (o *Offsets) String() string {
	list := []any{}
	for _, x := range o.Offsets {
		if o.source {
			list = append(list, map[string]any{"partition": map[string]any{"table": x.Table}, "offset": map[string]any{"incrementing": x.Offset}})
		} else {
			list = append(list, map[string]any{"partition": map[string]any{"kafka_topic": x.Topic, "kafka_partition": x.Partition},
				"offset": map[string]any{"kafka_offset": x.Offset}})
		}
	}
	return asJSON(map[string]any{"offsets": list})
}

// ResetOffsets forgets how far a connector is (DELETE /connectors/NAME/offsets): when it goes on, a source reads its tables,
// and a sink its topics, from the beginning. The connector must be STOPPED.
func (k *Connect) ResetOffsets(name string) *Reply {
	k.wake()
	defer k.sleep()
	x := k.needs("ResetOffsets", name)
	if r := x.notStopped(); r != nil {
		return r
	}
	if x.conf.source {
		for _, table := range x.conf.tables {
			k.log.writeOffset(k, name, table, 0)
		}
	} else if g := k.c.DeleteGroup("connect-" + name); g.Error != "" && g.Error != "GROUP_ID_NOT_FOUND" {
		return &Reply{400, fmt.Sprintf("Failed to reset consumer group offsets for connector %s: %s", name, g.Error)}
	}
	return &Reply{200, "The Connect framework-managed offsets for this connector have been reset successfully. However, if this " +
		"connector manages offsets externally, they will need to be manually reset in the system that the connector uses."}
}

// AlterOffsets says how far a connector is (PATCH /connectors/NAME/offsets), by table for a source ("orders": 20), by
// topic and partition for a sink ("db-orders-0": 20). What is not named stays. The connector must be STOPPED.
func (k *Connect) AlterOffsets(name string, to map[string]int) *Reply {
	k.wake()
	defer k.sleep()
	x := k.needs("AlterOffsets", name)
	where := fmt.Sprintf("AlterOffsets(%q)", name)
	if len(to) == 0 {
		misuse(where, "no offsets are given; want a table's or a partition's, such as map[string]int{\"orders\": 20}")
	}
	places := x.places(k)
	for _, place := range slices.Sorted(maps.Keys(to)) {
		if _, known := places[place]; !known {
			misuse(where, "the connector has no %q%s", place, nearest(place, slices.Sorted(maps.Keys(places))))
		}
		if to[place] < 0 {
			misuse(where, "%s: offset %d: want 0 or more", place, to[place])
		}
	}
	if r := x.notStopped(); r != nil {
		return r
	}
	for _, place := range slices.Sorted(maps.Keys(to)) {
		if x.conf.source {
			k.log.writeOffset(k, name, place, to[place])
		} else if why := k.commitFor(x, places[place], to[place]); why != "" {
			return &Reply{400, fmt.Sprintf("Failed to alter consumer group offsets for connector %s: %s", name, why)}
		}
	}
	return &Reply{200, "The offsets for this connector have been altered successfully"}
}

// places are what a connector has offsets of, by name.
func (x *connector) places(k *Connect) map[string]kafkasim.TopicPartition {
	out := map[string]kafkasim.TopicPartition{}
	for _, table := range x.conf.tables {
		out[table] = kafkasim.TopicPartition{}
	}
	for _, topic := range x.conf.topics {
		if k.hasTopic(topic) {
			for p := range k.c.Topic(topic).Partitions {
				out[fmt.Sprintf("%s-%d", topic, p)] = kafkasim.TopicPartition{Topic: topic, Partition: p}
			}
		}
	}
	return out
}

// commitFor commits an offset for a sink's group, which has no members; "" when that is done.
func (k *Connect) commitFor(x *connector, tp kafkasim.TopicPartition, offset int) string {
	admin := k.c.NewConsumer(k.free("connector-adminclient-"+x.name), kafkasim.Config{"group.id": "connect-" + x.name, "enable.auto.commit": false})
	defer admin.Close()
	admin.Assign(tp.Topic, tp.Partition)
	return admin.CommitOffset(tp.Topic, tp.Partition, int64(offset)).Error
}
