// Consumer.
//
// A consumer is told its partitions by Assign, or by its group (consumer_group.go). Each has a position, the offset of the next record to hand
// out (C-2), which begins by auto.offset.reset (consumer_positions.go) and moves when a poll returns
// records, not when they are fetched (C-7). Everything is sent within a poll (consumer_poll.go); what
// arrives later waits in the buffer (consumer_fetch.go).
//
// Kafka: KafkaConsumer (group.protocol=classic), SubscriptionState, Fetcher, OffsetFetcher (KIP-320). Absent:
// read_committed.
package machine

import (
	"cmp"
	"slices"
	"sort"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
	"kafkalab/kafkasim/view"
)

// Consumer is one consumer client.
type Consumer struct {
	ClientIO
	Config config.Consumer
	Index  int32 // in State.Consumers
	Closed bool

	Parts   []ConsumerPart // assigned, by partition
	WholeOf string         // this topic's partitions are assigned as the metadata learns of them
	Buffer  []CompletedFetch
	Poll    Poll
	Turns   int64 // counts drained fetches: who was served longest ago is asked for first
	Group   Membership
	App     App
	Stats   ConsumerStats
}

// PositionState is where a partition stands on its way to being fetched (C-1).
type PositionState uint8

// The states of a position.
const (
	PositionInitializing PositionState = iota
	PositionAwaitReset
	PositionAwaitValidation
	PositionFetching
)

// ConsumerPart is one assigned partition.
type ConsumerPart struct {
	Topic       string
	TP          TopicPartition // Topic -1 until the metadata know it
	State       PositionState
	Paused      bool
	Revoking    bool  // about to be given up: nothing of it is handed out any more
	NoCommit    bool  // the group has no committed offset of it
	Asked       bool  // a ListOffsets or OffsetsForLeaderEpoch of it is in flight
	Position    int64 // -1 before the first one is known
	Epoch       int32 // leader epoch of the last record read, -1 for none (C-40)
	Leader      NodeID
	LeaderEpoch int32 // … that the position was taken or validated against
	// Preferred is the replica that the leader has sent this consumer to, until PreferredUntil, µs (C-51).
	Preferred      NodeID
	PreferredUntil int64
	ResetTo        int64 // while awaiting a reset: the timestamp to ask for
	RetryAt        int64 // µs: not asked for before
	Turn           int64
	// What the last answer said; -1 before the first. To read_committed the last stable offset stands for the high
	// watermark (C-80).
	HighWatermark, LogStart int64
}

// Poll is a consumer's present or last poll.
type Poll struct {
	Running bool
	Until   int64    // µs: it ends then at the latest
	Records []Polled // what it returned
	Count   int32    // … in records
	// Advanced tells that a position moved. A poll may return nothing and have moved it past markers (T-47).
	Advanced bool
	// Error is what it threw instead: NO_OFFSET, POSITION_OUT_OF_RANGE or LOG_TRUNCATION, for ErrorTP. With
	// LOG_TRUNCATION DivergesAt is where the logs part, -1 if unknown.
	Error      Code
	ErrorTP    TopicPartition
	DivergesAt int64
}

// Polled is a row of records that a poll returned: those from place From to before To of a batch; Offset is
// that of place From. Records are shared with the log.
type Polled struct {
	TP          TopicPartition
	Offset      int64
	LeaderEpoch int32
	Records     partlog.Records
	From, To    int32
}

// All goes through the records that were polled, each with its offset.
func (p *Polled) All() func(yield func(int64, *partlog.Cursor) bool) {
	return func(yield func(int64, *partlog.Cursor) bool) {
		c := p.Records.From(int(p.From))
		for c.Next() && c.Place() < int(p.To) {
			if !yield(p.Offset+int64(c.Place())-int64(p.From), &c) {
				return
			}
		}
	}
}

// applyConsumer carries out what a user does with a consumer.
func (s *State) applyConsumer(c Command) Result {
	switch c := c.(type) {
	case NewConsumer:
		return s.newConsumer(c)
	case Assign:
		s.assign(&s.Consumers[c.Consumer], c)
	case StartPoll:
		s.startPoll(&s.Consumers[c.Consumer], c.Timeout)
	case Seek:
		s.seek(&s.Consumers[c.Consumer], c)
	case PauseConsumer:
		s.Consumers[c.Consumer].pause(c.Topic, c.Partitions, true)
	case ResumeConsumer:
		s.Consumers[c.Consumer].pause(c.Topic, c.Partitions, false)
	case CloseConsumer:
		x := &s.Consumers[c.Consumer]
		if x.Config.Member.GroupID == "" {
			s.closeConsumer(x)
		} else {
			s.beginClose(x, c)
		}
	case CrashConsumer:
		s.closeConsumer(&s.Consumers[c.Consumer])
	case Subscribe:
		if x := &s.Consumers[c.Consumer]; x.protocol848() {
			s.subscribeProtocol(x, c.Topics, c.Pattern)
		} else {
			s.subscribe(x, c.Topics, c.Pattern)
		}
	case Commit:
		return s.commitOffsets(&s.Consumers[c.Consumer], c)
	case Work:
		s.work(&s.Consumers[c.Consumer], c)
	}
	return Result{ID: -1}
}

