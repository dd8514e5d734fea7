package machine

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"kafkalab/kafkasim/assign"
)

// Share groups at the group coordinator.
//
// Members come, stay and go by ShareGroupHeartbeat alone; nobody gives anything up, because nothing is exclusive (H-18).
// A partition is handed out only when the share coordinator knows its state: a heartbeat asks for that
// (InitializeShareGroupState), and the next heartbeat after it is there makes the group go one epoch further (H-20). Who
// leaves, or is silent for too long, makes an epoch, too; the target of that is computed with the next heartbeat.
//
//	Empty --a member--> Stable --its last member leaves--> Empty --DeleteGroups--> Dead
//
// Kafka: GroupMetadataManager.shareGroupHeartbeat, ShareGroup, ShareGroupAssignmentBuilder, SimpleAssignor. The group's
// record is in share_group_log.go, what administrators do in share_group_admin.go.

// ShareGroup is one share group at its coordinator.
type ShareGroup struct {
	ID              string
	Epoch           int32 // H-20
	AssignmentEpoch int32
	AssignedAt      int64            // µs: when the target was computed last
	Members         []ShareMember    // by id
	Ready           []TopicPartition // with a state, sorted; immutable
	Metadata        uint64           // hash of the topics that members subscribe to
	WakeAt          int64
}

// ShareMember is a member of a share group.
type ShareMember struct {
	ID, ClientID string
	Topics       []string // sorted; immutable
	Epoch        int32
	Previous     int32            // its epoch before
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
		g.leave(m.Member)
		s.storeShareGroup(b, x, g, ShareGroupStored{Who: p, Answer: ShareGroupHeartbeatResponse{Epoch: -1}})
		s.watchShareGroup(b, x, g)
		return
	}
	changed := s.shareSubscribed(b, g, &m)
	moved := s.shareAssign(b, g)
	y := g.member(m.Member)
	y.ExpiresAt = s.Now + s.shareGroups(m.Group).SessionTimeoutMs*ms
	told := y.reconcile(&b.Image, g, changed) || m.Epoch == 0 || m.Topics != nil
	a := ShareGroupHeartbeatResponse{Epoch: y.Epoch, IntervalMs: s.shareGroups(m.Group).HeartbeatIntervalMs}
	if told {
		a.Assigned, a.Parts = true, y.Parts
	}
	if changed || moved || told {
		s.storeShareGroup(b, x, g, ShareGroupStored{Who: p, Answer: a})
	} else {
		s.answerParked(b, &p, a)
	}
	if x = b.shard(x.TP); x != nil {
		if g = x.shareGroup(m.Group); g != nil {
			s.shareInitialize(b, g)
			s.watchShareGroup(b, x, g)
		}
	}
}

// leave takes a member out, which makes a new epoch.
func (g *ShareGroup) leave(member string) {
	g.Members = slices.DeleteFunc(g.Members, func(y ShareMember) bool { return y.ID == member })
	g.Epoch++
}

// reconcile brings a member to the group's target: of topics that it subscribes to. True says that its partitions have
// changed.
func (y *ShareMember) reconcile(im *Image, g *ShareGroup, changed bool) bool {
	if y.Epoch == g.AssignmentEpoch && !changed {
		return false
	}
	if y.Epoch != g.AssignmentEpoch {
		y.Previous, y.Epoch = y.Epoch, g.AssignmentEpoch
	}
	var parts []TopicPartition
	for _, tp := range y.Target {
		if slices.Contains(y.Topics, im.Topics[tp.Topic].Name) {
			parts = append(parts, tp)
		}
	}
	was := y.Parts
	y.Parts = parts
	return !slices.Equal(was, parts)
}

