package machine

import (
	"regexp"
	"slices"

	"kafkalab/kafkasim/assign"
	"kafkalab/kafkasim/view"
)

// Consumer, as a member of a group.
//
// A subscribed consumer looks for its coordinator, joins, hears what it gets, and says by heartbeats that it lives.
// Joining happens in poll, in the application's thread; heartbeats come from a thread of their own
// (consumer_heartbeat.go) and only notice that there is a rebalance (G-52). So a consumer that is busy with its records
// holds everybody up, although its heartbeats go on.
//
// Kafka: AbstractCoordinator, ConsumerCoordinator (group.protocol=classic). Simplified: enforceRebalance is
// not there.

// MemberState is where a consumer stands with its group (AbstractCoordinator.MemberState).
type MemberState uint8

// The states.
const (
	MemberUnjoined MemberState = iota
	MemberPreparing
	MemberCompleting
	MemberStable
)

// Membership is a consumer's side of its group.
type Membership struct {
	On         bool     // it has subscribed
	Topics     []string // to these, sorted; immutable
	Joined     []string // … when it last joined
	State      MemberState
	ID         string
	Generation int32 // -1 for none
	Protocol   string
	Leads      bool
	Rejoin     bool // it must join (again)
	Prepared   bool // it has given up what it had to for this join
	PrepareTo  int64
	JoinAt     int64   // µs: not before
	Answers    []Later // to JoinGroup and SyncGroup: they are looked at in poll

	Coordinator NodeID // NoNode while unknown
	Finding     bool
	FindAt      int64 // µs: not before
	FindFails   int32

	HeartbeatAt, SessionEnds, PollEnds int64 // µs
	Beating                            bool  // a heartbeat is in flight

	AutoCommitAt int64 // µs
	Asking       bool  // an OffsetFetch is in flight
	AskAt        int64
	Commits      []CommitOp // under way, in order
	LastCommit   int32      // number of the last
	BeforeJoin   int32      // number of the one that the next join waits for; 0 for none
	Closing      bool
	Leaving      bool  // the LeaveGroup of a close is in flight
	CloseBy      int64 // µs
	CloseHow     CloseHow
	Former       []TopicParts
	FormerIn     int32           // generation of Former: what StickyAssignor remembers
	Watched      []TopicParts    // as leader: how many partitions the topics had when it assigned them
	Calls        []RebalanceCall // of the rebalance listener, in order
	ByHand       bool            // somebody has committed offsets of his choice
	GivenUp      GivenUp
	Last         LastJoined
	Fatal        Code

	New ProtocolMember // with group.protocol=consumer
}

// CloseHow is what a close does with the membership.
type CloseHow struct{ Membership MembershipOperation }

// LastJoined is as which member, and in which generation, a consumer was last part of its group. It stays when the
// consumer has left, or was removed: so a late sendOffsetsToTransaction() is refused (ConsumerCoordinator.groupMetadata,
// T-62).
type LastJoined struct {
	Member     string
	Generation int32
}

// GivenUp are the positions of partitions that the listener was just told of as revoked or lost: until the consumer joins,
// or tells its coordinator, they are what a commit without arguments commits beside the positions of what it has. In
// Kafka a callback runs while the partitions are still assigned.
type GivenUp struct {
	At    int64 // µs
	Parts []CommitPart
}

// RebalanceCall is one call of the rebalance listener (ConsumerRebalanceListener).
type RebalanceCall struct {
	At   int64 // µs
	Kind CallKind
	TPs  []NamedPartition
}

// CallKind says which method is called.
type CallKind uint8

// The methods: onPartitionsAssigned, onPartitionsRevoked, onPartitionsLost.
const (
	CallAssigned CallKind = iota
	CallRevoked
	CallLost
)

// String is the method in a word.
func (k CallKind) String() string { return [...]string{"assigned", "revoked", "lost"}[k] }

// Subscribe makes a consumer a member of its group, for these topics; no topics end the membership.
type Subscribe struct {
	Consumer int32
	Topics   []string
	Pattern  string // a regular expression instead
}

