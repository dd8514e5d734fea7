package machine

import (
	"kafkalab/kafkasim/partlog"
	"kafkalab/kafkasim/view"
)

// State is the whole simulated world at one moment. It holds integers, strings, slices and structs only:
// no maps, pointers, floats, funcs or channels, so that it can be cloned, saved, compared and hashed.
type State struct {
	World       World
	Now         int64 // µs since the world began
	Seq         uint64
	Chores      uint64       // how many timers of chores there were
	Queue       []Event      // a heap by (At, Seq)
	Links       []Link       // sorted by (From, To)
	Holds       []string     // patterns of messages that are held back (hold.go)
	Held        []Event      // … and those that are, in order
	Delays      []Backlogged // connections that wait behind a delayed message (delay.go)
	Brokers     []Broker
	Controllers []Controller      // ids from FirstController
	Committed   CommittedMetadata // see State.Metadata; empty with one controller
	Admin       []AdminRequest    // requests of administrators that were not answered at once
	Clients     []Client          // every producer and consumer, in the order in which they were made
	Producers   []Producer
	Consumers   []Consumer
	Truth       Truth
	Deletions   []Deletion // what became of DeleteRecords commands, in their order
	GroupAdmin  []GroupAdministration
	Share       ShareWorld

	// TopicBase numbers partitions for view.Change: partition p of topic t is TopicBase[t]+p, so that
	// partitions count through in the order of their creation. CreateTopic appends to it.
	TopicBase []int32
	Added     []AddedPartitions // … but for partitions that a topic got later

	LastDir    DirID  // the last log directory that was formatted
	LastConn   uint32 // the last connection number that a broker has taken
	LastMember uint64 // how many member ids were made

	LastSession int32 // the last fetch session that a broker has begun

	Quiet bool // nobody records a trace: no Notes are made

	// Watching is set when a Watch looks at this world. Answers, Losses and Untold are what it looks at:
	// what the last Step or Apply told producers, which entries of Truth.Acked it found lost, and which followers
	// were told a high watermark that they do not take.
	Watching bool
	Answers  []Answer
	Losses   []int32
	Untold   []Untold
	Commits  []CommitAnswer // of offsets that coordinators have told of

	Transitions []Transition // of transactional ids

	// Notes is what the last Step or Apply did, for whoever records a trace. The owner of the State
	// takes it after every call (TakeNotes); it is empty in a clone and not part of the hash.
	Notes []Note
}

// broker finds a broker by its id, nil when there is none.
func (s *State) broker(id NodeID) *Broker {
	if id < 1 || int(id) > len(s.Brokers) {
		return nil
	}
	return &s.Brokers[id-1]
}

// AddedPartitions are Count partitions that were added to a topic, from First on; Base is the number of the
// first of them.
type AddedPartitions struct{ Topic, First, Count, Base int32 }

// ordinal is the number by which a view.Change names a partition; -1 for a topic that does not exist.
func (s *State) ordinal(tp TopicPartition) int {
	if tp.Topic < 0 || int(tp.Topic) >= len(s.TopicBase) {
		return -1
	}
	for i := range s.Added {
		if a := &s.Added[i]; a.Topic == tp.Topic && tp.Partition >= a.First && tp.Partition < a.First+a.Count {
			return int(a.Base + tp.Partition - a.First)
		}
	}
	return int(s.TopicBase[tp.Topic] + tp.Partition)
}

// Note is one visible change. A change that reports appended records carries them as the log does, in
// Batches (shared, immutable), and leaves Change.Records empty: whoever shows the change copies them
// then, so that a million appended records cost the trace nothing.
type Note struct {
	view.Change
	Batches []partlog.Batch
}

// note records one visible change.
func (s *State) note(c view.Change) {
	if s.Quiet {
		return
	}
	c.At = s.Now
	s.Notes = append(s.Notes, Note{Change: c})
}

// noteAppended records that batches were appended to a broker's log: A, B and C as view.Appended says.
func (s *State) noteAppended(broker NodeID, tp TopicPartition, end int64, batches []partlog.Batch) {
	if s.Quiet {
		return
	}
	s.Notes = append(s.Notes, Note{Batches: batches, Change: view.Change{At: s.Now, Kind: view.Appended, Broker: int(broker),
		Partition: s.ordinal(tp), A: batches[0].BaseOffset, B: end, C: int64(batches[len(batches)-1].LeaderEpoch)}})
}

// TakeNotes returns what the last Step or Apply did and forgets it. The slice is good until the next one.
func (s *State) TakeNotes() []Note {
	n := s.Notes
	s.Notes = s.Notes[:0]
	return n
}
