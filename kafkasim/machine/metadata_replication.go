package machine

import (
	"slices"
)

// Replication of the metadata log: appends, fetches, and what is committed.
//
// The leader appends in batches; whoever needs the log fetches it. A record is committed when it is on a
// majority of the voters and one of the leader's own epoch is (R3.26). Fetches that have nothing to get are
// parked until the log grows, the high watermark moves, or half a second is over. Followers take all there
// is and cut off what the leader never had; brokers are sent what is committed.
//
// Kafka: KafkaRaftClient.handleFetchRequest and handleFetchResponse, LeaderState.maybeUpdateHighWatermark.
// KIP-595, KIP-1166. Simplified: brokers do not hold the uncommitted end of the log, which nobody reads there.

// MetadataFetchRequest asks for the metadata log from an offset on (API 1 on __cluster_metadata).
type MetadataFetchRequest struct {
	Replica       NodeID // who asks
	Epoch         int32  // of the quorum, as it believes
	Offset        int64
	LastEpoch     int32 // of its last record
	HighWatermark int64 // as it knows it
}

// MetadataFetchResponse carries records; Leader and Epoch are what the asked controller knows.
type MetadataFetchResponse struct {
	Error         Code
	Leader        NodeID
	Epoch         int32
	HighWatermark int64    // -1 while the leader has not committed anything in its epoch
	Diverging     EpochEnd // where the asker's log parts from the leader's; Epoch -1 for "it does not"
	Records       []MetadataRecord
}

func (MetadataFetchRequest) payload()  {}
func (MetadataFetchResponse) payload() {}

// ParkedMetadataFetch is a request for records that do not exist yet.
type ParkedMetadataFetch struct {
	From              NodeID
	Conn, Correlation uint32
	Offset            int64
	HighWatermark     int64
	Deadline          int64 // µs
}

// Observer is a broker as the quorum's leader sees it.
type Observer struct {
	ID        NodeID
	End       int64
	LastFetch int64 // µs
	CaughtUp  int64 // µs, -1 for never
}

// metadataFetchWait is how long the leader parks a fetch of the metadata log, µs
// (KafkaRaftClient.MAX_FETCH_WAIT_MS).
const metadataFetchWait = 500_000

// commit appends records to the leader's log as one batch. With one voter they are committed by that.
func (s *State) commit(c *Controller, records []MetadataRecord) {
	if len(records) == 0 {
		return
	}
	q := &c.Quorum
	for i := range records {
		r := &records[i]
		r.Epoch = q.Epoch
		c.Log = append(c.Log, *r)
		if s.soleController() {
			s.committed(&c.Image, r)
		} else if c.Active {
			c.Image.apply(r)
		}
	}
	if s.soleController() {
		q.HighWatermark = int64(len(c.Log))
	} else {
		s.advanceMetadataHighWatermark(c)
	}
	s.completeMetadataFetches(c)
}

// committed adds a committed record to the image of what is committed.
func (s *State) committed(im *Image, r *MetadataRecord) {
	fenced := false
	switch r.Kind {
	case RegisterBrokerRecord, BrokerRegistrationChangeRecord, UnregisterBrokerRecord:
		fenced = im.broker(r.Broker.ID).Fenced
		if r.Broker.Epoch > im.broker(r.Broker.ID).Epoch {
			s.lossKnown(im, r.Broker.ID)
		}
	case TopicRecord:
		s.TopicBase = append(s.TopicBase, int32(len(s.Truth.Partitions)))
	case PartitionRecord:
		s.number(r.TP)
	case PartitionChangeRecord:
		if old := im.partition(r.TP); r.Partition.Recovering && !old.Recovering || strangers(old, &r.Partition) {
			s.Truth.partition(s, r.TP).Unclean = true
		}
		s.electedEligible(im.partition(r.TP), r)
		s.grants(im.partition(r.TP), r)
	}
	im.apply(r)
	if r.Kind == PartitionChangeRecord {
		s.raiseRead(r.TP)
	}
	s.noteRecord(r, fenced)
}

