package machine

// Static members (KIP-345).
//
// A member with an instance id that comes back within its session takes the place of the one that it was: with a new
// member id, but in the same generation and with the same partitions, so that a restart moves nothing (G-70). The old id
// is fenced from then on (G-72). Nobody takes such a member out at a rebalance; only its session's end does (G-26).
//
// Kafka: GroupMetadataManager.classicGroupJoinNewStaticMember, updateStaticMemberThenRebalanceOrCompleteJoin.

// StaticReplaced is what is done when the record of a replaced static member is committed.
type StaticReplaced struct {
	Group, Old, New string
	To              Parked
	Before          GroupMember // as it was, should the record not be written
}

func (StaticReplaced) payload() {}

// joinStatic is the JoinGroup of an instance without a member id.
func (s *State) joinStatic(b *Broker, x *CoordinatorShard, g *Group, m *JoinGroupRequest, p *Parked) {
	id := s.memberID(m.ClientID, m.Instance)
	old := g.static(m.Instance)
	if old == nil {
		s.joinNew(b, x, g, m, id, p)
		return
	}
	before := *old
	// Whoever waits under the old id is told at once that it is fenced.
	s.answerParked(b, &old.Join, JoinGroupResponse{Error: FENCED_INSTANCE_ID, Generation: -1, Member: old.ID})
	s.answerParked(b, &old.Sync, SyncGroupResponse{Error: FENCED_INSTANCE_ID})
	before.Join, before.Sync = Parked{}, Parked{}
	old.ID = id
	if g.Leader == before.ID {
		g.Leader = id
	}
	s.alive(old)
	s.updateMember(old, m, p)
	switch g.State {
	case GroupStable:
		if s.vote(g) != g.Protocol || s.mutant(StaticRejoinRebalances) {
			s.rebalanceOrComplete(b, x, g)
			return
		}
		s.storeGroupThen(b, x, g, nil, StaticReplaced{Group: g.ID, Old: before.ID, New: id, To: *p, Before: before})
	case GroupCompletingRebalance:
		s.prepareRebalance(b, x, g) // G-73
	default:
		s.rebalanceOrComplete(b, x, g)
	}
}

// staticReplaced answers the newcomer: it is in the present generation, and if it leads, it need not assign again (G-71).
// If the record could not be written, the old member is what it was.
func (s *State) staticReplaced(b *Broker, x *CoordinatorShard, m StaticReplaced, code Code) {
	var g *Group
	if x != nil {
		g = x.group(m.Group)
	}
	if g == nil {
		s.answerParked(b, &m.To, JoinGroupResponse{Error: code, Generation: -1})
		return
	}
	member := g.member(m.New)
	if member == nil || member.Join != m.To {
		return // a rebalance came between, or yet another one took its place
	}
	if code != NONE {
		to := member.Join
		*member = m.Before
		if g.Leader == m.New {
			g.Leader = m.Old
		}
		s.alive(member)
		s.answerParked(b, &to, JoinGroupResponse{Error: code, Generation: -1})
		return
	}
	r := g.joinAnswer(member, true)
	r.SkipAssignment = g.Leader == member.ID
	s.answerParked(b, &member.Join, r)
}
