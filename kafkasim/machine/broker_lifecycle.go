package machine

import (
	"slices"

	"kafkalab/kafkasim/view"
)

// Life of a broker: start, registration, heartbeats, and the ways to end.
//
// Crash: the process dies, the page cache lives, peers get resets. Power loss: the unflushed tail of every
// log is gone and peers hear nothing. Controlled shutdown: leaderships move first, everything is flushed,
// and a marker says so. Pause: alive but silent.
//
// Kafka: BrokerLifecycleManager, BrokerServer, LogManager, CleanShutdownFileHandler. Simplified: loading and
// recovering logs takes no time.

// Lifecycle is a broker's dealings with the controller about itself (BrokerLifecycleManager).
type Lifecycle struct {
	Channel       ControllerChannel
	Epoch         int64 // the broker epoch granted, -1 before
	PreviousEpoch int64 // from the clean-shutdown marker, -1 without one
	NextAt        int64 // µs: when to talk to the controller next
	WakeAt        int64 // µs: when HeartbeatTimer is due
	Again         bool  // talk again as soon as the request in flight is answered
	StartedAt     int64 // µs
}

const (
	startingHeartbeat = 10_000      // µs between heartbeats while STARTING (R3.4)
	controlledWait    = 300_000_000 // µs that a controlled shutdown waits for the controller's leave (R3.20)
)

// applyBroker carries out what a user does to a broker.
func (s *State) applyBroker(c Command) Result {
	switch c := c.(type) {
	case CrashBroker:
		s.crash(s.broker(c.Broker))
	case PowerLoss:
		s.losePower(s.broker(c.Broker))
	case StopBroker:
		s.stop(s.broker(c.Broker))
	case StartBroker:
		s.start(s.broker(c.Broker))
	case PauseBroker:
		s.pause(s.broker(c.Broker))
	case LoseDisk:
		s.loseDisk(s.broker(c.Broker), c.Dirs)
	case LoseReplica:
		s.loseReplica(s.broker(c.Broker), c.TP, c.Keep)
	case SlowBroker:
		s.broker(c.Broker).Slow = c.By
	case ResumeBroker:
		s.resume(s.broker(c.Broker))
	}
	return Result{ID: -1}
}

// start starts the process of a broker that is not running. It registers and reads metadata; its replicas
// stay offline until it has caught up with its own registration (R3.7).
func (s *State) start(b *Broker) {
	if b.alive() {
		return
	}
	b.Incarnation++
	b.PowerOff = false
	s.replaceDirs(b)
	b.Lifecycle = Lifecycle{Epoch: -1, PreviousEpoch: b.CleanEpoch, StartedAt: s.Now}
	for _, ch := range b.controllerChannels() {
		ch.Peer = b.Pull.Leader
	}
	s.setProcess(b, Starting)
	s.talkToController(b)
	s.pullMetadata(b)
}

// talkToController sends a registration or a heartbeat, or notes that one is to follow the one in flight.
func (s *State) talkToController(b *Broker) {
	l := &b.Lifecycle
	if l.Channel.Channel.InFlight {
		l.Again = true
		return
	}
	l.Again = false
	interval := s.World.Broker.BrokerHeartbeatIntervalMs * 1000
	var p Payload = BrokerHeartbeatRequest{
		Broker: b.ID, BrokerEpoch: l.Epoch, MetadataOffset: b.Image.Offset,
		WantFence: b.Process <= Starting, WantShutdown: b.Process == PendingControlledShutdown,
		OfflineDirs: b.offlineDirs(),
	}
	if l.Epoch < 0 {
		p = BrokerRegistrationRequest{Broker: b.ID, Incarnation: b.Incarnation, PreviousBrokerEpoch: l.PreviousEpoch, Dirs: b.onlineDirs()}
	}
	// The interval is the request's time limit too.
	if !s.askController(b, &l.Channel, interval, p) {
		interval = controllerRetry
	}
	s.talkAt(b, s.Now+interval)
}

// talkAt sets when to talk to the controller next.
func (s *State) talkAt(b *Broker, at int64) {
	b.Lifecycle.NextAt = at
	s.wake(&b.Lifecycle.WakeAt, at, b.ID, HeartbeatTimer{})
}

// onHeartbeatTimer talks to the controller, every broker.heartbeat.interval.ms (R3.4). A request without an
// answer by then is given up, and nothing else follows: a leader that the controller does not hear goes on
// leading until it reads of its successor (R3.8, R4.5).
func (s *State) onHeartbeatTimer(b *Broker, e Event) {
	l := &b.Lifecycle
	if e.At != l.WakeAt {
		return
	}
	l.WakeAt = 0
	if s.Now < l.NextAt {
		s.talkAt(b, l.NextAt)
		return
	}
	if l.Channel.Channel.InFlight {
		s.leaveController(b, &l.Channel)
	}
	if l.Epoch < 0 && s.Now-l.StartedAt >= s.World.Broker.InitialBrokerRegistrationTimeoutMs*1000 {
		s.endProcess(b, NotRunning.String()) // initial.broker.registration.timeout.ms: the process gives up (R3.2)
		return
	}
	s.talkToController(b)
}

