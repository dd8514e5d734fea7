package kafkasim

import (
	"fmt"
	"strings"

	"kafkalab/kafkasim/view"
)

// TopicPartition names a partition.
type TopicPartition struct {
	Topic     string
	Partition int
}

// String is the partition as Kafka's logs write it: orders-0.
func (p TopicPartition) String() string { return fmt.Sprintf("%s-%d", p.Topic, p.Partition) }

// groupWords are changes of groups and of what their members do.
func (c *Cluster) groupWords(n *note, client, p string) string {
	switch n.kind {
	case view.GroupState:
		return fmt.Sprintf("broker %d: group %s is %s, generation %d, %s", n.broker, client, n.text(), n.a, plural(n.b, "member"))
	case view.OffsetCommitted:
		if n.a < 0 {
			return fmt.Sprintf("broker %d: group %s has no offset of %s any more", n.broker, client, p)
		}
		return fmt.Sprintf("broker %d: group %s is at %d in %s", n.broker, client, n.a, p)
	case view.Rebalanced:
		list, _ := n.lists()
		var names []string
		for _, i := range list {
			names = append(names, c.ordinalName(i))
		}
		what := strings.Join(names, ", ")
		if what == "" {
			what = "nothing"
		}
		return fmt.Sprintf("%s: %s %s", client, n.text(), what)
	case view.Processed:
		return fmt.Sprintf("%s: processed %s %s", client, p, offsets(n.a, n.b-n.a))
	}
	return fmt.Sprintf("%s: %s", client, n.text())
}
