package kafkasim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"kafkalab/kafkasim/machine"
)

// Message is one message on the wire.
type Message struct {
	Number  int           // what Deliver, Drop and Delay take
	Arrives time.Duration // virtual time; meaningless while it is held
	Held    bool          // it waits for Release or Heal
	From    string
	To      string
	Text    string // what it says
	c       *Cluster
	e       machine.Event
}

// event is the message as the machine has it.
func (m Message) event() machine.Event { return m.e }

// String is the message on one line.
func (m Message) String() string { return strings.Join(m.cells(), "  ") }

func (m Message) cells() []string {
	when := "arrives " + clock(m.Arrives.Microseconds())
	if m.Held {
		when = "held"
	}
	return []string{fmt.Sprintf("#%d", m.Number), when, m.From + " -> " + m.To, m.Text}
}

// Messages is a list of messages on the wire.
type Messages []Message

// String is a table of the messages.
func (m Messages) String() string {
	if len(m) == 0 {
		return "nothing is on the wire"
	}
	var table [][]string
	for _, x := range m {
		table = append(table, x.cells())
	}
	return rows(table)
}

// InFlight lists the messages on the wire in the order in which they will arrive, heartbeats included;
// those that are held come last.
func (c *Cluster) InFlight() Messages {
	var events, held []machine.Event
	for _, e := range c.s.Queue {
		if e.From != machine.NoNode {
			events = append(events, e)
		}
	}
	slices.SortFunc(events, func(a, b machine.Event) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Seq, b.Seq)) })
	held = append(held, c.s.Held...)
	for i := range c.s.Links {
		held = append(held, c.s.Links[i].Held...)
	}
	slices.SortFunc(held, func(a, b machine.Event) int { return cmp.Compare(a.Seq, b.Seq) })
	out := Messages{}
	for i, e := range append(events, held...) {
		out = append(out, Message{Number: int(e.Seq), Arrives: duration(e.At), Held: i >= len(events),
			From: c.s.NodeName(e.From), To: c.s.NodeName(e.To), Text: c.s.DescribePayload(e.Payload), c: c, e: e})
	}
	return out
}

// onTheWire checks a message's number.
func (c *Cluster) onTheWire(verb string, n int) machine.Event {
	where := fmt.Sprintf("%s(%d)", verb, n)
	for _, e := range c.s.Queue {
		if int(e.Seq) == n && e.From != machine.NoNode {
			return e
		}
	}
	for _, m := range c.InFlight() {
		if m.Number == n {
			misuse(where, "message #%d is held; Release() lets it go (or Heal(), if its link is cut)", n)
		}
	}
	misuse(where, "no message #%d is on the wire; InFlight() lists them with their numbers", n)
	return machine.Event{}
}

// Deliver lets a message arrive now, after whatever else is due at this moment, and tells what it did. What is
// before it on its connection arrives before it.
func (c *Cluster) Deliver(n int) *Event {
	c.onTheWire("Deliver", n)
	c.history.line(fmt.Sprintf("c.Deliver(%d)", n), c.s.Now)
	c.apply("", machine.DeliverMessage{Seq: uint64(n)})
	for {
		changes := c.traced().len()
		next, _ := c.s.Peek()
		text := c.s.Describe(next)
		e, ok := c.step()
		if !ok || int(e.Seq) == n {
			return &Event{Time: duration(e.At), Number: n, From: c.fromName(e), To: c.s.NodeName(e.To), Text: text, Changes: c.changeWords(changes)}
		}
	}
}

// Drop loses a message. TCP would send it again; this is what a connection looks like whose other end
// lost the request or the answer, and only the requester's timeout ends it.
func (c *Cluster) Drop(n int) Message {
	e := c.onTheWire("Drop", n)
	m := c.message(e)
	c.apply(fmt.Sprintf("c.Drop(%d)", n), machine.DropMessage{Seq: uint64(n)})
	return m
}

