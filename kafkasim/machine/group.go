package machine

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"

	"kafkalab/kafkasim/prng"
)

// Groups, as their coordinator has them.
//
// A classic group goes through generations. When somebody comes, goes or changes, it collects everybody's JoinGroup
// (PreparingRebalance), begins a generation, lets the leader, a consumer, decide who gets what
// (CompletingRebalance), and hands that out (Stable). The coordinator knows nothing of partitions; it carries what
// members tell each other.
//
// Kafka: ClassicGroup, ClassicGroupMember, ClassicGroupState; GroupMetadataManager (group_join.go and its
// neighbours), OffsetMetadataManager (group_offsets.go). KIP-62, KIP-345, KIP-394. Simplified: an answer that needs no
// record does not wait for earlier records to be committed; another leader is the member that joined first.

// GroupState is the state of a classic group (G-10).
type GroupState uint8

// The states.
const (
	GroupEmpty GroupState = iota
	GroupPreparingRebalance
	GroupCompletingRebalance
	GroupStable
	GroupDead
)

// String is Kafka's name of the state.
func (g GroupState) String() string {
	return [...]string{"Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead", "Assigning", "Reconciling"}[g]
}

// Group is one group at its coordinator.
type Group struct {
	ID              string
	State, Previous GroupState
	ChangedMs       int64  // when the state was entered
	Type            string // the protocol type; empty for a group that nobody ever joined (a simple group)
	Generation      int32
	Protocol        string // the assignor of the generation
	Leader          string // member id
	Members         []GroupMember
	Pending         []PendingMember // were told their id and have not joined with it yet
	Topics          []string        // that members of the generation subscribe to, sorted; immutable

	NewcomersJoined bool  // during the present initial wait
	JoinAt          int64 // µs: when the join phase ends at the latest; 0 for never
	JoinDelay       int64 // µs: the length of the initial wait that ends then; 0 for another end
	JoinLeft        int64 // µs: how much longer the initial wait may become
	SyncAt          int64 // µs: when who has not synced is taken out; 0 for never
	WakeAt          int64
	BornAt          int64 // offset of the record behind which the group is known; -1 before one is written

	Offsets []GroupOffset // by topic and partition
	Txn     []TxnOffset   // of open transactions

	Consumer ConsumerGroup // with the consumer protocol; then what is above of members and generations is not used
}

// GroupMember is one member.
type GroupMember struct {
	ID, Instance, ClientID, Host string
	SessionTimeout               int64 // µs
	RebalanceTimeout             int64 // µs
	Protocols                    []GroupProtocol
	Assignment                   []TopicParts
	Join, Sync                   Parked // requests that wait for their answers
	New                          bool   // has not had an answer to its first JoinGroup
	Unsynced                     bool   // has not sent SyncGroup in this generation
	ExpiresAt                    int64  // µs: the end of its session
}

// PendingMember was told its id (G-20).
type PendingMember struct {
	ID        string
	ExpiresAt int64 // µs
}

// Parked is a request whose answer waits; the zero value is none.
type Parked struct {
	Node              NodeID
	Conn, Correlation uint32
}

func parked(e *Event) Parked { return Parked{e.From, e.Conn, e.Correlation} }

// there tells whether a request waits.
func (p *Parked) there() bool { return p.Correlation != 0 }

// answerParked sends what a parked request waits for, once.
func (s *State) answerParked(b *Broker, p *Parked, with Payload) bool {
	if !p.there() {
		return false
	}
	s.reply(b, p.Node, p.Conn, p.Correlation, with)
	*p = Parked{}
	return true
}

// group finds a group of a shard, nil for none.
func (x *CoordinatorShard) group(id string) *Group {
	if i, found := x.findGroup(id); found {
		return &x.Groups[i]
	}
	return nil
}

func (x *CoordinatorShard) findGroup(id string) (int, bool) {
	return sort.Find(len(x.Groups), func(i int) int {
		switch {
		case id < x.Groups[i].ID:
			return -1
		case id > x.Groups[i].ID:
			return 1
		}
		return 0
	})
}

// addGroup makes an empty group.
func (x *CoordinatorShard) addGroup(id string) *Group {
	i, found := x.findGroup(id)
	if !found {
		x.Groups = slices.Insert(x.Groups, i, Group{ID: id, BornAt: -1})
	}
	return &x.Groups[i]
}

func (x *CoordinatorShard) dropGroup(id string) {
	if i, found := x.findGroup(id); found {
		x.Groups = slices.Delete(x.Groups, i, i+1)
	}
}

// member finds a member, nil for none.
func (g *Group) member(id string) *GroupMember {
	for i := range g.Members {
		if g.Members[i].ID == id {
			return &g.Members[i]
		}
	}
	return nil
}

// static finds the member with an instance id, nil for none.
func (g *Group) static(instance string) *GroupMember {
	for i := range g.Members {
		if instance != "" && g.Members[i].Instance == instance {
			return &g.Members[i]
		}
	}
	return nil
}

func (g *Group) pending(id string) int {
	return slices.IndexFunc(g.Pending, func(p PendingMember) bool { return p.ID == id })
}

// check is what most requests ask first (G-50): an instance that another member id has now, then a member id that is
// unknown.
func (s *State) check(g *Group, member, instance string) Code {
	if m := g.static(instance); m != nil && m.ID != member && !s.mutant(KeepsOldInstances) {
		return FENCED_INSTANCE_ID
	}
	m := g.member(member)
	if m == nil || instance != "" && m.Instance != instance {
		return UNKNOWN_MEMBER_ID
	}
	return NONE
}

