// Consumer, poll.
//
// A poll ends with records, with an error or at its timeout, and everything that a consumer sends it sends
// within a poll. Before it returns records it sends the next fetches, so that they are under way while the
// application works (C-8).
//
// Kafka: ClassicKafkaConsumer.poll, pollForFetches.
package machine

import "kafkalab/kafkasim/view"

// consumerInFlight is how many requests may be out on one of a consumer's connections.
const consumerInFlight = 100

// startPoll begins a poll that ends after timeout µs at the latest.
func (s *State) startPoll(c *Consumer, timeout int64) {
	c.Stats.polled(s.Now)
	c.Poll = Poll{Running: true, Until: s.Now + max(timeout, 0)}
	s.goOnPolling(c)
	s.background(c)
}

// throw ends the poll with an error.
func (c *Consumer) throw(p *ConsumerPart, why Code, divergesAt int64) {
	c.Poll.Error, c.Poll.ErrorTP, c.Poll.DivergesAt = why, p.TP, divergesAt
}

// goOnPolling does what the running poll can do now.
func (s *State) goOnPolling(c *Consumer) {
	if !c.Poll.Running {
		return
	}
	for i := range c.Conns {
		if s.Now >= c.overdueAt(&c.Conns[i]) {
			s.loseAnswers(c, &c.Conns[i], s.hangUpClient(&c.ClientIO, &c.Conns[i]))
		}
	}
	if c.Config.Member.GroupID != "" {
		s.pollGroup(c)
	}
	if c.Poll.Error == NONE {
		s.updatePositions(c)
	}
	if c.Poll.Error == NONE {
		before := c.resets()
		s.collect(c)
		if c.resets() != before {
			s.updatePositions(c) // an error asked for it
		}
	}
	if c.Poll.Error == NONE {
		s.sendFetches(c)
	}
	s.refreshMetadata(&c.ClientIO, consumerInFlight)
	if c.Poll.Count > 0 || c.Poll.Advanced || c.Poll.Error != NONE || s.Now >= c.Poll.Until {
		s.endPoll(c)
		return
	}
	s.wakeAt(&c.ClientIO, s.pollDeadline(c))
}

// resets counts the partitions that wait for a position or its validation.
func (c *Consumer) resets() int {
	n := 0
	for i := range c.Parts {
		if c.Parts[i].State != PositionFetching {
			n++
		}
	}
	return n
}

// endPoll returns to the application.
func (s *State) endPoll(c *Consumer) {
	c.Poll.Running = false
	if s.mutant(CommitsEarly) && c.Config.Member.EnableAutoCommit && c.Poll.Count > 0 {
		s.beginCommit(c, CommitAuto, c.consumed())
	}
	for i := 0; i < len(c.Poll.Records); {
		first := c.Poll.Records[i]
		for i++; i < len(c.Poll.Records) && c.Poll.Records[i].TP == first.TP; i++ {
		}
		last := c.Poll.Records[i-1]
		s.note(view.Change{Kind: view.Consumed, Broker: -1, Partition: s.ordinal(first.TP), Client: c.Name,
			A: first.Offset, B: c.behind(&last)})
	}
}

// pollDeadline is when the poll has something to do by itself.
func (s *State) pollDeadline(c *Consumer) int64 {
	at := min(c.Poll.Until, c.orReconnect(s.metadataAt(&c.ClientIO), s.Now), c.pollGroupAt(s.Now))
	for i := range c.Conns {
		at = min(at, c.overdueAt(&c.Conns[i]))
	}
	for i := range c.Parts {
		p := &c.Parts[i]
		if p.RetryAt > s.Now {
			at = min(at, p.RetryAt)
		}
		m := c.Meta.part(c.Meta.local(p.TP.Topic), p.TP.Partition)
		if m == nil {
			continue
		}
		if k := c.conn(m.Leader); k != nil && k.retryAt() > s.Now {
			at = min(at, k.retryAt())
		}
	}
	return at
}
