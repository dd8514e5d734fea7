package kafkasim

import (
	"fmt"
	"strings"

	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/view"
)

// changeWords are the changes since the i-th note, in words.
func (c *Cluster) changeWords(i int) []string {
	var out []string
	for ; i < c.traced().len(); i++ {
		out = append(out, c.words(c.traced().get(i)))
	}
	return out
}

// words is a change in a sentence without subject and time where they are plain.
func (c *Cluster) words(n *note) string {
	p := c.ordinalName(int(n.partition))
	switch n.kind {
	case view.BrokerState:
		return fmt.Sprintf("broker %d: %s", n.broker, n.text())
	case view.BrokerFenced:
		if n.a == 1 {
			return fmt.Sprintf("controller: fences broker %d", n.broker)
		}
		return fmt.Sprintf("controller: unfences broker %d", n.broker)
	case view.PartitionState:
		list, list2 := n.lists()
		s := fmt.Sprintf("controller: %s leader %s, leader epoch %d, ISR %s, partition epoch %d", p, brokerWord(int(n.a)), n.b, commas(list), n.c)
		if len(list2) > 0 {
			s += ", ELR " + commas(list2)
		}
		return s
	case view.BecameLeader:
		return fmt.Sprintf("broker %d: leads %s in epoch %d, log end %d", n.broker, p, n.a, n.b)
	case view.BecameFollower:
		return fmt.Sprintf("broker %d: follows broker %s for %s in epoch %d", n.broker, brokerWord(int(n.a)), p, n.b)
	case view.Appended:
		return fmt.Sprintf("broker %d: %s log end %d -> %d", n.broker, p, n.a, n.b)
	case view.Truncated:
		return fmt.Sprintf("broker %d: %s cut back, log end %d -> %d", n.broker, p, n.b, n.a)
	case view.HighWatermark:
		return fmt.Sprintf("broker %d: %s high watermark %d -> %d", n.broker, p, n.b, n.a)
	case view.LogStart:
		return fmt.Sprintf("broker %d: %s log start %d -> %d", n.broker, p, n.b, n.a)
	case view.StaleZkVersion:
		return fmt.Sprintf("broker %d: %s: Cached zkVersion [%d] not equal to that in zookeeper, skip updating ISR", n.broker, p, n.a)
	case view.Refused:
		if n.partition < 0 {
			return fmt.Sprintf("broker %d: refused, %s", n.broker, n.text())
		}
		return fmt.Sprintf("broker %d: %s refused, %s", n.broker, p, n.text())
	case view.Lost:
		return fmt.Sprintf("%s: %s, acknowledged and lost", p, offsets(n.a, n.b))
	case view.ControllerState:
		return c.controllerWords(n)
	case view.Command:
		return "command: " + n.text()
	case view.TransactionState:
		return c.transactionWords(n)
	case view.LastStable:
		return fmt.Sprintf("broker %d: %s last stable offset %d -> %d", n.broker, p, n.b, n.a)
	}
	return c.clientWords(n, p)
}

func (c *Cluster) clientWords(n *note, p string) string {
	client := c.traced().clientName(n)
	if n.partition < 0 {
		p = "a partition that is not known yet"
	}
	switch n.kind {
	case view.Sent:
		return fmt.Sprintf("%s: %s for %s", client, plural(n.a, "record"), p)
	case view.Acked:
		if n.a < 0 {
			return fmt.Sprintf("%s: %s for %s done, nobody was asked (acks=0)", client, plural(n.b, "record"), p)
		}
		return fmt.Sprintf("%s: %s %s acknowledged after %s", client, p, offsets(n.a, n.b), inMs(n.c))
	case view.Failed:
		return fmt.Sprintf("%s: %s for %s failed, %s", client, plural(n.a, "record"), p, n.text())
	case view.Retried:
		return fmt.Sprintf("%s: %s for %s will be sent again, %s", client, plural(n.a, "record"), p, n.text())
	case view.Consumed:
		return fmt.Sprintf("%s: read %s %s", client, p, offsets(n.a, n.b-n.a))
	case view.GroupState, view.OffsetCommitted, view.Rebalanced, view.CommitFailed, view.Processed:
		return c.groupWords(n, client, p)
	case view.ProducerState:
		return fmt.Sprintf("%s: %s, producer id %d epoch %d", client, n.text(), n.a, n.b)
	case view.PositionSet:
		return fmt.Sprintf("%s: position of %s is %d", client, p, n.a)
	}
	return fmt.Sprintf("kind %d", n.kind)
}

// offsets is "offset 5" or "offsets 5-7".
func offsets(first, count int64) string {
	if count == 1 {
		return fmt.Sprintf("offset %d", first)
	}
	return fmt.Sprintf("offsets %d-%d", first, first+count-1)
}

