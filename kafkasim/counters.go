package kafkasim

import (
	"fmt"

	"kafkalab/kafkasim/view"
)

// Counters are the numbers under the widget.
type Counters struct {
	Sent     int // records handed to send() in the last tick
	Acked    int // records acknowledged in the last tick
	Retrying int // records in batches that failed and wait to be sent again
	ISR      int // the smallest ISR of all partitions
	Lost     int // records that were acknowledged and are in no leader's log any more, ever
}

// String is the five numbers in words.
func (n Counters) String() string {
	return fmt.Sprintf("sent this step %d, acked this step %d, waiting to retry %d, ISR size %d, acked records lost %d", n.Sent, n.Acked, n.Retrying, n.ISR, n.Lost)
}

// Counters counts for the tick that just ended (a step of the widget) and for the present.
func (c *Cluster) Counters() Counters {
	var n Counters
	since := c.s.Now - c.s.World.Tick
	for i := c.traced().len() - 1; i >= 0 && c.traced().get(i).at > since; i-- {
		switch x := c.traced().get(i); x.kind {
		case view.Sent:
			n.Sent += int(x.a)
		case view.Acked:
			n.Acked += int(x.b)
		}
	}
	for i := range c.s.Producers {
		n.Retrying += int(c.s.Producers[i].Retrying())
	}
	first := true
	for t := range c.image().Topics {
		for _, p := range c.image().Topics[t].Partitions {
			if size := len(p.ISR); first || size < n.ISR {
				n.ISR, first = size, false
			}
		}
	}
	for i := range c.s.Truth.Acked {
		if a := &c.s.Truth.Acked[i]; a.Lost {
			n.Lost += int(a.Count)
		}
	}
	return n
}