// number gives a new partition its number in traces. One that its topic gets later is not beside the others.
func (s *State) number(tp TopicPartition) {
	n := int32(len(s.Truth.Partitions))
	s.Truth.Partitions = append(s.Truth.Partitions, PartitionTruth{})
	if s.TopicBase[tp.Topic]+tp.Partition == n {
		return
	}
	if i := len(s.Added) - 1; i >= 0 {
		if a := &s.Added[i]; a.Topic == tp.Topic && a.First+a.Count == tp.Partition && a.Base+a.Count == n {
			s.Added = append(s.Added[:i:i], AddedPartitions{Topic: a.Topic, First: a.First, Count: a.Count + 1, Base: a.Base})
			return
		}
	}
	s.Added = append(s.Added, AddedPartitions{Topic: tp.Topic, First: tp.Partition, Count: 1, Base: n})
}

// advanceMetadataHighWatermark is R3.26: the offset that a majority has reached, if it is above the start of
// the leader's epoch. Records of earlier epochs are committed with it, never by counting alone.
func (s *State) advanceMetadataHighWatermark(c *Controller) {
	q := &c.Quorum
	ends := make([]int64, len(q.Voters))
	for i := range q.Voters {
		ends[i] = q.Voters[i].End
	}
	ends[c.ID-FirstController] = int64(len(c.Log))
	slices.Sort(ends)
	hw := ends[len(ends)-1-len(ends)/2]
	if s.mutant(CommitsByMinority) {
		hw = s.minorityEnd(ends)
	}
	if hw <= q.EpochStart && !s.mutant(CommitsOlderEpoch) || hw <= q.HighWatermark {
		return
	}
	q.HighWatermark = hw
	s.publishCommitted(c)
	s.completeMetadataFetches(c)
	s.completeDeferred(c)
}

// publishCommitted takes what has become committed into the world's image of it.
func (s *State) publishCommitted(c *Controller) {
	m := &s.Committed
	for i := len(m.Log); i < int(c.Quorum.HighWatermark); i++ {
		s.committed(&m.Image, &c.Log[i])
	}
	if hw := int(c.Quorum.HighWatermark); hw > len(m.Log) {
		m.Log = c.Log[:hw:hw]
	}
}

// exposed is the high watermark that the leader tells: none before something of its epoch is committed.
func (q *Quorum) exposed() int64 {
	if q.HighWatermark > q.EpochStart {
		return q.HighWatermark
	}
	return -1
}

// fetchError is an answer to a fetch without records.
func (c *Controller) fetchError(code Code) MetadataFetchResponse {
	return MetadataFetchResponse{Error: code, Leader: c.Quorum.Leader, Epoch: c.Quorum.Epoch, HighWatermark: -1, Diverging: EpochEnd{-1, -1}}
}

// onMetadataFetch answers a follower or a broker, or parks its request until there is something. The answer
// shares the log's memory.
func (s *State) onMetadataFetch(c *Controller, e Event, m MetadataFetchRequest) {
	q := &c.Quorum
	code := NONE
	switch {
	case q.State == QuorumLeader && s.mutant(FetchesAnyEpoch):
	case m.Epoch < q.Epoch:
		code = FENCED_LEADER_EPOCH
	case m.Epoch > q.Epoch:
		code = UNKNOWN_LEADER_EPOCH
	case q.State != QuorumLeader:
		code = NOT_LEADER_OR_FOLLOWER
	}
	if code != NONE {
		s.answer(c, e, c.fetchError(code))
		return
	}
	if end, diverges := c.diverges(m.Offset, m.LastEpoch); diverges {
		res := c.fetchError(NONE)
		res.HighWatermark, res.Diverging = q.exposed(), end
		s.answer(c, e, res)
		return
	}
	s.credit(c, m.Replica, m.Offset)
	if m.Replica.IsController() {
		s.advanceMetadataHighWatermark(c)
	}
	if res, ready := s.fetchAnswer(c, m.Replica, m.Offset, m.HighWatermark); ready {
		s.answer(c, e, res)
		return
	}
	s.forgetMetadataFetch(c, e.From, e.Conn)
	c.Parked = append(c.Parked, ParkedMetadataFetch{From: e.From, Conn: e.Conn, Correlation: e.Correlation,
		Offset: m.Offset, HighWatermark: m.HighWatermark, Deadline: s.Now + metadataFetchWait})
	s.wake(&c.WakeAt, s.Now+metadataFetchWait, c.ID, MetadataFetchTimer{})
}

