package kafkasim

import (
	"fmt"
	"strings"
	"testing"
)

// T-55: a send() that its producer's transactions refuse says what Kafka's says, in every copy of the world; the partition is
// the one that the record would have got (P-2, P-10).
func TestRefusedSendSaysWhatKafkaSays(t *testing.T) {
	c := New(World{Brokers: 1, Seed: 1, Config: Config{"transaction.state.log.replication.factor": 1, "transaction.state.log.min.isr": 1}})
	c.CreateTopic("orders", 12, 1, nil)
	p := c.NewProducer("p", Config{"transactional.id": "tx-1"})
	before := p.Send("orders", "21", "v")
	must(t, p.InitTransactions())
	keyed, named, keyless := p.Send("orders", "21", "v"), p.SendRecord(Record{Topic: "orders", Partition: 7, Value: "v"}), p.Send("orders", nil, "v")
	must(t, p.Begin())
	good, where := p.Send("orders", nil, "v"), p.Send("orders", "21", "v")
	must(t, p.Commit())
	later := p.Send("orders", nil, "v")
	for _, x := range []struct {
		d    *Delivery
		want string
	}{
		{before, fmt.Sprintf("Cannot add partition orders-%d to transaction before completing a call to initTransactions", where.Partition())},
		{keyed, fmt.Sprintf("Cannot add partition orders-%d to transaction while in state  READY", where.Partition())},
		{named, "Cannot add partition orders-7 to transaction while in state  READY"},
		{keyless, "Cannot add partition orders-? to transaction while in state  READY"},
		{later, fmt.Sprintf("Cannot add partition orders-%d to transaction while in state  READY", good.Partition())},
	} {
		if got := x.d.Message(); got != "IllegalStateException: "+x.want || !strings.HasSuffix(x.d.String(), ": "+got) || x.d.In(c.Fork()).String() != x.d.String() {
			t.Errorf("%s\n%q", x.d, got)
		}
		if s := x.d.Story().String(); !strings.Contains(s, "send() fails: "+x.d.Message()) {
			t.Error(s)
		}
	}
	if good.Message() != "" || good.Status() != "acked" {
		t.Error(good)
	}
}
