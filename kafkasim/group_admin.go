package kafkasim

import (
	"fmt"

	"kafkalab/kafkasim/machine"
)

// What kafka-consumer-groups.sh does to groups: --delete and --delete-offsets (O-9); --reset-offsets is in group_reset.go.

// GroupChange is what became of a change to a group: "" or Kafka's error.
type GroupChange struct {
	Group string
	What  string
	Error string
}

// String says what was done.
func (r *GroupChange) String() string {
	if r.Error != "" {
		return fmt.Sprintf("group %s: %s: %s", r.Group, r.What, r.Error)
	}
	return fmt.Sprintf("group %s: %s", r.Group, r.What)
}

// administerGroup asks the group's coordinator, and lets time pass until it answers.
func (c *Cluster) administerGroup(code, what string, cmd machine.AdministerGroup) *GroupChange {
	r := c.apply(code, cmd)
	const patience = 60_000_000
	until := c.s.Now + patience
	c.stepUntil(c.passing(what+", ms at most", patience), func() bool { return c.s.GroupAdmin[r.ID].Done || c.s.Now >= until })
	out := &GroupChange{Group: cmd.Group, What: what}
	switch a := &c.s.GroupAdmin[r.ID]; {
	case !a.Done:
		out.Error = machine.TIMEOUT_EXCEPTION.String()
	case a.Error != machine.NONE:
		out.Error = a.Error.String()
	default:
		for _, p := range a.Parts {
			if p.Error != machine.NONE {
				out.Error = p.Error.String()
			}
		}
	}
	return out
}

// DeleteGroup deletes a group that has no members, with its offsets: NON_EMPTY_GROUP while it has some.
func (c *Cluster) DeleteGroup(id string) *GroupChange {
	return c.administerGroup(fmt.Sprintf("c.DeleteGroup(%q)", id), "deleted", machine.AdministerGroup{Group: id, Op: machine.DeleteGroup})
}

// DeleteOffsets deletes a group's committed offsets of a topic: GROUP_SUBSCRIBED_TO_TOPIC while a member subscribes to it.
func (c *Cluster) DeleteOffsets(id, topic string) *GroupChange {
	t := c.topicIndex(fmt.Sprintf("DeleteOffsets(%q, %q)", id, topic), topic)
	cmd := machine.AdministerGroup{Group: id, Op: machine.DeleteGroupOffsets}
	for p := range c.image().Topics[t].Partitions {
		cmd.Delete = append(cmd.Delete, machine.NamedPartition{Topic: topic, Partition: int32(p)})
	}
	return c.administerGroup(fmt.Sprintf("c.DeleteOffsets(%q, %q)", id, topic), "offsets of "+topic+" deleted", cmd)
}
