package machine

import (
	"slices"

	"kafkalab/kafkasim/view"
)

// Consumer, commits: positions that are safe at the coordinator.
//
// A commit by hand waits for its answer or does not; the automatic one is made in poll, of what earlier polls returned,
// when auto.commit.interval.ms have passed (C-61), before partitions are given up, and at the end (C-62). A crash commits
// nothing (C-63).
//
// Kafka: ConsumerCoordinator.commitOffsetsSync, commitOffsetsAsync, maybeAutoCommitOffsetsAsync,
// OffsetCommitResponseHandler, fetchCommittedOffsets.

// CommitKind says who commits, and how failures end.
type CommitKind uint8

// The kinds: commitSync is tried again until default.api.timeout.ms (C-65), commitAsync is not (C-66), the automatic one
// is tried again at a later poll (C-64), and the one before a join until the rebalance timeout.
const (
	CommitSync CommitKind = iota
	CommitAsync
	CommitAuto
	CommitBeforeJoin
)

// CommitOp is a commit under way, or the last one that ended.
type CommitOp struct {
	Number  int32
	Kind    CommitKind
	Parts   []CommitPart // immutable
	Until   int64        // µs; 0 for never
	RetryAt int64        // µs: not sent before
	Sent    bool
	Done    bool
	Error   Code
}

// Commit stores positions: those of all partitions, or the given ones. The Result's ID numbers it; State.CommitOf tells
// what became of it.
type Commit struct {
	Consumer int32
	Parts    []CommitPart // nil for the present positions
	Async    bool
}

func (Commit) command() {}

// keptCommits is how many ended commits a consumer remembers.
const keptCommits = 16

// CommitOf is a commit by its number; nil when it is forgotten.
func (c *Consumer) CommitOf(n int32) *CommitOp {
	for i := range c.Group.Commits {
		if c.Group.Commits[i].Number == n {
			return &c.Group.Commits[i]
		}
	}
	return nil
}

// consumed are the positions of all partitions that have one (SubscriptionState.allConsumed).
func (c *Consumer) consumed() []CommitPart {
	var out []CommitPart
	for i := range c.Parts {
		if p := &c.Parts[i]; p.Position >= 0 && p.State != PositionAwaitReset {
			out = append(out, CommitPart{Topic: p.Topic, Partition: p.TP.Partition, Offset: p.Position, LeaderEpoch: p.Epoch})
		}
	}
	return out
}

// commitOffsets begins a commit by hand.
func (s *State) commitOffsets(c *Consumer, m Commit) Result {
	parts, kind := m.Parts, CommitSync
	c.Group.ByHand = true
	if parts == nil {
		parts = c.consumed()
		for _, p := range c.Group.GivenUp.Parts {
			if (c.Group.On || c.Group.GivenUp.At == s.Now) && !slices.ContainsFunc(parts, func(o CommitPart) bool { return o.Topic == p.Topic && o.Partition == p.Partition }) {
				parts = append(parts, p)
			}
		}
	}
	if m.Async {
		kind = CommitAsync
	}
	n := s.beginCommit(c, kind, parts)
	s.background(c)
	return Result{ID: n}
}

func (s *State) beginCommit(c *Consumer, kind CommitKind, parts []CommitPart) int32 {
	m := &c.Group
	m.LastCommit++
	op := CommitOp{Number: m.LastCommit, Kind: kind, Parts: parts, Done: len(parts) == 0}
	if kind == CommitSync {
		op.Until = s.Now + c.Config.Member.DefaultAPITimeoutMs*ms
	}
	for ended := len(m.Commits) - 1 - keptCommits; ended >= 0 && m.Commits[0].Done; ended-- {
		m.Commits = slices.Delete(m.Commits, 0, 1)
	}
	m.Commits = append(m.Commits, op)
	return op.Number
}

// maybeAutoCommit is the automatic commit of a poll (C-61).
func (s *State) maybeAutoCommit(c *Consumer) {
	m := &c.Group
	if !c.Config.Member.EnableAutoCommit || s.Now < m.AutoCommitAt || m.Coordinator == NoNode {
		return
	}
	m.AutoCommitAt = s.Now + c.Config.Member.AutoCommitIntervalMs*ms
	if parts := c.consumed(); len(parts) > 0 {
		s.beginCommit(c, CommitAuto, parts)
	}
}

