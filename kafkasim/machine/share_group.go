package machine

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"kafkalab/kafkasim/assign"
	"kafkalab/kafkasim/partlog"
)

// Share groups at the group coordinator.
//
// Members come, stay and go by ShareGroupHeartbeat alone; nobody gives anything up, because nothing is exclusive (H-18).
// A partition is handed out only when the share coordinator knows its state: the first heartbeat makes it ask for that
// (InitializeShareGroupState), and when it is there the group goes one epoch further (H-20).
//
// Kafka: GroupMetadataManager.shareGroupHeartbeat, ShareGroup, SimpleAssignor. Simplified: a group is one record of
// __consumer_offsets with all that is known of it, where Kafka has a record for each member and assignment.

// ShareGroup is one share group at its coordinator.
type ShareGroup struct {
	ID              string
	Epoch           int32 // H-20
	AssignmentEpoch int32
	AssignedAt      int64            // µs: when the target was computed last
	Members         []ShareMember    // by id
	Ready           []TopicPartition // with a state, sorted; immutable
	WakeAt          int64
}

// ShareMember is a member of a share group.
type ShareMember struct {
	ID, ClientID string
	Topics       []string // sorted; immutable
	Epoch        int32
	Parts        []TopicPartition // what it is told to ask for; immutable
	Target       []TopicPartition // … and what it will be told; immutable
	ExpiresAt    int64            // µs
}

// ShareGroupTimer: a coordinator looks after a share group.
type ShareGroupTimer struct {
	TP    TopicPartition
	Epoch int32
	Group string
}

// ShareGroupStored answers a heartbeat when the group's record is committed.
type ShareGroupStored struct {
	Who    Parked
	Answer ShareGroupHeartbeatResponse
}

func (ShareGroupTimer) payload()  {}
func (ShareGroupStored) payload() {}

func (x *CoordinatorShard) findShareGroup(id string) (int, bool) {
	return sort.Find(len(x.Share.Groups), func(i int) int { return cmp.Compare(id, x.Share.Groups[i].ID) })
}

// shareGroup finds a share group of a shard, nil for none.
func (x *CoordinatorShard) shareGroup(id string) *ShareGroup {
	if i, found := x.findShareGroup(id); found {
		return &x.Share.Groups[i]
	}
	return nil
}

func (g *ShareGroup) member(id string) *ShareMember {
	for i := range g.Members {
		if g.Members[i].ID == id {
			return &g.Members[i]
		}
	}
	return nil
}

// State is Kafka's name of a share group's state.
func (g *ShareGroup) State() string {
	if len(g.Members) == 0 {
		return "Empty"
	}
	return "Stable"
}

// onShareGroupHeartbeat is one heartbeat (H-16).
func (s *State) onShareGroupHeartbeat(b *Broker, e Event, m ShareGroupHeartbeatRequest) {
	p := parked(&e)
	x, code := s.groupShard(b, m.Group)
	if code == NONE && x.group(m.Group) != nil {
		code = GROUP_ID_NOT_FOUND // a group of another type has the name
	}
	var g *ShareGroup
	if code == NONE {
		g, code = s.shareJoinable(x, &m)
	}
	if code != NONE {
		s.answerParked(b, &p, ShareGroupHeartbeatResponse{Error: code})
		return
	}
	if m.Epoch < 0 {
		i := slices.IndexFunc(g.Members, func(y ShareMember) bool { return y.ID == m.Member })
		g.Members = slices.Delete(g.Members, i, i+1)
		g.Epoch++
		s.shareAssign(b, g)
		s.storeShareGroup(b, x, g, ShareGroupStored{Who: p, Answer: ShareGroupHeartbeatResponse{Epoch: -1}})
		s.watchShareGroup(b, x, g)
		return
	}
	changed := s.shareSubscribed(g, &m)
	s.shareInitialize(b, g)
	changed = s.shareAssign(b, g) || changed
	y := g.member(m.Member)
	y.ExpiresAt = s.Now + s.World.Broker.Share.SessionTimeoutMs*ms
	told := m.Epoch == 0
	if y.Epoch != g.AssignmentEpoch || !slices.Equal(y.Parts, y.Target) {
		y.Epoch, y.Parts = g.AssignmentEpoch, y.Target
		told, changed = true, true
	}
	a := ShareGroupHeartbeatResponse{Epoch: y.Epoch, IntervalMs: s.World.Broker.Share.HeartbeatIntervalMs}
	if told {
		a.Assigned, a.Parts = true, y.Parts
	}
	if changed {
		s.storeShareGroup(b, x, g, ShareGroupStored{Who: p, Answer: a})
	} else {
		s.answerParked(b, &p, a)
	}
	s.watchShareGroup(b, x, g)
}

