package kafkasim

import (
	"slices"

	"kafkalab/kafkasim/machine"
)

// Rebalance listeners: a learner's functions that are called when a consumer's partitions come and go.
//
// What a listener does (a commit, say) are commands like any others, at their places in history; the functions
// themselves are no part of the cluster: a fork, a script or a file does not have them, and does not need them.

// listener is one function.
type listener struct {
	consumer int32
	kind     machine.CallKind
	call     func([]TopicPartition)
	seen     int // calls of the consumer's that it has been told of
}

// OnAssigned calls f whenever the consumer is given partitions, with those that are new to it (onPartitionsAssigned).
func (x *Consumer) OnAssigned(f func([]TopicPartition)) *Consumer {
	return x.listen("OnAssigned", machine.CallAssigned, f)
}

// OnRevoked calls f when the consumer gives partitions up, before it joins again, so that what f commits is still taken
// (onPartitionsRevoked).
func (x *Consumer) OnRevoked(f func([]TopicPartition)) *Consumer {
	return x.listen("OnRevoked", machine.CallRevoked, f)
}

// OnLost calls f when the consumer learns that its partitions are others' already: it must not commit
// (onPartitionsLost).
func (x *Consumer) OnLost(f func([]TopicPartition)) *Consumer {
	return x.listen("OnLost", machine.CallLost, f)
}

func (x *Consumer) listen(verb string, kind machine.CallKind, f func([]TopicPartition)) *Consumer {
	x.needsGroup(verb)
	if f == nil {
		misuse(x.where(verb), "the function is nil; want a func([]kafkasim.TopicPartition)")
	}
	x.c.listeners = append(x.c.listeners, &listener{x.i, kind, f, len(x.state().Group.Calls)})
	return x
}

// callListeners tells listeners what they have not been told. A function may let time pass, and so come here again.
func (c *Cluster) callListeners() {
	for _, l := range c.listeners {
		for l.seen < len(c.s.Consumers[l.consumer].Group.Calls) {
			k := &c.s.Consumers[l.consumer].Group.Calls[l.seen]
			l.seen++
			if k.Kind != l.kind {
				continue
			}
			var tps []TopicPartition
			for _, p := range k.TPs {
				tps = append(tps, TopicPartition{p.Topic, int(p.Partition)})
			}
			c.within(func() { l.call(tps) })
		}
	}
}

// planned is a function that Meanwhile has put off.
type planned struct {
	at   int64 // events of the history
	call func()
}

// Meanwhile calls f while the next verb lets time pass, when so many more events have happened; 0 is right after what the
// verb does at once. Scripts have it where a rebalance listener did something in the middle of a RunFor or a Poll. Like
// listeners, f is no part of the cluster: what it does is.
func (c *Cluster) Meanwhile(events int, f func()) {
	if events < 0 || f == nil {
		misuse("Meanwhile", "%d events and a function: want 0 or more, and something to call", events)
	}
	c.planned = append(c.planned, planned{c.history.steps + int64(events), f})
}

// callFunctions calls what waits for this place in history: rebalance listeners, and what Meanwhile has put off.
func (c *Cluster) callFunctions() {
	if c.listeners != nil {
		c.callListeners()
	}
	if c.callbacks != nil {
		c.commitsAnswered()
	}
	for i := 0; i < len(c.planned); i++ {
		if p := c.planned[i]; p.at <= c.history.steps {
			c.planned = slices.Delete(c.planned, i, i+1)
			c.within(p.call)
			i = -1
		}
	}
}

// within calls a function whose commands stand in the script at this place of the verb that is going on.
func (c *Cluster) within(f func()) {
	s := &c.history.script
	after := s.after
	s.after = c.history.steps - s.origin + 1
	s.depth++
	defer func() { s.depth, s.after = s.depth-1, after }()
	f()
}