// commitBeforeJoin commits what is consumed and tells whether that is done, well or not (C-62).
func (s *State) commitBeforeJoin(c *Consumer) bool {
	m := &c.Group
	for i := range m.Commits {
		if o := &m.Commits[i]; o.Kind == CommitBeforeJoin && o.Number == m.BeforeJoin {
			if o.Done {
				m.BeforeJoin = 0
			}
			return o.Done
		}
	}
	m.BeforeJoin = s.beginCommit(c, CommitBeforeJoin, c.consumed())
	op := &m.Commits[len(m.Commits)-1]
	op.Until = m.PrepareTo
	s.goOnCommitting(c)
	if op := c.CommitOf(m.BeforeJoin); op != nil && !op.Done {
		return false
	}
	m.BeforeJoin = 0
	return true
}

// goOnCommitting sends what can be sent, and gives up what has waited too long.
func (s *State) goOnCommitting(c *Consumer) {
	m := &c.Group
	for i := range m.Commits {
		o := &m.Commits[i]
		switch {
		case o.Done:
		case o.Until != 0 && s.Now >= o.Until:
			s.commitDone(c, o, TIMEOUT_EXCEPTION)
		case o.Sent || s.Now < o.RetryAt:
		case m.Coordinator == NoNode:
			s.findCoordinator(c)
		default:
			s.sendCommit(c, o)
		}
	}
}

// sendCommit sends one, unless the consumer knows itself that it is no stable member (C-68).
func (s *State) sendCommit(c *Consumer, o *CommitOp) {
	m := &c.Group
	r := OffsetCommitRequest{Group: c.Config.Member.GroupID, Generation: -1, Parts: o.Parts}
	if m.On {
		switch {
		case m.State == MemberPreparing || m.State == MemberCompleting:
			s.commitDone(c, o, REBALANCE_EXCEPTION)
			return
		case m.State != MemberStable:
			s.commitDone(c, o, COMMIT_FAILED)
			return
		}
		r.Generation, r.Member, r.Instance = m.Generation, m.ID, c.Config.Member.InstanceID
	}
	r.Number = o.Number
	o.Sent = s.askCoordinator(c, r)
}

func (s *State) commitDone(c *Consumer, o *CommitOp, why Code) {
	o.Done, o.Error = true, why
	if why != NONE {
		s.note(view.Change{Kind: view.CommitFailed, Broker: -1, Partition: -1, Client: c.Name, Text: why.String()})
	}
}

// commitAgain lets a commit be sent again later, if it is of a kind that is.
func (s *State) commitAgain(c *Consumer, o *CommitOp, why Code) {
	o.Sent = false
	o.RetryAt = s.Now + s.retryBackoff(&c.ClientIO, 0, uint64(s.Now), uint64(o.Number))
	switch o.Kind {
	case CommitAsync:
		s.commitDone(c, o, RETRIABLE_COMMIT_FAILED) // C-66
	case CommitAuto:
		s.commitDone(c, o, why)
		c.Group.AutoCommitAt = o.RetryAt // C-64
	}
}

func (s *State) commitLost(c *Consumer, r OffsetCommitRequest) {
	if o := c.CommitOf(r.Number); o != nil && !o.Done {
		s.commitAgain(c, o, NETWORK_EXCEPTION)
	}
}

// offsetsCommitted is the answer to a commit; the first error counts (C-67).
func (s *State) offsetsCommitted(c *Consumer, r OffsetCommitRequest, a *OffsetCommitResponse) {
	o := c.CommitOf(r.Number)
	if o == nil || o.Done {
		return
	}
	code := NONE
	for i := range a.Parts {
		if code = a.Parts[i].Error; code != NONE {
			break
		}
	}
	m := &c.Group
	same := r.Generation == m.Generation && r.Member == m.ID
	switch code {
	case COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR, REQUEST_TIMED_OUT:
		s.coordinatorLost(c)
		if !o.Done {
			s.commitAgain(c, o, code)
		}
	case COORDINATOR_LOAD_IN_PROGRESS, UNKNOWN_TOPIC_OR_PARTITION:
		if c.protocol848() && o.Kind == CommitBeforeJoin && code == UNKNOWN_TOPIC_OR_PARTITION {
			s.commitDone(c, o, code) // the topic is gone: nothing to wait for
			return
		}
		s.commitAgain(c, o, code)
	case REBALANCE_IN_PROGRESS:
		m.Rejoin = m.Rejoin || m.On
		s.commitDone(c, o, REBALANCE_EXCEPTION)
	case STALE_MEMBER_EPOCH:
		s.staleCommit(c, o)
	case UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION:
		if c.protocol848() {
			s.commitDone(c, o, COMMIT_FAILED) // the heartbeat will hear of it
			return
		}
		switch {
		case same && m.On && code == UNKNOWN_MEMBER_ID:
			s.resetMembership(c, "")
		case same && m.On:
			s.resetMembership(c, m.ID)
		}
		s.commitDone(c, o, COMMIT_FAILED)
	case FENCED_INSTANCE_ID:
		if same {
			m.Fatal = code
		}
		s.commitDone(c, o, code)
	default:
		s.commitDone(c, o, code)
	}
}

