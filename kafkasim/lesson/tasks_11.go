package lesson

import (
	"fmt"
	"time"

	"kafkalab/kafkasim"
)

// Lesson 11, Idempotence and exactly once.

func init() {
	checkers["11"] = map[string]checker{
		"all-or-nothing":  checked("a function `func(t *kafkasim.Producer, from, to string, amount int) bool`", checkAllOrNothing),
		"find-the-hanger": checked("a function `func(c *kafkasim.Cluster) string`", checkFindTheHanger),
	}
}

func checkAllOrNothing(transfer func(*kafkasim.Producer, string, string, int) bool) finding {
	c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: 6})
	c.CreateTopic("accounts", 2, 3, nil)
	t := c.NewProducer("transfers", kafkasim.Config{"transactional.id": "transfers-1"})
	want := map[string]int{}
	for i, amount := range []int{100, 600, 500, 501, 7} {
		from, to := fmt.Sprintf("account-%d", i), fmt.Sprintf("account-%d", i+1)
		committed := transfer(t, from, to, amount)
		c.Settle()
		if committed != (amount <= 500) {
			return wrong("A transfer of %d: it says %v.", amount, committed)
		}
		if committed {
			want[from] -= amount
			want[to] += amount
		}
	}
	x := c.NewConsumer("judge", kafkasim.Config{"isolation.level": "read_committed", "auto.offset.reset": "earliest"})
	x.Assign("accounts")
	got, records := map[string]int{}, 0
	for quiet := 0; quiet < 3; {
		batch := x.Poll(time.Second).Records
		if len(batch) == 0 {
			quiet++
		}
		for _, r := range batch {
			var amount int
			fmt.Sscan(r.Value, &amount)
			got[r.Key] += amount
			records++
		}
	}
	if records != 6 {
		return wrong("A read_committed consumer sees %d records of three committed transfers: want 6.", records)
	}
	for account, amount := range want {
		if got[account] != amount {
			return wrong("%s has %d: want %d.", account, got[account], amount)
		}
	}
	return solved("Five transfers, three committed, and every account is right.")
}

func checkFindTheHanger(find func(*kafkasim.Cluster) string) finding {
	for hanger := range 3 {
		c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: uint64(hanger)})
		c.CreateTopic("accounts", 2, 3, nil)
		for i := range 3 {
			p := c.NewProducer(fmt.Sprintf("program-%d", i), kafkasim.Config{"transactional.id": fmt.Sprintf("id-%d", i*3)})
			p.Begin()
			p.Send("accounts", "anna", "1")
			c.RunFor(100 * time.Millisecond)
			switch {
			case i == hanger:
				p.Crash()
			case i%2 == 0:
				p.Commit()
			default:
				p.Abort()
			}
		}
		c.RunFor(2 * time.Second)
		want := fmt.Sprintf("id-%d", hanger*3)
		switch got := find(c); got {
		case want:
		case "":
			return untried("It returned no id.")
		default:
			return wrong("It says %q, whose transaction is ended.", got)
		}
	}
	return solved("Three clusters, and the right id in each.")
}
