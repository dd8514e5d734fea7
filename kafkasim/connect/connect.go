// Package connect is Kafka Connect beside a simulated Kafka: workers that share the connectors and tasks among themselves,
// sources that bring rows of tables into topics, sinks that bring records into tables.
//
//	db := connect.NewDatabase()
//	db.Table("orders").Insert("user-1", "book")
//	k := connect.New(c, db, nil)
//	k.StartWorker("w1")
//	k.Create("db", kafkasim.Config{"connector.class": "TableSource", "tables": "orders", "topic.prefix": "db-"})
//	k.Create("copy", kafkasim.Config{"connector.class": "TableSink", "topics": "db-orders", "table": "copy"})
//	k.RunFor(2 * time.Minute)
//
// Tasks are real clients of the cluster: a source task has a producer with acks=all, a sink task a consumer of the group
// connect-<name>. Connectors, source offsets and states are records of the compacted topics connect-configs,
// connect-offsets and connect-status.
//
// # Time
//
// Connect is an application, outside the cluster. It lives while its own RunFor lets time pass. In time that passes
// otherwise (Cluster.RunFor, Flush, Poll) its workers stand still like paused processes, and their clocks with them. What
// its tasks do are commands of clients at their times, which the cluster's Replay, Save, Fork and At know like any others;
// a Connect handle stays with the cluster that it was made on. To go on elsewhere call New on the fork, or on the past,
// with a Copy of the database: it finds connectors and source offsets in the topics, as workers do that all start anew.
//
// Kafka: org.apache.kafka.connect.runtime (Worker, WorkerSourceTask, WorkerSinkTask, DistributedHerder,
// WorkerCoordinator); rules K-1 to K-12. Simplified: the workers' group has its timers (heartbeat 3 s, session 10 s), but
// its coordinator is not a broker and does not fail; all tasks take turns, ten times a second, and while one waits for Kafka
// the others wait; the workers share the clients of the three topics; what REST answers are values with REST's words.
// Absent: schemas, the eager protocol; properties that are not there are refused by name.
package connect

import (
	"fmt"
	"slices"
	"time"

	"kafkalab/kafkasim"
)

// turn is how often tasks come to their turn.
const turn = 100 * time.Millisecond

// Connect is a handle on the workers of one Connect cluster, or on one standalone worker.
type Connect struct {
	c          *kafkasim.Cluster
	db         *Database
	conf       workerConfig
	standalone bool
	log        internal // the three topics; with a standalone worker nothing but a file
	connectors []*connector
	workers    []*Worker
	group      group
	last       time.Duration // when RunFor ended
	paused     time.Duration // time that passed without Connect
	flushAt    time.Duration
}

// connector is a connector's configuration.
type connector struct {
	name  string
	conf  connectorConfig
	given kafkasim.Config
	tasks int
	// target is what the connector is to do: STARTED, PAUSED (its tasks are there and do nothing) or STOPPED (it has none).
	target string
}

func (x *connector) items() []item {
	out := []item{{x.name, -1}}
	if x.target == stopped {
		return out
	}
	for i := range x.tasks {
		out = append(out, item{x.name, i})
	}
	return out
}

// New is a Connect cluster in distributed mode, without workers yet (StartWorker). conf holds properties of workers, such
// as group.id, offset.flush.interval.ms and scheduled.rebalance.max.delay.ms; nil for Kafka's defaults. Connectors and
// source offsets that the cluster's topics hold are taken over, and clients of a Connect cluster that was there before
// end: there is one at a time.
func New(c *kafkasim.Cluster, db *Database, conf kafkasim.Config) *Connect {
	k := begin("New", c, db, conf)
	k.endOthers()
	k.log.open(k)
	k.restore()
	k.last = c.Now()
	return k
}

// Standalone is one worker in standalone mode, started: its source offsets are in a file of its own instead of topics, and
// nobody takes over when it dies.
func Standalone(c *kafkasim.Cluster, db *Database, conf kafkasim.Config) *Connect {
	k := begin("Standalone", c, db, conf)
	k.standalone = true
	if k.conf.exactlyOnce {
		misuse("Standalone", "exactly.once.source.support is for distributed mode: a standalone worker's offsets are in a file")
	}
	k.log.start()
	k.StartWorker("standalone")
	return k
}

func begin(verb string, c *kafkasim.Cluster, db *Database, conf kafkasim.Config) *Connect {
	if c == nil || db == nil {
		misuse(verb, "want a cluster (kafkasim.New) and a database (connect.NewDatabase)")
	}
	k := &Connect{c: c, db: db, conf: parseWorker(verb, conf), last: c.Now()}
	k.group.assignor.maxDelay = k.conf.maxDelay
	k.flushAt = k.now() + k.conf.flushInterval
	return k
}

// now is Connect's own clock: time that passed without it does not count.
func (k *Connect) now() time.Duration { return k.c.Now() - k.paused }