// Delay lets a message arrive later by d. On its connection nothing overtakes it, as with Hold: what follows waits
// behind it, while other connections between the same nodes go on.
func (c *Cluster) Delay(n int, d time.Duration) Message {
	e := c.onTheWire("Delay", n)
	if d < 0 {
		misuse(fmt.Sprintf("Delay(%d)", n), "%v: want how much later it arrives", d)
	}
	c.apply(fmt.Sprintf("c.Delay(%d, %s)", n, goDuration(d.Microseconds())), machine.DelayMessage{Seq: uint64(n), By: d.Microseconds()})
	e.At += d.Microseconds()
	return c.message(e)
}

func (c *Cluster) message(e machine.Event) Message {
	return Message{Number: int(e.Seq), Arrives: duration(e.At), From: c.s.NodeName(e.From), To: c.s.NodeName(e.To), Text: c.s.DescribePayload(e.Payload), c: c, e: e}
}

// Hold keeps back every message that the pattern names: those on the wire now and those sent from now on, until
// Release. A pattern reads like the messages' lines: "Fetch 2->1 orders-0", "Produce checkout->1",
// "broker 2 -> broker 1  Fetch", "-> controller", "FetchResponse orders". Its words are an API, a partition or
// a topic, or other words of a line; a->b says who sends and who gets, and either side may be left out. On one
// connection nothing overtakes a message that is held. It tells what it holds.
func (c *Cluster) Hold(pattern string) Messages {
	c.pattern("Hold", pattern)
	c.apply(fmt.Sprintf("c.Hold(%q)", pattern), machine.HoldMessages{Pattern: pattern})
	return c.heldNow()
}

// Matching are the messages that a pattern of Hold names.
func (m Messages) Matching(pattern string) Messages {
	out := Messages{}
	if len(m) == 0 {
		return out
	}
	p := m[0].c.pattern("Matching", pattern)
	for _, x := range m {
		if e := x.event(); p.Matches(x.c.s, &e) {
			out = append(out, x)
		}
	}
	return out
}

// pattern reads a pattern and checks that it can name something.
func (c *Cluster) pattern(verb, text string) machine.Pattern {
	where := fmt.Sprintf("%s(%q)", verb, text)
	p, ok := machine.ParsePattern(text)
	if !ok {
		misuse(where, "want words of a message's line and at most one way, such as \"Fetch 2->1 orders-0\" or \"broker 2 -> broker 1\"")
	}
	for _, name := range []string{p.From, p.To} {
		if name != "" && name != "controller" {
			c.node(where, name)
		}
	}
	known := append(c.s.MessageNames(), c.topicNames()...)
	for _, t := range c.image().Topics {
		for i := range t.Partitions {
			known = append(known, fmt.Sprintf("%s-%d", t.Name, i))
		}
	}
	for _, w := range p.Words {
		if !slices.Contains(known, w) && !c.onSomeLine(w) {
			misuse(where, "no message has the word %q%s", w, meant(w, known, ""))
		}
	}
	return p
}

// onSomeLine tells whether a word stands on the line of a message that is on the wire or held.
func (c *Cluster) onSomeLine(word string) bool {
	return slices.ContainsFunc(c.InFlight(), func(m Message) bool {
		e := m.event()
		return slices.Contains(c.s.MessageWords(e.Payload), word)
	})
}

// Release ends all holds and lets the held messages go on, in order: each travels from now. It tells what it
// released; a message whose link is cut is still held, by the cut.
func (c *Cluster) Release() Messages {
	held := c.heldNow()
	c.apply("c.Release()", machine.ReleaseMessages{})
	for i := range held {
		for _, e := range c.s.Queue {
			if int(e.Seq) == held[i].Number && e.From != machine.NoNode {
				held[i] = c.message(e)
			}
		}
	}
	return held
}

func (c *Cluster) heldNow() Messages {
	var out Messages
	for _, e := range c.s.Held {
		m := c.message(e)
		m.Held = true
		out = append(out, m)
	}
	return out
}
