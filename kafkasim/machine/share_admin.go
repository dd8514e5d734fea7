package machine

import (
	"slices"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
)

// AlterShareGroup sets a share group's properties (kafka-configs.sh --entity-type groups). Simplified: all brokers know
// it at once.
type AlterShareGroup struct {
	Group string
	Props config.ShareGroup
}

func (AlterShareGroup) command() {}

func (s *State) alterShareGroup(c AlterShareGroup) {
	i := slices.IndexFunc(s.Share.Configs, func(x ShareConfig) bool { return x.Group == c.Group })
	if i < 0 {
		i = len(s.Share.Configs)
		s.Share.Configs = append(s.Share.Configs, ShareConfig{Group: c.Group})
	}
	s.Share.Configs[i].Props = c.Props
	s.shareLimits(c.Group)
}

// ShareGroups are the ids of all share groups, in order.
func (s *State) ShareGroups() []string {
	var out []string
	for i := range s.Brokers {
		for j := range s.Brokers[i].Shards {
			for _, g := range s.Brokers[i].Shards[j].Share.Groups {
				if known, at := s.ShareGroup(g.ID); known != nil && at == s.Brokers[i].ID {
					out = append(out, g.ID)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ShareGroup finds a share group at the broker that coordinates it; nil for none.
func (s *State) ShareGroup(id string) (*ShareGroup, NodeID) {
	for i := range s.Brokers {
		b := &s.Brokers[i]
		for j := range b.Shards {
			if g := b.Shards[j].shareGroup(id); g != nil && b.alive() && b.coordinatorOf(GroupCoordinator, id) == b.ID {
				return g, b.ID
			}
		}
	}
	return nil, NoNode
}

// SharePartition finds a partition of a share group at its leader; nil before a member has asked it.
func (s *State) SharePartition(group string, tp TopicPartition) *SharePartition {
	d := s.decided().partition(tp)
	if d == nil || d.Leader == NoNode {
		return nil
	}
	b := s.broker(d.Leader)
	if p := s.sharePartition(b, group, tp); p != nil && p.Ready {
		return p
	}
	return nil
}

// ShareState finds what the share coordinator has written of a partition; nil for nothing.
func (s *State) ShareState(group string, tp TopicPartition) *ShareState {
	for i := range s.Brokers {
		b := &s.Brokers[i]
		x, code := b.coordinator(ShareCoordinator, shareKey(group, tp))
		if !b.alive() || code != NONE {
			continue
		}
		if k, found := x.findShareState(group, tp); found {
			return &x.Share.States[k]
		}
	}
	return nil
}

// LeaderLog is the log of a partition at its leader; nil without one.
func (s *State) LeaderLog(tp TopicPartition) *partlog.Log {
	d := s.decided().partition(tp)
	if d == nil || d.Leader == NoNode {
		return nil
	}
	if r := s.broker(d.Leader).replica(tp); r != nil {
		return &r.Log
	}
	return nil
}