// onRegistered takes the controller's answer to a registration. A refusal (the session of the process
// before is still valid, R3.2) is tried again at the next heartbeat time.
func (s *State) onRegistered(b *Broker, e Event, m BrokerRegistrationResponse) {
	l := &b.Lifecycle
	if !l.Channel.Channel.answers(&e) {
		return
	}
	if m.Error == NOT_CONTROLLER {
		s.heartbeatElsewhere(b)
		return
	}
	if m.Error != NONE {
		s.note(view.Change{Kind: view.Refused, Broker: int(b.ID), Partition: -1, Text: m.Error.String()})
		return
	}
	l.Epoch = m.BrokerEpoch
	s.talkToController(b)
}

// onHeartbeatAnswered moves the process on as the controller allows (R3.6, R3.7).
func (s *State) onHeartbeatAnswered(b *Broker, e Event, m BrokerHeartbeatResponse) {
	l := &b.Lifecycle
	if !l.Channel.Channel.answers(&e) {
		return
	}
	switch {
	case m.Error == NOT_CONTROLLER:
		s.heartbeatElsewhere(b)
	case m.Error != NONE:
	case m.ShouldShutDown:
		s.shutDown(b)
		return
	case b.Process == Starting && m.IsCaughtUp:
		s.setProcess(b, Recovery)
		s.loadLogs(b)
		l.Again = true // ready to be unfenced: say so at once
	case b.Process == Starting:
		s.talkAt(b, s.Now+startingHeartbeat)
	case b.Process == Recovery && !m.IsFenced:
		s.setProcess(b, Running)
	}
	if l.Again {
		s.talkToController(b)
	}
}

// heartbeatElsewhere looks for the active controller, after one that said that it is not.
func (s *State) heartbeatElsewhere(b *Broker) {
	s.leaveController(b, &b.Lifecycle.Channel)
	s.talkAt(b, s.Now+controllerRetry)
}

// loadLogs loads the logs from the disk and lets the replicas follow the metadata (R4.3, R3.7). The
// fetchers start with it, so a broker that is still fenced replicates already.
func (s *State) loadLogs(b *Broker) {
	b.CleanEpoch = -1 // the marker goes when the logs are loaded (R4.1)
	for i := range b.Replicas {
		r := &b.Replicas[i]
		old := r.Log.HighWatermark
		if s.mutant(LoadsWholeLog) {
			r.Checkpoint = r.Log.End
		}
		r.Log.Load(r.Checkpoint)
		if r.Log.HighWatermark != old {
			s.note(view.Change{Kind: view.HighWatermark, Broker: int(b.ID), Partition: s.ordinal(r.TP), A: r.Log.HighWatermark, B: old})
		}
	}
	b.deleteStrays()
	s.drawAssignRace(b)
	s.publish(b, b.Image.all())
	s.after(s.World.Broker.ReplicaLagTimeMaxMs*1000/2, b.ID, ISRTimer{})
	s.after(s.World.Broker.ReplicaHighWatermarkCheckpointMs*1000, b.ID, CheckpointTimer{})
	s.startFlushing(b)
	s.startChores(b)
}

// deleteStrays deletes the logs that the metadata do not give to this broker any more: while it was away
// their topic was deleted or they were moved (LogManager's stray partitions).
func (b *Broker) deleteStrays() {
	b.Replicas = slices.DeleteFunc(b.Replicas, func(r Replica) bool {
		reg := b.Image.partition(r.TP)
		return reg == nil || !slices.Contains(reg.Replicas, b.ID)
	})
}

// onCheckpointTimer writes the high watermarks to disk (R4.1).
func (s *State) onCheckpointTimer(b *Broker) {
	for i := range b.Replicas {
		b.Replicas[i].Checkpoint = b.Replicas[i].Log.HighWatermark
	}
	s.after(s.World.Broker.ReplicaHighWatermarkCheckpointMs*1000, b.ID, CheckpointTimer{})
}

// crash kills the process (kill -9): what it wrote is in the page cache, its connections are reset.
func (s *State) crash(b *Broker) {
	if !b.alive() {
		return
	}
	s.endProcess(b, "CRASHED")
}

// losePower kills the machine: what was not flushed is gone (R4.2), and nobody is told.
func (s *State) losePower(b *Broker) {
	if b.PowerOff {
		return
	}
	if b.alive() {
		s.forgetProcess(b)
		s.note(view.Change{Kind: view.BrokerState, Broker: int(b.ID), Partition: -1, Text: "CRASHED"})
	}
	b.PowerOff = true
	for i := range s.Links { // a machine that is off sends nothing again
		if s.Links[i].From == b.ID {
			s.Links[i].Held = nil
		}
	}
	for i := range b.Replicas {
		r := &b.Replicas[i]
		if end, hw := r.Log.End, r.Log.HighWatermark; r.Log.LosePageCache() {
			s.recordsLost(r.TP, b.ID)
			s.noteTruncated(b, r, end, hw)
		}
	}
}

