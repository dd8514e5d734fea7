package kafkasim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kafkalab/kafkasim/machine"
)

// How a consumer ends, and the callbacks of its asynchronous commits.

// CloseOptions are those of KafkaConsumer.close (KIP-1092).
type CloseOptions struct {
	// Timeout is how long the close may wait for its commit and its leave; 0 is Kafka's 30 s.
	Timeout time.Duration
	// GroupMembershipOperation is "DEFAULT" or "" (a member leaves; one with a group.instance.id remains until its session
	// ends), "LEAVE_GROUP" (it leaves, static or not) or "REMAIN_IN_GROUP" (it says nothing, and the group waits for it until
	// its session ends: for restarts of dynamic members without two rebalances).
	GroupMembershipOperation string
}

// membershipOperations are Kafka's names, in the machine's order.
var membershipOperations = []string{"DEFAULT", "LEAVE_GROUP", "REMAIN_IN_GROUP"}

// Close ends the consumer. With a group it commits, if it does so by itself, and leaves, or does what the options say; time
// passes until that is done.
func (x *Consumer) Close(options ...CloseOptions) *Consumer {
	if x.state().Closed {
		return x // as in Kafka, where a second close does nothing
	}
	cmd, code := machine.CloseConsumer{Consumer: x.i}, ""
	if len(options) > 1 {
		misuse(x.where("Close"), "want no CloseOptions or one, not %d", len(options))
	}
	if len(options) == 1 {
		cmd, code = x.closeCommand(options[0], cmd)
	}
	x.callBack()
	x.c.apply(fmt.Sprintf("c.Consumer(%q).Close(%s)", x.ID(), code), cmd)
	x.c.stepUntil(x.c.passing("Close, ms at most", max(cmd.Timeout, 30_000_000)), func() bool { return x.state().Closed })
	x.callBack()
	return x
}

func (x *Consumer) closeCommand(o CloseOptions, cmd machine.CloseConsumer) (machine.CloseConsumer, string) {
	op := slices.Index(membershipOperations, o.GroupMembershipOperation)
	switch {
	case o.Timeout < 0:
		misuse(x.where("Close"), "The timeout cannot be negative. (IllegalArgumentException): %v", o.Timeout)
	case op < 0 && o.GroupMembershipOperation != "":
		misuse(x.where("Close"), "there is no GroupMembershipOperation %q%s", o.GroupMembershipOperation, meant(o.GroupMembershipOperation, membershipOperations, ""))
	case op > 0:
		x.needsGroup("Close with a GroupMembershipOperation")
	}
	cmd.Membership, cmd.Timeout = machine.MembershipOperation(max(op, 0)), o.Timeout.Microseconds()
	var parts []string
	if o.Timeout != 0 {
		parts = append(parts, "Timeout: "+goDuration(cmd.Timeout))
	}
	if o.GroupMembershipOperation != "" {
		parts = append(parts, fmt.Sprintf("GroupMembershipOperation: %q", o.GroupMembershipOperation))
	}
	return cmd, "kafkasim.CloseOptions{" + strings.Join(parts, ", ") + "}"
}

// commitCallback is a function that is to hear of a commit.
type commitCallback struct {
	consumer, number int32
	call             func(*Committed)
	result           *Committed
	answered         int   // place in the order of answers; 0 while there is none
	polls            int64 // of the consumer, when the answer came
}

// commitsAnswered notes the answers that have come, and calls whoever waits for one and whose consumer polls.
func (c *Cluster) commitsAnswered() {
	last := 0
	for _, b := range c.callbacks {
		last = max(last, b.answered)
	}
	for _, b := range c.callbacks {
		x := &c.s.Consumers[b.consumer]
		if o := x.CommitOf(b.number); b.answered == 0 && o != nil && o.Done {
			last++
			b.answered, b.polls = last, x.Stats.Polls
			b.result.take(o)
		}
	}
	c.callBack(c.within, func(b *commitCallback) bool {
		x := &c.s.Consumers[b.consumer]
		return x.Poll.Running || x.Stats.Polls > b.polls
	})
}

// callBack calls, in the order of answers, those that are due.
func (c *Cluster) callBack(in func(func()), due func(*commitCallback) bool) {
	for {
		next := -1
		for i, b := range c.callbacks {
			if b.answered > 0 && due(b) && (next < 0 || b.answered < c.callbacks[next].answered) {
				next = i
			}
		}
		if next < 0 {
			return
		}
		b := c.callbacks[next]
		c.callbacks = slices.Delete(c.callbacks, next, next+1)
		in(func() { b.call(b.result) })
	}
}

// callBack is what a commit and a close do first and last: the callbacks of commits that were answered. No verb is going on.
func (x *Consumer) callBack() {
	if x.c.callbacks != nil {
		x.c.callBack(func(f func()) { f() }, func(b *commitCallback) bool { return b.consumer == x.i })
	}
}
