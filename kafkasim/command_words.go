package kafkasim

import (
	"fmt"

	"kafkalab/kafkasim/machine"
)

// interventionWords says what a command does, when nothing else in the trace would show it: a broker's crash
// is a change of its state, a held message is not. "" for commands that show themselves.
func (c *Cluster) interventionWords(cmd machine.Command) string {
	name := c.s.NodeName
	switch x := cmd.(type) {
	case machine.CutLink:
		return fmt.Sprintf("cut %s and %s off from each other", name(x.A), name(x.B))
	case machine.CutOneWay:
		return fmt.Sprintf("let nothing pass from %s to %s", name(x.From), name(x.To))
	case machine.HealLink:
		return fmt.Sprintf("let messages pass between %s and %s again", name(x.A), name(x.B))
	case machine.SlowBroker:
		if x.By == 0 {
			return fmt.Sprintf("give %s a fast disk again", name(x.Broker))
		}
		return fmt.Sprintf("make the disk of %s slow, by %s", name(x.Broker), inMs(x.By))
	case machine.PowerLoss:
		return "cut the power of " + name(x.Broker)
	case machine.LoseDisk:
		if len(x.Dirs) == 0 {
			return "destroy all disks of " + name(x.Broker)
		}
		return fmt.Sprintf("destroy %s of %s", plural(int64(len(x.Dirs)), "disk"), name(x.Broker))
	case machine.LoseReplica:
		return fmt.Sprintf("damage the log of %s on %s", c.s.PartitionName(x.TP), name(x.Broker))
	}
	return c.messageWords(cmd)
}

// messageWords says what a command does to messages, and what an administrator asks for.
func (c *Cluster) messageWords(cmd machine.Command) string {
	switch x := cmd.(type) {
	case machine.HoldMessages:
		return fmt.Sprintf("hold back %q", x.Pattern)
	case machine.ReleaseMessages:
		return "release what is held"
	case machine.DeliverMessage:
		return "deliver at once: " + c.wireWords(x.Seq)
	case machine.DropMessage:
		return "drop " + c.wireWords(x.Seq)
	case machine.DelayMessage:
		return fmt.Sprintf("delay by %s: %s", inMs(x.By), c.wireWords(x.Seq))
	case machine.AlterTopic:
		return "change the properties of " + x.Topic
	case machine.DeleteTopic:
		return "delete the topic " + x.Topic
	case machine.Reassign:
		if len(x.Replicas) == 0 {
			return "cancel the reassignment of " + c.s.PartitionName(x.TP)
		}
		return fmt.Sprintf("move %s to brokers %s", c.s.PartitionName(x.TP), commas(ints(x.Replicas)))
	case machine.UnregisterBroker:
		return fmt.Sprintf("unregister broker %d", x.Broker)
	case machine.AlterQuota:
		return "change the quota of " + x.Quota.Entity.String()
	case machine.ElectLeaders:
		kind := "the preferred leader"
		if x.Unclean {
			kind = "any live leader"
		}
		return fmt.Sprintf("elect %s of %s", kind, c.s.PartitionName(x.TP))
	case machine.DeleteRecords:
		return fmt.Sprintf("delete the records of %s before offset %d", c.s.PartitionName(x.TP), x.Before)
	}
	return ""
}

// wireWords is a message on the wire.
func (c *Cluster) wireWords(seq uint64) string {
	for i := range c.s.Queue {
		if e := &c.s.Queue[i]; e.Seq == seq {
			return fmt.Sprintf("%s -> %s %s", c.s.NodeName(e.From), c.s.NodeName(e.To), c.s.DescribePayload(e.Payload))
		}
	}
	return fmt.Sprintf("message #%d", seq)
}
