package machine

import "math"

// The controller's watch over brokers: registration, heartbeats, sessions, fencing.
//
// A registration gives a broker an epoch and leaves it fenced; a heartbeat unfences it when it has read its
// own registration; a session that runs out fences it again. Fenced brokers lead nothing, are in no ISR and
// are hidden from clients.
//
// Kafka: ClusterControlManager, BrokerHeartbeatManager, BrokerHeartbeatTracker,
// ReplicationControlManager.processBrokerHeartbeat. KIP-631, KIP-841, KIP-966.

// BrokerSession is what the controller knows of a broker's last signs of life. It is not in the metadata log.
type BrokerSession struct {
	LastContact    int64 // µs
	MetadataOffset int64 // as the last heartbeat said
	ShutdownOffset int64 // end of the metadata log when its controlled shutdown began; -1 for none
}

// session is the session of a broker.
func (c *Controller) session(id NodeID) *BrokerSession { return &c.Sessions[id-1] }

// sessionTimeout is broker.session.timeout.ms in µs.
func (s *State) sessionTimeout() int64 { return s.World.Broker.BrokerSessionTimeoutMs * 1000 }

// expired is R3.5.
func (s *State) expired(c *Controller, id NodeID) bool {
	timeout := s.sessionTimeout()
	if len(s.World.Sessions) > 0 {
		timeout = s.World.Sessions[id-1] * 1000
	}
	return c.session(id).LastContact+timeout < s.Now
}

// onBrokerRegistration is R3.1 to R3.3. A new process is refused while the session of the one before is
// valid, so a broker that crashes and comes back within a second waits until its old self has expired.
func (s *State) onBrokerRegistration(c *Controller, e Event, m BrokerRegistrationRequest) {
	old := *c.Image.broker(m.Broker)
	if old.Epoch >= 0 && old.Incarnation != m.Incarnation && !s.expired(c, m.Broker) && !s.mutant(RegistersAtOnce) {
		s.replyAsController(c, e, BrokerRegistrationResponse{Error: DUPLICATE_BROKER_REGISTRATION, BrokerEpoch: -1})
		return
	}
	var records []MetadataRecord
	same := old.Epoch >= 0 && old.Incarnation == m.Incarnation
	if !same {
		records = s.handleBrokerShutdown(c, m.Broker, old.Epoch >= 0 && (m.PreviousBrokerEpoch == old.Epoch || m.PreviousBrokerEpoch >= 0 && s.mutant(TrustsAnyMarker)))
	}
	epoch := c.Image.Offset + int64(len(records)) // the offset of the record itself
	if same || s.mutant(SameBrokerEpoch) {
		epoch = old.Epoch // sent again by a process that is registered: its registration is amended
	}
	records = append(records, MetadataRecord{
		Kind: RegisterBrokerRecord,
		Broker: BrokerRegistration{ID: m.Broker, Epoch: epoch, Incarnation: m.Incarnation, Dirs: m.Dirs,
			Fenced: (!same || old.Fenced) && !s.mutant(RegistersUnfenced), InControlledShutdown: same && old.InControlledShutdown},
	})
	*c.session(m.Broker) = BrokerSession{LastContact: s.Now, MetadataOffset: -1, ShutdownOffset: -1}
	s.commit(c, records)
	s.replyAsController(c, e, BrokerRegistrationResponse{BrokerEpoch: epoch})
}

// onBrokerHeartbeat is R3.4 and R3.6.
func (s *State) onBrokerHeartbeat(c *Controller, e Event, m BrokerHeartbeatRequest) {
	reg := *c.Image.broker(m.Broker)
	if reg.Epoch < 0 || reg.Epoch != m.BrokerEpoch && !s.mutant(HeartbeatOfAnyEpoch) {
		s.replyAsController(c, e, BrokerHeartbeatResponse{Error: STALE_BROKER_EPOCH})
		return
	}
	sess := c.session(m.Broker)
	sess.LastContact, sess.MetadataOffset = s.Now, m.MetadataOffset
	s.handleOfflineDirs(c, m.Broker, m.OfflineDirs)
	caughtUp := m.MetadataOffset > reg.Epoch || s.mutant(UnfencesEarly) // it has applied its own registration record
	shutdown := false
	switch {
	case reg.Fenced && m.WantShutdown:
		shutdown = true
	case reg.Fenced && !m.WantFence && caughtUp:
		s.commit(c, s.handleBrokerUnfenced(c, m.Broker))
	case reg.Fenced:
	case m.WantFence:
		s.commit(c, s.handleBrokerFenced(c, m.Broker))
		shutdown = m.WantShutdown
	case m.WantShutdown:
		shutdown = s.controlledShutdown(c, m.Broker)
	}
	s.replyAsController(c, e, BrokerHeartbeatResponse{
		IsCaughtUp: caughtUp, IsFenced: c.Image.broker(m.Broker).Fenced, ShouldShutDown: shutdown,
	})
}

