package machine

import "kafkalab/kafkasim/view"

// Life of a controller's process.
//
// The disk has the metadata log and the quorum-state file: the epoch, the leader and the vote. Everything
// else ends with the process, the high watermark too: a controller that starts again learns from the quorum
// how far its log is committed.
//
// Kafka: ControllerServer, KafkaRaftClient.initialize, FileQuorumStateStore.

// CrashController kills a controller's process (kill -9).
type CrashController struct{ Controller NodeID }

// StartController starts a controller that is not running.
type StartController struct{ Controller NodeID }

// PauseController makes a controller silent while it lives (SIGSTOP); ResumeController ends that.
type PauseController struct{ Controller NodeID }

// ResumeController lets a paused controller go on; what arrived meanwhile is handled now.
type ResumeController struct{ Controller NodeID }

func (CrashController) command()  {}
func (StartController) command()  {}
func (PauseController) command()  {}
func (ResumeController) command() {}

// applyController carries out what a user does to a controller.
func (s *State) applyController(cmd Command) Result {
	switch cmd := cmd.(type) {
	case CrashController:
		s.crashController(s.controller(cmd.Controller))
	case StartController:
		s.startController(s.controller(cmd.Controller))
	case PauseController:
		if c := s.controller(cmd.Controller); c.Running && !c.Paused {
			c.Paused, c.Pause = true, ControllerPause{max(s.Now, 1)}
			s.noteController(c, "PAUSED")
		}
	case ResumeController:
		s.resumeController(s.controller(cmd.Controller))
	}
	return Result{ID: -1}
}

// crashController kills the process: its connections are reset.
func (s *State) crashController(c *Controller) {
	if !c.Running {
		return
	}
	backlog, conns := c.Backlog, c.Conns
	c.Running, c.Paused, c.Active, c.Pause = false, false, false, ControllerPause{}
	if s.World.Rules.Without(KRaft) {
		c.Pause.Since = max(s.Now, 1)
	}
	c.Backlog, c.Conns, c.Deferred, c.Parked, c.Observers, c.WakeAt, c.Sessions = nil, nil, nil, nil, nil, 0, nil
	for _, x := range conns {
		s.send(c.ID, x.Node, x.ID, 0, Disconnected{})
	}
	q := &c.Quorum
	for i := range q.Links {
		s.hangUp(c.ID, FirstController+NodeID(i), &q.Links[i].Channel)
	}
	if !s.soleController() {
		c.Image = Image{}
		q.HighWatermark = 0
	}
	s.noteController(c, "CRASHED")
	for _, e := range backlog { // it was paused: the system resets what the process had not read
		s.controllerEvent(e)
	}
}

// startController starts the process with what the disk has. Whoever led before resigns first, whoever had
// voted for itself goes on as a candidate, whoever knew a leader follows it (QuorumState.initialize). The
// only voter leads at once, in a new epoch.
func (s *State) startController(c *Controller) {
	if c.Running {
		return
	}
	c.Incarnation++
	c.Running = true
	q := &c.Quorum
	q.WakeAt = 0
	if s.mutant(ForgetsVote) {
		q.Voted = NoNode
	}
	switch {
	case s.soleController():
		s.becomeProspective(c)
		if s.World.Rules.Without(KRaft) {
			s.loadFromZooKeeper(c)
		} else {
			s.activate(c)
		}
	case q.Leader == c.ID:
		s.enter(c, QuorumResigned, q.Epoch, q.Leader, q.Voted, s.electionTimeout(c))
	case q.Voted == c.ID && q.Leader == NoNode:
		s.enter(c, QuorumCandidate, q.Epoch, NoNode, c.ID, s.electionTimeout(c))
		c.vote(c.ID, VoteGranted)
	case q.Leader != NoNode:
		s.followLeader(c, q.Leader, q.Epoch)
	default:
		s.enter(c, QuorumUnattached, q.Epoch, NoNode, q.Voted, s.electionTimeout(c))
	}
	s.pollQuorum(c)
}

// resumeController lets a paused process go on; what arrived meanwhile, and the timers that are overdue, come
// now and in their order.
func (s *State) resumeController(c *Controller) {
	if !c.Paused {
		return
	}
	c.Paused = false
	zombie, before := s.outlivedSession(c), c.Image.clone()
	backlog := c.Backlog
	c.Backlog = nil
	s.noteController(c, c.Quorum.State.String())
	for _, e := range backlog {
		s.controllerEvent(e)
	}
	if zombie {
		s.writeAgain(c, &before)
	}
	s.pollQuorum(c)
}

// noteController notes what became of a controller.
func (s *State) noteController(c *Controller, text string) {
	s.note(view.Change{Kind: view.ControllerState, Broker: -1, Partition: -1, A: int64(c.ID), B: int64(c.Quorum.Epoch),
		C: noteNode(c.Quorum.Leader), Text: text})
}