func (Subscribe) command() {}

// cooperative tells whether the consumer gives up only what goes to others: all of its assignors can.
func (c *Consumer) cooperative() bool {
	return !slices.ContainsFunc(c.Config.Member.Assignors, func(n string) bool { return n != assign.CooperativeStickyName })
}

// subscribe begins, changes or ends a membership.
func (s *State) subscribe(c *Consumer, topics []string, pattern string) {
	m := &c.Group
	if len(topics) == 0 && pattern == "" {
		s.leaveGroup(c)
		s.callListener(c, CallRevoked, c.assigned())
		c.Parts, c.Buffer, c.WholeOf = nil, nil, ""
		m.On, m.Topics, m.Joined, m.Rejoin = false, nil, nil, false
		m.New.Pattern, c.Meta.All.On = "", false
		s.background(c)
		return
	}
	topics = slices.Clone(topics)
	slices.Sort(topics)
	if !m.On {
		c.Parts, c.Buffer, c.WholeOf = nil, nil, ""
		m.On, m.Generation, m.Rejoin = true, -1, true
	}
	m.Topics, m.GivenUp = topics, GivenUp{}
	for _, t := range topics {
		c.Meta.add(t)
	}
	if m.New.Pattern = pattern; pattern != "" {
		c.Meta.All.On, c.Meta.Requested, c.Meta.Wanted = true, true, true
	}
	m.PollEnds = s.Now + c.Config.Member.MaxPollIntervalMs*ms
	s.goOnPolling(c)
}

// assigned are the partitions that the consumer has, by name.
func (c *Consumer) assigned() []NamedPartition {
	out := make([]NamedPartition, len(c.Parts))
	for i := range c.Parts {
		out[i] = NamedPartition{c.Parts[i].Topic, c.Parts[i].TP.Partition}
	}
	return out
}

// callListener notes a call of the rebalance listener.
func (s *State) callListener(c *Consumer, k CallKind, tps []NamedPartition) {
	if len(tps) == 0 && k != CallAssigned {
		return
	}
	c.Group.Calls = append(c.Group.Calls, RebalanceCall{At: s.Now, Kind: k, TPs: tps})
	if k != CallAssigned {
		c.Group.GivenUp = GivenUp{At: s.Now, Parts: slices.DeleteFunc(c.consumed(), func(p CommitPart) bool {
			return !slices.Contains(tps, NamedPartition{p.Topic, p.Partition})
		})}
	}
	list := make([]int, len(tps))
	for i, p := range tps {
		list[i] = s.ordinal(TopicPartition{s.Metadata().topic(p.Topic), p.Partition})
	}
	s.note(view.Change{Kind: view.Rebalanced, Broker: -1, Partition: -1, Client: c.Name, Group: c.Config.Member.GroupID, Text: k.String(), List: list, A: int64(c.Group.Generation)})
}

// pollGroup is what a poll does for the group, before it looks for records.
func (s *State) pollGroup(c *Consumer) {
	m := &c.Group
	if c.protocol848() {
		s.pollProtocol(c)
		return
	}
	told := false
	if m.On {
		m.PollEnds = s.Now + c.Config.Member.MaxPollIntervalMs*ms
		if m.Fatal != NONE {
			c.Poll.Error = m.Fatal
			return
		}
		answers, calls := m.Answers, len(m.Calls)
		m.Answers = nil
		for _, a := range answers {
			s.groupAnswer(c, a.Payload)
		}
		if m.Fatal != NONE {
			c.Poll.Error = m.Fatal
			return
		}
		told = slices.ContainsFunc(m.Calls[calls:], func(k RebalanceCall) bool { return k.Kind == CallRevoked })
		m.Rejoin = m.Rejoin || c.partitionsChanged() || m.Joined != nil && !slices.Equal(m.Joined, m.Topics)
	}
	switch {
	case m.Coordinator == NoNode:
		s.findCoordinator(c)
	case told:
		s.wakeAt(&c.ClientIO, s.Now) // the application's listener comes first
	case m.On && m.Rejoin && m.State != MemberPreparing && m.State != MemberCompleting && s.Now >= m.JoinAt && !c.awaitsTopics():
		s.join(c)
	}
	s.maybeAutoCommit(c)
}