// controlledShutdown moves an unfenced broker on its way out and tells whether it may go now: it leads
// nothing, and every active broker has read that (R3.6, R3.20). Going fences it.
func (s *State) controlledShutdown(c *Controller, id NodeID) bool {
	sess := c.session(id)
	if !c.Image.broker(id).InControlledShutdown {
		if s.leads(c, id) {
			s.commit(c, s.handleBrokerInControlledShutdown(c, id))
			sess.ShutdownOffset = c.Image.Offset
			return false
		}
	} else if s.leads(c, id) || sess.ShutdownOffset > s.lowestActiveOffset(c) {
		return false
	}
	s.commit(c, s.handleBrokerFenced(c, id))
	return true
}

// leads tells whether a broker leads any partition.
func (s *State) leads(c *Controller, id NodeID) bool {
	for t := range c.Image.Topics {
		for p := range c.Image.Topics[t].Partitions {
			if c.Image.Topics[t].Partitions[p].Leader == id {
				return true
			}
		}
	}
	return false
}

// lowestActiveOffset is the lowest metadata offset that an active broker has reported.
func (s *State) lowestActiveOffset(c *Controller) int64 {
	lowest := int64(math.MaxInt64)
	for i := range c.Image.Brokers {
		if b := &c.Image.Brokers[i]; b.active() {
			lowest = min(lowest, c.session(b.ID).MetadataOffset)
		}
	}
	return lowest
}

// onSessionCheck is R3.5: every eighth of the session timeout, one expired broker is fenced; when there was
// one, the next look is 10 ms later.
func (s *State) onSessionCheck(c *Controller) {
	stale := NoNode
	for i := range c.Image.Brokers {
		b := &c.Image.Brokers[i]
		if b.Epoch < 0 || b.Fenced || !s.expired(c, b.ID) {
			continue
		}
		if stale == NoNode || c.session(b.ID).LastContact < c.session(stale).LastContact {
			stale = b.ID
		}
	}
	next := s.sessionTimeout() / 8
	if stale != NoNode {
		s.commit(c, s.handleBrokerFenced(c, stale))
		next = 10_000
	}
	s.after(next, c.ID, SessionCheckTimer{Epoch: c.Quorum.Epoch})
}

// brokerChange is the record of a change of a broker's registration.
func (s *State) brokerChange(c *Controller, id NodeID, fenced, shutdown bool) MetadataRecord {
	reg := *c.Image.broker(id)
	reg.Fenced, reg.InControlledShutdown = fenced, shutdown
	return MetadataRecord{Kind: BrokerRegistrationChangeRecord, Broker: reg}
}

// handleBrokerFenced takes a broker out of its ISRs and leaderships, and then records the fencing (R3.11).
func (s *State) handleBrokerFenced(c *Controller, id NodeID) []MetadataRecord {
	records := s.leaderAndISRUpdates(c, removal{remove: id}, inISR(id))
	if s.mutant(FencesLate) {
		records = nil
	}
	return append(records, s.brokerChange(c, id, true, c.Image.broker(id).InControlledShutdown))
}

// handleBrokerUnfenced records the unfencing and lets leaderless partitions elect; the broker enters no ISR
// and takes back no leadership (R3.19).
func (s *State) handleBrokerUnfenced(c *Controller, id NodeID) []MetadataRecord {
	records := []MetadataRecord{s.brokerChange(c, id, false, false)}
	return append(records, s.leaderAndISRUpdates(c, removal{add: id}, leaderless)...)
}

// handleBrokerInControlledShutdown takes a broker that wants to stop out of all its ISRs and leaderships
// (R3.20).
func (s *State) handleBrokerInControlledShutdown(c *Controller, id NodeID) []MetadataRecord {
	records := []MetadataRecord{s.brokerChange(c, id, false, true)}
	return append(records, s.leaderAndISRUpdates(c, removal{remove: id}, inISR(id))...)
}

// handleBrokerShutdown is what the registration of a new process says about the old one (R3.18). With ELR
// an unclean shutdown also costs the place among the eligible leaders: its log may have lost its tail.
func (s *State) handleBrokerShutdown(c *Controller, id NodeID, clean bool) []MetadataRecord {
	if !s.World.ELR || clean || s.mutant(UncleanStaysEligible) {
		return s.leaderAndISRUpdates(c, removal{remove: id}, inISR(id))
	}
	return s.leaderAndISRUpdates(c, removal{unclean: id}, inISROrELR(id))
}