// shareJoinable checks a heartbeat, and makes the group that a first member asks for.
func (s *State) shareJoinable(x *CoordinatorShard, m *ShareGroupHeartbeatRequest) (*ShareGroup, Code) {
	g := x.shareGroup(m.Group)
	if m.Epoch == 0 {
		if g == nil {
			i, _ := x.findShareGroup(m.Group)
			x.Share.Groups = slices.Insert(x.Share.Groups, i, ShareGroup{ID: m.Group, Epoch: s.firstShareEpoch()})
			g = &x.Share.Groups[i]
		}
		if g.member(m.Member) == nil && int32(len(g.Members)) >= s.World.Broker.Share.MaxSize {
			return nil, GROUP_MAX_SIZE_REACHED
		}
		return g, NONE
	}
	if g == nil {
		return nil, GROUP_ID_NOT_FOUND
	}
	y := g.member(m.Member)
	switch {
	case y == nil:
		return nil, UNKNOWN_MEMBER_ID
	case m.Epoch > y.Epoch:
		return nil, FENCED_MEMBER_EPOCH
	}
	return g, NONE
}

// firstShareEpoch is the epoch of a new group, before its first member.
func (s *State) firstShareEpoch() int32 {
	if s.World.Rules.Without(ShareEpochFromOne) {
		return 0
	}
	return 1
}

// shareSubscribed takes a member in, or a change of its topics; that makes a new epoch.
func (s *State) shareSubscribed(g *ShareGroup, m *ShareGroupHeartbeatRequest) bool {
	y := g.member(m.Member)
	switch {
	case y == nil:
		i, _ := slices.BinarySearchFunc(g.Members, m.Member, func(y ShareMember, id string) int { return cmp.Compare(y.ID, id) })
		g.Members = slices.Insert(g.Members, i, ShareMember{ID: m.Member, ClientID: m.ClientID, Topics: m.Topics})
	case m.Topics != nil && !slices.Equal(y.Topics, m.Topics):
		y.Topics = m.Topics
	default:
		return false
	}
	g.Epoch++
	return true
}

// shareInitialize asks for the state of partitions that are subscribed to and have none.
func (s *State) shareInitialize(b *Broker, g *ShareGroup) {
	for _, tp := range s.shareTopics(b, g) {
		asked := slices.ContainsFunc(b.Share.Calls, func(c ShareCall) bool {
			return c.Request.Op == InitializeShareState && c.Request.Group == g.ID && c.Request.TP == tp
		})
		if !asked && !slices.Contains(g.Ready, tp) {
			s.shareCall(b, ShareCall{Request: ShareStateRequest{Op: InitializeShareState, Group: g.ID, TP: tp, Start: -1}})
		}
	}
}

// shareTopics are the partitions that the group's members subscribe to, as the coordinator knows them.
func (s *State) shareTopics(b *Broker, g *ShareGroup) []TopicPartition {
	var out []TopicPartition
	for t := range b.Image.Topics {
		topic := &b.Image.Topics[t]
		if b.Image.topic(topic.Name) != int32(t) || !slices.ContainsFunc(g.Members, func(m ShareMember) bool { return slices.Contains(m.Topics, topic.Name) }) {
			continue
		}
		for p := range topic.Partitions {
			out = append(out, TopicPartition{int32(t), int32(p)})
		}
	}
	return out
}

