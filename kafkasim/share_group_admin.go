package kafkasim

import (
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/machine"
)

// What kafka-share-groups.sh does to share groups: --reset-offsets and --delete-offsets; Cluster.DeleteGroup is its --delete.

// ShareOffsetReset is a plan of kafka-share-groups.sh --reset-offsets. It does nothing before Execute.
type ShareOffsetReset struct {
	c      *Cluster
	Group  string
	Topic  string
	New    []int64 // by partition
	Error  string  // why the tool refuses; "" for nothing
	option string
}

// shareResets are the tool's scenarios that ResetOffsets knows.
var shareResets = []string{"--to-earliest", "--to-latest"}

// ResetOffsets plans new start offsets of a topic, as kafka-share-groups.sh --reset-offsets does: to is "--to-earliest" or
// "--to-latest". The group must have no members. Nothing is done before Execute.
func (g *ShareGroup) ResetOffsets(topic, to string) *ShareOffsetReset {
	where := fmt.Sprintf("ShareGroup(%q).ResetOffsets", g.ID)
	t := g.c.topicIndex(where, topic)
	switch to = strings.TrimSpace(to); {
	case to == "--to-datetime":
		misuse(where, "--to-datetime: the simulator has no calendar; want %s", strings.Join(shareResets, " or "))
	case !slices.Contains(shareResets, to):
		misuse(where, "there is no scenario %q%s", to, meant(to, shareResets, "want "+strings.Join(shareResets, " or ")))
	}
	r := &ShareOffsetReset{c: g.c, Group: g.ID, Topic: topic, option: to}
	if now := g.c.ShareGroup(g.ID); now.State == "Stable" {
		r.Error = fmt.Sprintf("Share group '%s' is not empty.", g.ID)
		return r
	}
	for p := range g.c.image().Topics[t].Partitions {
		offset := int64(0)
		if log := g.c.s.LeaderLog(machine.TopicPartition{Topic: t, Partition: int32(p)}); log != nil {
			offset = log.HighWatermark
			if to == "--to-earliest" {
				offset = log.LogStart
			}
		}
		r.New = append(r.New, offset)
	}
	return r
}

// String is the plan as the tool prints it, or why it refuses.
func (r *ShareOffsetReset) String() string {
	if r.Error != "" {
		return r.Error
	}
	plan := OffsetReset{Group: r.Group}
	for p, offset := range r.New {
		plan.Offsets = append(plan.Offsets, NewOffset{r.Topic, p, offset})
	}
	return plan.String()
}

// Execute carries the plan out (AlterShareGroupOffsets): whoever reads the partition's state from then on begins there.
func (r *ShareOffsetReset) Execute() *GroupChange {
	if r.Error != "" {
		return &GroupChange{Group: r.Group, What: "offsets of " + r.Topic + " not reset", Error: r.Error}
	}
	cmd := machine.AdministerGroup{Group: r.Group, Op: machine.AlterShareOffsets}
	for p, offset := range r.New {
		cmd.Commit = append(cmd.Commit, machine.CommitPart{Topic: r.Topic, Partition: int32(p), Offset: offset})
	}
	code := fmt.Sprintf("c.ShareGroup(%q).ResetOffsets(%q, %q).Execute()", r.Group, r.Topic, r.option)
	return r.c.administerGroup(code, "offsets of "+r.Topic+" reset", cmd)
}

// AlterOffset sets the start offset of one partition (Admin.alterShareGroupOffsets): NON_EMPTY_GROUP while the group has
// members. A group that nobody knows is made.
func (g *ShareGroup) AlterOffset(topic string, partition int, offset int64) *GroupChange {
	where := fmt.Sprintf("ShareGroup(%q).AlterOffset", g.ID)
	tp := g.c.partitionOf(where, topic, partition)
	if offset < 0 {
		misuse(where, "offset %d: want 0 or more", offset)
	}
	cmd := machine.AdministerGroup{Group: g.ID, Op: machine.AlterShareOffsets, Commit: []machine.CommitPart{{Topic: topic, Partition: tp.Partition, Offset: offset}}}
	return g.c.administerGroup(fmt.Sprintf("c.ShareGroup(%q).AlterOffset(%q, %d, %d)", g.ID, topic, partition, offset),
		fmt.Sprintf("start offset of %s-%d is %d", topic, partition, offset), cmd)
}

// DeleteOffsets deletes what is known of a topic (kafka-share-groups.sh --delete-offsets): NON_EMPTY_GROUP while the group
// has members, UNKNOWN_TOPIC_OR_PARTITION when it has no state of the topic. Members that come begin by
// share.auto.offset.reset again.
func (g *ShareGroup) DeleteOffsets(topic string) *GroupChange {
	where := fmt.Sprintf("ShareGroup(%q).DeleteOffsets", g.ID)
	g.c.topicIndex(where, topic)
	cmd := machine.AdministerGroup{Group: g.ID, Op: machine.DeleteShareOffsets, Delete: []machine.NamedPartition{{Topic: topic}}}
	return g.c.administerGroup(fmt.Sprintf("c.ShareGroup(%q).DeleteOffsets(%q)", g.ID, topic), "offsets of "+topic+" deleted", cmd)
}
