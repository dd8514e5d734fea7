package lesson

import (
	"fmt"
	"time"

	"kafkalab/kafkasim"
)

// Lesson 02, Keys, partitions, order.

func init() {
	checkers["02"] = map[string]checker{
		"good-key": checked("a function `func(customer, order, event string) string`", checkGoodKey),
		"find-key": checked("a function `func(c *kafkasim.Cluster, want int) string`", checkFindKey),
	}
}

// checkGoodKey sends the events of many orders with the learner's keys and reads them back.
func checkGoodKey(key func(customer, order, event string) string) finding {
	c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: 11})
	c.CreateTopic("orders", 6, 1, nil)
	p := c.NewProducer("shop", nil)
	const orders = 240
	events := []string{"created", "paid", "shipped"}
	for _, event := range events {
		for i := range orders {
			customer := "big"
			if i%2 == 1 {
				customer = fmt.Sprintf("customer-%d", i)
			}
			order := fmt.Sprintf("order-%d", i)
			p.Send("orders", key(customer, order, event), order+" "+event)
		}
		c.RunFor(100 * time.Millisecond)
	}
	largest := 0
	where := map[string]int{}
	for _, part := range c.Topic("orders").Partitions {
		largest = max(largest, int(part.LogEndOffset))
		for _, r := range part.Logs[0].Records {
			var order, event string
			fmt.Sscan(r.Value, &order, &event)
			if at, there := where[order]; there && at != part.ID {
				return wrong("The events of %s lie in two partitions: no reader sees them in order.", order)
			}
			where[order] = part.ID
		}
	}
	if share := 100 * largest / (orders * len(events)); share > 30 {
		return wrong("Every order stays in order, but one of the 6 partitions has %d %% of all records.", share)
	}
	return solved("Every order stays in order, and no partition has more than its share.")
}

func checkFindKey(find func(*kafkasim.Cluster, int) string) finding {
	for n := 2; n <= 12; n += 5 {
		for _, want := range []int{0, n - 1} {
			c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: uint64(n)})
			c.CreateTopic("orders", n, 1, nil)
			key := find(c, want)
			d := c.NewProducer("judge", nil).Send("orders", key, "?")
			c.Settle()
			if d.Partition() != want {
				return wrong("With %d partitions the key %q goes to partition %d, not %d.", n, key, d.Partition(), want)
			}
		}
	}
	return solved("Six keys for six partitions.")
}
