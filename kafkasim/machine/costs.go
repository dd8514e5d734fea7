package machine

import (
	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
)

// Costs are what a broker's work has cost since the world began, in counters: nothing here takes time.
//
// What a batch goes through: the network brings it, the leader looks at it (and compresses it again if the topic
// wants another codec), and it is appended to a file, which is in the page cache until a flush. For reading, Kafka
// lets the kernel send file pages to the socket without touching them (sendfile). With TLS it must read
// them into its own memory first, to encrypt them.
//
// Kafka: FileRecords.writeTo, TransferableChannel, SslTransportLayer, BrokerTopicMetrics. Bytes are those of batches;
// requests' and answers' own headers are not counted. There is no down-conversion to count: every
// client here reads record batches (format 2), and who would not came before 0.11. Asking for an older format
// (message.format.version) is refused by name.
type Costs struct {
	Produces, ConsumerFetches, FollowerFetches, OtherRequests int64

	ProducedBytes  int64 // of batches in ProduceRequests
	DecryptedBytes int64 // … that came encrypted
	Appends        int64 // batches written to a log, on leaders and followers
	AppendedBytes  int64
	Recompressed   int64 // batches that were compressed anew (R1.24)
	Rolls          int64 // segments begun
	Flushes        int64 // fsyncs of a segment that had something to write

	ZeroCopyBytes int64 // of batches that were sent without being copied
	CopiedBytes   int64 // … that were read, encrypted and sent
}

// countRequest counts a request that is handled.
func (s *State) countRequest(b *Broker, e *Event) {
	c := &b.Costs
	switch p := e.Payload.(type) {
	case ProduceRequest:
		c.Produces++
		bytes := int64(0)
		for i := range p.Parts {
			bytes += int64(p.Parts[i].Batch.Size)
		}
		c.ProducedBytes += bytes
		if s.encrypts(e.From) {
			c.DecryptedBytes += bytes
		}
	case FetchRequest:
		if p.Replica == NoNode {
			c.ConsumerFetches++
		} else {
			c.FollowerFetches++
		}
	default:
		c.OtherRequests++
	}
}

// countAnswer counts what an answer to a fetch carries, and how it is read.
func (s *State) countAnswer(b *Broker, to NodeID, p Payload) {
	answer, ok := p.(FetchResponse)
	if !ok {
		return
	}
	bytes := int64(0)
	for i := range answer.Parts {
		for j := range answer.Parts[i].Batches {
			bytes += int64(answer.Parts[i].Batches[j].Size)
		}
	}
	if s.encrypts(to) {
		b.Costs.CopiedBytes += bytes
	} else {
		b.Costs.ZeroCopyBytes += bytes
	}
}

// encrypts tells whether a broker's connections to a node use TLS.
func (s *State) encrypts(to NodeID) bool {
	switch {
	case to.IsBroker():
		return s.World.Broker.InterBrokerProtocol == config.SSL
	case to >= AdminNode || !to.IsClient():
		return false
	}
	c := s.client(to)
	switch c.Kind {
	case ShareConsumerClient:
		return s.Share.Consumers[c.Index].Config.SecurityProtocol == config.SSL
	case ConsumerClient:
		return s.Consumers[c.Index].Config.SecurityProtocol == config.SSL
	}
	return s.Producers[c.Index].Config.SecurityProtocol == config.SSL
}

// appended counts a batch that is written. A segment that is rolled is flushed (R4.2).
func (c *Costs) appended(b *partlog.Batch, rolled bool) {
	c.Appends++
	c.AppendedBytes += int64(b.Size)
	if rolled {
		c.Rolls++
		c.Flushes++
	}
}

// flushed counts a flush, if there was anything to do.
func (c *Costs) flushed(dirty bool) {
	if dirty {
		c.Flushes++
	}
}
