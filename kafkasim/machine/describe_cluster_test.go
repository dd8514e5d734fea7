package machine

import (
	"strings"
	"testing"
)

// Every message and timer of a cluster's life has a line of its own: none falls back to its type's name.
func TestEveryClusterEventHasWords(t *testing.T) {
	b := newBench(t, 3)
	b.record()
	b.topic("orders", 2, []NodeID{1, 2, 3})
	b.run(1000 * ms)
	b.apply(CrashBroker{3})
	b.run(12_000 * ms)
	b.apply(StopBroker{2})
	b.run(12_000 * ms)
	b.apply(StartBroker{3})
	b.run(12_000 * ms)
	b.call(1, InitProducerIDRequest{})
	seen := map[string]bool{}
	for _, e := range b.seen {
		text := b.DescribePayload(e.Payload)
		if text == plainName(e.Payload) && strings.HasSuffix(KindOf(e.Payload), "Timer") || text == "" {
			t.Errorf("%T is described as %q", e.Payload, text)
		}
		seen[text] = true
	}
	for _, want := range []string{
		"BrokerRegistration", "BrokerRegistrationResponse broker epoch 13", "BrokerHeartbeat wants to shut down",
		"BrokerHeartbeatResponse shut down", "BrokerHeartbeatResponse unfenced", "MetadataFetchResponse nothing new",
		"MetadataFetchResponse [topic orders, orders-0 leader=1 epoch=0 isr=1,2,3]", "AlterPartition orders-0 ISR 1,3",
		"AlterPartitionResponse orders-0 ISR 1,3", "MetadataFetchResponse [orders-0 leader=1 epoch=0 isr=1, broker 2 fenced]",
		"AllocateProducerIds", "AllocateProducerIdsResponse 0 to 999", "looks for brokers that it has not heard of",
	} {
		if !seen[want] {
			t.Errorf("never seen: %q", want)
		}
	}
}
