package machine

import (
	"slices"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
	"kafkalab/kafkasim/view"
)

// Share consumer: a member of a share group.
//
// It says by heartbeats that it lives, is told partitions, and asks their leaders for records within a poll. What a poll
// returned is acknowledged: by the next poll, all of it (implicit), or record by record (explicit, H-11).
// Acknowledgements travel with the next fetch to the leader that the record came from, or by themselves when the
// application commits or closes. Offsets without a record (markers, what compaction has taken) it calls gaps. Records whose
// lock is renewed come once more with the next poll, and nothing else does (KIP-1222).
//
// Kafka: ShareConsumerImpl, ShareConsumeRequestManager, ShareHeartbeatRequestManager, ShareSessionHandler (KIP-932).

// ShareConsumer is one share consumer client.
type ShareConsumer struct {
	ClientIO
	Config config.Consumer
	Index  int32 // in State.Share.Consumers
	Closed bool

	Topics   []string // subscribed, sorted; immutable
	Member   string
	Epoch    int32 // of the member; 0 before it has joined
	Told     []string
	Assigned []TopicPartition // immutable
	Fatal    Code

	Coordinator NodeID
	Finding     bool
	FindAt      int64 // µs: not before
	FindFails   int32
	Beating     bool
	HeartbeatAt int64 // µs
	PollEnds    int64 // µs: max.poll.interval.ms
	Away        bool  // it has left because it did not poll

	Links   []ShareLink // by broker
	Buffer  []ShareRow  // acquired, and not handed out; offsets without a record, too
	Held    []ShareRow  // handed out, and their acknowledgement is not on its way
	Renewed []ShareRow  // their locks last longer, and the next poll returns them once more
	Renews  []ShareRow  // … when the leader has said so
	Gaps    []SharePendingAck
	Acks    []SharePendingAck // to send
	Flush   bool              // … by themselves
	Results []ShareAckOutcome
	Poll    SharePoll
	Closing bool
	CloseBy int64 // µs
	App     ShareApp
}

// ShareLink is a consumer's share session with a leader.
type ShareLink struct {
	Epoch   int32 // of the next request
	Known   []TopicPartition
	Busy    bool
	Ended   bool // the last request of a closing consumer was sent
	RetryAt int64
	Sent    []SharePendingAck // with the request in flight
}

// ShareRow is a record that the consumer has acquired.
type ShareRow struct {
	TP      TopicPartition
	Offset  int64
	Count   int16
	Broker  NodeID
	Records partlog.Records
	Place   int32   // -1 for an offset without a record
	Base    int64   // of the log's batch
	Ack     AckType // 0 for none yet
}

// SharePendingAck is an acknowledgement that is not answered.
type SharePendingAck struct {
	ShareAck
	Broker NodeID
}

// ShareAckOutcome is what became of acknowledgements (AcknowledgementCommitCallback).
type ShareAckOutcome struct {
	At   int64 // µs
	Acks []ShareAck
	Code Code
}

// SharePoll is a share consumer's present or last poll.
type SharePoll struct {
	Running bool
	Until   int64 // µs
	Rows    []ShareRow
	Error   Code
}

// NewShareConsumer makes a share consumer.
type NewShareConsumer struct {
	Name  string
	Props config.Consumer
}

// ShareSubscribe sets a share consumer's topics; none end the membership.
type ShareSubscribe struct {
	Consumer int32
	Topics   []string
}

// StartSharePoll begins a poll that ends with records or after Timeout µs.
type StartSharePoll struct {
	Consumer int32
	Timeout  int64
}

// ShareAcknowledge says what becomes of a record that was handed out.
type ShareAcknowledge struct {
	Consumer  int32
	Topic     int32
	Partition int32
	Offset    int64
	Type      AckType
}

// ShareCommit sends what is acknowledged; with implicit acknowledgement that is everything that was handed out.
type ShareCommit struct{ Consumer int32 }

