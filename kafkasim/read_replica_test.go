package kafkasim

import (
	"testing"
	"time"
)

// C-50, C-51: a consumer in the rack of a follower is sent there, and reads the same.
func TestConsumerReadsInItsRack(t *testing.T) {
	c := New(World{Brokers: 2, Racks: []string{"a", "b"}, Seed: 1,
		Config: Config{"replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector"}})
	c.CreateTopic("orders", 1, 2, nil)
	c.Reassign("orders", 0, 1, 2)
	c.RunFor(2 * time.Second)
	c.ElectPreferred("orders")
	c.RunFor(time.Second)
	p := c.NewProducer("checkout", nil)
	p.Send("orders", "user-1", "order #1")
	p.Flush()
	c.RunFor(time.Second)
	x := c.NewConsumer("reader", Config{"auto.offset.reset": "earliest", "client.rack": "b"}).Assign("orders")
	if r := x.Poll(time.Second); len(r.Records) != 1 || r.Records[0].Value != "order #1" {
		t.Fatalf("polled %v", r)
	}
	if got := x.state().Parts[0].Preferred; got != 2 {
		t.Errorf("the consumer reads from broker %d", got)
	}
}

// What consumers of older versions could not do is refused by the version that brought it.
func TestConsumersOfOlderVersions(t *testing.T) {
	for _, x := range []struct {
		kafka string
		conf  Config
		want  string
	}{
		{"3.9", Config{"auto.offset.reset": "by_duration:PT1H"}, `consumer "c": auto.offset.reset=by_duration:PT1H: Kafka 3.9 has latest, earliest and none; by_duration came with 4.0 (KIP-1106)`},
		{"2.3", Config{"client.rack": "a"}, `consumer "c": client.rack: consumers of Kafka 2.3 read from leaders only; followers answer since 2.4 (KIP-392)`},
	} {
		func() {
			defer func() {
				if e, ok := recover().(*UsageError); !ok || e.Error() != "kafkasim: "+x.want {
					t.Errorf("%s: %v, want %s", x.kafka, e, x.want)
				}
			}()
			New(World{Kafka: x.kafka}).NewConsumer("c", x.conf)
		}()
	}
}
