package kafkasim

import (
	"fmt"
	"regexp"
	"slices"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/view"
)

// SubscribePattern makes the consumer a member of its group, which shares the partitions of all topics whose whole names
// match the regular expression among its members. With group.protocol=consumer the coordinator looks which topics those are
// (SubscriptionPattern, in RE2J's language), and looks again when topics come and go; a pattern that it cannot read is
// INVALID_REGULAR_EXPRESSION. With the classic protocol the consumer looks itself, whenever it hears of topics
// (metadata.max.age.ms), and what of Java's own expressions goes beyond RE2 is refused.
func (x *Consumer) SubscribePattern(pattern string) *Consumer {
	x.needsGroup("SubscribePattern")
	s := x.state()
	_, bad := regexp.Compile(pattern)
	switch where := x.where("SubscribePattern"); {
	case bad != nil && s.Config.Member.Protocol == config.ClassicProtocol:
		misuse(where, "%q is no regular expression that is known here (RE2's language): %v", pattern, bad)
	case pattern == "":
		misuse(where, `Topic pattern to subscribe to cannot be empty (IllegalArgumentException); want a regular expression such as "orders-.*"`)
	case !s.Group.On && len(s.Parts) > 0, len(s.Group.Topics) > 0:
		misuse(where, "Subscription to topics, partitions and pattern are mutually exclusive (IllegalStateException): this consumer has others; Subscribe() ends its subscription")
	}
	x.c.apply(fmt.Sprintf("c.Consumer(%q).SubscribePattern(%q)", x.ID(), pattern), machine.Subscribe{Consumer: x.i, Pattern: pattern})
	return x
}

// viewConsumerGroup is a group with the consumer protocol, as its coordinator has it.
func (c *Cluster) viewConsumerGroup(v *view.Group, b *machine.Broker, g *machine.ConsumerGroup, owner map[view.Position]string) {
	v.Modern, v.AssignmentEpoch = true, int(g.AssignmentEpoch)
	for i := range g.Members {
		m := &g.Members[i]
		w := view.GroupMember{ID: m.ID, ClientID: m.ClientID, InstanceID: m.Instance, Host: m.Host, Epoch: int(m.Epoch), State: m.State.String(), Classic: len(m.Classic.Protocols) > 0}
		for _, p := range c.positions(b, m.Holds()) {
			owner[view.Position{Topic: p.Topic, Partition: p.Partition}] = m.ID
			p.Offset = c.memberPosition(m.ID, p.Topic, int32(p.Partition))
			w.Partitions = append(w.Partitions, p)
		}
		w.Target = c.positions(b, m.Target)
		v.Members = append(v.Members, w)
	}
}

// positions are partitions with their topics' names; the offsets are not known.
func (c *Cluster) positions(b *machine.Broker, list []machine.TopicPartition) []view.Position {
	var out []view.Position
	for _, t := range b.Named(slices.Clone(list)) {
		for _, p := range t.Partitions {
			out = append(out, view.Position{Topic: t.Topic, Partition: int(p), Offset: -1})
		}
	}
	return out
}

// hasConsumerGroups tells whether any group has the consumer protocol.
func (c *Cluster) hasConsumerGroups() bool {
	for i := range c.s.Consumers {
		if m := &c.s.Consumers[i].Config.Member; m.GroupID != "" && m.Protocol == config.ConsumerProtocol {
			return true
		}
	}
	return false
}
