package machine

import "fmt"

// describeClientEvent says in words what a timer of a client is for.
func (s *State) describeClientEvent(e *Event) string {
	c := s.client(e.To)
	switch m := e.Payload.(type) {
	case ClientTimer:
		if c.Kind != ProducerClient {
			return "poll of " + c.Name + " wakes"
		}
		return "sender of " + c.Name + " wakes"
	case SendTick:
		t := s.Producers[c.Index].Traffic
		if int(m.Traffic) >= len(t) {
			return c.Name + " has stopped sending"
		}
		return c.Name + " sends its next record to " + t[m.Traffic].Topic
	}
	return s.DescribePayload(e.Payload)
}

// topicName is a topic's name.
func (s *State) topicName(topic int32) string {
	if topic >= 0 && int(topic) < len(s.Metadata().Topics) {
		return s.Metadata().Topics[topic].Name
	}
	return fmt.Sprintf("topic %d", topic)
}
