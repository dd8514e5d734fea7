package kafkasim

import (
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
)

// What an administrator does to topics that exist (Kafka's Admin client; the machine's rules are R3.16, R3.25,
// R3.34, R3.35).

// Outcome is what the cluster answered to an administrator.
type Outcome struct {
	Error string // Kafka's error name; "" for success
	text  string
}

// OK tells whether the cluster did it.
func (o *Outcome) OK() bool { return o.Error == "" }

// String is the answer in a sentence.
func (o *Outcome) String() string { return o.text }

// outcome turns a machine's answer into ours. done is the sentence of a success.
func outcome(what string, r machine.Result, done func() string) *Outcome {
	if r.Error == machine.TIMEOUT_EXCEPTION {
		return &Outcome{Error: r.Error.String(), text: what + ": " + undecided}
	}
	if r.Error != machine.NONE {
		return &Outcome{Error: r.Error.String(), text: what + ": refused, " + r.Error.String() + waits(r)}
	}
	return &Outcome{text: done()}
}

// waits is how long who was refused is to wait, in words; "" for nothing.
func waits(r machine.Result) string {
	if r.Throttle.Ms == 0 {
		return ""
	}
	return fmt.Sprintf(" (throttle_time_ms %d)", r.Throttle.Ms)
}

// AddPartitions raises the number of partitions of a topic to total, as kafka-topics.sh --alter --partitions
// does. Records that are there stay where they are, so a key may go to another partition from now on. Kafka
// answers INVALID_PARTITIONS when the topic has so many already: Topic.Error says so.
func (c *Cluster) AddPartitions(topic string, total int) *Topic {
	where := fmt.Sprintf("AddPartitions(%q)", topic)
	c.topicIndex(where, topic)
	if total < 1 || total > maxPartitions {
		misuse(where, "%d partitions: want how many there shall be in all, 1 to %d", total, maxPartitions)
	}
	r := c.ask(fmt.Sprintf("c.AddPartitions(%q, %d)", topic, total), machine.AddPartitions{Topic: topic, Total: int32(total)})
	t := c.Topic(topic)
	if r.Error != machine.NONE {
		t.Error, t.what, t.waits = r.Error.String(), "has no more partitions than before", waits(r)
	}
	return t
}

// AlterTopic sets properties of a topic; a nil value takes one back to the brokers' default. Brokers go by the
// new properties when they have heard of them. With eligible leader replicas, a change of
// min.insync.replicas makes all that were eligible void.
func (c *Cluster) AlterTopic(topic string, conf Config) *Outcome {
	where := fmt.Sprintf("AlterTopic(%q)", topic)
	t := &c.image().Topics[c.topicIndex(where, topic)]
	if len(conf) == 0 {
		misuse(where, "no properties are given; want a Config such as %s", Config{"min.insync.replicas": 2}.code())
	}
	props, set, problem := config.AlterTopic(c.s.World.Broker.Topic, t.Props, t.Set, conf)
	mustParse(where, problem)
	r := c.ask(fmt.Sprintf("c.AlterTopic(%q, %s)", topic, conf.code()), machine.AlterTopic{Topic: topic, Props: props, Set: set})
	return outcome(where, r, func() string {
		if len(set) == 0 {
			return topic + ": no property differs from the brokers' defaults"
		}
		return topic + ": " + strings.Join(config.TopicValues(props, set), ", ")
	})
}

// DeleteTopic deletes a topic and all its records. Brokers delete their replicas when they hear of it; clients
// get UNKNOWN_TOPIC_OR_PARTITION.
func (c *Cluster) DeleteTopic(topic string) *Outcome {
	where := fmt.Sprintf("DeleteTopic(%q)", topic)
	c.topicIndex(where, topic)
	r := c.ask(fmt.Sprintf("c.DeleteTopic(%q)", topic), machine.DeleteTopic{Topic: topic})
	return outcome(where, r, func() string { return topic + ": deleted" })
}

// Reassign moves a partition to these brokers, the preferred leader first. The new replicas copy the log
// beside the old ones, which go when all of the new are in the ISR: Partition shows Adding and Removing
// until then. The same brokers in another order are done at once and leave the leader where it is.
func (c *Cluster) Reassign(topic string, partition int, brokers ...int) *Outcome {
	where := fmt.Sprintf("Reassign(%q, %d)", topic, partition)
	tp := c.partitionOf(where, topic, partition)
	if len(brokers) == 0 {
		misuse(where, "no brokers are given; CancelReassign(%q, %d) ends a reassignment that is under way", topic, partition)
	}
	var nodes []machine.NodeID
	code := fmt.Sprintf("c.Reassign(%q, %d", topic, partition)
	for i, id := range brokers {
		if id < 1 || id > len(c.s.Brokers) {
			misuse(where, "there is no broker %d; this cluster has brokers %s", id, oneTo(len(c.s.Brokers)))
		}
		if slices.Contains(brokers[:i], id) {
			misuse(where, "broker %d is given twice", id)
		}
		nodes = append(nodes, machine.NodeID(id))
		code += fmt.Sprintf(", %d", id)
	}
	r := c.ask(code+")", machine.Reassign{TP: tp, Replicas: nodes})
	return outcome(where, r, func() string { return c.assignmentWords(tp) })
}