// partitionsChanged tells whether the group's leader sees another number of partitions than it assigned.
func (c *Consumer) partitionsChanged() bool {
	if !c.Group.Leads {
		return false
	}
	for i := range c.Group.Watched {
		w := &c.Group.Watched[i]
		if c.partitionCount(w.Topic) != w.Partitions[0] {
			return true
		}
	}
	return false
}

// awaitsTopics tells whether a consumer that subscribes by a pattern does not know yet to what.
func (c *Consumer) awaitsTopics() bool { return c.Meta.All.On && (c.Meta.Wanted || c.Meta.InFlight) }

// matchTopics subscribes to the topics in an answer whose whole names match the consumer's pattern; another subscription than
// before makes it join again (ConsumerCoordinator.updatePatternSubscription). Kafka's own topics are left out.
func (c *Consumer) matchTopics(a *MetadataResponse) {
	if !c.Meta.All.On {
		return
	}
	var topics []string
	re, err := regexp.Compile("^(?:" + c.Group.New.Pattern + ")$")
	for i := range a.Topics {
		name := a.Topics[i].Name
		if t := &a.Topics[i]; err == nil && t.Error == NONE && !InternalTopic(name) && re.MatchString(name) {
			topics = append(topics, name)
		}
	}
	slices.Sort(topics)
	wanted := c.Meta.Wanted
	for _, t := range topics {
		c.Meta.add(t)
	}
	c.Meta.Wanted, c.Group.Topics = wanted, topics
}

// findCoordinator asks any broker for the coordinator (G-115, G-116).
func (s *State) findCoordinator(c *Consumer) {
	m := &c.Group
	if m.Finding || s.Now < m.FindAt {
		return
	}
	k := s.leastLoaded(&c.ClientIO, consumerInFlight)
	if k == nil {
		return
	}
	m.Finding = true
	s.clientRequest(&c.ClientIO, k, Request{Payload: FindCoordinatorRequest{Kind: GroupCoordinator, Key: c.Config.Member.GroupID}}, true)
}

// foundCoordinator takes the answer; an error is tried again after a backoff.
func (s *State) foundCoordinator(c *Consumer, a *FindCoordinatorResponse) {
	m := &c.Group
	m.Finding = false
	if a.Error != NONE {
		s.findLater(c)
		return
	}
	m.FindFails = 0
	m.Coordinator = a.Node
	if c.Second.Broker != a.Node {
		c.Second = Connection{Broker: a.Node}
	}
	m.SessionEnds = s.Now + c.Config.Member.SessionTimeoutMs*ms
}

func (s *State) findLater(c *Consumer) {
	m := &c.Group
	m.FindAt = s.Now + s.retryBackoff(&c.ClientIO, m.FindFails, uint64(s.Now), 1)
	m.FindFails++
	m.Finding = false
}

// coordinatorLost forgets the coordinator; membership is kept (G-54).
func (s *State) coordinatorLost(c *Consumer) {
	c.Group.Coordinator = NoNode
	if c.Second.ID != 0 {
		s.loseGroupAnswers(c, s.hangUpClient(&c.ClientIO, &c.Second))
	}
}

// askCoordinator sends a request to the coordinator, over a connection of its own; false while that cannot be.
func (s *State) askCoordinator(c *Consumer, p Payload) bool {
	if c.Group.Coordinator == NoNode || !c.Second.usable(s.Now) {
		return false
	}
	s.clientRequest(&c.ClientIO, &c.Second, Request{Payload: p}, true)
	return true
}

