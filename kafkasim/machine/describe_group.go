package machine

import (
	"fmt"
	"strings"

	"kafkalab/kafkasim/view"
)

// Messages of groups in words, and what happens to groups as notes.

// describeGroup is what such a message says or such a timer is for; false for every other payload.
func (s *State) describeGroup(p Payload) (string, bool) {
	switch p := p.(type) {
	case JoinGroupRequest:
		who := p.Member
		if who == "" {
			who = "a new member"
		}
		if p.Instance != "" {
			who += " (" + p.Instance + ")"
		}
		var names []string
		for _, x := range p.Protocols {
			names = append(names, x.Name)
		}
		return fmt.Sprintf("JoinGroup %s as %s, knows %s", p.Group, shortID(who), strings.Join(names, ", ")), true
	case JoinGroupResponse:
		words := fmt.Sprintf("generation %d by %s, leader %s", p.Generation, p.Protocol, shortID(p.Leader))
		if len(p.Members) > 0 {
			words += " of " + list(p.Members, func(m JoinedMember) string { return shortID(m.ID) })
		}
		return "JoinGroupResponse " + orError(p.Error, words), true
	case SyncGroupRequest:
		words := fmt.Sprintf("SyncGroup %s generation %d", p.Group, p.Generation)
		if len(p.Assignments) > 0 {
			words += ": " + list(p.Assignments, func(a MemberAssignment) string { return shortID(a.Member) + "=" + partsWords(a.Parts) })
		}
		return words, true
	case SyncGroupResponse:
		return "SyncGroupResponse " + orError(p.Error, partsWords(p.Parts)), true
	case HeartbeatRequest:
		return fmt.Sprintf("Heartbeat %s generation %d", p.Group, p.Generation), true
	case HeartbeatResponse:
		return "HeartbeatResponse " + p.Error.String(), true
	case ConsumerGroupHeartbeatRequest:
		return "ConsumerGroupHeartbeat " + p.words(), true
	case ConsumerGroupHeartbeatResponse:
		words := fmt.Sprintf("epoch %d", p.Epoch)
		if p.HasAssignment {
			words += ": " + partsWords(p.Assignment)
		}
		return "ConsumerGroupHeartbeatResponse " + orError(p.Error, words), true
	case LeaveGroupRequest:
		return "LeaveGroup " + p.Group + " " + list(p.Members, func(m LeavingMember) string { return shortID(m.Member + m.Instance) }), true
	case LeaveGroupResponse:
		return "LeaveGroupResponse " + orError(p.Error, list(p.Members, Code.String)), true
	}
	return s.describeOffsets(p)
}

func (s *State) describeOffsets(p Payload) (string, bool) {
	commits := func(parts []CommitPart) string {
		return list(parts, func(c CommitPart) string { return fmt.Sprintf("%s-%d at %d", c.Topic, c.Partition, c.Offset) })
	}
	switch p := p.(type) {
	case OffsetCommitRequest:
		return "OffsetCommit " + p.Group + " " + commits(p.Parts), true
	case TxnOffsetCommitRequest:
		return "TxnOffsetCommit " + p.Group + " " + commits(p.Parts), true
	case OffsetCommitResponse:
		return "OffsetCommitResponse " + list(p.Parts, func(r CommitResult) string {
			return fmt.Sprintf("%s-%d %s", r.Topic, r.Partition, r.Error)
		}), true
	case OffsetFetchRequest:
		return "OffsetFetch " + p.Group + " " + list(p.Parts, func(n NamedPartition) string { return fmt.Sprintf("%s-%d", n.Topic, n.Partition) }), true
	case OffsetFetchResponse:
		return "OffsetFetchResponse " + orError(p.Error, list(p.Parts, func(f FetchedOffset) string {
			return fmt.Sprintf("%s-%d %s", f.Topic, f.Partition, orError(f.Error, fmt.Sprintf("at %d", f.Offset)))
		})), true
	case DeleteGroupRequest:
		return "DeleteGroups " + p.Group, true
	case DeleteGroupResponse:
		return "DeleteGroupsResponse " + p.Error.String(), true
	case OffsetDeleteRequest:
		return "OffsetDelete " + p.Group, true
	case OffsetDeleteResponse:
		return "OffsetDeleteResponse " + p.Error.String(), true
	case GroupTimer:
		return "looks at group " + p.Group, true
	case ShareStateTimer:
		return "looks after the log of " + s.PartitionName(p.TP), true
	case OffsetExpiryTimer:
		return "looks for old offsets in " + s.PartitionName(p.TP), true
	}
	return "", false
}

// shortID is a member id with the beginning of its UUID only.
func shortID(id string) string {
	const tail = 36 - 4
	if n := len(id); n > 36 && id[n-37] == '-' && id[n-28] == '-' {
		return id[:n-tail] + "…"
	}
	return id
}

func partsWords(parts []TopicParts) string {
	if len(parts) == 0 {
		return "nothing"
	}
	var out []string
	for i := range parts {
		var numbers []string
		for _, p := range parts[i].Partitions {
			numbers = append(numbers, fmt.Sprint(p))
		}
		out = append(out, parts[i].Topic+"-"+strings.Join(numbers, ","))
	}
	return strings.Join(out, " ")
}

// noteGroup notes a group's state at its coordinator.
func (s *State) noteGroup(b *Broker, g *Group) {
	s.note(view.Change{Kind: view.GroupState, Broker: int(b.ID), Partition: -1, Client: g.ID, A: int64(g.Generation), B: int64(len(g.Members) + len(g.Consumer.Members)), Text: g.State.String()})
}

// noteCommitted notes a committed offset, -1 for one that is gone.
func (s *State) noteCommitted(b *Broker, g *Group, topic string, partition int32, offset int64) {
	t := s.Metadata().topic(topic)
	s.note(view.Change{Kind: view.OffsetCommitted, Broker: int(b.ID), Partition: s.ordinal(TopicPartition{t, partition}), Client: g.ID, A: offset})
}
