package kafkasim

import (
	"testing"
	"time"
)

// T-53, T-62: an application that is replaced while it hangs, by one with another transactional id, is not fenced: both
// commit what they read. The same happens to offsets, unless the group has another generation by then.
func TestDifferentTransactionalIDsFenceNobody(t *testing.T) {
	c, committed, _ := txnCluster(World{})
	c.CreateTopic("in", 1, 3, nil)
	in := c.NewProducer("in", nil)
	in.Send("in", "k", "paid")
	in.Close()
	reads := Config{"group.id": "g", "enable.auto.commit": false, "auto.offset.reset": "earliest", "session.timeout.ms": 6000, "max.poll.interval.ms": 6000}
	work := func(id string) (*Consumer, *Producer) {
		k := c.NewConsumer("k-"+id, reads).Subscribe("in")
		p := c.NewProducer(id, Config{"transactional.id": "tx-" + id})
		for len(k.Poll(time.Second).Records) == 0 {
		}
		must(t, p.Begin())
		p.Send("orders", "k", "by "+id)
		return k, p
	}
	ka, a := work("a")
	c.RunFor(10 * time.Second) // it hangs, and the group goes on without it
	kb, b := work("b")
	must(t, b.SendOffsets(kb))
	must(t, b.Commit())
	if o := a.SendOffsets(ka); o.Error != "UNKNOWN_MEMBER_ID" && o.Error != "ILLEGAL_GENERATION" {
		t.Errorf("the group's generation does not protect: %v", o)
	}
	must(t, a.Abort())
	must(t, a.Begin())
	a.Send("orders", "k", "by a, without offsets")
	must(t, a.Commit()) // nothing else would have stopped it
	if got := drain(committed); got != "by b by a, without offsets" {
		t.Errorf("read_committed: %s", got)
	}
	if v := c.Check(); !v.OK() {
		t.Error(v)
	}
}
