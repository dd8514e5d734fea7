package charts

import (
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/view"
)

// loudness says how much a change matters to a reader: moments of 2 and more keep a frame of their own,
// and when there is no room for every sentence the loud ones stay.
func (b *board) loudness(c *view.Change) int {
	switch c.Kind {
	case view.Lost, view.Command:
		return 5
	case view.ControllerState:
		return pick(c.Text == "ACTIVE" || c.Text == "CRASHED" || c.Text == "PAUSED", 4, 2)
	case view.BrokerState:
		return pick(c.Text == "RUNNING" || c.Text == "RECOVERY", 2, 4)
	case view.Truncated, view.Failed:
		return 4
	case view.PartitionState:
		return b.partitionLoudness(c)
	case view.Rebalanced, view.CommitFailed, view.TransactionState:
		return 3
	case view.BrokerFenced, view.Refused, view.Retried, view.GroupState:
		return 2
	case view.BecameLeader, view.BecameFollower, view.Acked, view.Consumed, view.PositionSet:
		return 1
	}
	return 0
}

// partitionLoudness: a new leader matters more than a new ISR.
func (b *board) partitionLoudness(c *view.Change) int {
	if c.Partition < 0 || c.Partition >= len(b.partitions) || !b.partitions[c.Partition].created {
		return 2
	}
	return pick(b.partitions[c.Partition].leader != int(c.A), 4, 3)
}

// say describes a change in a sentence; "" when there is nothing to say. The board is that before the
// change.
func (b *board) say(c *view.Change) string {
	partition := ""
	if c.Partition >= 0 && c.Partition < len(b.partitions) {
		partition = b.partitions[c.Partition].name
	}
	switch c.Kind {
	case view.Command:
		return "You: " + c.Text + "."
	case view.BrokerState:
		return sayState(c)
	case view.ControllerState:
		return sayController(c)
	case view.BrokerFenced:
		return fmt.Sprintf("The controller %s broker %d.", pick(c.A == 1, "fences", "unfences"), c.Broker)
	case view.PartitionState:
		return b.sayPartition(c)
	case view.Rebalanced:
		return b.sayRebalanced(c)
	case view.LastStable:
		return fmt.Sprintf("Broker %d moves the last stable offset of %s from %d to %d.", c.Broker, partition, c.B, c.A)
	case view.BecameLeader:
		return fmt.Sprintf("Broker %d leads %s in epoch %d; its log ends at %d.", c.Broker, partition, c.A, c.B)
	case view.BecameFollower:
		return fmt.Sprintf("Broker %d follows broker %d in %s, epoch %d.", c.Broker, c.A, partition, c.B)
	case view.Appended:
		return b.sayAppended(c, partition)
	case view.Truncated:
		return fmt.Sprintf("Broker %d cuts its log of %s back from %d to %d: %s gone.", c.Broker, partition, c.B, c.A, isAre(c.A, c.B))
	case view.HighWatermark:
		return fmt.Sprintf("Broker %d moves the high watermark of %s from %d to %d.", c.Broker, partition, c.B, c.A)
	case view.LogStart:
		return fmt.Sprintf("Broker %d moves the log start of %s from %d to %d.", c.Broker, partition, c.B, c.A)
	case view.Lost:
		return fmt.Sprintf("Lost: %s of %s, acknowledged, in no leader's log any more.", span(c.A, c.A+c.B-1), partition)
	}
	return sayClient(c, partition)
}

func sayClient(c *view.Change, partition string) string {
	switch c.Kind {
	case view.GroupState:
		return fmt.Sprintf("Group %s is %s in generation %d, with %s.", c.Client, c.Text, c.A, count(c.B, "member", "members"))
	case view.OffsetCommitted:
		return fmt.Sprintf("Group %s has committed offset %d of %s.", c.Client, c.A, partition)
	case view.CommitFailed:
		return fmt.Sprintf("%s cannot commit: %s.", c.Client, c.Text)
	case view.TransactionState:
		return fmt.Sprintf("Transaction %s is %s.", c.Client, c.Text)
	case view.Sent:
		return fmt.Sprintf("%s sends %s to %s.", c.Client, count(c.A, "record", "records"), partition)
	case view.Acked:
		if c.A < 0 {
			return fmt.Sprintf("%s does not wait: %s to %s count as sent.", c.Client, count(c.B, "record", "records"), partition)
		}
		return fmt.Sprintf("%s learns: %s of %s acknowledged, after %s.", c.Client, span(c.A, c.A+c.B-1), partition, ms(c.C))
	case view.Failed:
		return fmt.Sprintf("%s gives up %s to %s: %s.", c.Client, count(c.A, "record", "records"), partition, c.Text)
	case view.Retried:
		return fmt.Sprintf("%s will send %s to %s again: %s.", c.Client, count(c.A, "record", "records"), partition, c.Text)
	case view.StaleZkVersion:
		return fmt.Sprintf("Broker %d cannot change the ISR of %s: its zkVersion is %d, ZooKeeper's is %d.", c.Broker, partition, c.A, c.B)
	case view.Refused:
		return fmt.Sprintf("Broker %d refuses a request for %s: %s.", c.Broker, partition, c.Text)
	case view.Consumed:
		if c.B <= c.A {
			return ""
		}
		return fmt.Sprintf("%s reads %s of %s.", c.Client, span(c.A, c.B-1), partition)
	case view.PositionSet:
		return fmt.Sprintf("%s will read %s from offset %d.", c.Client, partition, c.A)
	}
	return ""
}