// join gives up what must be given up and sends JoinGroup (ConsumerCoordinator.onJoinPrepare, A-50).
func (s *State) join(c *Consumer) {
	m := &c.Group
	if !m.Prepared && !s.prepareJoin(c) {
		return
	}
	cfg := &c.Config.Member
	r := JoinGroupRequest{Group: cfg.GroupID, Member: m.ID, Instance: cfg.InstanceID, ClientID: c.Name, Type: "consumer",
		SessionTimeoutMs: cfg.SessionTimeoutMs, RebalanceTimeoutMs: cfg.MaxPollIntervalMs}
	for _, name := range cfg.Assignors {
		r.Protocols = append(r.Protocols, GroupProtocol{Name: name, Subscription: c.subscription(name)})
	}
	if s.askCoordinator(c, r) {
		m.State = MemberPreparing
		c.Stats.rebalanceBegins(s.Now)
		m.Joined, m.GivenUp = m.Topics, GivenUp{}
	}
}

// subscription is what the member says to an assignor.
func (c *Consumer) subscription(assignor string) Subscription {
	m := &c.Group
	p := Subscription{Topics: m.Topics, Owned: byTopic(c.assigned()), Generation: m.FormerIn - 1, Rack: c.Config.ClientRack}
	if assignor == assign.StickyName {
		p.Sticky, p.Owned = true, m.Former
	}
	return p
}

// prepareJoin is done when the consumer may join: what it had is committed, if it commits by itself, and given up: all of
// it, or with cooperative-sticky only topics that it does not subscribe to any more.
func (s *State) prepareJoin(c *Consumer) bool {
	m := &c.Group
	if m.PrepareTo == 0 {
		m.PrepareTo = s.Now + c.Config.Member.MaxPollIntervalMs*ms
	}
	if c.Config.Member.EnableAutoCommit && m.Generation >= 0 && s.Now < m.PrepareTo {
		if !c.cooperative() {
			for i := range c.Parts {
				c.Parts[i].Revoking = true
			}
		}
		if !s.commitBeforeJoin(c) {
			return false
		}
	}
	switch {
	case m.Generation < 0 || m.ID == "":
		s.callListener(c, CallLost, c.assigned())
		c.keepOnly(nil)
	case !c.cooperative():
		s.callListener(c, CallRevoked, c.assigned())
		c.keepOnly(nil)
	default:
		var gone, kept []NamedPartition
		for _, p := range c.assigned() {
			if slices.Contains(m.Topics, p.Topic) {
				kept = append(kept, p)
			} else {
				gone = append(gone, p)
			}
		}
		s.callListener(c, CallRevoked, gone)
		c.keepOnly(kept)
	}
	m.Leads = false
	m.Prepared, m.PrepareTo = true, 0
	if n := len(m.Calls); n > 0 && m.Calls[n-1].At == s.Now && m.Calls[n-1].Kind != CallAssigned {
		m.JoinAt = s.Now
		s.wakeAt(&c.ClientIO, s.Now) // the application's listener comes first
		return false
	}
	return true
}

// keepOnly drops all partitions but these.
func (c *Consumer) keepOnly(kept []NamedPartition) {
	c.Parts = slices.DeleteFunc(slices.Clone(c.Parts), func(p ConsumerPart) bool {
		return !slices.Contains(kept, NamedPartition{p.Topic, p.TP.Partition})
	})
	c.Buffer = slices.DeleteFunc(slices.Clone(c.Buffer), func(f CompletedFetch) bool { return c.part(f.TP) == nil })
}

// byTopic gathers partitions, which are sorted, by topic.
func byTopic(list []NamedPartition) []TopicParts {
	var out []TopicParts
	for _, p := range list {
		if n := len(out); n == 0 || out[n-1].Topic != p.Topic {
			out = append(out, TopicParts{Topic: p.Topic})
		}
		out[len(out)-1].Partitions = append(out[len(out)-1].Partitions, p.Partition)
	}
	return out
}

// each is byTopic the other way round.
func each(parts []TopicParts) []NamedPartition {
	var out []NamedPartition
	for i := range parts {
		for _, p := range parts[i].Partitions {
			out = append(out, NamedPartition{parts[i].Topic, p})
		}
	}
	return out
}
