package machine

import "kafkalab/kafkasim/view"

// State is the whole simulated world at one moment. It holds integers, strings, slices and structs only:
// no maps, pointers, floats, funcs or channels, so that it can be cloned, saved, compared and hashed.
type State struct {
	World      World
	Now        int64 // µs since the world began
	Seq        uint64
	Queue      []Event // a heap by (At, Seq)
	Links      []Link  // sorted by (From, To)
	Brokers    []Broker
	Controller Controller
	Clients    []Client // every producer and consumer, in the order in which they were made
	Producers  []Producer
	Consumers  []Consumer
	Truth      Truth

	// TopicBase numbers partitions for view.Change: partition p of topic t is TopicBase[t]+p, so that
	// partitions count through in the order of their creation. CreateTopic appends to it.
	TopicBase []int32

	// Notes is what the last Step or Apply did, for whoever records a trace. The owner of the State
	// takes it after every call (TakeNotes); it is empty in a clone and not part of the hash.
	Notes []view.Change
}

// broker finds a broker by its id, nil when there is none.
func (s *State) broker(id NodeID) *Broker {
	if id < 1 || int(id) > len(s.Brokers) {
		return nil
	}
	return &s.Brokers[id-1]
}

// ordinal is the number by which a view.Change names a partition; -1 for a topic that does not exist.
func (s *State) ordinal(tp TopicPartition) int {
	if tp.Topic < 0 || int(tp.Topic) >= len(s.TopicBase) {
		return -1
	}
	return int(s.TopicBase[tp.Topic] + tp.Partition)
}

// note records one visible change.
func (s *State) note(c view.Change) {
	c.At = s.Now
	s.Notes = append(s.Notes, c)
}

// TakeNotes returns what the last Step or Apply did and forgets it.
func (s *State) TakeNotes() []view.Change {
	n := s.Notes
	s.Notes = nil
	return n
}