func pick[T any](condition bool, yes, no T) T {
	if condition {
		return yes
	}
	return no
}

func isAre(first, end int64) string {
	return span(first, end-1) + pick(end-first == 1, " is", " are")
}

func sayState(c *view.Change) string {
	what, known := map[string]string{
		"CRASHED": "crashes", "NOT_RUNNING": "has stopped", "STARTING": "starts", "RECOVERY": "checks its logs (recovery)",
		"RUNNING": "is running", "PAUSED": "falls silent", "PENDING_CONTROLLED_SHUTDOWN": "begins a controlled shutdown",
	}[c.Text]
	if !known {
		what = "is " + c.Text
	}
	return fmt.Sprintf("Broker %d %s.", c.Broker, what)
}

// sayPartition tells what is new in the controller's record.
func (b *board) sayPartition(c *view.Change) string {
	if c.Partition < 0 || c.Partition >= len(b.partitions) {
		return ""
	}
	p := &b.partitions[c.Partition]
	if !p.created {
		return fmt.Sprintf("%s is created on %s: %s.", p.name, brokersText(p.replicas), leaderText(int(c.A)))
	}
	var parts []string
	if int(c.A) != p.leader {
		parts = append(parts, pick(c.A < 0, "no leader", fmt.Sprintf("broker %d is leader in epoch %d", c.A, c.B)))
	}
	if !slices.Equal(c.List, p.isr) {
		parts = append(parts, "the ISR is "+listing(ids(c.List)))
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("Controller, %s: %s.", p.name, strings.Join(parts, "; "))
}

// sayRebalanced tells what a consumer was given, or lost.
func (b *board) sayRebalanced(c *view.Change) string {
	var names []string
	for _, i := range c.List {
		if i >= 0 && i < len(b.partitions) {
			names = append(names, b.partitions[i].name)
		}
	}
	if len(names) > 8 {
		names = append(names[:8], count(len(names)-8, "more", "more"))
	}
	what := map[string]string{"assigned": "is given", "revoked": "gives up", "lost": "has lost"}[c.Text]
	return fmt.Sprintf("%s %s %s.", c.Client, what, listing(names))
}

func leaderText(leader int) string {
	if leader < 0 {
		return "no leader"
	}
	return fmt.Sprintf("leader broker %d", leader)
}

func (b *board) sayAppended(c *view.Change, partition string) string {
	if c.B <= c.A {
		return ""
	}
	verb := "copies"
	if c.Partition >= 0 && c.Partition < len(b.partitions) {
		if l := b.partitions[c.Partition].logOf(c.Broker); l != nil && l.role == "leader" {
			verb = "appends"
		}
	}
	return fmt.Sprintf("Broker %d %s %s of %s.", c.Broker, verb, span(c.A, c.B-1), partition)
}

// sentence is a described change.
type sentence struct {
	text string
	loud int
	at   int64
}

// tell keeps at most lines sentences: the loud ones first, in the order in which they happened. What is
// left out is counted.
func tell(sentences []sentence, lines int) []string {
	sentences = slices.DeleteFunc(slices.Clone(sentences), func(s sentence) bool { return s.text == "" })
	var words []string
	if len(sentences) <= lines {
		for _, s := range sentences {
			words = append(words, clip(s.text))
		}
		return words
	}
	byLoudness := slices.Clone(sentences)
	slices.SortStableFunc(byLoudness, func(a, b sentence) int { return b.loud - a.loud })
	kept := byLoudness[:lines-1]
	slices.SortStableFunc(kept, func(a, b sentence) int { return int(min(max(a.at-b.at, -1), 1)) })
	for _, s := range kept {
		words = append(words, clip(s.text))
	}
	return append(words, "… and "+count(len(sentences)-len(kept), "more change", "more changes")+".")
}
