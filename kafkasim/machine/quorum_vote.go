package machine

import "slices"

// Votes, and how leaderships begin and end.
//
// Kafka: KafkaRaftClient.handleVoteRequest and its kin; canGrantVote of each state. KIP-595, KIP-996.

// VoteRequest asks for a vote in an epoch (API 52), or, with PreVote, whether there would be one.
type VoteRequest struct {
	Candidate NodeID
	Epoch     int32
	LastEpoch int32 // of the candidate's last record
	End       int64 // of the candidate's log
	PreVote   bool
}

// VoteResponse answers it; Epoch and Leader are what the voter knows.
type VoteResponse struct {
	Error   Code
	Epoch   int32
	Leader  NodeID
	Granted bool
}

// BeginQuorumEpochRequest tells a voter who leads (API 53).
type BeginQuorumEpochRequest struct {
	Leader NodeID
	Epoch  int32
}

// BeginQuorumEpochResponse answers it.
type BeginQuorumEpochResponse struct {
	Error  Code
	Epoch  int32
	Leader NodeID
}

// EndQuorumEpochRequest tells a voter that the leader has resigned, and who should follow it, best first
// (API 54).
type EndQuorumEpochRequest struct {
	Leader     NodeID
	Epoch      int32
	Successors []NodeID
}

// EndQuorumEpochResponse answers it.
type EndQuorumEpochResponse struct {
	Error  Code
	Epoch  int32
	Leader NodeID
}

func (VoteRequest) payload()              {}
func (VoteResponse) payload()             {}
func (BeginQuorumEpochRequest) payload()  {}
func (BeginQuorumEpochResponse) payload() {}
func (EndQuorumEpochRequest) payload()    {}
func (EndQuorumEpochResponse) payload()   {}

// lastEpoch is the epoch of the last record, 0 for an empty log.
func (c *Controller) lastEpoch() int32 {
	if len(c.Log) == 0 {
		return 0
	}
	return c.Log[len(c.Log)-1].Epoch
}

// canGrant tells whether a controller votes for another (R3.27). A pre-vote is refused by whoever has a
// leader that works: one that leads, or follows and has fetched. A vote goes to one candidate in an epoch.
// Either needs a log that ends no earlier than the voter's.
func (c *Controller) canGrant(m *VoteRequest) bool {
	q := &c.Quorum
	upToDate := c.upToDate(m)
	switch q.State {
	case QuorumLeader:
		return false
	case QuorumFollower:
		return m.PreVote && !q.Fetched && upToDate
	case QuorumCandidate, QuorumResigned:
		return m.PreVote && upToDate
	}
	switch {
	case m.PreVote:
		return upToDate
	case q.Voted != NoNode:
		return q.Voted == m.Candidate
	case q.Leader != NoNode:
		return false
	}
	return upToDate
}

// upToDate tells whether a candidate's log ends no earlier than the controller's own.
func (c *Controller) upToDate(m *VoteRequest) bool {
	return m.LastEpoch > c.lastEpoch() || m.LastEpoch == c.lastEpoch() && m.End >= int64(len(c.Log))
}

// onVote answers a candidate. Its epoch counts even where its wish does not.
func (s *State) onVote(c *Controller, e Event, m VoteRequest) {
	q := &c.Quorum
	if m.Epoch < q.Epoch {
		s.answer(c, e, VoteResponse{Error: FENCED_LEADER_EPOCH, Epoch: q.Epoch, Leader: q.Leader})
		return
	}
	if m.Epoch > q.Epoch {
		s.unattached(c, m.Epoch)
	}
	granted := c.canGrant(&m) || s.brokenVote(c, &m)
	if granted && !m.PreVote && q.Voted == NoNode {
		s.enter(c, q.State, q.Epoch, q.Leader, m.Candidate, s.electionTimeout(c))
		if q.State == QuorumProspective {
			c.vote(c.ID, VoteGranted)
		}
	}
	s.answer(c, e, VoteResponse{Epoch: q.Epoch, Leader: q.Leader, Granted: granted})
}

// answer answers a request of the quorum.
func (s *State) answer(c *Controller, e Event, p Payload) {
	s.send(c.ID, e.From, e.Conn, e.Correlation, p)
}

// onVoteAnswered counts a vote.
func (s *State) onVoteAnswered(c *Controller, from NodeID, m VoteResponse) {
	q := &c.Quorum
	if s.heard(c, m.Error, m.Leader, m.Epoch) || q.State != QuorumProspective && q.State != QuorumCandidate {
		return
	}
	if m.Granted {
		c.vote(from, VoteGranted)
	} else {
		c.vote(from, VoteRejected)
	}
	switch {
	case q.count(VoteGranted) >= s.majority() && q.State == QuorumProspective:
		s.becomeCandidate(c)
	case q.count(VoteGranted) >= s.majority():
		s.leadQuorum(c)
	case s.voteLost(q) && q.State == QuorumProspective:
		s.loseElection(c)
	case s.voteLost(q) && s.World.Rules.Without(PreVote):
		// Before pre-vote a candidate that has lost waits for a random time and begins the next epoch.
		q.Deadline = min(q.Deadline, s.Now+(1+s.draw(c, drawBackoff39, electionBackoffMax))*1000)
	}
}