func (s *State) newConsumer(c NewConsumer) Result {
	i := int32(len(s.Consumers))
	io := s.newClient(c.Name, ConsumerClient, i, ClientTimes{
		RequestTimeout: c.Props.RequestTimeoutMs * ms, RetryBackoff: c.Props.RetryBackoffMs * ms,
		RetryBackoffMax: c.Props.RetryBackoffMaxMs * ms, MetadataMaxAge: c.Props.MetadataMaxAgeMs * ms,
		ReconnectBackoff: c.Props.ReconnectBackoffMs * ms, ReconnectBackoffMax: c.Props.ReconnectBackoffMax * ms,
	})
	x := Consumer{ClientIO: io, Config: c.Props, Index: i, Stats: ConsumerStats{Born: s.Now, MinLead: -1}}
	x.Group.Generation, x.Group.Coordinator = -1, NoNode
	x.Group.AutoCommitAt = s.Now + c.Props.Member.AutoCommitIntervalMs*ms
	s.Consumers = append(s.Consumers, x)
	return Result{ID: i}
}

// assign replaces the assignment; partitions that stay keep their position and their buffer.
func (s *State) assign(c *Consumer, a Assign) {
	if c.Config.Member.GroupID != "" && len(c.Parts) > 0 { // C-62: no rebalance will do it
		s.maybeAutoCommit(c)
		s.background(c)
	}
	c.Group.GivenUp = GivenUp{}
	c.Meta.add(a.Topic)
	keep := func(p ConsumerPart) bool {
		return p.Topic == a.Topic && (len(a.Partitions) == 0 || slices.Contains(a.Partitions, p.TP.Partition))
	}
	c.Parts = slices.DeleteFunc(slices.Clone(c.Parts), func(p ConsumerPart) bool { return !keep(p) })
	c.WholeOf = ""
	if len(a.Partitions) == 0 {
		c.WholeOf = a.Topic
	}
	for _, p := range a.Partitions {
		c.addPart(a.Topic, p)
	}
	c.learnPartitions()
	c.Buffer = slices.DeleteFunc(slices.Clone(c.Buffer), func(f CompletedFetch) bool { return c.part(f.TP) == nil })
}

// comparePart orders partitions by topic, those of unknown topics first.
func comparePart(a, b ConsumerPart) int {
	return cmp.Or(cmp.Compare(a.TP.Topic, b.TP.Topic), cmp.Compare(a.TP.Partition, b.TP.Partition), cmp.Compare(a.Topic, b.Topic))
}

// addPart assigns one partition, unless it is assigned already.
func (c *Consumer) addPart(topic string, partition int32) {
	p := ConsumerPart{Topic: topic, TP: TopicPartition{-1, partition},
		Position: -1, Epoch: -1, LeaderEpoch: -1, HighWatermark: -1, LogStart: -1}
	if t := c.Meta.topic(topic); t >= 0 {
		p.TP.Topic = c.Meta.Topics[t].Topic
	}
	if i, found := slices.BinarySearchFunc(c.Parts, p, comparePart); !found {
		c.Parts = slices.Insert(c.Parts, i, p)
	}
}

// learnPartitions takes topic numbers, and the partitions of a topic assigned whole, from the metadata.
func (c *Consumer) learnPartitions() {
	for i := range c.Parts {
		p := &c.Parts[i]
		if t := c.Meta.topic(p.Topic); t >= 0 && c.Meta.Topics[t].Topic >= 0 {
			p.TP.Topic = c.Meta.Topics[t].Topic
		}
	}
	slices.SortStableFunc(c.Parts, comparePart)
	if t := c.Meta.topic(c.WholeOf); c.WholeOf != "" && t >= 0 {
		for i := range c.Meta.Topics[t].Parts {
			c.addPart(c.WholeOf, int32(i))
		}
	}
}

// part finds an assigned partition, nil for none.
func (c *Consumer) part(tp TopicPartition) *ConsumerPart {
	i := sort.Search(len(c.Parts), func(i int) bool {
		at := c.Parts[i].TP
		return at.Topic > tp.Topic || at.Topic == tp.Topic && at.Partition >= tp.Partition
	})
	if i == len(c.Parts) || c.Parts[i].TP != tp {
		return nil
	}
	return &c.Parts[i]
}

// named finds an assigned partition by its topic's name; it must be assigned. A partition of a topic that is
// assigned whole may be named before the metadata know it.
func (c *Consumer) named(topic string, partition int32) *ConsumerPart {
	if topic == c.WholeOf {
		c.addPart(topic, partition)
	}
	for i := range c.Parts {
		if c.Parts[i].Topic == topic && c.Parts[i].TP.Partition == partition {
			return &c.Parts[i]
		}
	}
	panic("machine: the partition is not assigned to this consumer")
}

