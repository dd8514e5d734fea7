package machine

import "testing"

// R3.27: what a controller begins with after a restart is what its quorum-state file says (QuorumState.initialize).
func TestControllerStartsFromItsDisk(t *testing.T) {
	for _, c := range []struct {
		what          string
		leader, voted NodeID
		want          string
	}{
		{"it led", 3002, NoNode, "Resigned epoch 7 leader 3002 voted 0"},
		{"it stood for election", NoNode, 3002, "Candidate epoch 7 leader 0 voted 3002"},
		{"it followed", 3003, NoNode, "Follower epoch 7 leader 3003 voted 0"},
		{"it had voted for its leader", 3003, 3003, "Follower epoch 7 leader 3003 voted 3003"},
		{"it had voted", NoNode, 3001, "Unattached epoch 7 leader 0 voted 3001"},
		{"it knew the epoch only", NoNode, NoNode, "Unattached epoch 7 leader 0 voted 0"},
	} {
		b := newBench(t, 1, threeControllers)
		x := b.controller(3002)
		b.Apply(CrashController{3002})
		x.Quorum.Epoch, x.Quorum.Leader, x.Quorum.Voted = 7, c.leader, c.voted
		b.Apply(StartController{3002})
		if got := b.state(3002); got != c.want {
			t.Errorf("%s: begins as %s, want %s", c.what, got, c.want)
		}
		if x.Quorum.HighWatermark != 0 {
			t.Errorf("%s: the high watermark is on no disk, and is %d", c.what, x.Quorum.HighWatermark)
		}
	}
}

// A candidate votes for itself, in an epoch of its own (R3.27).
func TestCandidateVotesForItself(t *testing.T) {
	b := newBench(t, 1, threeControllers)
	c := b.controller(3002)
	b.becomeProspective(c)
	if got := b.state(3002); got != "Prospective epoch 1 leader 3001 voted 0" {
		t.Errorf("prospective: %s", got)
	}
	b.becomeCandidate(c)
	if got := b.state(3002); got != "Candidate epoch 2 leader 0 voted 3002" {
		t.Errorf("candidate: %s", got)
	}
}

// R3.26, R3.29: a new leader writes a record of its epoch first, and acts only when that is committed: it says
// NOT_CONTROLLER until then.
func TestNewLeaderWaitsForItsFirstRecord(t *testing.T) {
	b := newBench(t, 1, threeControllers)
	b.run(1000 * ms)
	c := b.controller(3003)
	b.becomeProspective(c)
	b.becomeCandidate(c)
	b.leadQuorum(c)
	b.pollQuorum(c)
	last := &c.Log[len(c.Log)-1]
	if last.Kind != LeaderChangeRecord || last.Leader != 3003 || last.Epoch != 2 || c.Quorum.EpochStart != int64(len(c.Log)-1) {
		t.Errorf("the log ends with %+v, the epoch begins at %d of %d", last, c.Quorum.EpochStart, len(c.Log))
	}
	if c.Active || c.Quorum.exposed() != -1 {
		t.Error("it acts before its first record is committed")
	}
	if p := b.call(3003, BrokerHeartbeatRequest{Broker: 1, BrokerEpoch: 1}).(BrokerHeartbeatResponse); p.Error != NOT_CONTROLLER {
		t.Errorf("answers a heartbeat with %v", p.Error)
	}
	b.runUntil(1000*ms, "the commit", func() bool { return c.Quorum.HighWatermark == int64(len(c.Log)) })
	if !c.Active {
		t.Error("it does not act after the commit")
	}
}

// What a controller says to a fetch of another epoch, or to a fetch that is not for it (KafkaRaftClient's
// validateLeaderOnlyRequest), and to a log that parts from its own.
func TestMetadataFetchAnswers(t *testing.T) {
	b := newBench(t, 1, threeControllers)
	b.run(1000 * ms)
	b.Controllers[0].Quorum.Epoch = 5 // as if there had been elections
	b.Controllers[1].Quorum.Epoch = 5
	end := int64(len(b.Controllers[0].Log))
	for _, c := range []struct {
		to     NodeID
		m      MetadataFetchRequest
		want   Code
		leader NodeID
		parts  EpochEnd
	}{
		{3001, MetadataFetchRequest{Replica: 3003, Epoch: 4, Offset: end, LastEpoch: 1}, FENCED_LEADER_EPOCH, 3001, EpochEnd{-1, -1}},
		{3001, MetadataFetchRequest{Replica: 3003, Epoch: 6, Offset: end, LastEpoch: 1}, UNKNOWN_LEADER_EPOCH, 3001, EpochEnd{-1, -1}},
		{3002, MetadataFetchRequest{Replica: 3003, Epoch: 5, Offset: end, LastEpoch: 1}, NOT_LEADER_OR_FOLLOWER, 3001, EpochEnd{-1, -1}},
		{3001, MetadataFetchRequest{Replica: 3003, Epoch: 5, Offset: end - 1, LastEpoch: 1}, NONE, 3001, EpochEnd{-1, -1}},
		{3001, MetadataFetchRequest{Replica: 3003, Epoch: 5, Offset: end + 3, LastEpoch: 1}, NONE, 3001, EpochEnd{1, end}},
		{3001, MetadataFetchRequest{Replica: 3003, Epoch: 5, Offset: end, LastEpoch: 3}, NONE, 3001, EpochEnd{1, end}},
	} {
		got := b.call(c.to, c.m).(MetadataFetchResponse)
		if got.Error != c.want || got.Leader != c.leader || got.Epoch != 5 || got.Diverging != c.parts {
			t.Errorf("%+v to %d: %v, leader %d in %d, diverging %+v; want %v, %d, %+v", c.m, c.to, got.Error, got.Leader, got.Epoch, got.Diverging, c.want, c.leader, c.parts)
		}
	}
}

