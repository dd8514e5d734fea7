package kafkasim

import (
	"fmt"
	"testing"
	"time"
)

// txnCheck is a cluster with a topic of one partition, a transactional producer, and a reader under each isolation level.
func txnCheck() (c *Cluster, p *Producer, committed, all *Consumer) {
	c = New(World{Brokers: 3, Seed: 1})
	c.CreateTopic("t", 1, 3, nil)
	p = c.NewProducer("p", Config{"transactional.id": "tx"})
	committed = c.NewConsumer("committed", Config{"isolation.level": "read_committed", "auto.offset.reset": "earliest"}).Assign("t")
	all = c.NewConsumer("all", Config{"auto.offset.reset": "earliest"}).Assign("t")
	return c, p, committed, all
}

// sendThree is a transaction of three records, which are in the log.
func (p *Producer) sendThree() {
	p.Begin()
	for i := range 3 {
		p.Send("t", nil, fmt.Sprint(i))
	}
	p.Flush()
}

// readAll is how many records a consumer gets until there are no more, and where it is then.
func (k *Consumer) readAll() string {
	n := 0
	for range 3 {
		n += len(k.Poll(time.Second).Records)
	}
	return fmt.Sprintf("%d to position %d", n, k.Position("t", 0))
}

// epochNow is the producer epoch of the transactional id.
func (c *Cluster) epochNow() int { return c.Txn("tx").ProducerEpoch }

// Checks 9 to 12, of transactions (T-11, T-12, T-32, T-40, T-41, T-44, T-45).
func TestChecks9To12(t *testing.T) {
	runChecks(t, 9, []check{
		{"9: a marker takes an offset", "log end 4; read_committed 3 to position 4", func() string {
			c, p, committed, _ := txnCheck()
			p.sendThree()
			p.Commit()
			c.RunFor(time.Second)
			return fmt.Sprintf("log end %d; read_committed %s", c.Partition("t", 0).LogEndOffset, committed.readAll())
		}},
		{"10: aborted records are read by read_uncommitted, and both go on behind them", "read_uncommitted 3 to position 4; read_committed 0 to position 4", func() string {
			c, p, committed, all := txnCheck()
			p.sendThree()
			p.Abort()
			c.RunFor(time.Second)
			return fmt.Sprintf("read_uncommitted %s; read_committed %s", all.readAll(), committed.readAll())
		}},
		{"11: behind an open transaction read_committed sees nothing", "open at 10, high watermark 21; read_committed 10 to position 10; read_uncommitted 21 to position 21", func() string {
			c, p, committed, all := txnCheck()
			other := c.NewProducer("other", nil)
			for i := range 21 {
				if i == 10 {
					other.Flush()
					p.Begin()
					p.Send("t", nil, "open")
					p.Flush()
					continue
				}
				other.Send("t", nil, fmt.Sprint(i))
			}
			other.Flush()
			return fmt.Sprintf("open at %d, high watermark %d; read_committed %s; read_uncommitted %s",
				c.Txn("tx").Partitions[0].FirstOffset, c.Partition("t", 0).HighWatermark, committed.readAll(), all.readAll())
		}},
		{"12: each end raises the epoch by one; a second instance by one more, or by two when a transaction is open", "after 5 ends 5; then 6; with one open 8", func() string {
			c, p, _, _ := txnCheck()
			for i := range 5 {
				p.sendThree()
				if i%2 == 0 {
					p.Commit()
				} else {
					p.Abort()
				}
				c.RunFor(time.Second)
			}
			ended := c.epochNow()
			second := c.NewProducer("second", Config{"transactional.id": "tx"})
			second.InitTransactions()
			idle := c.epochNow()
			second.sendThree()
			c.NewProducer("third", Config{"transactional.id": "tx"}).InitTransactions()
			return fmt.Sprintf("after 5 ends %d; then %d; with one open %d", ended, idle, c.epochNow())
		}},
	})
}
