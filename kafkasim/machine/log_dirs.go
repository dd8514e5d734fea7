package machine

import (
	"slices"

	"kafkalab/kafkasim/prng"
)

// Log directories: several disks in one broker, and what their loss does (JBOD, KIP-858).
//
// Each directory has an id from when it was formatted. The controller knows in which directory each replica
// is, and elects only replicas whose directory is online. A broker with one directory need not say where it
// puts a new replica; one with several says so afterwards, and so does one whose disk was replaced. The first
// directory holds the metadata log too: without it the process ends.
//
// Kafka: LogManager, ReplicaManager.handleLogDirFailure, AssignmentsManager, DirectoryId,
// ReplicationControlManager.handleAssignReplicasToDirs, handleDirectoriesOffline.
// Simplified: a failed directory is empty when it comes back; replicas do not move between directories.

// DirID names a formatted log directory; 0 is "not assigned yet" (DirectoryId.UNASSIGNED).
type DirID int32

// LogDir is one log directory of a broker.
type LogDir struct {
	ID      DirID
	Offline bool // it has failed; a new one takes its place at the next start
}

// LoseDisk destroys log directories of a broker, numbered from 1; no Dirs are all of them. What was in them
// is gone. New empty ones, formatted, are there at the next start (R4.2).
type LoseDisk struct {
	Broker NodeID
	Dirs   []int32
}

// LoseReplica deletes what a broker that is not running has of a partition, except the first Keep batches:
// all of its directory with -1. It stands for a tail that never came to the disk, and for a hand that
// slipped.
type LoseReplica struct {
	Broker NodeID
	TP     TopicPartition
	Keep   int32
}

func (LoseDisk) command()    {}
func (LoseReplica) command() {}

// AssignReplicasToDirsRequest tells the controller in which directories replicas are (API 73).
type AssignReplicasToDirsRequest struct {
	Broker      NodeID
	BrokerEpoch int64
	Parts       []DirAssignment
}

// DirAssignment is one replica's directory.
type DirAssignment struct {
	TP  TopicPartition
	Dir DirID
}

// AssignReplicasToDirsResponse answers as a whole; an error is tried again.
type AssignReplicasToDirsResponse struct{ Error Code }

// AssignTimer: a broker has directories to tell, or has waited too long for an answer.
type AssignTimer struct{}

func (AssignReplicasToDirsRequest) payload()  {}
func (AssignReplicasToDirsResponse) payload() {}
func (AssignTimer) payload()                  {}

// AssignmentsManager carries directories to the controller, one request at a time.
type AssignmentsManager struct {
	Channel ControllerChannel
	Items   []DirAssignment // the first Sent of them are in the request in flight
	Sent    int32
}

const (
	assignPurpose = 0x64697273
	assignRetry   = 500_000 // µs
	// assignLate is how much later than the heartbeat that unfences the broker its directories are told when
	// they lose the race, µs.
	assignLate = 50_000
)

// newDirs formats a broker's log directories.
func (s *State) newDirs() []DirID {
	ids := make([]DirID, max(s.World.LogDirs, 1))
	for i := range ids {
		s.LastDir++
		ids[i] = s.LastDir
	}
	return ids
}

// replaceDirs puts new formatted directories in the place of failed ones.
func (s *State) replaceDirs(b *Broker) {
	for i := range b.Dirs {
		if b.Dirs[i].Offline {
			s.LastDir++
			b.Dirs[i] = LogDir{ID: s.LastDir}
		}
	}
}

func (b *Broker) onlineDirs() []DirID {
	var ids []DirID
	for _, d := range b.Dirs {
		if !d.Offline {
			ids = append(ids, d.ID)
		}
	}
	return ids
}

func (b *Broker) offlineDirs() []DirID {
	var ids []DirID
	for _, d := range b.Dirs {
		if d.Offline {
			ids = append(ids, d.ID)
		}
	}
	return ids
}

// chooseDir is where a broker puts a replica: where the controller has it, if that is there, else into the
// online directory with the fewest replicas.
func (b *Broker) chooseDir(reg *PartitionRegistration) int32 {
	best, fewest := int32(0), len(b.Replicas)+1
	for i, d := range b.Dirs {
		if d.Offline {
			continue
		}
		if d.ID == reg.dirOf(b.ID) {
			return int32(i)
		}
		n := 0
		for j := range b.Replicas {
			if b.Replicas[j].Dir == int32(i) {
				n++
			}
		}
		if n < fewest {
			best, fewest = int32(i), n
		}
	}
	return best
}

