package connect

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"kafkalab/kafkasim"

	"pgregory.net/rapid"
)

// owners checks that no connector or task runs twice, and returns how many run.
func owners(t *rapid.T, k *Connect) int {
	seen := map[item]string{}
	for _, w := range k.workers {
		if w.state != workerUp {
			continue
		}
		for _, i := range w.items {
			if other := seen[i]; other != "" {
				t.Fatalf("%s runs on %s and on %s\n%s", i, other, w.name, k.Status().Story())
			}
			seen[i] = w.name
		}
		if len(w.tasks) != len(slices.DeleteFunc(slices.Clone(w.items), func(i item) bool { return !i.isTask() })) {
			t.Fatalf("%s has %v and runs %d tasks", w.name, w.items, len(w.tasks))
		}
	}
	return len(seen)
}

// trouble stops, crashes and starts workers and brokers while rows come in, and in the end starts all of them.
func trouble(t *rapid.T, c *kafkasim.Cluster, k *Connect, db *Database, names []string) {
	down := 0
	for range rapid.IntRange(1, 8).Draw(t, "steps") {
		w := k.Worker(rapid.SampledFrom(names).Draw(t, "worker"))
		switch do := rapid.IntRange(0, 6).Draw(t, "do"); {
		case do == 0 && w.state == workerUp:
			w.Crash()
		case do == 1 && w.state == workerUp:
			w.Stop()
		case do == 2 && w.state != workerUp:
			w.Start()
		case do == 3:
			db.Table("orders").Insert("late", fmt.Sprint("row ", db.Table("orders").Count()))
		case do == 4 && down == 0:
			down = rapid.IntRange(1, 3).Draw(t, "broker")
			c.Broker(down).Crash()
		case do == 5 && down != 0:
			c.Broker(down).Start()
			down = 0
		default:
			k.RunFor(time.Duration(rapid.IntRange(1, 30000).Draw(t, "ms")) * time.Millisecond)
		}
		owners(t, k)
	}
	if down != 0 {
		c.Broker(down).Start()
	}
	for _, name := range names {
		if w := k.Worker(name); w.state != workerUp {
			w.Start()
		}
	}
}

// Whatever workers and brokers do: nothing runs twice, and in the end everything runs, and every row has arrived
// (K-4, K-6, K-8, K-9: at least once).
func TestRandomWorkersAndBrokers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: rapid.Uint64().Draw(t, "seed")})
		db := orders(30)
		k := New(c, db, kafkasim.Config{"scheduled.rebalance.max.delay.ms": 20000, "offset.flush.interval.ms": 10000})
		names := []string{"w1", "w2", "w3"}
		for _, w := range names {
			k.StartWorker(w)
		}
		k.Create("db", source)
		k.Create("copy", with(sink, "tasks.max", 3))
		trouble(t, c, k, db, names)
		k.RunFor(2 * time.Minute)
		if n := owners(t, k); n != 6 {
			t.Fatalf("%d of 6 connectors and tasks run\n%s\n%s", n, k.Status(), k.Status().Story())
		}
		for _, i := range k.Status().Items {
			if i.State != "RUNNING" {
				t.Fatalf("%+v", i)
			}
		}
		for _, row := range db.Table("orders").Rows() {
			if !slices.Contains(db.Table("copy").Rows(), row) {
				t.Fatalf("%v has not arrived\n%s\n%s", row, k.Status(), k.Status().Story())
			}
		}
	})
}

// Whatever workers and brokers do, with exactly once each row is read once under read_committed (KIP-618). A task that failed
// because it could not know what became of its transaction is restarted, as an operator does.
func TestRandomExactlyOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: rapid.Uint64().Draw(t, "seed")})
		db := orders(10)
		k := New(c, db, kafkasim.Config{"scheduled.rebalance.max.delay.ms": 5000, "exactly.once.source.support": "enabled"})
		names := []string{"w1", "w2"}
		for _, w := range names {
			k.StartWorker(w)
		}
		k.Create("db", with(source, "batch.max.rows", 3))
		trouble(t, c, k, db, names)
		for range 3 {
			k.RunFor(time.Minute)
			k.RestartFailed("db")
		}
		x := c.NewConsumer("look", kafkasim.Config{"auto.offset.reset": "earliest", "isolation.level": "read_committed"}).Assign("db-orders")
		seen := map[string]int{}
		for range 10 {
			for _, r := range x.Poll(time.Second).Records {
				seen[r.Value]++
			}
		}
		for _, row := range db.Table("orders").Rows() {
			if n := seen[row.Value]; n != 1 {
				t.Fatalf("%q was read %d times\n%s\n%s", row.Value, n, k.Status(), k.ConnectorStatus("db"))
			}
		}
	})
}
