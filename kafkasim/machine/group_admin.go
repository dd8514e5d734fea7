package machine

// What an administrator does to groups: kafka-consumer-groups.sh --delete, --delete-offsets and --reset-offsets.
//
// The tool asks the coordinator, once, and reports what it answers. Resetting offsets is a commit by somebody who is no
// member, so only an empty group takes it (G-81, G-83).
//
// Kafka: ConsumerGroupCommand, KafkaAdminClient. Simplified: the administrator knows the coordinator from the committed
// metadata, and does not try again.

// AdministerGroup asks the coordinator of a group. The Result's ID is an index into State.GroupAdmin.
type AdministerGroup struct {
	Group  string
	Op     GroupOp
	Commit []CommitPart // ResetGroupOffsets, AlterShareOffsets
	Delete []NamedPartition
}

func (AdministerGroup) command() {}

// GroupOp is what is asked.
type GroupOp uint8

// The operations.
const (
	DeleteGroup GroupOp = iota
	DeleteGroupOffsets
	ResetGroupOffsets
	AlterShareOffsets
	DeleteShareOffsets // of the topics in Delete
)

// GroupAdministration is what became of an AdministerGroup.
type GroupAdministration struct {
	Done  bool
	Error Code
	Parts []CommitResult // for each partition that was named; immutable
}

// groupAdminConn is the first number of the administrator's connections to coordinators.
const groupAdminConn = 1 << 24

func (s *State) administerGroup(c AdministerGroup) Result {
	id := int32(len(s.GroupAdmin))
	s.GroupAdmin = append(s.GroupAdmin, GroupAdministration{})
	node := s.CoordinatorOf(c.Group)
	if node == NoNode {
		s.GroupAdmin[id] = GroupAdministration{Done: true, Error: COORDINATOR_NOT_AVAILABLE}
		return Result{ID: id}
	}
	var p Payload
	switch c.Op {
	case DeleteGroup:
		p = DeleteGroupRequest{Group: c.Group}
	case DeleteGroupOffsets:
		p = OffsetDeleteRequest{Group: c.Group, Parts: c.Delete}
	case AlterShareOffsets:
		p = AlterShareOffsetsRequest{Group: c.Group, Parts: c.Commit}
	case DeleteShareOffsets:
		m := DeleteShareOffsetsRequest{Group: c.Group}
		for _, d := range c.Delete {
			m.Topics = append(m.Topics, d.Topic)
		}
		p = m
	default:
		p = OffsetCommitRequest{Group: c.Group, Generation: -1, Parts: c.Commit}
	}
	s.send(AdminNode, node, groupAdminConn+uint32(id), 1, p)
	return Result{ID: id}
}

// CoordinatorOf is the broker that leads a group's partition of __consumer_offsets, by the committed metadata; NoNode for
// none.
func (s *State) CoordinatorOf(group string) NodeID {
	im := s.Metadata()
	t := im.topic(ConsumerOffsetsTopic)
	if t < 0 {
		return NoNode
	}
	ps := im.Topics[t].Partitions
	return ps[CoordinatorPartition(group, int32(len(ps)))].Leader
}

// HasGroups tells whether the topic of groups exists. Who asks for a group before it does makes the brokers create it,
// and then hears that there is no such group (KafkaApis.handleFindCoordinatorRequest).
func (s *State) HasGroups() bool { return s.Metadata().topic(ConsumerOffsetsTopic) >= 0 }

// GroupAt is a group as its coordinator has it; nil when nobody coordinates it or there is none.
func (s *State) GroupAt(id string) (*Group, *Broker) {
	b := s.broker(s.CoordinatorOf(id))
	if b == nil || !b.alive() {
		return nil, nil
	}
	x, code := b.coordinator(GroupCoordinator, id)
	if code != NONE {
		return nil, nil
	}
	return x.group(id), b
}

// Stable is a partition's committed offset that is replicated; nil for none.
func (s *State) Stable(b *Broker, g *Group, topic string, partition int32) *OffsetVersion {
	i, found := g.offset(topic, partition)
	x, code := b.coordinator(GroupCoordinator, g.ID)
	if !found || code != NONE {
		return nil
	}
	return g.Offsets[i].stable(b.replica(x.TP).Log.HighWatermark)
}

// Known tells whether the group's first record is replicated: before that DescribeGroups does not know it.
func (s *State) Known(b *Broker, g *Group) bool {
	x, code := b.coordinator(GroupCoordinator, g.ID)
	return code == NONE && g.BornAt >= 0 && g.BornAt < b.replica(x.TP).Log.HighWatermark
}

// groupAdministrated takes the coordinator's answer; false for an answer to something else.
func (s *State) groupAdministrated(e *Event) bool {
	if e.Conn < groupAdminConn || int(e.Conn-groupAdminConn) >= len(s.GroupAdmin) {
		return false
	}
	a := &s.GroupAdmin[e.Conn-groupAdminConn]
	a.Done = true
	switch p := e.Payload.(type) {
	case DeleteGroupResponse:
		a.Error = p.Error
	case OffsetDeleteResponse:
		a.Error, a.Parts = p.Error, p.Parts
	case AlterShareOffsetsResponse:
		a.Error, a.Parts = p.Error, p.Parts
	case DeleteShareOffsetsResponse:
		a.Error, a.Parts = p.Error, p.Parts
	case OffsetCommitResponse:
		a.Parts = p.Parts
		for i := range p.Parts {
			if a.Error == NONE {
				a.Error = p.Parts[i].Error
			}
		}
	case Disconnected:
		a.Error = NETWORK_EXCEPTION
	}
	return true
}