// electionBackoffMax is controller.quorum.election.backoff.max.ms.
const electionBackoffMax = 1000

// askForVotes asks every voter that has not answered yet, while there is a chance.
func (s *State) askForVotes(c *Controller) {
	q := &c.Quorum
	if s.voteLost(q) {
		return
	}
	m := VoteRequest{Candidate: c.ID, Epoch: q.Epoch, LastEpoch: c.lastEpoch(), End: int64(len(c.Log)), PreVote: q.State == QuorumProspective}
	for i := range q.Voters {
		if q.Voters[i].Vote == VoteUnrecorded {
			s.raftRequest(c.ID, FirstController+NodeID(i), &q.Links[i], m)
		}
	}
}

// beginQuorumEpoch tells the voters that do not fetch who leads, at once and then every half of the fetch
// timeout.
func (s *State) beginQuorumEpoch(c *Controller) {
	q := &c.Quorum
	if s.Now < q.BeginAt {
		return
	}
	every := s.World.Broker.QuorumFetchTimeoutMs * 500
	for i := range q.Voters {
		id := FirstController + NodeID(i)
		if v := &q.Voters[i]; id != c.ID && (v.LastFetch < 0 || s.Now-v.LastFetch >= every) {
			s.raftRequest(c.ID, id, &q.Links[i], BeginQuorumEpochRequest{Leader: c.ID, Epoch: q.Epoch})
		}
	}
	q.BeginAt = s.Now + every
}

// onBeginQuorumEpoch follows the leader that has begun an epoch.
func (s *State) onBeginQuorumEpoch(c *Controller, e Event, m BeginQuorumEpochRequest) {
	q := &c.Quorum
	if m.Epoch < q.Epoch {
		s.answer(c, e, BeginQuorumEpochResponse{Error: FENCED_LEADER_EPOCH, Epoch: q.Epoch, Leader: q.Leader})
		return
	}
	s.learnLeader(c, m.Leader, m.Epoch)
	s.answer(c, e, BeginQuorumEpochResponse{Epoch: q.Epoch, Leader: q.Leader})
}

// endQuorumEpoch tells the voters that this leader has resigned, those with the longest logs first in line.
func (s *State) endQuorumEpoch(c *Controller) {
	q := &c.Quorum
	for i := range q.Voters {
		if id := FirstController + NodeID(i); id != c.ID && !q.Voters[i].Acked {
			s.raftRequest(c.ID, id, &q.Links[i], EndQuorumEpochRequest{Leader: c.ID, Epoch: q.Epoch, Successors: c.successors()})
		}
	}
}

// successors are the other voters, those with the longest logs first, as far as the leader had heard.
func (c *Controller) successors() []NodeID {
	var out []NodeID
	for i := range c.Quorum.Voters {
		if id := FirstController + NodeID(i); id != c.ID {
			out = append(out, id)
		}
	}
	slices.SortStableFunc(out, func(a, b NodeID) int {
		return int(c.Quorum.Voters[b-FirstController].End - c.Quorum.Voters[a-FirstController].End)
	})
	return out
}

// onEndQuorumEpoch lets a follower of the leader that resigned stand soon: the first in line at once, the
// others later, each twice as late as the one before.
func (s *State) onEndQuorumEpoch(c *Controller, e Event, m EndQuorumEpochRequest) {
	q := &c.Quorum
	if m.Epoch < q.Epoch {
		s.answer(c, e, EndQuorumEpochResponse{Error: FENCED_LEADER_EPOCH, Epoch: q.Epoch, Leader: q.Leader})
		return
	}
	s.learnLeader(c, m.Leader, m.Epoch)
	if q.State == QuorumFollower && q.Leader == m.Leader {
		q.Deadline = s.Now + successionDelay(slices.Index(m.Successors, c.ID), len(m.Successors))*1000
	}
	s.answer(c, e, EndQuorumEpochResponse{Epoch: q.Epoch, Leader: q.Leader})
}

// successionDelay is how long the one at a place in the line waits, ms
// (KafkaRaftClient.strictExponentialElectionBackoffMs).
func successionDelay(place, n int) int64 {
	switch {
	case place == 0 || n == 0:
		return 0
	case place < 0 || place >= n:
		return electionBackoffMax
	}
	return min(electionBackoffMax, int64(electionBackoffMax>>(n-1))<<(place-1))
}

// onEndAnswered stops telling a voter that has heard.
func (s *State) onEndAnswered(c *Controller, from NodeID, m EndQuorumEpochResponse) {
	if !s.heard(c, m.Error, m.Leader, m.Epoch) && c.Quorum.State == QuorumResigned {
		c.Quorum.Voters[from-FirstController].Acked = true
	}
}