// CloseShareConsumer ends a share consumer, and lets it say goodbye; CrashShareConsumer ends its process.
type CloseShareConsumer struct{ Consumer int32 }

// CrashShareConsumer ends a share consumer's process.
type CrashShareConsumer struct{ Consumer int32 }

func (NewShareConsumer) command()   {}
func (ShareSubscribe) command()     {}
func (StartSharePoll) command()     {}
func (ShareAcknowledge) command()   {}
func (ShareCommit) command()        {}
func (CloseShareConsumer) command() {}
func (CrashShareConsumer) command() {}

// applyShare carries out what a user does with share consumers and share groups.
func (s *State) applyShare(c Command) Result {
	var x *ShareConsumer
	switch c := c.(type) {
	case NewShareConsumer:
		return s.newShareConsumer(c)
	case AlterShareGroup:
		s.alterShareGroup(c)
		return Result{ID: -1}
	case ShareSubscribe:
		x = &s.Share.Consumers[c.Consumer]
		x.Topics = slices.Sorted(slices.Values(c.Topics))
		for _, t := range x.Topics {
			x.Meta.add(t)
		}
		x.PollEnds = s.Now + x.Config.Member.MaxPollIntervalMs*ms
		x.Away = false
		if len(x.Topics) == 0 {
			s.leaveShare(x)
		}
	case StartSharePoll:
		x = &s.Share.Consumers[c.Consumer]
		s.startSharePoll(x, c.Timeout)
	case ShareAcknowledge:
		x = &s.Share.Consumers[c.Consumer]
		x.acknowledge(TopicPartition{c.Topic, c.Partition}, c.Offset, c.Type)
		return Result{ID: -1}
	case ShareCommit:
		x = &s.Share.Consumers[c.Consumer]
		s.takeShareAcks(x)
		x.Flush = len(x.Acks) > 0
	case CloseShareConsumer:
		x = &s.Share.Consumers[c.Consumer]
		s.beginShareClose(x)
	case CrashShareConsumer:
		s.endShareConsumer(&s.Share.Consumers[c.Consumer])
		return Result{ID: -1}
	case ShareWork:
		x = &s.Share.Consumers[c.Consumer]
		x.work(c)
	}
	s.goOnSharing(x)
	return Result{ID: -1}
}

func (s *State) newShareConsumer(c NewShareConsumer) Result {
	i := int32(len(s.Share.Consumers))
	io := s.newClient(c.Name, ShareConsumerClient, i, ClientTimes{
		RequestTimeout: c.Props.RequestTimeoutMs * ms, RetryBackoff: c.Props.RetryBackoffMs * ms,
		RetryBackoffMax: c.Props.RetryBackoffMaxMs * ms, MetadataMaxAge: c.Props.MetadataMaxAgeMs * ms,
		ReconnectBackoff: c.Props.ReconnectBackoffMs * ms, ReconnectBackoffMax: c.Props.ReconnectBackoffMax * ms,
	})
	x := ShareConsumer{ClientIO: io, Config: c.Props, Index: i, Coordinator: NoNode, Links: make([]ShareLink, s.World.Brokers)}
	x.Member = s.newMemberID()
	s.Share.Consumers = append(s.Share.Consumers, x)
	return Result{ID: i}
}

// startSharePoll begins a poll; with implicit acknowledgement it accepts what the last one returned (H-11).
func (s *State) startSharePoll(c *ShareConsumer, timeout int64) {
	s.takeShareAcks(c)
	c.PollEnds = s.Now + c.Config.Member.MaxPollIntervalMs*ms
	c.Away = false
	c.Poll = SharePoll{Running: true, Until: s.Now + max(timeout, 0)}
}

