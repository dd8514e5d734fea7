package machine

import (
	"kafkalab/kafkasim/prng"
)

// The metadata quorum: who leads, in which epoch.
//
// Controllers are voters of one Raft quorum that replicates by pulling: the leader appends, followers fetch.
//
//	Unattached   knows no leader; becomes Prospective when its election timeout is over
//	Follower     fetches from the leader; Prospective when it has heard nothing for the fetch timeout
//	Prospective  asks whether it would be voted for, without a new epoch (pre-vote, KIP-996)
//	Candidate    has begun an epoch and asks for votes in it
//	Leader       resigns when a majority has not fetched for 1.5 fetch timeouts (check quorum)
//	Resigned     has given up its epoch; moves to the next one, without a leader, if nobody else does
//
// A higher epoch, wherever it is heard of, ends whatever state a controller is in (R3.27).
//
// Kafka: KafkaRaftClient, QuorumState and the states' classes. KIP-595, KIP-996. Simplified: the voters are
// fixed; a follower's fetch timeout is up to 6 ms late, drawn from the seed, in the place of the noise of
// real machines, without which equal followers would always split the vote.

// QuorumState is a controller's state in the quorum (KafkaRaftClient's EpochState).
type QuorumState uint8

// The states.
const (
	QuorumUnattached QuorumState = iota
	QuorumFollower
	QuorumProspective
	QuorumCandidate
	QuorumLeader
	QuorumResigned
)

// String is Kafka's name of the state.
func (q QuorumState) String() string {
	return [...]string{"Unattached", "Follower", "Prospective", "Candidate", "Leader", "Resigned"}[q]
}

// Quorum is what a controller knows of the quorum.
type Quorum struct {
	State QuorumState

	// On disk, in the quorum-state file:
	Epoch  int32
	Leader NodeID // of the epoch, NoNode when unknown
	Voted  NodeID // for whom it voted in the epoch

	HighWatermark int64 // records below it are committed; 0 before it is known
	EpochStart    int64 // leader: where its epoch begins in the log
	Fetched       bool  // follower: it has fetched from this leader in this epoch
	Deadline      int64 // µs: when the state's patience ends
	BeginAt       int64 // leader, µs: when it looks next for voters that do not fetch
	WakeAt        int64 // µs: when QuorumTimer is due, 0 for none
	Draws         uint64
	Again         bool       // it has lost a pre-vote in this epoch
	Voters        []Voter    // by controller, itself too
	Links         []RaftLink // by controller
}

// Voter is what a controller knows of another, while it is in its present state.
type Voter struct {
	Vote      Vote  // candidate, prospective
	Acked     bool  // resigned: it has heard of that
	End       int64 // leader: the voter's log end, -1 when unknown
	LastFetch int64 // leader, µs; -1 for none
	CaughtUp  int64 // leader, µs: when it last had the whole log; -1 for never
	Counted   bool  // leader: it has fetched since a majority had
}

// Vote is one voter's answer.
type Vote uint8

// The answers.
const (
	VoteUnrecorded Vote = iota
	VoteGranted
	VoteRejected
)

// QuorumTimer: a controller looks at the quorum again.
type QuorumTimer struct{}

func (QuorumTimer) payload() {}

// lateness is how much later than its time a fetch timeout may fire, µs. It sets how often two followers
// stand at once: four elections of thirteen, as was seen on real controllers.
const lateness = 6000

const (
	drawElection  = 31 // election timeouts
	drawLateness  = 32
	drawBootstrap = 33 // whom a node asks for the leader
	drawBackoff39 = 34 // election backoff, before pre-vote
)

// draw is the next number of a controller's own for a purpose.
func (s *State) draw(c *Controller, purpose uint32, n int64) int64 {
	c.Quorum.Draws++
	return int64(prng.Below(prng.Draw(s.World.Seed, purpose, uint64(c.ID), c.Quorum.Draws), int(n)))
}

// electionTimeout is when an election that begins now has failed: a random time from one to two times
// controller.quorum.election.timeout.ms (R3.27).
func (s *State) electionTimeout(c *Controller) int64 {
	t := s.World.Broker.QuorumElectionTimeoutMs
	if t == 0 {
		return s.Now
	}
	return s.Now + (t+s.draw(c, drawElection, t))*1000
}

// fetchTimeout is when a follower that hears nothing more gives its leader up.
func (s *State) fetchTimeout(c *Controller) int64 {
	return s.Now + s.World.Broker.QuorumFetchTimeoutMs*1000 + s.draw(c, drawLateness, lateness)
}

// checkQuorum is when a leader that no majority fetches from resigns: 1.5 fetch timeouts from now.
func (s *State) checkQuorum() int64 { return s.Now + s.World.Broker.QuorumFetchTimeoutMs*1500 }

// majority is how many voters are more than half.
func (s *State) majority() int { return len(s.Controllers)/2 + 1 }

// vote records a voter's answer.
func (c *Controller) vote(of NodeID, v Vote) { c.Quorum.Voters[of-FirstController].Vote = v }

