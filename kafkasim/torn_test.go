package kafkasim

import (
	"strings"
	"testing"

	"kafkalab/kafkasim/machine"
)

// C17, by the old rule and the new one (KIP-890): the commit of one transaction is delayed on the wire and arrives when
// the next one is open. With transactions v1 both have one epoch, and the coordinator commits what the application will
// abort; with v2 each has an epoch of its own, and the late request is refused.
func TestC17TornTransaction(t *testing.T) {
	for version, want := range map[string]string{"3.9": "first torn", "4.3": "first"} {
		c := New(World{Brokers: 1, Seed: 1, Kafka: version, Config: Config{
			"transaction.state.log.replication.factor": 1, "transaction.state.log.min.isr": 1, "offsets.topic.replication.factor": 1}})
		c.CreateTopic("t", 1, 1, nil)
		p := c.NewProducer("p", Config{"transactional.id": "tx", "enable.idempotence": true})
		p.Begin()
		p.Send("t", nil, "first")
		p.Flush()
		late := machine.EndTxnRequest{ID: "tx", ProducerID: p.state().ProducerID, ProducerEpoch: p.state().ProducerEpoch, Commit: true, Version: machine.TransactionV1}
		if o := p.Commit(); o.Error != "" {
			t.Fatal(o)
		}
		p.Begin()
		p.Send("t", nil, "torn")
		p.Flush()
		if version == "4.3" {
			late.Version = machine.TransactionV2
		}
		c.s.Probe(0, 1, 1, 1, late) // a copy of the first commit
		c.RunFor(ms(2000))
		p.Send("t", nil, "second half")
		p.Flush()
		p.Abort()
		c.RunFor(ms(2000))
		r := c.NewConsumer("r", Config{"isolation.level": "read_committed", "auto.offset.reset": "earliest"}).Assign("t")
		var got []string
		for range 3 {
			for _, x := range r.Poll(ms(500)).Records {
				got = append(got, x.Value)
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("Kafka %s: committed is %q, want %q", version, s, want)
		}
	}
}
