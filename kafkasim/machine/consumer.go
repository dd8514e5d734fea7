package machine

// Consumer is one consumer client.
type Consumer struct {
	Node NodeID
}

func (c *Consumer) clone() Consumer { return *c }

func (s *State) consumerEvent(i int32, e Event) { unexpected(e) }
func (s *State) applyConsumer(c Command) Result { return Result{ID: -1} }
