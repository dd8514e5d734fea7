package machine

// How a world's quorum begins: the first controller leads epoch 1, the others have the whole log and follow.

// startQuorum makes the controllers; the first leads, and acts.
func (s *State) startQuorum() *Controller {
	n := max(int(s.World.Controllers), 1)
	s.Controllers = make([]Controller, n)
	for i := range s.Controllers {
		s.Controllers[i] = Controller{ID: FirstController + NodeID(i), Incarnation: 1, Running: true}
	}
	quiet := s.Quiet
	s.Quiet = true // that everybody is as they begin is no change
	defer func() { s.Quiet = quiet }()
	for i := range s.Controllers {
		c := &s.Controllers[i]
		c.Quorum.State = QuorumUnattached
		if i == 0 {
			s.enter(c, QuorumLeader, 1, c.ID, NoNode, s.checkQuorum())
			continue
		}
		voted := NoNode // the last voters made up the majority, the others came too late
		if i > n-s.majority() && s.World.Rules.On(PreVote) {
			voted = FirstController
		}
		s.enter(c, QuorumFollower, 1, FirstController, voted, s.fetchTimeout(c))
		c.Quorum.Fetched = true
	}
	first := &s.Controllers[0]
	first.Active, first.Image = true, s.emptyImage()
	first.Sessions = make([]BrokerSession, s.World.Brokers)
	s.Committed.Image = s.emptyImage()
	return first
}

// shareQuorumLog gives every controller the log of the first, committed.
func (s *State) shareQuorumLog() {
	if s.soleController() {
		s.Committed = CommittedMetadata{}
		return
	}
	first := &s.Controllers[0]
	end := int64(len(first.Log))
	for i := range s.Controllers {
		c := &s.Controllers[i]
		c.Log = first.Log[:end:end]
		c.Quorum.HighWatermark = end
		first.Quorum.Voters[i] = Voter{End: end, LastFetch: 0, CaughtUp: 0}
	}
	s.publishCommitted(first)
}

// startFetching lets the followers fetch, with phases of their own.
func (s *State) startFetching() {
	n := int64(len(s.Controllers))
	for i := range s.Controllers {
		if c := &s.Controllers[i]; n > 1 {
			s.wake(&c.Quorum.WakeAt, s.Now+metadataFetchWait*int64(i)/n, c.ID, QuorumTimer{})
		}
	}
}

// emptyImage is the image of the empty log.
func (s *State) emptyImage() Image {
	im := newImage(s.World.Brokers)
	im.Uncapped = s.World.Rules.Without(CappedMinISR)
	return im
}