// remove takes a member, or one that is pending, out of the group; whoever waits for its answer gets UNKNOWN_MEMBER_ID.
func (s *State) removeMember(b *Broker, g *Group, id string) {
	if i := g.pending(id); i >= 0 {
		g.Pending = slices.Delete(g.Pending, i, i+1)
		return
	}
	i := slices.IndexFunc(g.Members, func(m GroupMember) bool { return m.ID == id })
	if i < 0 {
		return
	}
	s.answerParked(b, &g.Members[i].Join, JoinGroupResponse{Error: UNKNOWN_MEMBER_ID, Generation: -1})
	s.answerParked(b, &g.Members[i].Sync, SyncGroupResponse{Error: UNKNOWN_MEMBER_ID})
	g.Members = slices.Delete(g.Members, i, i+1)
	if g.Leader == id { // G-28
		g.Leader = ""
		if len(g.Members) > 0 {
			g.Leader = g.Members[0].ID
		}
	}
}

// allJoined tells whether every known member waits for the generation, and nobody is to come (G-25).
func (g *Group) allJoined() bool {
	return len(g.Pending) == 0 && !slices.ContainsFunc(g.Members, func(m GroupMember) bool { return !m.Join.there() })
}

// rebalanceTimeout is the longest of the members' (G-25).
func (g *Group) rebalanceTimeout() int64 {
	longest := int64(0)
	for i := range g.Members {
		longest = max(longest, g.Members[i].RebalanceTimeout)
	}
	return longest
}

// supports tells whether all members know one of these protocols (G-29).
func (g *Group) supports(kind string, protocols []GroupProtocol) bool {
	if g.State == GroupEmpty || len(g.Members) == 0 {
		return kind != "" && len(protocols) > 0
	}
	return g.Type == kind && slices.ContainsFunc(protocols, func(p GroupProtocol) bool { return g.allKnow(p.Name) })
}

func (g *Group) allKnow(protocol string) bool {
	for i := range g.Members {
		if g.Members[i].protocol(protocol) == nil {
			return false
		}
	}
	return true
}

// protocol is what the member says to an assignor, nil if it does not know it.
func (m *GroupMember) protocol(name string) *GroupProtocol {
	for i := range m.Protocols {
		if m.Protocols[i].Name == name {
			return &m.Protocols[i]
		}
	}
	return nil
}

// vote chooses the protocol of a generation: each member votes for the first of its own that all know; among equals
// the one that had its first vote first wins (G-29).
func (s *State) vote(g *Group) string {
	type count struct {
		name  string
		votes int
	}
	var counts []count
	for i := range g.Members {
		for _, p := range g.Members[i].Protocols {
			if !g.allKnow(p.Name) {
				continue
			}
			at := slices.IndexFunc(counts, func(c count) bool { return c.name == p.Name })
			if at < 0 {
				at = len(counts)
				counts = append(counts, count{name: p.Name})
			}
			counts[at].votes++
			break
		}
	}
	best := count{}
	for _, c := range counts {
		if c.votes > best.votes {
			best = c
		}
	}
	return best.name
}

// becomes moves a group to a state.
func (s *State) becomes(b *Broker, g *Group, to GroupState) {
	g.Previous, g.State, g.ChangedMs = g.State, to, s.Now/ms
	s.noteGroup(b, g)
}

// memberID makes an id for a new member: <client id or instance id>-<UUID> (G-20, G-21).
func (s *State) memberID(clientID, instance string) string {
	s.LastMember++
	prefix := clientID
	if instance != "" {
		prefix = instance
	}
	return prefix + "-" + uuid(prng.Draw(s.World.Seed, drawMember, s.LastMember), prng.Draw(s.World.Seed, drawMember, s.LastMember, 1))
}

// newMemberID makes an id for a member of a group with the consumer or the share protocol: 22 characters (A-60, O-4).
func (s *State) newMemberID() string {
	s.LastMember++
	return UUID(s.World.Seed, drawMember, s.LastMember)
}

// UUID is a random id as Kafka's own class for them prints it: 16 bytes in base64url without padding. It follows from the
// seed, the purpose and a number. None begins with a hyphen, which a tool would take for an option (Uuid.randomUuid).
func UUID(seed uint64, purpose uint32, of uint64) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], prng.Draw(seed, purpose, of, 0))
	binary.BigEndian.PutUint64(b[8:], prng.Draw(seed, purpose, of, 1))
	b[6] = b[6]&0x0f | 0x40 // version 4
	b[8] = b[8]&0x3f | 0x80
	if b[0]>>2 == 62 { // the hyphen; Kafka draws again
		b[0] ^= 0x80
	}
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// drawMember is the purpose of draws for member ids.
const drawMember uint32 = 0x0d01

// uuid is a random UUID (version 4) from two draws.
func uuid(a, b uint64) string {
	a = a&^0xf000 | 0x4000
	b = b&^(3<<62) | 2<<62
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", a>>32, a>>16&0xffff, a&0xffff, b>>48, b&0xffffffffffff)
}

// unshareGroups gives a copied shard its own of what a step changes in place.
func (x *CoordinatorShard) unshareGroups() {
	x.Groups = slices.Clone(x.Groups)
	for i := range x.Groups {
		g := &x.Groups[i]
		g.Members, g.Pending = slices.Clone(g.Members), slices.Clone(g.Pending)
		g.Offsets, g.Txn = slices.Clone(g.Offsets), slices.Clone(g.Txn)
		g.Consumer = g.Consumer.clone()
	}
}