// count is how many voters have answered so.
func (q *Quorum) count(v Vote) int {
	n := 0
	for i := range q.Voters {
		if q.Voters[i].Vote == v {
			n++
		}
	}
	return n
}

// voteLost tells that too many votes are refused for a majority to come.
func (s *State) voteLost(q *Quorum) bool {
	return q.count(VoteGranted)+q.count(VoteUnrecorded) < s.majority()
}

// enter moves a controller to a state: what it knew of the others is void, and it may ask everybody again.
func (s *State) enter(c *Controller, to QuorumState, epoch int32, leader, voted NodeID, deadline int64) {
	q := &c.Quorum
	led := q.State == QuorumLeader
	again := q.Again && epoch == q.Epoch && (to == QuorumProspective || to == QuorumUnattached)
	news := (q.State != to || q.Epoch != epoch || q.Leader != leader) && !again
	q.Again = again
	q.State, q.Epoch, q.Leader, q.Voted, q.Deadline, q.Fetched = to, epoch, leader, voted, deadline, false
	n := len(s.Controllers)
	q.Voters = make([]Voter, n)
	for i := range q.Voters {
		q.Voters[i] = Voter{End: -1, LastFetch: -1, CaughtUp: -1}
	}
	if q.Links == nil {
		q.Links = make([]RaftLink, n)
	}
	for i := range q.Links {
		q.Links[i].reset()
	}
	if led && !s.mutant(RenouncesNothing) {
		s.renounce(c)
	}
	if news {
		s.noteController(c, to.String())
	}
}

// unattached moves to an epoch of which no leader is known. An election timeout that runs goes on running.
func (s *State) unattached(c *Controller, epoch int32) {
	q := &c.Quorum
	deadline, voted := q.Deadline, NoNode
	switch q.State {
	case QuorumCandidate, QuorumUnattached, QuorumResigned:
	case QuorumProspective:
		if s.voteLost(q) {
			deadline = s.electionTimeout(c)
		}
	default:
		deadline = s.electionTimeout(c)
	}
	if epoch == q.Epoch {
		voted = q.Voted
	}
	s.enter(c, QuorumUnattached, epoch, NoNode, voted, deadline)
}

// followLeader begins to follow a leader.
func (s *State) followLeader(c *Controller, leader NodeID, epoch int32) {
	voted := NoNode
	if epoch == c.Quorum.Epoch && s.World.Rules.On(PreVote) { // before, the vote was forgotten with a leader
		voted = c.Quorum.Voted
	}
	s.enter(c, QuorumFollower, epoch, leader, voted, s.fetchTimeout(c))
}

// nominate is what follows when a state's patience is over: first the question whether an election could be
// won; without pre-vote, the election itself.
func (s *State) nominate(c *Controller) {
	if s.World.Rules.Without(PreVote) || s.mutant(StandsAtOnce) {
		s.becomeCandidate(c)
	} else {
		s.becomeProspective(c)
	}
}

func (s *State) becomeProspective(c *Controller) {
	q := &c.Quorum
	s.enter(c, QuorumProspective, q.Epoch, q.Leader, q.Voted, s.electionTimeout(c))
	c.vote(c.ID, VoteGranted)
	if q.count(VoteGranted) >= s.majority() {
		s.becomeCandidate(c)
	}
}

// becomeCandidate begins an epoch and votes for itself in it.
func (s *State) becomeCandidate(c *Controller) {
	q := &c.Quorum
	s.enter(c, QuorumCandidate, q.Epoch+1, NoNode, c.ID, s.electionTimeout(c))
	c.vote(c.ID, VoteGranted)
	if q.count(VoteGranted) >= s.majority() {
		s.leadQuorum(c)
	}
}

// leadQuorum begins to lead. The first record of the epoch says so; nothing is committed before it is
// (R3.26).
func (s *State) leadQuorum(c *Controller) {
	q := &c.Quorum
	s.enter(c, QuorumLeader, q.Epoch, c.ID, NoNode, s.checkQuorum())
	q.EpochStart = int64(len(c.Log))
	q.BeginAt = s.Now
	s.commit(c, []MetadataRecord{{Kind: LeaderChangeRecord, Leader: c.ID}})
}

// loseElection ends a pre-vote without a majority: back to the leader that was known, or to none.
func (s *State) loseElection(c *Controller) {
	q := &c.Quorum
	if q.Leader != NoNode && q.Leader != c.ID {
		s.followLeader(c, q.Leader, q.Epoch)
		return
	}
	q.Again = true
	s.unattached(c, q.Epoch)
}

// pollQuorum lets a controller do what is due in its state, and sets its timer (KafkaRaftClient.poll).
func (s *State) pollQuorum(c *Controller) {
	if s.soleController() || !c.Running || c.Paused {
		return
	}
	for s.pollState(c) {
	}
	if st := c.Quorum.State; st != QuorumFollower && st != QuorumUnattached { // those look themselves
		for i := range c.Quorum.Links {
			s.giveUp(c.ID, FirstController+NodeID(i), &c.Quorum.Links[i])
		}
	}
	s.wakeForQuorum(c)
}