// takeShareAcks takes what is acknowledged from the application, to send it; with implicit acknowledgement that is all.
func (s *State) takeShareAcks(c *ShareConsumer) {
	var rest []ShareRow
	for _, r := range c.Held {
		if r.Ack == 0 && !c.Config.Share.Explicit {
			r.Ack = AckAccept
		}
		if r.Ack == 0 {
			rest = append(rest, r)
			continue
		}
		c.Acks = append(c.Acks, SharePendingAck{ShareAck{r.TP, r.Offset, r.Offset, r.Ack}, r.Broker})
		if r.Ack == AckRenew {
			r.Ack = 0
			c.Renews = append(c.Renews, r)
		}
	}
	c.Held = rest
	c.Acks, c.Gaps = append(c.Acks, c.Gaps...), nil
	s.failShareAcks(c)
}

// failShareAcks gives up acknowledgements for a leader that is known to be another's, or to have no session with the
// consumer any more: what it had acquired there is released (ShareConsumeRequestManager.isLeaderKnownToHaveChanged).
func (s *State) failShareAcks(c *ShareConsumer) {
	var rest, gone []SharePendingAck
	for _, a := range c.Acks {
		p := c.Meta.part(c.Meta.local(a.TP.Topic), a.TP.Partition)
		if moved := p != nil && p.Leader != NoNode && p.Leader != a.Broker; moved || c.Links[a.Broker-1].Epoch == 0 {
			gone = append(gone, a)
		} else {
			rest = append(rest, a)
		}
	}
	c.Acks = rest
	s.shareOutcome(c, gone, NOT_LEADER_OR_FOLLOWER)
}

// acknowledge notes an acknowledgement of a record that was handed out; the last word before it is sent counts.
func (c *ShareConsumer) acknowledge(tp TopicPartition, offset int64, a AckType) {
	for i := range c.Held {
		if r := &c.Held[i]; r.TP == tp && r.Offset == offset {
			r.Ack = a
		}
	}
}

// Unacknowledged is how many records of earlier polls the application must still acknowledge.
func (c *ShareConsumer) Unacknowledged() int {
	n := 0
	for i := range c.Held {
		if c.Held[i].Ack == 0 {
			n++
		}
	}
	return n
}

// shareEvent handles what arrives at a share consumer.
func (s *State) shareEvent(i int32, e Event) {
	c := &s.Share.Consumers[i]
	if c.Closed {
		return
	}
	switch e.Payload.(type) {
	case ClientTimer:
		c.woke(s.Now)
	case Disconnected:
		if k := c.connOf(&e); k == &c.Second {
			s.disconnect(&c.ClientIO, k)
			s.shareCoordinatorLost(c)
		} else if k != nil {
			s.shareAnswersLost(c, k, s.disconnect(&c.ClientIO, k))
		}
	default:
		r, ok := c.answered(e)
		if !ok {
			return
		}
		s.shareAnswer(c, e.From, &r, e.Payload)
	}
	s.goOnSharing(c)
}

func (s *State) shareAnswer(c *ShareConsumer, from NodeID, r *Request, answer Payload) {
	switch a := answer.(type) {
	case MetadataResponse:
		c.Meta.update(&a, s.Now)
	case FindCoordinatorResponse:
		c.Finding = false
		if a.Error != NONE {
			s.findShareLater(c)
			return
		}
		c.FindFails, c.Coordinator = 0, a.Node
		if c.Second.Broker != a.Node {
			c.Second = Connection{Broker: a.Node}
		}
	case ShareGroupHeartbeatResponse:
		s.shareBeaten(c, &a)
	case ShareFetchResponse:
		s.shareFetched(c, from, &a)
	case ShareAcknowledgeResponse:
		s.shareAcknowledged(c, from, a.Error, a.Acks)
	default:
		unexpected(Event{At: s.Now, To: c.Node, Payload: answer})
	}
}

// shareAnswersLost gives up requests that will not be answered: the session is gone, and with it what was acquired.
func (s *State) shareAnswersLost(c *ShareConsumer, k *Connection, lost []Request) {
	for i := range lost {
		if _, is := lost[i].Payload.(FindCoordinatorRequest); is {
			s.findShareLater(c)
		}
	}
	s.shareSessionLost(c, k.Broker, NETWORK_EXCEPTION)
}