// seek sets a position; it takes effect at the next poll and drops what was fetched before (C-9, C-11).
func (s *State) seek(c *Consumer, m Seek) {
	p := c.named(m.Topic, m.Partition)
	p.RetryAt = 0
	if m.Offset == EarliestTimestamp || m.Offset == LatestTimestamp {
		p.reset(m.Offset)
		return
	}
	p.Position, p.Epoch, p.State, p.Asked = m.Offset, -1, PositionFetching, false
	c.follow(p)
	if m.EpochKnown && s.validatesPositions() {
		p.Epoch, p.State = m.Epoch, PositionAwaitValidation // S-10: what is known of before is checked first
	}
	s.notePosition(c, p)
}

// pause stops or restarts fetching; what is buffered is kept (C-10). No partitions means all of the topic.
func (c *Consumer) pause(topic string, partitions []int32, paused bool) {
	for i := range c.Parts {
		p := &c.Parts[i]
		if p.Topic == topic && (len(partitions) == 0 || slices.Contains(partitions, p.TP.Partition)) {
			p.Paused = paused
		}
	}
}

func (s *State) closeConsumer(c *Consumer) {
	c.Closed = true
	c.Parts, c.Buffer, c.WholeOf = nil, nil, ""
	c.Poll = Poll{}
	for i := range c.Conns {
		if k := &c.Conns[i]; k.ID != 0 {
			s.endFetchSession(c, k)
			s.hangUpClient(&c.ClientIO, k)
		}
	}
	if c.Second.ID != 0 {
		s.hangUpClient(&c.ClientIO, &c.Second)
	}
	c.Group.Closing = false
}

// consumerEvent handles what arrives at a consumer. Without a poll nothing is sent, only taken in.
func (s *State) consumerEvent(i int32, e Event) {
	c := &s.Consumers[i]
	if c.Closed {
		return
	}
	switch e.Payload.(type) {
	case ClientTimer:
		c.woke(s.Now)
	case Disconnected:
		if k := c.connOf(&e); k == &c.Second {
			s.loseGroupAnswers(c, s.disconnect(&c.ClientIO, k))
			s.coordinatorLost(c)
		} else if k != nil {
			s.loseAnswers(c, k, s.disconnect(&c.ClientIO, k))
		}
	default:
		r, ok := c.answered(e)
		if !ok {
			return
		}
		c.Stats.answered(&r, e.Payload, s.Now)
		s.consumerAnswer(c, e.From, r, e.Payload)
	}
	s.goOnPolling(c)
	s.background(c)
	s.goOnWorking(c)
}

func (s *State) consumerAnswer(c *Consumer, from NodeID, r Request, answer Payload) {
	switch a := answer.(type) {
	case MetadataResponse:
		c.matchTopics(&a)
		c.Meta.update(&a, s.Now)
		c.learnPartitions()
	case FetchResponse:
		c.conn(from).throttle(s.Now, a.ThrottleMs)
		s.fetched(c, c.conn(from), &a)
	case ListOffsetsResponse:
		s.listed(c, r.Payload.(ListOffsetsRequest), &a)
	case OffsetsForLeaderEpochResponse:
		s.validated(c, r.Payload.(OffsetsForLeaderEpochRequest), &a)
	default:
		if !s.groupAnswered(c, &r, answer) {
			unexpected(Event{At: s.Now, To: c.Node, Payload: answer})
		}
	}
}

// loseAnswers gives up requests that will not be answered; what they asked for is asked again.
func (s *State) loseAnswers(c *Consumer, k *Connection, lost []Request) {
	s.loseGroupAnswers(c, lost)
	for i := range lost {
		switch m := lost[i].Payload.(type) {
		case FetchRequest:
			for j := range c.Parts {
				if p := &c.Parts[j]; p.Preferred == k.Broker && !s.mutant(KeepsPreferredReplica) {
					p.dropPreferred()
				}
			}
		case ListOffsetsRequest:
			for _, p := range m.Parts {
				s.askLater(c, p.TP)
			}
		case OffsetsForLeaderEpochRequest:
			for _, p := range m.Parts {
				s.askLater(c, p.TP)
			}
		}
	}
}

// askLater lets a partition wait for retry.backoff.ms.
func (s *State) askLater(c *Consumer, tp TopicPartition) {
	if p := c.part(tp); p != nil {
		p.Asked = false
		p.RetryAt = s.Now + s.retryBackoff(&c.ClientIO, 0, uint64(s.Now), uint64(tp.Partition))
	}
}

func (s *State) notePosition(c *Consumer, p *ConsumerPart) {
	s.note(view.Change{Kind: view.PositionSet, Broker: -1, Partition: s.ordinal(p.TP), Client: c.Name, A: p.Position})
}

// clone copies what a step may change; records are shared.
func (c *Consumer) clone() Consumer {
	d := *c
	d.ClientIO = c.ClientIO.clone()
	d.Parts = slices.Clone(c.Parts)
	d.Buffer = slices.Clone(c.Buffer)
	d.Group.Answers, d.Group.Commits, d.Group.Calls = slices.Clone(c.Group.Answers), slices.Clone(c.Group.Commits), slices.Clip(c.Group.Calls)
	d.App.Done, d.App.Up = slices.Clone(c.App.Done), slices.Clone(c.App.Up)
	return d
}