// CancelReassign ends the reassignment of a partition: the replicas that were being added go. Kafka answers
// NO_REASSIGNMENT_IN_PROGRESS when there is none. The order of the replicas from before does not come back.
func (c *Cluster) CancelReassign(topic string, partition int) *Outcome {
	where := fmt.Sprintf("CancelReassign(%q, %d)", topic, partition)
	tp := c.partitionOf(where, topic, partition)
	r := c.ask(fmt.Sprintf("c.CancelReassign(%q, %d)", topic, partition), machine.Reassign{TP: tp})
	return outcome(where, r, func() string { return c.assignmentWords(tp) })
}

// assignmentWords say where a partition's replicas are, and where they go.
func (c *Cluster) assignmentWords(tp machine.TopicPartition) string {
	reg := &c.image().Topics[tp.Topic].Partitions[tp.Partition]
	s := fmt.Sprintf("%s: replicas %s", c.s.PartitionName(tp), commas(ints(reg.Replicas)))
	if len(reg.Adding) > 0 {
		s += ", adding " + commas(ints(reg.Adding))
	}
	if len(reg.Removing) > 0 {
		s += ", removing " + commas(ints(reg.Removing))
	}
	return s
}

// Unregister makes the controller forget the broker, as kafka-cluster.sh unregister does: it leaves its ISRs, and
// no client is told of it any more. It stays among the replicas of its partitions, and an eligible leader replica
// stays one. Meant for a broker that does not come back; one that is alive keeps replicating, its heartbeats are
// refused as stale, and it is back when it has started again. Kafka's answers are BROKER_ID_NOT_REGISTERED for
// one that is not registered, and UNSUPPORTED_VERSION under ZooKeeper.
func (b *Broker) Unregister() *Outcome {
	where := fmt.Sprintf("Broker(%d).Unregister", b.id)
	r := b.c.ask(fmt.Sprintf("c.Broker(%d).Unregister()", b.id), machine.UnregisterBroker{Broker: b.id})
	return outcome(where, r, func() string { return fmt.Sprintf("broker %d: unregistered", b.id) })
}

// ElectPreferred gives the leadership of partitions (none named: of all the topic's) back to their first
// replicas, as kafka-leader-election.sh does. Kafka's answers are ELECTION_NOT_NEEDED for one that leads
// already and PREFERRED_LEADER_NOT_AVAILABLE for one that is not in the ISR or not alive.
func (c *Cluster) ElectPreferred(topic string, partitions ...int) *Outcome {
	return c.elect("ElectPreferred", topic, partitions, false)
}

// ElectUnclean lets any live replica lead partitions (none named: all of the topic's) that have no leader,
// whatever the topic's unclean.leader.election.enable: what the new leader lacks is gone. Kafka's answers are
// ELECTION_NOT_NEEDED where there is a leader and ELIGIBLE_LEADERS_NOT_AVAILABLE where no replica is alive.
func (c *Cluster) ElectUnclean(topic string, partitions ...int) *Outcome {
	return c.elect("ElectUnclean", topic, partitions, true)
}

func (c *Cluster) elect(verb, topic string, partitions []int, unclean bool) *Outcome {
	where := fmt.Sprintf("%s(%q)", verb, topic)
	t := c.topicIndex(where, topic)
	code := fmt.Sprintf("c.%s(%q", verb, topic)
	for _, p := range partitions {
		c.partitionOf(where, topic, p)
		code += fmt.Sprintf(", %d", p)
	}
	if len(partitions) == 0 {
		for p := range c.image().Topics[t].Partitions {
			partitions = append(partitions, p)
		}
	}
	c.history.line(code+")", c.s.Now)
	all := &Outcome{}
	for i, p := range partitions {
		tp := machine.TopicPartition{Topic: t, Partition: int32(p)}
		r := c.ask("", machine.ElectLeaders{TP: tp, Unclean: unclean})
		one := outcome(c.s.PartitionName(tp), r, func() string {
			reg := &c.image().Topics[tp.Topic].Partitions[tp.Partition]
			return fmt.Sprintf("%s: leader %s, leader epoch %d", c.s.PartitionName(tp), brokerWord(int(reg.Leader)), reg.LeaderEpoch)
		})
		if all.Error == "" {
			all.Error = one.Error
		}
		if i > 0 {
			all.text += "\n"
		}
		all.text += one.text
	}
	return all
}