// shareSessionLost lets the next request to a leader begin a session; acknowledgements for the old one have failed.
func (s *State) shareSessionLost(c *ShareConsumer, broker NodeID, code Code) {
	l := &c.Links[broker-1]
	s.shareOutcome(c, l.Sent, code)
	var rest, gone []SharePendingAck
	for _, a := range c.Acks {
		if a.Broker == broker {
			gone = append(gone, a)
		} else {
			rest = append(rest, a)
		}
	}
	s.shareOutcome(c, gone, code)
	c.Acks = rest
	c.Gaps = slices.DeleteFunc(slices.Clone(c.Gaps), func(a SharePendingAck) bool { return a.Broker == broker })
	*l = ShareLink{RetryAt: s.Now + c.Times.RetryBackoff, Ended: l.Ended}
	c.Meta.Requested = true
}

// shareOutcome notes what became of acknowledgements.
func (s *State) shareOutcome(c *ShareConsumer, acks []SharePendingAck, code Code) {
	o := ShareAckOutcome{At: s.Now, Code: code}
	for _, a := range acks {
		if a.Type == AckRenew {
			c.renewed(&a.ShareAck, code)
		}
		if a.Type != AckGap {
			o.Acks = append(o.Acks, a.ShareAck)
		}
	}
	if len(o.Acks) == 0 {
		return
	}
	if n := len(c.Results); n >= 100 {
		c.Results = slices.Clone(c.Results[1:])
	}
	c.Results = append(slices.Clip(c.Results), o)
	if code != NONE {
		s.note(view.Change{Kind: view.CommitFailed, Broker: -1, Partition: s.ordinal(acks[0].TP), Client: c.Name, Text: code.String()})
	}
}

// renewed takes records whose locks were to last longer: the next poll returns them, if they do.
func (c *ShareConsumer) renewed(a *ShareAck, code Code) {
	var rest []ShareRow
	for _, r := range c.Renews {
		switch {
		case r.TP != a.TP || r.Offset < a.First || r.Offset > a.Last:
			rest = append(rest, r)
		case code == NONE:
			c.Renewed = append(c.Renewed, r)
		}
	}
	c.Renews = rest
}

func (s *State) beginShareClose(c *ShareConsumer) {
	s.takeShareAcks(c)
	c.Closing, c.CloseBy = true, s.Now+30_000_000
	c.Poll.Running, c.App.On = false, false
}

func (s *State) endShareConsumer(c *ShareConsumer) {
	c.Closed, c.Closing = true, false
	c.Held, c.Buffer, c.Acks, c.Gaps, c.Renews, c.Renewed, c.Assigned = nil, nil, nil, nil, nil, nil, nil
	c.Poll.Running, c.App.On = false, false
	for i := range c.Conns {
		if k := &c.Conns[i]; k.ID != 0 {
			s.hangUpClient(&c.ClientIO, k)
		}
	}
	if c.Second.ID != 0 {
		s.hangUpClient(&c.ClientIO, &c.Second)
	}
}

func (c *ShareConsumer) clone() ShareConsumer {
	d := *c
	d.ClientIO = c.ClientIO.clone()
	d.Links = slices.Clone(c.Links)
	d.Buffer, d.Held, d.Acks, d.Gaps = slices.Clone(c.Buffer), slices.Clone(c.Held), slices.Clone(c.Acks), slices.Clone(c.Gaps)
	d.Renews, d.Renewed = slices.Clone(c.Renews), slices.Clone(c.Renewed)
	d.Results = slices.Clip(c.Results)
	d.Poll.Rows = slices.Clip(c.Poll.Rows)
	d.App.Done = slices.Clone(c.App.Done)
	return d
}