// fetchAnswer is what there is for somebody who has the log up to an offset and knows a high watermark;
// false when there is nothing new.
func (s *State) fetchAnswer(c *Controller, who NodeID, offset, known int64) (MetadataFetchResponse, bool) {
	q := &c.Quorum
	res := c.fetchError(NONE)
	res.HighWatermark = q.exposed()
	end := int64(len(c.Log))
	if who.IsBroker() && !s.mutant(TellsUncommitted) {
		end = max(res.HighWatermark, offset)
	}
	res.Records = c.Log[min(offset, end):end:end]
	return res, len(res.Records) > 0 || who.IsController() && res.HighWatermark > known
}

// credit remembers how far somebody has the log; a majority that fetches keeps the leader in office.
func (s *State) credit(c *Controller, who NodeID, offset int64) {
	q := &c.Quorum
	caughtUp := offset >= int64(len(c.Log))
	if who.IsBroker() {
		c.observe(who, offset, s.Now, caughtUp || offset >= q.HighWatermark)
		return
	}
	v := &q.Voters[who-FirstController]
	v.End, v.LastFetch, v.Counted = offset, s.Now, true
	if caughtUp {
		v.CaughtUp = s.Now
	}
	n := 1
	for i := range q.Voters {
		if q.Voters[i].Counted {
			n++
		}
	}
	if n >= s.majority() {
		for i := range q.Voters {
			q.Voters[i].Counted = false
		}
		q.Deadline = s.checkQuorum()
	}
}

// observe keeps the list of brokers that fetch, by id.
func (c *Controller) observe(who NodeID, offset, now int64, caughtUp bool) {
	i, found := slices.BinarySearchFunc(c.Observers, who, func(o Observer, id NodeID) int { return int(o.ID - id) })
	if !found {
		c.Observers = slices.Insert(c.Observers, i, Observer{ID: who, CaughtUp: -1})
	}
	o := &c.Observers[i]
	o.End, o.LastFetch = offset, now
	if caughtUp {
		o.CaughtUp = now
	}
}

// completeMetadataFetches answers the parked fetches for which there is something now.
func (s *State) completeMetadataFetches(c *Controller) {
	kept := c.Parked[:0]
	for _, p := range c.Parked {
		res, ready := s.fetchAnswer(c, p.From, p.Offset, p.HighWatermark)
		if !ready {
			kept = append(kept, p)
			continue
		}
		s.credit(c, p.From, p.Offset)
		s.send(c.ID, p.From, p.Conn, p.Correlation, res)
	}
	c.Parked = kept
}

// expireMetadataFetches answers parked fetches whose wait is over with nothing, and waits for the next.
func (s *State) expireMetadataFetches(c *Controller) {
	c.WakeAt = 0
	kept := c.Parked[:0]
	for _, p := range c.Parked {
		if p.Deadline > s.Now {
			kept = append(kept, p)
			continue
		}
		res, _ := s.fetchAnswer(c, p.From, p.Offset, p.HighWatermark)
		s.send(c.ID, p.From, p.Conn, p.Correlation, res)
	}
	c.Parked = kept
	if len(kept) > 0 {
		s.wake(&c.WakeAt, kept[0].Deadline, c.ID, MetadataFetchTimer{})
	}
}

