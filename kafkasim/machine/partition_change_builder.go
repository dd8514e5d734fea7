package machine

import "slices"

// What a change does to a partition's registration: the new ISR and ELR, and who leads.
//
// Kafka: PartitionChangeBuilder, ReplicationControlManager.generateLeaderAndIsrUpdates. KIP-704 (recovery
// state), KIP-966 part 1 (eligible leader replicas), KIP-455 (reassignment: reassign.go).

// Election says how a leader may be chosen (R3.13).
type Election uint8

// The kinds of election.
const (
	OnlineElection Election = iota
	UncleanElection
	PreferredElection
)

// partitionChange builds the change of one partition.
type partitionChange struct {
	old        *PartitionRegistration
	isr        []NodeID // the target ISR
	replicas   []NodeID // the target replicas
	adding     []NodeID
	removing   []NodeID
	elr        []NodeID // the target ELR
	unclean    []NodeID // replicas whose last shutdown was unclean
	minISR     int      // effective (R1.9)
	elrEnabled bool
	election   Election
	dirs       []DirID            // the target log directories; nil for those that are there
	defaultDir func(NodeID) DirID // of a replica that comes
	recovered  bool               // the leader says that it has recovered (R3.14)
	byLeader   bool               // the leader proposed the change
	rules      Rules
	mutant     Mutant
	acceptable func(NodeID) bool
}

// build returns the new registration; false when nothing changes. Every change adds 1 to the partition epoch,
// a change of leader (to none, too) adds 1 to the leader epoch (R3.10).
func (c *partitionChange) build() (PartitionRegistration, bool) {
	c.completeReassignment()
	c.targetELR()
	next := *c.old
	next.Replicas, next.Adding, next.Removing = c.replicas, c.adding, c.removing
	next.Dirs = c.targetDirs()
	if c.recovered {
		next.Recovering = false
	}
	leader, unclean := c.elect()
	if leader != c.old.Leader {
		switch {
		case unclean && c.mutant == UncleanUnmarked:
			c.isr, c.elr = []NodeID{leader}, nil
		case unclean: // R3.14
			c.isr, c.elr, next.Recovering = []NodeID{leader}, nil, true
		case slices.Contains(c.elr, leader): // R3.15
			c.isr, c.elr = []NodeID{leader}, without(c.elr, leader)
		}
		next.Leader = leader
	}
	// R3.12: without ELR the last member stays in the ISR, leader or not. If it has lost committed records, it
	// leads again and the others truncate to its log (R4.10).
	if len(c.isr) > 0 || c.elrEnabled || c.election == UncleanElection && c.rules.Without(LastMemberStays) || c.mutant == LastMemberLeaves {
		next.ISR = c.isr
	}
	if c.elrEnabled {
		next.ELR = c.elr
		c.lastKnownLeader(&next)
	}
	if next.same(c.old) {
		return next, false
	}
	if c.mutant != SamePartitionEpoch {
		next.PartitionEpoch++
	}
	if next.Leader != c.old.Leader && c.mutant != SameLeaderEpoch || removesAny(c.old.Replicas, next.Replicas) || c.newEpoch(&next) {
		next.LeaderEpoch++
	}
	return next, true
}

// newEpoch tells whether a change that leaves the leader is a new leader epoch all the same: under ZooKeeper
// whatever the controller did was one, and until 3.6 a smaller ISR was (R3.10).
func (c *partitionChange) newEpoch(next *PartitionRegistration) bool {
	if c.rules.Without(KRaft) {
		return !c.byLeader
	}
	return c.rules.Without(ShrinkKeepsEpoch) &&
		slices.ContainsFunc(c.old.ISR, func(id NodeID) bool { return !slices.Contains(next.ISR, id) })
}

// removesAny tells whether a replica leaves the assignment.
func removesAny(old, now []NodeID) bool {
	return slices.ContainsFunc(old, func(id NodeID) bool { return !slices.Contains(now, id) })
}

// targetELR is the first half of R3.16: with enough in-sync replicas nobody else is eligible; else whoever
// was in the ISR or the ELR and is not in the target ISR, except after an unclean shutdown. In the order of
// ids, as Kafka writes it. Who leaves the replicas with the change is not left out (4.3.1, maybePopulateTargetElr): it
// stays in the list until the ISR is large enough, and cannot be elected.
func (c *partitionChange) targetELR() {
	if !c.elrEnabled {
		return
	}
	c.elr = nil
	if len(c.isr) >= c.minISR && c.mutant != NeverClearsELR {
		return
	}
	for _, id := range slices.Concat(c.old.ELR, c.old.ISR) {
		if !slices.Contains(c.isr, id) && !slices.Contains(c.unclean, id) && !slices.Contains(c.elr, id) {
			c.elr = append(c.elr, id)
		}
	}
	slices.Sort(c.elr)
}

