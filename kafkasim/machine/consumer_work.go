package machine

import (
	"slices"

	"kafkalab/kafkasim/view"
)

// Work: an application that polls, processes and commits, as most do.
//
//	loop: poll; for each record: process (takes a time); commit before, after, each so many, or not at all
//
// Whatever goes wrong with at-least-once and at-most-once is in the order of these three, so it is part of the machine:
// what was processed is remembered, by offsets, and compared with what there was (S-1 to S-3).
//
// It is no part of Kafka. One thread: while it processes it does not poll, and so does not join or commit.

// WorkMode says when the application commits by hand.
type WorkMode uint8

// The modes: never (which leaves it to enable.auto.commit), when records are processed, or before that.
const (
	CommitNever WorkMode = iota
	CommitAfter
	CommitBefore
)

// Work starts or stops a consumer's application.
type Work struct {
	Consumer    int32
	Stop        bool
	PerRecord   int64 // µs
	Mode        WorkMode
	Every       int32 // CommitAfter: after so many records; 0 for once a poll
	Async       bool  // commits are not waited for
	PollTimeout int64 // µs, at least 1
}

func (Work) command() {}

// CrashConsumer ends a consumer's process: it says goodbye to nobody.
type CrashConsumer struct{ Consumer int32 }

func (CrashConsumer) command() {}

// AppPhase is what the application does.
type AppPhase uint8

// The phases.
const (
	AppIdle AppPhase = iota
	AppPolling
	AppProcessing
	AppCommitting // and then goes on processing, or polls
	AppCommittingFirst
)

// App is an application.
type App struct {
	On          bool
	How         Work
	Phase       AppPhase
	Row         int32 // of the poll's records: the one that is processed
	Place       int32 // … in its batch
	RecordEnds  int64 // µs: when it is done
	Uncommitted int32 // records since the last commit
	Up          []CommitPart
	Waits       int32 // number of the commit that is waited for
	Done        []Processed
	Error       Code // what poll threw: it ended the application
}

// Processed is a run of records that an application has processed, one after the other.
type Processed struct {
	TP       TopicPartition
	From, To int64 // offsets; To is behind the last
	At       int64 // µs: when the last was done
}

// work starts or stops an application.
func (s *State) work(c *Consumer, w Work) {
	if w.Stop {
		c.App.On = false
		return
	}
	c.App = App{On: true, How: w, Done: c.App.Done}
	s.goOnWorking(c)
	s.background(c)
}

// goOnWorking does what the application can do now.
func (s *State) goOnWorking(c *Consumer) {
	a := &c.App
	for a.On && !c.Closed && !c.Group.Closing {
		switch a.Phase {
		case AppIdle:
			a.Phase = AppPolling
			s.startPoll(c, a.How.PollTimeout)
		case AppPolling:
			if c.Poll.Running {
				return
			}
			s.polledForWork(c)
		case AppCommittingFirst, AppCommitting:
			o := c.CommitOf(a.Waits)
			if o != nil && !o.Done {
				return
			}
			s.workCommitted(c, o)
		case AppProcessing:
			if s.Now < a.RecordEnds {
				s.wakeAt(&c.ClientIO, a.RecordEnds)
				return
			}
			s.recordDone(c)
		}
	}
}

// polledForWork takes what a poll returned.
func (s *State) polledForWork(c *Consumer) {
	a := &c.App
	switch {
	case c.Poll.Error != NONE:
		a.On, a.Error = false, c.Poll.Error
		s.note(view.Change{Kind: view.CommitFailed, Broker: -1, Partition: -1, Client: c.Name, Text: a.Error.String()})
	case c.Poll.Count == 0:
		a.Phase = AppIdle
	case a.How.Mode == CommitBefore:
		s.workCommits(c, c.consumed(), AppCommittingFirst)
	default:
		s.beginRecords(c)
	}
}

func (s *State) beginRecords(c *Consumer) {
	a := &c.App
	a.Phase, a.Row, a.Place = AppProcessing, 0, c.Poll.Records[0].From-1
	a.nextRecord(c)
	a.RecordEnds = s.Now + a.How.PerRecord
}