// dirOf is the directory of a broker's replica as the controller knows it.
func (p *PartitionRegistration) dirOf(id NodeID) DirID {
	if i := slices.Index(p.Replicas, id); i >= 0 && i < len(p.Dirs) {
		return p.Dirs[i]
	}
	return 0
}

// dirOnline tells whether a replica may lead as far as its directory is concerned (R3.21).
func (im *Image) dirOnline(reg *PartitionRegistration, id NodeID) bool {
	dir := reg.dirOf(id)
	return dir == 0 || slices.Contains(im.broker(id).Dirs, dir)
}

// defaultDir is where a new replica of a broker will be: known when the broker has one directory.
func (im *Image) defaultDir(id NodeID) DirID {
	if dirs := im.broker(id).Dirs; len(dirs) == 1 {
		return dirs[0]
	}
	return 0
}

func (im *Image) defaultDirs(replicas []NodeID) []DirID {
	dirs := make([]DirID, len(replicas))
	for i, id := range replicas {
		dirs[i] = im.defaultDir(id)
	}
	return dirs
}

// targetDirs are the directories of the target replicas: as they are, and the default for those that come.
func (c *partitionChange) targetDirs() []DirID {
	switch {
	case c.dirs != nil:
		return c.dirs
	case slices.Equal(c.replicas, c.old.Replicas):
		return c.old.Dirs
	}
	dirs := make([]DirID, len(c.replicas))
	for i, id := range c.replicas {
		if slices.Contains(c.old.Replicas, id) {
			dirs[i] = c.old.dirOf(id)
		} else {
			dirs[i] = c.defaultDir(id)
		}
	}
	return dirs
}

// loseDisk destroys directories. A process that loses its first or its last one ends (R4.2); one that keeps
// both answers KAFKA_STORAGE_ERROR for what was in the others and tells the controller at once.
func (s *State) loseDisk(b *Broker, dirs []int32) {
	fatal := len(dirs) == 0
	for i := range b.Dirs {
		if len(dirs) == 0 || slices.Contains(dirs, int32(i+1)) {
			b.Dirs[i].Offline = true
			fatal = fatal || i == 0
		}
	}
	b.CleanEpoch = -1 // the marker must be in every directory
	if fatal && b.alive() {
		s.endProcess(b, "CRASHED")
	}
	var lost []TopicPartition
	for i := range b.Replicas {
		r := &b.Replicas[i]
		if !b.Dirs[r.Dir].Offline {
			continue
		}
		lost = append(lost, r.TP)
		s.touch(b, r)
		b.refetch(r.TP)
		if end, hw := r.Log.End, r.Log.HighWatermark; end > 0 {
			s.recordsLost(r.TP, b.ID)
			*r = Replica{TP: r.TP, Dir: r.Dir, LeaderEpoch: -1, PartitionEpoch: -1}
			s.noteTruncated(b, r, end, hw)
		} else {
			*r = Replica{TP: r.TP, Dir: r.Dir, LeaderEpoch: -1, PartitionEpoch: -1}
		}
	}
	if !b.alive() {
		b.Replicas = slices.DeleteFunc(b.Replicas, func(r Replica) bool { return b.Dirs[r.Dir].Offline })
		return
	}
	for _, tp := range lost {
		s.completeProduces(b, tp)
		s.completeFetches(b, tp)
	}
	s.completeDeletes(b)
	s.restartFetchers(b)
	s.talkToController(b)
}

// loseReplica cuts or deletes what a dead broker has of a partition.
func (s *State) loseReplica(b *Broker, tp TopicPartition, keep int32) {
	i, found := b.findReplica(tp)
	if b.alive() || !found {
		return
	}
	r := &b.Replicas[i]
	end, hw := r.Log.End, r.Log.HighWatermark
	if keep < 0 {
		s.recordsLost(tp, b.ID)
		gone := Replica{TP: tp, Dir: r.Dir, LeaderEpoch: -1, PartitionEpoch: -1}
		b.Replicas = slices.Delete(b.Replicas, i, i+1)
		s.noteTruncated(b, &gone, end, hw)
		return
	}
	if r.Log.LoseTail(int(keep)) {
		s.recordsLost(tp, b.ID)
		s.noteTruncated(b, r, end, hw)
	}
}