// What a controller makes of the leader and epoch in an answer (KafkaRaftClient.maybeHandleCommonResponse).
func TestWhatAnswersTellOfTheLeader(t *testing.T) {
	for _, c := range []struct {
		what   string
		code   Code
		leader NodeID
		epoch  int32
		want   string
		done   bool
	}{
		{"the same", NONE, 3001, 1, "Follower epoch 1 leader 3001 voted 3001", false},
		{"an older epoch", NONE, 3002, 0, "Follower epoch 1 leader 3001 voted 3001", true},
		{"a newer epoch with leader", NONE, 3002, 4, "Follower epoch 4 leader 3002 voted 0", true},
		{"a newer epoch without", NONE, NoNode, 4, "Unattached epoch 4 leader 0 voted 0", true},
		{"fenced by a newer epoch", FENCED_LEADER_EPOCH, 3002, 4, "Follower epoch 4 leader 3002 voted 0", true},
		{"not the leader, nor anybody known", NOT_LEADER_OR_FOLLOWER, NoNode, 1, "Follower epoch 1 leader 3001 voted 3001", true},
		{"its own old leadership", NONE, 3003, 1, "Follower epoch 1 leader 3001 voted 3001", true},
	} {
		b := newBench(t, 1, threeControllers)
		done := b.heard(b.controller(3003), c.code, c.leader, c.epoch)
		if got := b.state(3003); got != c.want || done != c.done {
			t.Errorf("%s: %s, done %v; want %s, %v", c.what, got, done, c.want, c.done)
		}
	}
}

// Whoever waits for a commit that does not come is told to look elsewhere when the leader resigns (R3.28).
func TestResigningAnswersWhoWaits(t *testing.T) {
	b := newBench(t, 1, threeControllers)
	b.run(1000 * ms)
	b.apply(CutLink{A: 3001, B: 3002})
	b.apply(CutLink{A: 3001, B: 3003})
	asked := b.ask(3001, AllocateProducerIDsRequest{})
	b.run(2000 * ms)
	if b.answered(asked) {
		t.Fatal("answered before the commit")
	}
	b.runUntil(3000*ms, "an answer", func() bool { return b.answered(asked) })
	if p := b.answers[asked].p.(AllocateProducerIDsResponse); p.Error != NOT_CONTROLLER || b.controller(3001).Quorum.State != QuorumResigned {
		t.Errorf("%+v; 3001 is %s", p, b.state(3001))
	}
}

// A leader that comes back has resigned, and tells each voter once: who has answered is not told again, though the answer
// names it as the leader (ResignedState.acknowledgeResignation; R3.28).
func TestResigningIsToldOnce(t *testing.T) {
	b := newBench(t, 1, threeControllers)
	b.run(1000 * ms)
	b.apply(CrashController{3001})
	b.apply(StartController{3001})
	b.record()
	b.runUntil(20_000*ms, "another leader", func() bool { return b.controller(3001).Quorum.State != QuorumResigned })
	told := map[NodeID]int{}
	for _, e := range b.seen {
		if _, ok := e.Payload.(EndQuorumEpochRequest); ok {
			told[e.To]++
		}
	}
	if told[3002] != 1 || told[3003] != 1 {
		t.Errorf("EndQuorumEpoch came %d times to 3002 and %d times to 3003", told[3002], told[3003])
	}
}

// The line of succession when a leader resigns (KafkaRaftClient.strictExponentialElectionBackoffMs).
func TestSuccessionDelay(t *testing.T) {
	for _, c := range []struct{ place, n, want int }{
		{0, 2, 0}, {1, 2, 500}, {2, 2, 1000}, {-1, 2, 1000}, {0, 4, 0}, {1, 4, 125}, {2, 4, 250}, {3, 4, 500}, {-1, 0, 0},
	} {
		if got := successionDelay(c.place, c.n); got != int64(c.want) {
			t.Errorf("place %d of %d waits %d ms, want %d", c.place, c.n, got, c.want)
		}
	}
}
