package lesson

import (
	"fmt"
	"time"

	"kafkalab/kafkasim"
)

// Lesson 10, Commits.

func init() {
	checkers["10"] = map[string]checker{
		"few-duplicates": checked("a `kafkasim.Work`", checkFewDuplicates),
		"go-back":        checked("a function `func(c *kafkasim.Cluster)`", checkGoBack),
	}
}

// checkFewDuplicates crashes the member at many moments and counts.
func checkFewDuplicates(w kafkasim.Work) finding {
	const records = 100
	for at := 3; at < records; at += 19 {
		twice, never := crashAt(w, records, at)
		switch {
		case never > 0:
			return wrong("When the member died after %d records, %d were never processed.", at, never)
		case twice > 5:
			return wrong("When the member died after %d records, %d were processed twice.", at, twice)
		}
	}
	if w.Every > 0 && w.Every < 4 {
		return wrong("At most 5 records are done twice, but a commit for every %d records is more than is needed.", w.Every)
	}
	return solved("Six crashes: nothing skipped, and never more than 5 records done twice.")
}

// crashAt lets a member of a group die after it has processed some of n records, and another one take over.
func crashAt(w kafkasim.Work, n, at int) (twice, never int) {
	c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: uint64(at)})
	c.CreateTopic("orders", 1, 3, nil)
	p := c.NewProducer("shop", nil)
	for i := range n {
		p.Send("orders", "anna", fmt.Sprintf("order %d", i))
	}
	c.Settle()
	conf := kafkasim.Config{"group.id": "g", "auto.offset.reset": "earliest", "enable.auto.commit": false, "session.timeout.ms": 6000, "heartbeat.interval.ms": 1000}
	one := c.NewConsumer("one", conf).Subscribe("orders")
	one.Work(w)
	c.RunUntil(func(*kafkasim.Cluster) bool { return one.Processed().Count >= int64(at) }, time.Minute)
	one.Crash()
	two := c.NewConsumer("two", conf).Subscribe("orders")
	two.Work(w)
	c.RunFor(40 * time.Second)
	return counted(n, one, two)
}

// counted says how many of n records of one partition were processed more than once, and how many never.
func counted(n int, all ...*kafkasim.Consumer) (twice, never int) {
	times := make([]int, n)
	for _, x := range all {
		for _, run := range x.Processed().Runs {
			for o := run.From; o <= run.To; o++ {
				times[o]++
			}
		}
	}
	for _, t := range times {
		switch {
		case t == 0:
			never++
		case t > 1:
			twice++
		}
	}
	return twice, never
}

func checkGoBack(back func(*kafkasim.Cluster)) finding {
	c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: 4})
	c.CreateTopic("orders", 1, 3, nil)
	p := c.NewProducer("shop", nil)
	for i := range 120 {
		p.Send("orders", "anna", fmt.Sprintf("order %d", i))
	}
	c.Settle()
	conf := kafkasim.Config{"group.id": "warehouse", "auto.offset.reset": "earliest"}
	before := c.NewConsumer("before", conf).Subscribe("orders")
	before.Work(kafkasim.Work{Commit: "after"})
	c.RunFor(20 * time.Second)
	before.Close()
	c.RunFor(time.Second)
	back(c)
	c.RunFor(time.Second)
	after := c.NewConsumer("after", conf).Subscribe("orders")
	got := after.Poll(60 * time.Second).Records
	if len(got) == 0 {
		return wrong("The next member of the group got nothing: it began where the group was before.")
	}
	if got[0].Offset != 40 {
		return wrong("The next member of the group began at offset %d.", got[0].Offset)
	}
	return solved("The next member began at offset 40.")
}