// wake takes what time has passed without Connect from its clock.
func (k *Connect) wake() { k.paused += k.c.Now() - k.last; k.last = k.c.Now() }

// sleep remembers when Connect did something last.
func (k *Connect) sleep() { k.last = k.c.Now() }

// Create submits a connector's configuration. It has connector.class (TableSource or TableSink) and what that class wants:
//
//	TableSource: tables (names, with commas), topic.prefix, poll.interval.ms, batch.max.rows, exactly.once.support
//	TableSink:   topics (names, with commas), table, insert.mode (insert or upsert), delete.enabled, max.retries,
//	             retry.backoff.ms, errors.deadletterqueue.topic.name and …context.headers.enable
//	both:        tasks.max, key.converter and value.converter (StringConverter, JsonConverter), errors.tolerance,
//	             transforms and predicates, by Kafka's names
func (k *Connect) Create(name string, conf kafkasim.Config) *Status {
	k.wake()
	defer k.sleep()
	if name == "" {
		misuse("Create", "a connector needs a name, such as \"db\"")
	}
	if k.find(name) != nil {
		misuse(fmt.Sprintf("Create(%q)", name), "Connector %s already exists (409); Delete it first", name)
	}
	x := k.add(name, conf)
	if !k.standalone {
		k.log.writeConfig(x)
	}
	k.group.rebalanceBy(k, "connector "+name+" is new")
	return k.Status()
}

// add parses a configuration and puts the connector in its place.
func (k *Connect) add(name string, conf kafkasim.Config) *connector {
	x := &connector{name: name, given: conf, target: started, conf: parseConnector(fmt.Sprintf("Create(%q)", name), k.conf, conf)}
	x.tasks = x.conf.tasksMax
	if x.conf.source {
		x.tasks = min(x.tasks, len(x.conf.tables)) // a table is not split (K-3)
	}
	k.connectors = append(k.connectors, x)
	slices.SortFunc(k.connectors, func(a, b *connector) int { return compareItems(item{a.name, 0}, item{b.name, 0}) })
	return x
}

// Delete removes a connector and stops its tasks. Its source offsets stay, and so does the group of a sink.
func (k *Connect) Delete(name string) *Status {
	k.wake()
	defer k.sleep()
	x := k.needs("Delete", name)
	k.connectors = slices.DeleteFunc(k.connectors, func(y *connector) bool { return x == y })
	if !k.standalone {
		k.log.deleteConfig(x)
	}
	k.group.rebalanceBy(k, "connector "+name+" is deleted")
	return k.Status()
}

// Restart starts a task that has FAILED again, where it is. Nothing does so by itself (K-11).
func (k *Connect) Restart(name string, task int) *Status {
	k.wake()
	defer k.sleep()
	where := fmt.Sprintf("Restart(%q, %d)", name, task)
	x := k.needs("Restart", name)
	if task < 0 || task >= x.tasks {
		misuse(where, "the connector has %d tasks, from 0", x.tasks)
	}
	for _, w := range k.workers {
		for _, t := range w.tasks {
			if t.id == (item{name, task}) {
				t.stop(k)
				t.start(k)
				return k.Status()
			}
		}
	}
	misuse(where, "the task is UNASSIGNED: no worker has it")
	return nil
}

func (k *Connect) find(name string) *connector {
	for _, x := range k.connectors {
		if x.name == name {
			return x
		}
	}
	return nil
}

func (k *Connect) needs(verb, name string) *connector {
	x := k.find(name)
	if x == nil {
		var names []string
		for _, y := range k.connectors {
			names = append(names, y.name)
		}
		misuse(fmt.Sprintf("%s(%q)", verb, name), "there is no connector of this name (404)%s", nearest(name, names))
	}
	return x
}

// RunFor lets time pass, for the cluster and for Connect.
func (k *Connect) RunFor(d time.Duration) *Status {
	if d < 0 {
		misuse("RunFor", "%v: time does not go back", d)
	}
	k.wake()
	defer k.sleep()
	for end := k.c.Now() + d; ; {
		k.group.goOn(k)
		for _, w := range k.workers {
			w.turn(k)
		}
		if k.now() >= k.flushAt {
			k.flush()
			k.flushAt = k.now() + k.conf.flushInterval
		}
		left := end - k.c.Now()
		if left <= 0 {
			return k.Status()
		}
		k.c.RunFor(min(left, turn))
	}
}

// flush writes source offsets, and commits what sinks have put.
func (k *Connect) flush() {
	for _, w := range k.workers {
		if w.state == workerUp {
			for _, t := range w.tasks {
				t.flush(k)
			}
		}
	}
}

// misuse panics with a UsageError.
func misuse(where, format string, args ...any) {
	panic(&kafkasim.UsageError{Where: "connect: " + where, What: fmt.Sprintf(format, args...)})
}
