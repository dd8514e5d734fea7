package machine

// Producer is one producer client.
type Producer struct {
	Node NodeID
}

func (s *State) producerEvent(i int32, e Event) { unexpected(e) }
func (s *State) applyProducer(c Command) Result { return Result{ID: -1} }