// shareInitialized goes on when a partition has its state: the group gets a new epoch (H-20).
func (s *State) shareInitialized(b *Broker, c *ShareCall, code Code) {
	x, wrong := s.groupShard(b, c.Request.Group)
	if wrong != NONE || code != NONE {
		return // the next heartbeat asks again
	}
	g := x.shareGroup(c.Request.Group)
	if g == nil || slices.Contains(g.Ready, c.Request.TP) {
		return
	}
	g.Ready = append(slices.Clone(g.Ready), c.Request.TP)
	slices.SortFunc(g.Ready, func(a, b TopicPartition) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	if slices.ContainsFunc(b.Share.Calls, func(o ShareCall) bool {
		return o.Request.Op == InitializeShareState && o.Request.Group == g.ID
	}) {
		return // more is on its way: one epoch for all
	}
	g.Epoch++
	s.shareAssign(b, g)
	s.storeShareGroup(b, x, g, ShareGroupStored{})
	s.watchShareGroup(b, x, g)
}

// shareAssign computes a new target when the group's epoch has moved, at most each assignment interval (H-17, H-18).
func (s *State) shareAssign(b *Broker, g *ShareGroup) bool {
	if g.AssignmentEpoch == g.Epoch {
		return false
	}
	if s.World.Rules.On(ShareEpochFromOne) && g.AssignedAt != 0 && s.Now < g.AssignedAt+s.World.Broker.Share.AssignmentIntervalMs*ms {
		return false
	}
	var parts []assign.SharePartition
	for _, tp := range s.shareTopics(b, g) {
		if slices.Contains(g.Ready, tp) {
			parts = append(parts, assign.SharePartition(tp))
		}
	}
	members := make([]assign.ShareMember, len(g.Members))
	for i := range g.Members {
		for _, name := range g.Members[i].Topics {
			if t := b.Image.topic(name); t >= 0 {
				members[i].Topics = append(members[i].Topics, t)
			}
		}
		for _, tp := range g.Members[i].Target {
			members[i].Owned = append(members[i].Owned, assign.SharePartition(tp))
		}
	}
	for i, list := range assign.Simple(members, parts) {
		g.Members[i].Target = nil
		for _, p := range list {
			g.Members[i].Target = append(g.Members[i].Target, TopicPartition(p))
		}
	}
	g.AssignmentEpoch, g.AssignedAt = g.Epoch, max(s.Now, 1)
	return true
}

// watchShareGroup sets the timer for what the group waits for next.
func (s *State) watchShareGroup(b *Broker, x *CoordinatorShard, g *ShareGroup) {
	at := never
	for i := range g.Members {
		at = min(at, g.Members[i].ExpiresAt)
	}
	if g.AssignmentEpoch != g.Epoch {
		at = min(at, max(g.AssignedAt+s.World.Broker.Share.AssignmentIntervalMs*ms, s.Now))
	}
	if at != never {
		s.wake(&g.WakeAt, at, b.ID, ShareGroupTimer{TP: x.TP, Epoch: x.Epoch, Group: g.ID})
	}
}

// onShareGroupTimer takes out members whose session is over, and computes assignments that are due.
func (s *State) onShareGroupTimer(b *Broker, e Event, m ShareGroupTimer) {
	x := b.shard(m.TP)
	if x == nil || x.Epoch != m.Epoch {
		return
	}
	g := x.shareGroup(m.Group)
	if g == nil || g.WakeAt != e.At {
		return
	}
	g.WakeAt = 0
	n := len(g.Members)
	g.Members = slices.DeleteFunc(g.Members, func(y ShareMember) bool { return y.ExpiresAt <= s.Now })
	if len(g.Members) != n {
		g.Epoch++
	}
	if s.shareAssign(b, g) || len(g.Members) != n {
		s.storeShareGroup(b, x, g, ShareGroupStored{})
	}
	s.watchShareGroup(b, x, g)
}

// shareGroupKeyVersion is ShareGroupMetadataKey's number.
const shareGroupKeyVersion = 11

// storeShareGroup writes the group.
func (s *State) storeShareGroup(b *Broker, x *CoordinatorShard, g *ShareGroup, then ShareGroupStored) {
	k, w := recordWriter{}, recordWriter{}
	k.int16(shareGroupKeyVersion)
	k.text(g.ID)
	w.int16(0)
	w.int32(g.Epoch)
	w.int32(g.AssignmentEpoch)
	w.partitions(g.Ready)
	w.length(len(g.Members))
	for i := range g.Members {
		y := &g.Members[i]
		w.text(y.ID)
		w.text(y.ClientID)
		w.int32(y.Epoch)
		w.length(len(y.Topics))
		for _, t := range y.Topics {
			w.text(t)
		}
		w.partitions(y.Parts)
		w.partitions(y.Target)
	}
	record := partlog.Record{Key: string(k.bytes), Value: string(w.bytes)}
	if code := s.coordinatorAppend(b, x, s.ownBatch(b, record), s.commitTimeout(), then); code != NONE {
		then.Answer = ShareGroupHeartbeatResponse{Error: code}
		s.answerParked(b, &then.Who, then.Answer)
	}
}

func (w *recordWriter) partitions(list []TopicPartition) {
	w.length(len(list))
	for _, tp := range list {
		w.int32(tp.Topic)
		w.int32(tp.Partition)
	}
}

func (r *recordReader) partitions() (out []TopicPartition) {
	for n := r.length(); n > 0 && !r.bad; n-- {
		out = append(out, TopicPartition{r.int32(), r.int32()})
	}
	return out
}

// replayShareGroup takes a group's record over into a shard that is being loaded.
func (x *CoordinatorShard) replayShareGroup(id, value string, gone bool) {
	i, found := x.findShareGroup(id)
	if found {
		x.Share.Groups = slices.Delete(x.Share.Groups, i, i+1)
	}
	if gone {
		return
	}
	r := recordReader{rest: value}
	r.int16()
	g := ShareGroup{ID: id, Epoch: r.int32(), AssignmentEpoch: r.int32(), Ready: r.partitions()}
	for n := r.length(); n > 0 && !r.bad; n-- {
		y := ShareMember{ID: r.text(), ClientID: r.text(), Epoch: r.int32()}
		for k := r.length(); k > 0 && !r.bad; k-- {
			y.Topics = append(y.Topics, r.text())
		}
		y.Parts, y.Target = r.partitions(), r.partitions()
		g.Members = append(g.Members, y)
	}
	x.Share.Groups = slices.Insert(x.Share.Groups, i, g)
}

// shareGroupsLoaded lets the sessions of all members begin anew.
func (s *State) shareGroupsLoaded(b *Broker, x *CoordinatorShard) {
	for i := range x.Share.Groups {
		g := &x.Share.Groups[i]
		for j := range g.Members {
			g.Members[j].ExpiresAt = s.Now + s.World.Broker.Share.SessionTimeoutMs*ms
		}
		s.watchShareGroup(b, x, g)
	}
}

// shareGroupStored answers who waits for a group's record.
func (s *State) shareGroupStored(b *Broker, m ShareGroupStored, code Code) {
	if code != NONE {
		m.Answer = ShareGroupHeartbeatResponse{Error: code}
	}
	s.answerParked(b, &m.Who, m.Answer)
}

// shareKey is the key by which a partition's share coordinator is found (SharePartitionKey.asCoordinatorKey). A topic
// has a number here, not a random id.
func shareKey(group string, tp TopicPartition) string {
	return fmt.Sprintf("%s:%d:%d", group, tp.Topic, tp.Partition)
}