// pollState does what is due; true when the state has changed.
func (s *State) pollState(c *Controller) bool {
	q := &c.Quorum
	late := s.Now >= q.Deadline
	switch q.State {
	case QuorumUnattached, QuorumFollower:
		if late {
			s.nominate(c)
			return true
		}
		s.fetchMetadata(c)
	case QuorumProspective:
		if late {
			s.loseElection(c)
			return true
		}
		s.askForVotes(c)
	case QuorumCandidate:
		if late {
			s.nominate(c)
			return true
		}
		s.askForVotes(c)
	case QuorumLeader:
		if late && !s.mutant(LeadsWithoutMajority) {
			s.resign(c)
			return true
		} else if late {
			q.Deadline = s.checkQuorum()
		}
		if !c.Active && (q.HighWatermark > q.EpochStart || s.mutant(ActsBeforeCommit)) {
			s.activate(c)
		}
		s.beginQuorumEpoch(c)
	case QuorumResigned:
		if late {
			s.giveUpEpoch(c)
			return true
		}
		s.endQuorumEpoch(c)
	}
	return false
}

// giveUpEpoch leaves the epoch in which the controller had resigned: it must not be taken for its leader
// (R3.27). So the loss and the return of a majority cost two epochs.
func (s *State) giveUpEpoch(c *Controller) {
	if s.World.Rules.Without(PreVote) {
		s.becomeCandidate(c)
		return
	}
	if s.mutant(KeepsEpochResigned) {
		s.unattached(c, c.Quorum.Epoch)
		return
	}
	s.unattached(c, c.Quorum.Epoch+1)
}

// resign gives up the epoch; the log ends of the others are kept, to name successors by them.
func (s *State) resign(c *Controller) {
	q := &c.Quorum
	old := q.Voters
	s.enter(c, QuorumResigned, q.Epoch, q.Leader, q.Voted, s.electionTimeout(c))
	for i := range old {
		q.Voters[i].End = old[i].End
	}
}

// wakeForQuorum sets the timer for whatever comes first.
func (s *State) wakeForQuorum(c *Controller) {
	q := &c.Quorum
	at := q.Deadline
	if q.State == QuorumLeader {
		at = min(at, q.BeginAt)
	}
	for i := range q.Links {
		at = min(at, q.Links[i].next(s.Now))
	}
	s.wake(&q.WakeAt, max(at, s.Now), c.ID, QuorumTimer{})
}

// quorumAnswer handles what comes back to a controller on a connection that it opened, and closed
// connections.
func (s *State) quorumAnswer(c *Controller, e Event) {
	l := &c.Quorum.Links[0]
	if e.From.IsController() {
		l = &c.Quorum.Links[e.From-FirstController]
	}
	if _, closed := e.Payload.(Disconnected); closed {
		if e.From.IsController() && l.Channel.Conn == e.Conn {
			s.broken(l)
		} else {
			s.dropConn(c, e.From, e.Conn)
		}
		return
	}
	if !l.Channel.answers(&e) {
		return
	}
	if !l.heard() {
		return
	}
	switch p := e.Payload.(type) {
	case VoteResponse:
		s.onVoteAnswered(c, e.From, p)
	case BeginQuorumEpochResponse:
		s.heard(c, p.Error, p.Leader, p.Epoch)
	case EndQuorumEpochResponse:
		s.onEndAnswered(c, e.From, p)
	case MetadataFetchResponse:
		s.onFetched(c, l, p)
	default:
		unexpected(e)
	}
}

// heard takes over what an answer says of leader and epoch; true when there is no more to it.
func (s *State) heard(c *Controller, code Code, leader NodeID, epoch int32) bool {
	q := &c.Quorum
	switch {
	case epoch < q.Epoch && !s.mutant(TakesStaleMetadata) || code == UNKNOWN_LEADER_EPOCH:
		return true
	case leader == c.ID && q.State != QuorumLeader:
		return code != NONE || q.State != QuorumResigned // who has resigned is still the leader of its epoch
	case epoch > q.Epoch || code == FENCED_LEADER_EPOCH || code == NOT_LEADER_OR_FOLLOWER:
		s.learnLeader(c, leader, epoch)
		return true
	case leader != NoNode && q.Leader == NoNode:
		s.followLeader(c, leader, epoch)
		return code != NONE
	}
	return false
}

// learnLeader follows a newer epoch, or the leader of the present one when none was known.
func (s *State) learnLeader(c *Controller, leader NodeID, epoch int32) {
	q := &c.Quorum
	switch {
	case epoch > q.Epoch && leader != NoNode:
		s.followLeader(c, leader, epoch)
	case epoch > q.Epoch:
		s.unattached(c, epoch)
	case epoch == q.Epoch && leader != NoNode && q.Leader == NoNode:
		s.followLeader(c, leader, epoch)
	}
}