// tellDir tells the controller where a replica is, when it does not know or is wrong (R3.10).
func (s *State) tellDir(b *Broker, r *Replica, reg *PartitionRegistration) {
	id := b.Dirs[r.Dir].ID
	if len(reg.Dirs) == 0 || reg.dirOf(b.ID) == id {
		return
	}
	item := DirAssignment{TP: r.TP, Dir: id}
	if !slices.Contains(b.Assign.Items, item) {
		b.Assign.Items = append(b.Assign.Items, item)
	}
	s.sendDirs(b)
}

// drawAssignRace decides whether a broker that starts tells its directories before the heartbeat that
// unfences it, or after: a race in Kafka, in which a replaced disk decides whether a last known leader is
// elected. The directories come first in three of eight starts, as was seen.
func (s *State) drawAssignRace(b *Broker) {
	if prng.Below(prng.Draw(s.World.Seed, assignPurpose, uint64(b.ID), uint64(b.Incarnation)), 8) >= 3 {
		b.Assign.Channel.RetryAt = s.Now + assignLate
	}
}

// sendDirs sends what is to be told, unless a request is in flight or it is not time yet.
func (s *State) sendDirs(b *Broker) {
	m := &b.Assign
	if len(m.Items) == 0 || !s.mayAsk(b, &m.Channel, AssignTimer{}) {
		return
	}
	m.Sent = int32(len(m.Items))
	s.ask(b, &m.Channel, alterTimeout, AssignTimer{}, AssignReplicasToDirsRequest{
		Broker: b.ID, BrokerEpoch: b.Lifecycle.Epoch, Parts: slices.Clone(m.Items),
	})
}

func (s *State) onAssignTimer(b *Broker, e Event) {
	if s.channelDue(b, e, &b.Assign.Channel) {
		s.sendDirs(b)
	}
}

func (s *State) onDirsAssigned(b *Broker, e Event, r AssignReplicasToDirsResponse) {
	m := &b.Assign
	if !m.Channel.Channel.answers(&e) {
		return
	}
	if r.Error == NOT_CONTROLLER {
		s.leaveController(b, &m.Channel)
	}
	if r.Error != NONE {
		m.Channel.RetryAt = s.Now + assignRetry
	} else {
		m.Items = slices.Delete(m.Items, 0, int(m.Sent))
	}
	m.Sent = 0
	s.sendDirs(b)
}

// onAssignReplicasToDirs writes directories down, one partition epoch each (R3.10). An election that this
// makes possible is not held: whether a replica may lead is judged by the directory from before.
func (s *State) onAssignReplicasToDirs(c *Controller, e Event, m AssignReplicasToDirsRequest) {
	im := &c.Image
	if im.broker(m.Broker).Epoch != m.BrokerEpoch {
		s.replyAsController(c, e, AssignReplicasToDirsResponse{Error: STALE_BROKER_EPOCH})
		return
	}
	var records []MetadataRecord
	for _, p := range m.Parts {
		reg := im.partition(p.TP)
		if reg == nil || !slices.Contains(reg.Replicas, m.Broker) || reg.dirOf(m.Broker) == p.Dir {
			continue
		}
		change := s.change(c, p.TP)
		change.dirs = slices.Clone(reg.Dirs)
		change.dirs[slices.Index(reg.Replicas, m.Broker)] = p.Dir
		if next, changed := change.build(); changed {
			records = append(records, MetadataRecord{Kind: PartitionChangeRecord, TP: p.TP, Partition: next})
		}
	}
	s.commit(c, records)
	s.replyAsController(c, e, AssignReplicasToDirsResponse{})
}

// handleOfflineDirs takes a broker out of the ISRs and leaderships of partitions whose directory has failed
// (R3.21); the broker itself stays unfenced.
func (s *State) handleOfflineDirs(c *Controller, id NodeID, offline []DirID) {
	reg := *c.Image.broker(id)
	online := slices.DeleteFunc(slices.Clone(reg.Dirs), func(d DirID) bool { return slices.Contains(offline, d) })
	if len(online) == len(reg.Dirs) {
		return
	}
	records := s.leaderAndISRUpdates(c, removal{remove: id}, func(p *PartitionRegistration) bool {
		return slices.Contains(p.ISR, id) && slices.Contains(offline, p.dirOf(id))
	})
	reg.Dirs = online
	s.commit(c, append(records, MetadataRecord{Kind: BrokerRegistrationChangeRecord, Broker: reg}))
}

// diskReplaced tells whether the controller knows a broker by a directory that it did not have when the world began.
func (s *State) diskReplaced(id NodeID) bool {
	first := DirID(s.World.Brokers * max(s.World.LogDirs, 1))
	return slices.ContainsFunc(s.decided().broker(id).Dirs, func(d DirID) bool { return d > first })
}