// eligible are the eligible leader replicas that are replicas still.
func (p *PartitionRegistration) eligible() []NodeID {
	if !removesAny(p.ELR, p.Replicas) {
		return p.ELR
	}
	var ids []NodeID
	for _, id := range p.ELR {
		if slices.Contains(p.Replicas, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// elect is R3.13. unclean tells that the leader is neither in the ISR nor eligible.
func (c *partitionChange) elect() (leader NodeID, unclean bool) {
	if c.election == PreferredElection && c.valid(c.replicas[0]) {
		return c.replicas[0], false
	}
	if c.valid(c.old.Leader) {
		return c.old.Leader, false
	}
	if i := slices.IndexFunc(c.replicas, c.valid); i >= 0 {
		return c.replicas[i], false
	}
	if c.canElectLastKnown() {
		return c.old.LastKnownELR[0], true
	}
	if c.election == UncleanElection {
		if i := slices.IndexFunc(c.replicas, c.acceptable); i >= 0 {
			return c.replicas[i], true
		}
	}
	return NoNode, false
}

// valid tells whether a replica may be elected cleanly.
func (c *partitionChange) valid(id NodeID) bool {
	if c.mutant == ElectsTheDead {
		return id != NoNode && slices.Contains(c.isr, id)
	}
	if c.mutant == ElectsOutsideISR {
		return id != NoNode && c.acceptable(id)
	}
	eligible := c.elrEnabled && len(c.isr) == 0 && slices.Contains(c.elr, id)
	return id != NoNode && (slices.Contains(c.isr, id) || eligible) && c.acceptable(id)
}

// canElectLastKnown is the last known leader's chance (R3.16; R4.11 with a minimum of 1): nobody is in sync or eligible any more. It
// ignores unclean.leader.election.enable, as it reproduces what happened before ELR.
func (c *partitionChange) canElectLastKnown() bool {
	return c.elrEnabled && len(c.isr) == 0 && len(c.elr) == 0 && len(c.old.LastKnownELR) == 1 &&
		c.acceptable(c.old.LastKnownELR[0]) == c.rules.On(LastKnownLeaderAlive) // 4.0 had it the wrong way round (KAFKA-19522)
}

// lastKnownLeader remembers the leader when a partition first loses it, and forgets it with the next one
// (R3.16).
func (c *partitionChange) lastKnownLeader(next *PartitionRegistration) {
	switch known := c.old.LastKnownELR; {
	case len(next.ISR) == 0 && c.old.Leader != NoNode && !slices.Equal(known, []NodeID{c.old.Leader}):
		next.LastKnownELR = []NodeID{c.old.Leader}
	case next.Leader != NoNode && len(known) > 0:
		next.LastKnownELR = nil
	}
}

// same tells whether two registrations say the same, epochs aside.
func (p *PartitionRegistration) same(o *PartitionRegistration) bool {
	return p.Leader == o.Leader && p.Recovering == o.Recovering && slices.Equal(p.Replicas, o.Replicas) &&
		slices.Equal(p.Dirs, o.Dirs) && slices.Equal(p.Adding, o.Adding) && slices.Equal(p.Removing, o.Removing) &&
		slices.Equal(p.ISR, o.ISR) && slices.Equal(p.ELR, o.ELR) && slices.Equal(p.LastKnownELR, o.LastKnownELR)
}

// without is a list without one id.
func without(list []NodeID, id NodeID) []NodeID {
	out := make([]NodeID, 0, len(list))
	for _, x := range list {
		if x != id {
			out = append(out, x)
		}
	}
	return out
}

// removal names the brokers that a change is about; NoNode for none.
type removal struct {
	remove  NodeID // leaves its ISRs
	add     NodeID // counts as active already
	unclean NodeID // leaves its ISRs and ELRs: its last shutdown was unclean
}

// leaderAndISRUpdates changes every partition that touched picks, in order, as a change of brokers wants it
// (R3.11 to R3.20).
func (s *State) leaderAndISRUpdates(ctl *Controller, of removal, touched func(*PartitionRegistration) bool) []MetadataRecord {
	var records []MetadataRecord
	im := &ctl.Image
	for t := range im.Topics {
		for p := range im.Topics[t].Partitions {
			tp := TopicPartition{int32(t), int32(p)}
			reg := im.partition(tp)
			if !touched(reg) {
				continue
			}
			c := s.change(ctl, tp)
			c.isr = without(without(reg.ISR, of.remove), of.unclean)
			c.acceptable = func(id NodeID) bool {
				return id != of.remove && id != of.unclean && (id == of.add || im.broker(id).active()) && im.dirOnline(reg, id)
			}
			if of.unclean != NoNode {
				c.unclean = []NodeID{of.unclean}
			}
			if next, changed := c.build(); changed {
				records = append(records, MetadataRecord{Kind: PartitionChangeRecord, TP: tp, Partition: next})
			}
		}
	}
	return records
}

// change begins a change of a partition that keeps everything; the election is unclean when the topic
// allows it (R3.13).
func (s *State) change(ctl *Controller, tp TopicPartition) *partitionChange {
	im := &ctl.Image
	reg := im.partition(tp)
	c := &partitionChange{
		old: reg, isr: reg.ISR, elr: reg.ELR, replicas: reg.Replicas, adding: reg.Adding, removing: reg.Removing,
		minISR: im.effectiveMinISR(tp), elrEnabled: s.World.ELR, rules: s.World.Rules, mutant: s.World.Mutant,
		acceptable: func(id NodeID) bool { return im.broker(id).active() && im.dirOnline(reg, id) },
		defaultDir: im.defaultDir,
	}
	if im.Topics[tp.Topic].Props.UncleanLeaderElectionEnable || s.mutant(ElectsUnclean) {
		c.election = UncleanElection
	}
	return c
}

// inISR picks the partitions with a broker in their ISR.
func inISR(id NodeID) func(*PartitionRegistration) bool {
	return func(p *PartitionRegistration) bool { return slices.Contains(p.ISR, id) }
}

// inISROrELR picks the partitions with a broker in their ISR or ELR.
func inISROrELR(id NodeID) func(*PartitionRegistration) bool {
	return func(p *PartitionRegistration) bool { return slices.Contains(p.ISR, id) || slices.Contains(p.ELR, id) }
}

// leaderless picks the partitions without a leader.
func leaderless(p *PartitionRegistration) bool { return p.Leader == NoNode }
