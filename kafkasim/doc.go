// Package kafkasim is a deterministic Kafka inside a Go program: build a World, get a Cluster, create
// topics, send records, crash brokers, hold back single messages, step virtual time, and look.
//
//	c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: 7})
//	c.CreateTopic("orders", 3, 2, kafkasim.Config{"min.insync.replicas": 1})
//	p := c.NewProducer("checkout", kafkasim.Config{"acks": "all"})
//	d := p.Send("orders", "user-1", "order #1")
//	c.RunFor(50 * time.Millisecond)
//	c.Broker(1).Crash()
//
// Nothing happens in real time and nothing by chance: the same World and the same commands give the same
// bytes on every machine. Every verb returns something that can be printed. What Kafka answers is a
// value (a Delivery that failed with NOT_ENOUGH_REPLICAS); a mistake of the caller panics with a
// *UsageError, whose text says where, what, and what would have been right.
//
// The rules are those of Kafka 4.3, or of the version that World.Kafka names, as FIDELITY.md lists them; what
// is not there is refused by name. Cluster.Replay runs the same commands under other rules.
package kafkasim
