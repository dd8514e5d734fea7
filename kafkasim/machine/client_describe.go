package machine

import "fmt"

// describeClientEvent says in words what an event at a client is for, and whether it is housekeeping: one
// that nobody waits for, such as a sender that wakes with nothing to send.
func (s *State) describeClientEvent(e *Event) (text string, housekeeping bool) {
	c := s.client(e.To)
	housekeeping = s.clientIdle(c)
	switch m := e.Payload.(type) {
	case ClientTimer:
		if c.Consumer {
			return "poll of " + c.Name + " wakes", housekeeping
		}
		return "sender of " + c.Name + " wakes", housekeeping
	case SendTick:
		t := s.Producers[c.Index].Traffic
		if int(m.Traffic) >= len(t) {
			return c.Name + " has stopped sending", true
		}
		return c.Name + " sends its next record to " + t[m.Traffic].Topic, false
	}
	return s.DescribePayload(e.Payload), housekeeping
}

// clientIdle tells whether a client has nothing under way that its user waits for.
func (s *State) clientIdle(c *Client) bool {
	if c.Consumer {
		return !s.Consumers[c.Index].Poll.Running
	}
	return s.Producers[c.Index].Undecided() == 0
}

// topicName is a topic's name.
func (s *State) topicName(topic int32) string {
	if topic >= 0 && int(topic) < len(s.Controller.Image.Topics) {
		return s.Controller.Image.Topics[topic].Name
	}
	return fmt.Sprintf("topic %d", topic)
}