// forgetMetadataFetch drops the parked fetch of a closed connection.
func (s *State) forgetMetadataFetch(c *Controller, from NodeID, conn uint32) {
	kept := c.Parked[:0]
	for _, p := range c.Parked {
		if p.From != from || p.Conn != conn {
			kept = append(kept, p)
		}
	}
	c.Parked = kept
}

// epochEnd is the largest epoch of the log that is not above a given one, and where it ends.
func (c *Controller) epochEnd(epoch int32) EpochEnd {
	n, _ := slices.BinarySearchFunc(c.Log, epoch+1, func(r MetadataRecord, e int32) int { return int(r.Epoch - e) })
	if n == 0 {
		return EpochEnd{}
	}
	return EpochEnd{Epoch: c.Log[n-1].Epoch, Offset: int64(n)}
}

// diverges tells whether a log that ends at an offset with a record of an epoch is no part of this one, and
// then where this one's last epoch in question ends (ReplicatedLog.validateOffsetAndEpoch).
func (c *Controller) diverges(offset int64, lastEpoch int32) (EpochEnd, bool) {
	if offset == 0 {
		return EpochEnd{}, false
	}
	end := c.epochEnd(lastEpoch)
	return end, end.Epoch != lastEpoch || end.Offset < offset
}

// fetchMetadata lets a controller that does not lead fetch the log, or look for the leader.
func (s *State) fetchMetadata(c *Controller) {
	q := &c.Quorum
	if to := s.fetchTarget(c.ID, q.Links, q.Leader, &q.Draws); to != NoNode {
		s.raftRequest(c.ID, to, &q.Links[to-FirstController], MetadataFetchRequest{
			Replica: c.ID, Epoch: q.Epoch, Offset: int64(len(c.Log)), LastEpoch: c.lastEpoch(), HighWatermark: q.HighWatermark,
		})
	}
}

// onFetched takes what a fetch brought: the leader's records, or word of where the own log parts from the
// leader's.
func (s *State) onFetched(c *Controller, l *RaftLink, m MetadataFetchResponse) {
	q := &c.Quorum
	before := *q
	if s.heard(c, m.Error, m.Leader, m.Epoch) || q.State != QuorumFollower {
		if q.State == before.State && q.Epoch == before.Epoch && q.Leader == before.Leader {
			s.backOffLink(l) // no news: whoever was asked knows no better
		}
		return
	}
	if m.Diverging.Epoch >= 0 {
		s.truncateMetadata(c, m.Diverging)
	} else {
		c.Log = append(c.Log, m.Records...)
		q.HighWatermark = max(q.HighWatermark, min(m.HighWatermark, int64(len(c.Log))))
	}
	q.Fetched = true
	q.Deadline = s.fetchTimeout(c)
}

// truncateMetadata cuts off what the leader never had, to the end of the epoch that both have, or to where
// the own copy of it ends (ReplicatedLog.truncateToEndOffset).
func (s *State) truncateMetadata(c *Controller, end EpochEnd) {
	if s.mutant(KeepsUncommitted) {
		return
	}
	own := c.epochEnd(end.Epoch)
	to := own.Offset
	if own.Epoch == end.Epoch {
		to = min(to, end.Offset)
	}
	c.Log = c.Log[:to:to]
}

// CommittedMetadata is what the quorum has committed, as nobody inside it needs to know: the image that the active
// controller has or the next one will have, and the log that leads to it. With one controller they are its own.
type CommittedMetadata struct {
	Image Image
	Log   []MetadataRecord
}

// Metadata is the image of what is committed.
func (s *State) Metadata() *Image {
	if s.soleController() {
		return &s.Controllers[0].Image
	}
	return &s.Committed.Image
}

// MetadataLog is the log of what is committed; a record's offset is its index.
func (s *State) MetadataLog() []MetadataRecord {
	if s.soleController() {
		return s.Controllers[0].Log
	}
	return s.Committed.Log
}