// transactionWords is a transactional id's new state at its coordinator.
func (c *Cluster) transactionWords(n *note) string {
	s := fmt.Sprintf("broker %d: transactional id %s is %s, producer id %d epoch %d", n.broker, c.traced().clientName(n), n.text(), n.a, n.b)
	if list, _ := n.lists(); len(list) > 0 {
		var names []string
		for _, p := range list {
			names = append(names, c.ordinalName(p))
		}
		s += ", partitions " + strings.Join(names, " ")
	}
	return s
}

// ofInternalTopic tells whether a note is about a partition of one of Kafka's own topics: what happens there is told by
// what coordinators do.
func (c *Cluster) ofInternalTopic(n *note) bool {
	return n.partition >= 0 && machine.InternalTopic(c.image().Topics[c.byOrdinal(int(n.partition)).Topic].Name)
}

// newsLines is how many lines a Run tells before it only counts.
const newsLines = 40

// news are the changes since the i-th note that somebody who let time pass wants to know: each change of
// leaders, ISRs and brokers with its time; traffic and high watermarks summed up at the end.
func (c *Cluster) news(i int) []string {
	var out []string
	more := 0
	sums := newSums(c.traced())
	for ; i < c.traced().len(); i++ {
		n := c.traced().get(i)
		if c.ofInternalTopic(n) || sums.add(n) {
			continue
		}
		if len(out) == newsLines {
			more++
			continue
		}
		out = append(out, clock(n.at)+"  "+c.words(n))
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("… and %d more changes", more))
	}
	return append(out, sums.lines(c)...)
}

// sums adds up what is too frequent to tell one by one.
type sums struct {
	trace   *traceLog
	clients map[string]*traffic
	order   []string
	hw      map[[2]int]*[2]int64 // partition and broker: first and last high watermark
	moved   [][2]int
}

type traffic struct{ sent, acked, failed, retried, consumed, processed, commits int64 }

func newSums(t *traceLog) *sums {
	return &sums{trace: t, clients: map[string]*traffic{}, hw: map[[2]int]*[2]int64{}}
}

// add takes a note that is summed up; false for one that is told.
func (s *sums) add(n *note) bool {
	switch n.kind {
	case view.Sent:
		s.of(n).sent += n.a
	case view.Acked:
		s.of(n).acked += n.b
	case view.Failed:
		s.of(n).failed += n.a
		return false
	case view.Retried:
		s.of(n).retried += n.a
	case view.Consumed:
		s.of(n).consumed += n.b - n.a
	case view.Processed:
		s.of(n).processed += n.b - n.a
	case view.OffsetCommitted:
		s.of(n).commits++
	case view.HighWatermark:
		k := [2]int{int(n.partition), int(n.broker)}
		if s.hw[k] == nil {
			s.hw[k] = &[2]int64{n.b, n.a}
			s.moved = append(s.moved, k)
		}
		s.hw[k][1] = n.a
	case view.Appended, view.Refused, view.Command:
	default:
		return false
	}
	return true
}

func (s *sums) of(n *note) *traffic {
	client := s.trace.clientName(n)
	t := s.clients[client]
	if t == nil {
		t = &traffic{}
		s.clients[client] = t
		s.order = append(s.order, client)
	}
	return t
}

// lines are the sums in words. Of high watermarks the present leaders' are told.
func (s *sums) lines(c *Cluster) []string {
	var out []string
	for _, k := range s.moved {
		if c.leads(k[1], k[0]) {
			v := s.hw[k]
			out = append(out, fmt.Sprintf("%s high watermark %d -> %d", c.ordinalName(k[0]), v[0], v[1]))
		}
	}
	for _, name := range s.order {
		t, line := s.clients[name], ""
		for _, part := range []struct {
			n    int64
			word string
		}{{t.sent, "sent"}, {t.acked, "acknowledged"}, {t.retried, "sent again"}, {t.failed, "failed"}, {t.consumed, "read"},
			{t.processed, "processed"}, {t.commits, "committed"}} {
			if part.n == 0 {
				continue
			}
			if line != "" {
				line += ", "
			}
			line += fmt.Sprintf("%d %s", part.n, part.word)
		}
		out = append(out, name+": "+line)
	}
	return out
}

// controllerWords say what became of a controller.
func (c *Cluster) controllerWords(n *note) string {
	who := c.s.NodeName(machine.NodeID(n.a))
	switch text := n.text(); text {
	case "CRASHED", "PAUSED":
		return who + ": " + text
	case "ACTIVE":
		return fmt.Sprintf("%s: is the active controller, epoch %d", who, n.b)
	case "Follower":
		return fmt.Sprintf("%s: follows controller %d in epoch %d", who, n.c, n.b)
	case "Leader":
		return fmt.Sprintf("%s: leads the quorum in epoch %d", who, n.b)
	default:
		return fmt.Sprintf("%s: %s in epoch %d", who, text, n.b)
	}
}
