package kafkasim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kafkalab/kafkasim/machine"
)

// What kafka-consumer-groups.sh does to groups: --reset-offsets, --delete and --delete-offsets (O-9).

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

// OffsetReset is a plan of kafka-consumer-groups.sh --reset-offsets. It does nothing before Execute.
type OffsetReset struct {
	c      *Cluster
	Group  string
	Topic  string
	New    []int64 // by partition
	Error  string  // why the tool refuses; "" for nothing
	option string
}

// resetOptions are the tool's scenarios that ResetOffsets knows.
var resetOptions = []string{"--shift-by", "--to-current", "--to-earliest", "--to-latest", "--to-offset"}

// ResetOffsets plans new committed offsets of a topic, as kafka-consumer-groups.sh --reset-offsets does: to is one of its
// options, "--to-earliest", "--to-latest", "--to-current", "--to-offset 5" or "--shift-by -5". Offsets outside of a log are
// cut to its bounds. The group must have no members. Nothing is done before Execute.
func (c *Cluster) ResetOffsets(group, topic, to string) *OffsetReset {
	where := fmt.Sprintf("ResetOffsets(%q, %q, %q)", group, topic, to)
	t := c.topicIndex(where, topic)
	option, number, with := strings.Cut(strings.TrimSpace(to), " ")
	n := int64(0)
	switch takes := option == "--to-offset" || option == "--shift-by"; {
	case !slices.Contains(resetOptions, option):
		misuse(where, "there is no scenario %q%s", option, meant(option, resetOptions, ""))
	case takes != with:
		misuse(where, `want "--to-offset 5", "--shift-by -5" or one of the others without a number`)
	case takes:
		v, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		if err != nil {
			misuse(where, "%q is no whole number", number)
		}
		n = v
	}
	r := &OffsetReset{c: c, Group: group, Topic: topic, option: to}
	g := c.Group(group)
	if g.State != "Empty" && g.Error != machine.GROUP_ID_NOT_FOUND.String() {
		r.Error = fmt.Sprintf("Assignments can only be reset if the group '%s' is inactive, but the current state is %s.", group, g.State)
		return r
	}
	for p := range c.image().Topics[t].Partitions {
		r.New = append(r.New, c.resetOffset(g, topic, p, option, n))
	}
	return r
}

// resetOffset is one partition's new offset.
func (c *Cluster) resetOffset(g *Group, topic string, partition int, option string, n int64) int64 {
	tp := machine.TopicPartition{Topic: c.findTopic(topic), Partition: int32(partition)}
	start, end, committed := int64(0), int64(0), int64(-1)
	if leader := c.image().Topics[tp.Topic].Partitions[partition].Leader; leader != machine.NoNode {
		if r := c.replica(leader, tp); r != nil {
			start, end = r.Log.LogStart, r.Log.HighWatermark
		}
	}
	for i := range g.Offsets {
		if o := &g.Offsets[i]; o.Topic == topic && o.Partition == partition {
			committed = o.Committed
		}
	}
	to := end
	switch {
	case option == "--to-earliest":
		to = start
	case option == "--to-offset":
		to = n
	case option == "--to-current" && committed >= 0:
		to = committed
	case option == "--shift-by" && committed >= 0:
		to = committed + n
	}
	return min(max(to, start), end)
}

// String is the plan as the tool prints it.
func (r *OffsetReset) String() string {
	if r.Error != "" {
		return "\nError: " + r.Error
	}
	table := [][]string{{"GROUP", "TOPIC", "PARTITION", "NEW-OFFSET"}}
	for p, offset := range r.New {
		table = append(table, []string{r.Group, r.Topic, fmt.Sprint(p), fmt.Sprint(offset)})
	}
	return columns(table, width(15, table, 0), width(15, table, 1), 10, 0)
}

// Execute commits the plan.
func (r *OffsetReset) Execute() *GroupChange {
	if r.Error != "" {
		return &GroupChange{Group: r.Group, What: "offsets of " + r.Topic + " not reset", Error: r.Error}
	}
	cmd := machine.AdministerGroup{Group: r.Group, Op: machine.ResetGroupOffsets}
	for p, offset := range r.New {
		cmd.Commit = append(cmd.Commit, machine.CommitPart{Topic: r.Topic, Partition: int32(p), Offset: offset, LeaderEpoch: -1})
	}
	code := fmt.Sprintf("c.ResetOffsets(%q, %q, %q).Execute()", r.Group, r.Topic, r.option)
	return r.c.administerGroup(code, "offsets of "+r.Topic+" reset", cmd)
}
