package machine

import (
	"fmt"
	"strings"
)

// describeClientEvent says in words what an event at a client is, and whether it is housekeeping: one
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
	case Disconnected:
		return fmt.Sprintf("%s loses its connection to broker %d", c.Name, e.From), housekeeping
	case MetadataResponse:
		return c.Name + " learns metadata" + s.describeTopics(m), housekeeping
	case ProduceResponse:
		return c.Name + " hears of " + s.describeProduced(m), false
	case InitProducerIDResponse:
		return fmt.Sprintf("%s gets producer id %d", c.Name, m.ProducerID), housekeeping
	}
	return fmt.Sprintf("%s gets %T", c.Name, e.Payload), housekeeping
}

// clientIdle tells whether a client has nothing under way that its user waits for.
func (s *State) clientIdle(c *Client) bool {
	if c.Consumer {
		return true
	}
	return s.Producers[c.Index].Undecided() == 0
}

func (s *State) describeTopics(m MetadataResponse) string {
	var b strings.Builder
	for i := range m.Topics {
		t := &m.Topics[i]
		if t.Error != NONE {
			fmt.Fprintf(&b, ", %s %s", t.Name, t.Error)
			continue
		}
		fmt.Fprintf(&b, ", %s leaders", t.Name)
		for j := range t.Partitions {
			fmt.Fprintf(&b, " %s", leaderWord(t.Partitions[j].Leader))
		}
	}
	return strings.Replace(b.String(), ",", ":", 1)
}

func leaderWord(n NodeID) string {
	if n == NoNode {
		return "none"
	}
	return fmt.Sprint(int32(n))
}

func (s *State) describeProduced(m ProduceResponse) string {
	var words []string
	for i := range m.Parts {
		p := &m.Parts[i]
		name := fmt.Sprintf("%s-%d", s.topicName(p.TP.Topic), p.TP.Partition)
		if p.Error != NONE {
			words = append(words, name+" "+p.Error.String())
			continue
		}
		words = append(words, fmt.Sprintf("%s acked at offset %d", name, p.BaseOffset))
	}
	return strings.Join(words, ", ")
}

// topicName is a topic's name.
func (s *State) topicName(topic int32) string {
	if topic >= 0 && int(topic) < len(s.Controller.Image.Topics) {
		return s.Controller.Image.Topics[topic].Name
	}
	return fmt.Sprintf("topic %d", topic)
}