// shareJoinable checks a heartbeat, and makes the group that a first member asks for.
func (s *State) shareJoinable(x *CoordinatorShard, m *ShareGroupHeartbeatRequest) (*ShareGroup, Code) {
	g := x.shareGroup(m.Group)
	if m.Epoch == 0 {
		if g == nil {
			g = s.addShareGroup(x, m.Group)
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
	case m.Epoch > y.Epoch || m.Epoch >= 0 && m.Epoch < y.Epoch && m.Epoch != y.Previous:
		return nil, FENCED_MEMBER_EPOCH
	}
	return g, NONE
}

// addShareGroup makes a group.
func (s *State) addShareGroup(x *CoordinatorShard, id string) *ShareGroup {
	i, _ := x.findShareGroup(id)
	x.Share.Groups = slices.Insert(x.Share.Groups, i, ShareGroup{ID: id, Epoch: s.firstShareEpoch()})
	return &x.Share.Groups[i]
}

// firstShareEpoch is the epoch of a new group, before its first member.
func (s *State) firstShareEpoch() int32 {
	if s.World.Rules.Without(ShareEpochFromOne) {
		return 0
	}
	return 1
}

// shareSubscribed takes a member in, or a change of its topics, and makes a new epoch if anything has changed: members,
// subscriptions, the topics themselves, or which partitions have a state.
func (s *State) shareSubscribed(b *Broker, g *ShareGroup, m *ShareGroupHeartbeatRequest) bool {
	y := g.member(m.Member)
	changed := false
	switch {
	case y == nil:
		i, _ := slices.BinarySearchFunc(g.Members, m.Member, func(y ShareMember, id string) int { return cmp.Compare(y.ID, id) })
		g.Members = slices.Insert(g.Members, i, ShareMember{ID: m.Member, ClientID: m.ClientID, Topics: m.Topics})
		changed = true
	case m.Topics != nil && !slices.Equal(y.Topics, m.Topics):
		y.Topics, changed = m.Topics, true
	}
	if g.AssignmentEpoch >= g.Epoch && s.shareUnassigned(b, g) {
		changed = true
	}
	if hash := g.metadata(&b.Image); hash != g.Metadata {
		g.Metadata, changed = hash, true
	}
	if changed {
		g.Epoch++
	}
	return changed
}

// shareUnassigned tells whether partitions with a state are nobody's although somebody subscribes to their topic, or the
// other way round (GroupMetadataManager.initializedAssignmentPending).
func (s *State) shareUnassigned(b *Broker, g *ShareGroup) bool {
	for _, tp := range s.shareTopics(b, g) {
		given := slices.ContainsFunc(g.Members, func(y ShareMember) bool { return slices.Contains(y.Target, tp) })
		if given != slices.Contains(g.Ready, tp) {
			return true
		}
	}
	return false
}

// metadata is a hash of the topics that members subscribe to, with their partitions (ModernGroup.computeMetadataHash, by
// another hash).
func (g *ShareGroup) metadata(im *Image) uint64 {
	h := hasher{sum: 14695981039346656037}
	for t := range im.Topics {
		if topic := &im.Topics[t]; im.topic(topic.Name) == int32(t) && g.subscribes(topic.Name) {
			h.word(uint64(t))
			h.word(uint64(len(topic.Partitions)))
		}
	}
	return h.sum
}

func (g *ShareGroup) subscribes(topic string) bool {
	return slices.ContainsFunc(g.Members, func(m ShareMember) bool { return slices.Contains(m.Topics, topic) })
}

// shareInitialize asks for the state of partitions that are subscribed to and have none.
func (s *State) shareInitialize(b *Broker, g *ShareGroup) {
	for _, tp := range s.shareTopics(b, g) {
		asked := slices.ContainsFunc(b.Share.Calls, func(c ShareCall) bool {
			return c.Request.Op == InitializeShareState && c.Request.Group == g.ID && c.Request.TP == tp
		})
		if !asked && !slices.Contains(g.Ready, tp) {
			s.shareCall(b, ShareCall{Request: ShareStateRequest{Op: InitializeShareState, Group: g.ID, TP: tp, StateEpoch: g.Epoch, Start: -1}})
		}
	}
}

// shareTopics are the partitions that the group's members subscribe to, as the coordinator knows them.
func (s *State) shareTopics(b *Broker, g *ShareGroup) []TopicPartition {
	var out []TopicPartition
	for t := range b.Image.Topics {
		topic := &b.Image.Topics[t]
		if b.Image.topic(topic.Name) != int32(t) || !g.subscribes(topic.Name) {
			continue
		}
		for p := range topic.Partitions {
			out = append(out, TopicPartition{int32(t), int32(p)})
		}
	}
	return out
}

// shareInitialized notes that a partition has its state; the next heartbeat assigns it (H-20).
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
	slices.SortFunc(g.Ready, compareTP)
	if !slices.ContainsFunc(b.Share.Calls, func(o ShareCall) bool {
		return o.Request.Op == InitializeShareState && o.Request.Group == g.ID
	}) { // one record for all
		s.storeShareGroup(b, x, g, ShareGroupStored{})
	}
}

// shareAssign computes a new target when the group's epoch has moved, at most each assignment interval (H-17, H-18).
func (s *State) shareAssign(b *Broker, g *ShareGroup) bool {
	if g.AssignmentEpoch == g.Epoch {
		return false
	}
	if s.World.Rules.On(ShareEpochFromOne) && g.AssignedAt != 0 && s.Now < g.AssignedAt+s.shareGroups(g.ID).AssignmentIntervalMs*ms {
		return false
	}
	var parts []assign.SharePartition
	for _, tp := range s.shareTopics(b, g) {
		if slices.Contains(g.Ready, tp) {
			parts = append(parts, assign.SharePartition(tp))
		}
	}
	var ids []string
	for i := range g.Members {
		ids = append(ids, g.Members[i].ID)
	}
	ids = assign.JavaOrder(ids)
	members := make([]assign.ShareMember, len(ids))
	for i, id := range ids {
		y := g.member(id)
		for _, name := range y.Topics {
			if t := b.Image.topic(name); t >= 0 {
				members[i].Topics = append(members[i].Topics, t)
			}
		}
		for _, tp := range y.Target {
			members[i].Owned = append(members[i].Owned, assign.SharePartition(tp))
		}
	}
	for i, list := range assign.Simple(members, parts) {
		y := g.member(ids[i])
		y.Target = nil
		for _, p := range list {
			y.Target = append(y.Target, TopicPartition(p))
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
	if at != never {
		s.wake(&g.WakeAt, at, b.ID, ShareGroupTimer{TP: x.TP, Epoch: x.Epoch, Group: g.ID})
	}
}

// onShareGroupTimer takes out members whose session is over.
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
	gone := false
	for _, y := range slices.Clone(g.Members) {
		if y.ExpiresAt <= s.Now {
			g.leave(y.ID)
			gone = true
		}
	}
	if gone {
		s.storeShareGroup(b, x, g, ShareGroupStored{})
	}
	s.watchShareGroup(b, x, g)
}

// shareGroupsLoaded lets the sessions of all members begin anew.
func (s *State) shareGroupsLoaded(b *Broker, x *CoordinatorShard) {
	for i := range x.Share.Groups {
		g := &x.Share.Groups[i]
		for j := range g.Members {
			g.Members[j].ExpiresAt = s.Now + s.shareGroups(g.ID).SessionTimeoutMs*ms
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