// stop begins a controlled shutdown (R3.20). A process that is not RUNNING has nothing to hand over.
func (s *State) stop(b *Broker) {
	switch b.Process {
	case NotRunning, PendingControlledShutdown:
	case Running:
		if s.mutant(StopsWithoutHandover) {
			s.shutDown(b)
			return
		}
		s.setProcess(b, PendingControlledShutdown)
		s.after(controlledWait, b.ID, ShutdownTimer{})
		s.talkToController(b)
	default:
		s.shutDown(b)
	}
}

// onShutdownTimer ends a controlled shutdown that the controller did not allow in time.
func (s *State) onShutdownTimer(b *Broker) {
	if b.Process == PendingControlledShutdown {
		s.shutDown(b)
	}
}

// shutDown ends the process in order: logs are flushed, high watermarks written exactly, the clean-shutdown
// marker left with the broker epoch (R4.1, R4.2). A process that has not loaded its logs leaves the disk as
// it found it.
func (s *State) shutDown(b *Broker) {
	if b.serves() {
		for i := range b.Replicas {
			r := &b.Replicas[i]
			if b.Dirs[r.Dir].Offline {
				continue
			}
			r.Checkpoint = r.Log.HighWatermark
			if !s.mutant(StopsWithoutFlush) {
				s.flushLog(b, r)
			}
			r.Log.TakeSnapshot()
		}
		if len(b.offlineDirs()) == 0 {
			b.CleanEpoch = b.Lifecycle.Epoch
		}
	}
	s.endProcess(b, NotRunning.String())
}

// endProcess ends a process on a live machine: every connection it had is reset.
func (s *State) endProcess(b *Broker, how string) {
	s.note(view.Change{Kind: view.BrokerState, Broker: int(b.ID), Partition: -1, Text: how})
	for _, c := range b.Conns {
		s.send(b.ID, c.Node, c.ID, 0, Disconnected{})
	}
	for i := range b.Fetchers {
		s.hangUp(b.ID, b.Fetchers[i].Leader, &b.Fetchers[i].Channel)
	}
	for i := range b.Peers {
		s.hangUp(b.ID, b.Peers[i].Node, &b.Peers[i].Channel)
	}
	for _, ch := range b.controllerChannels() {
		s.leaveController(b, ch)
	}
	for i := range b.Pull.Links {
		s.hangUp(b.ID, FirstController+NodeID(i), &b.Pull.Links[i].Channel)
	}
	backlog := b.Backlog
	s.forgetProcess(b)
	for _, e := range backlog { // it was paused: the system resets what the process had not read
		s.brokerEvent(e)
	}
}

// forgetProcess drops everything that lives in a process and not on the disk.
func (s *State) forgetProcess(b *Broker) {
	b.Process, b.Paused, b.Backlog = NotRunning, false, nil
	b.Quotas = BrokerQuotas{}
	b.Conns, b.Fetchers, b.Produces, b.Fetches, b.Deletes, b.Sessions, b.PurgatoryAt = nil, nil, nil, nil, nil, nil, 0
	b.Alter, b.Assign, b.IDs, b.Forward = AlterManager{}, AssignmentsManager{}, ProducerIDs{}, Forwarder{}
	b.Pull = MetadataPull{Leader: b.Pull.Leader, Epoch: b.Pull.Epoch, Draws: b.Pull.Draws, Links: make([]RaftLink, len(s.Controllers))}
	b.Shards, b.Peers, b.Markers, b.Adds, b.Verifying = nil, nil, nil, nil, nil
	b.Share = BrokerShare{}
	b.AbortAt, b.ExpireAt, b.MarkersAt, b.VerifyAt = 0, 0, 0, 0
	b.Lifecycle, b.Chores = Lifecycle{Epoch: -1, PreviousEpoch: -1}, Chores{}
	for i := range b.Replicas {
		r := &b.Replicas[i]
		*r = Replica{TP: r.TP, Log: r.Log, Dir: r.Dir, Checkpoint: r.Checkpoint, LeaderEpoch: -1, PartitionEpoch: -1}
	}
}

// pause stops a process without ending it (SIGSTOP): whatever arrives waits.
func (s *State) pause(b *Broker) {
	if b.alive() && !b.Paused {
		b.Paused = true
		s.note(view.Change{Kind: view.BrokerState, Broker: int(b.ID), Partition: -1, Text: "PAUSED"})
	}
}

// resume lets a paused process go on; what arrived meanwhile, and the timers that are overdue, come now and
// in their order.
func (s *State) resume(b *Broker) {
	if !b.Paused {
		return
	}
	b.Paused = false
	backlog := b.Backlog
	b.Backlog = nil
	s.note(view.Change{Kind: view.BrokerState, Broker: int(b.ID), Partition: -1, Text: b.Process.String()})
	for _, e := range backlog {
		s.brokerEvent(e)
	}
}