// nextRecord moves to the next record of the poll; false when there is none.
func (a *App) nextRecord(c *Consumer) bool {
	for ; int(a.Row) < len(c.Poll.Records); a.Row++ {
		p := &c.Poll.Records[a.Row]
		for cur := p.Records.From(int(max(a.Place+1, p.From))); cur.Next(); {
			if place := int32(cur.Place()); place < p.To {
				a.Place = place
				return true
			}
			break
		}
		a.Place = -1
	}
	return false
}

// recordDone ends a record, and goes on with the next. Without a time for each, whole rows are done at once.
func (s *State) recordDone(c *Consumer) {
	a := &c.App
	p := &c.Poll.Records[a.Row]
	from, to := p.Offset+int64(a.Place-p.From), p.Offset+int64(a.Place-p.From)+1
	n := int32(1)
	if a.How.PerRecord == 0 && a.How.Every == 0 {
		n = p.To - a.Place
		to = p.Offset + int64(p.To-p.From)
		a.Place = p.To - 1
	}
	s.processed(c, p, from, to)
	a.Uncommitted += n
	more := a.nextRecord(c)
	if !more {
		a.Phase = AppIdle
	}
	a.RecordEnds = s.Now + a.How.PerRecord
	if a.How.Mode == CommitAfter && (!more || a.How.Every > 0 && a.Uncommitted >= a.How.Every) {
		up := a.Up
		if s.mutant(CommitsThePosition) {
			up = c.consumed()
		}
		a.Up, a.Uncommitted = nil, 0
		s.workCommits(c, up, AppCommitting)
	}
}

// processed remembers a run of records.
func (s *State) processed(c *Consumer, p *Polled, from, to int64) {
	a := &c.App
	if n := len(a.Done); n > 0 && a.Done[n-1].TP == p.TP && a.Done[n-1].To == from {
		a.Done[n-1].To, a.Done[n-1].At = to, s.Now
	} else {
		a.Done = append(a.Done, Processed{p.TP, from, to, s.Now})
	}
	topic := s.topicName(p.TP.Topic)
	at := slices.IndexFunc(a.Up, func(x CommitPart) bool { return x.Topic == topic && x.Partition == p.TP.Partition })
	if at < 0 {
		at = len(a.Up)
		a.Up = append(a.Up, CommitPart{Topic: topic, Partition: p.TP.Partition})
	}
	a.Up[at].Offset, a.Up[at].LeaderEpoch = to, p.LeaderEpoch
	s.note(view.Change{Kind: view.Processed, Broker: -1, Partition: s.ordinal(p.TP), Client: c.Name, A: from, B: to})
}

// workCommits commits in the application's name, and waits unless it commits asynchronously.
func (s *State) workCommits(c *Consumer, parts []CommitPart, then AppPhase) {
	a := &c.App
	kind := CommitSync
	if a.How.Async {
		kind = CommitAsync
	}
	n := s.beginCommit(c, kind, parts)
	s.goOnCommitting(c)
	switch {
	case !a.How.Async:
		a.Phase, a.Waits = then, n
	case then == AppCommittingFirst:
		s.beginRecords(c)
	}
}

// workCommitted goes on after a commit. One that failed because the partitions are somebody else's ends the batch: what
// is left of it is not the application's any more. With the consumer protocol a commit may fail for an old epoch alone
// (C-67), and who dropped the batch then would leave its records out: the next poll is behind them.
func (s *State) workCommitted(c *Consumer, o *CommitOp) {
	a := &c.App
	first := a.Phase == AppCommittingFirst
	failed := o == nil || o.Error != NONE
	switch {
	case first && failed && !s.mutant(ProcessesAnyway):
		a.Phase = AppIdle
	case first:
		s.beginRecords(c)
	case failed && o != nil && o.Error == COMMIT_FAILED && !c.Group.beatsProtocol(), int(a.Row) >= len(c.Poll.Records):
		a.Phase = AppIdle
	default:
		a.Phase = AppProcessing
		a.RecordEnds = s.Now + a.How.PerRecord
	}
}