// fetchOffsets asks for the committed offsets of partitions that have no position yet (C-4). It tells whether there are
// partitions that wait for them.
func (s *State) askOffsets(c *Consumer) bool {
	m := &c.Group
	if c.Config.Member.GroupID == "" {
		return false
	}
	var parts []NamedPartition
	for i := range c.Parts {
		if p := &c.Parts[i]; p.State == PositionInitializing {
			parts = append(parts, NamedPartition{p.Topic, p.TP.Partition})
		}
	}
	if len(parts) == 0 {
		return false
	}
	switch {
	case m.Asking || s.Now < m.AskAt:
	case m.Coordinator == NoNode:
		s.findCoordinator(c)
	default:
		r := OffsetFetchRequest{Group: c.Config.Member.GroupID, Parts: parts, RequireStable: true}
		if m.On && c.protocol848() && m.Generation > 0 {
			r.Member, r.Epoch = m.ID, m.Generation
		}
		m.Asking = s.askCoordinator(c, r)
	}
	return true
}

// offsetsFetched begins partitions at their committed offsets; without one the reset policy says where (C-31). An error says
// nothing about offsets: it is asked again, after STALE_MEMBER_EPOCH with the epoch that the member has by then.
func (s *State) offsetsFetched(c *Consumer, r OffsetFetchRequest, a *OffsetFetchResponse) {
	m := &c.Group
	m.Asking = false
	if a.Error != NONE {
		m.AskAt = s.Now + c.Times.RetryBackoff
		if a.Error == NOT_COORDINATOR || a.Error == COORDINATOR_NOT_AVAILABLE {
			s.coordinatorLost(c)
		}
		return
	}
	for i := range a.Parts {
		f := &a.Parts[i]
		at := slices.IndexFunc(c.Parts, func(p ConsumerPart) bool { return p.Topic == f.Topic && p.TP.Partition == f.Partition })
		if at < 0 || c.Parts[at].State != PositionInitializing {
			continue
		}
		p := &c.Parts[at]
		switch {
		case f.Error != NONE: // UNSTABLE_OFFSET_COMMIT (T-61)
			m.AskAt = s.Now + c.Times.RetryBackoff
		case f.Offset < 0:
			p.NoCommit = true
			if c.initialize(p) {
				continue
			}
		default:
			p.Position, p.Epoch, p.State = f.Offset, f.LeaderEpoch, PositionFetching
			p.Leader, p.LeaderEpoch = NoNode, -1
			if s.World.Rules.On(PositionValidation) {
				c.Meta.seen(p.Topic, p.TP.Partition, f.LeaderEpoch)
			}
			if f.LeaderEpoch < 0 {
				c.follow(p)
			}
			s.notePosition(c, p)
		}
	}
}

// close begins the end of a group's consumer: the last commit, then the leave (C-62, C-74).
func (s *State) beginClose(c *Consumer, how CloseConsumer) {
	m := &c.Group
	m.Closing = true
	m.CloseHow = CloseHow{how.Membership}
	m.CloseBy = s.Now + closeTimeout
	if how.Timeout > 0 {
		m.CloseBy = s.Now + how.Timeout
	}
	if c.Config.Member.EnableAutoCommit {
		s.beginCommit(c, CommitSync, c.consumed())
		m.Commits[len(m.Commits)-1].Until = m.CloseBy
	}
	s.background(c)
}

// closeTimeout is the default of close(), µs.
const closeTimeout = 30_000_000

// goOnClosing closes when the last commit is answered and the leave is too.
func (s *State) goOnClosing(c *Consumer) {
	m := &c.Group
	late := s.Now >= m.CloseBy
	if !late && slices.ContainsFunc(m.Commits, func(o CommitOp) bool { return !o.Done }) {
		return
	}
	if m.On {
		if m.Generation >= 0 {
			s.callListener(c, CallRevoked, c.assigned())
		} else {
			s.callListener(c, CallLost, c.assigned())
		}
		m.On = false
		s.leaveGroup(c)
	}
	if late || !m.Leaving {
		s.closeConsumer(c)
	}
}
