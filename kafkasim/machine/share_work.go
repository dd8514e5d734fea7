package machine

import (
	"slices"

	"kafkalab/kafkasim/view"
)

// Work on a share group's records: an application that polls and processes, one record after the other. It accepts what
// went well; records with certain keys fail, and are released or rejected. It is no part of Kafka.

// ShareWork starts or stops a share consumer's application.
type ShareWork struct {
	Consumer    int32
	Stop        bool
	PerRecord   int64    // µs
	Release     []string // keys of records that fail and are to be tried again
	Reject      []string // keys of records that fail for good
	PollTimeout int64    // µs
}

func (ShareWork) command() {}

// ShareApp is an application.
type ShareApp struct {
	On   bool
	How  ShareWork
	Busy bool  // it processes Poll.Rows[Row]
	Row  int32 // …
	Ends int64 // µs: when that is done
	Done []ShareProcessed
}

// ShareProcessed is a record that an application has processed.
type ShareProcessed struct {
	TP     TopicPartition
	Offset int64
	Count  int16
	At     int64 // µs
	As     AckType
}

func (c *ShareConsumer) work(w ShareWork) {
	if w.Stop {
		c.App.On = false
		return
	}
	c.App = ShareApp{On: true, How: w, Done: c.App.Done}
}

// goOnShareWork does what the application can do now; true says that it has begun a poll.
func (s *State) goOnShareWork(c *ShareConsumer) bool {
	a := &c.App
	if c.Poll.Running {
		return false
	}
	for a.Busy && s.Now >= a.Ends {
		s.shareProcessed(c)
	}
	if a.Busy {
		return false
	}
	if a.Row == 0 && len(c.Poll.Rows) > 0 && c.Poll.Error == NONE {
		a.Busy, a.Ends = true, s.Now+a.How.PerRecord
		return a.How.PerRecord == 0
	}
	if c.Poll.Error != NONE {
		a.On = false
		return false
	}
	a.Row = 0
	s.startSharePoll(c, a.How.PollTimeout)
	return true
}

// shareProcessed ends a record, and begins the next.
func (s *State) shareProcessed(c *ShareConsumer) {
	a := &c.App
	r := &c.Poll.Rows[a.Row]
	as := AckAccept
	rec := r.Records.At(int(r.Place))
	switch {
	case slices.Contains(a.How.Release, rec.Key):
		as = AckRelease
	case slices.Contains(a.How.Reject, rec.Key):
		as = AckReject
	}
	c.acknowledge(r.TP, r.Offset, as)
	a.Done = append(a.Done, ShareProcessed{r.TP, r.Offset, r.Count, s.Now, as})
	s.note(view.Change{Kind: view.Processed, Broker: -1, Partition: s.ordinal(r.TP), Client: c.Name, A: r.Offset, B: r.Offset + 1})
	a.Row++
	a.Busy = int(a.Row) < len(c.Poll.Rows)
	a.Ends = s.Now + a.How.PerRecord
	if !a.Busy {
		c.Poll.Rows = nil
	}
}
