package kafkasim

import (
	"fmt"
	"math"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkalab/kafkasim/prng"
)

// Every exported verb with every kind of value, found by reflection so that a new one cannot be forgotten: a
// call does something, or panics with a UsageError and leaves the cluster as it was; it never panics
// otherwise, and whatever it returns can be printed.

// notCalled are verbs that this test leaves to others, with the reason.
var notCalled = map[string]string{
	"Cluster.Save": "writes files; save_test.go",
}

// values are what arguments are drawn from, by their types: good ones, wrong ones, absurd ones.
var values = map[reflect.Type][]any{
	reflect.TypeFor[string](): {
		"orders", "returns", "ordres", "", " ", "gone", "checkout", "dead", "reader", "controller", "Fetch 2->1 orders-0", "Fech", "->", "1->2->3",
		"--under-replicated-partitions", "--under", "a b", "\xff", strings.Repeat("x", 300), "new-topic", "broker 1", "broker 9", "..",
	},
	reflect.TypeFor[int]():     {0, 1, 2, 3, -1, 4, 5, 99, math.MinInt, math.MaxInt, 1 << 31, 100_000_001},
	reflect.TypeFor[int64]():   {int64(0), int64(1), int64(-1), int64(-2), int64(-3), int64(5), int64(math.MaxInt64), int64(math.MinInt64)},
	reflect.TypeFor[bool]():    {true, false},
	reflect.TypeFor[float64](): {0.5, 1.0, 2.0, 10.0, 0.0, -1.0, 1e300, math.Inf(1), math.NaN()},
	reflect.TypeFor[time.Duration](): {
		time.Duration(0), time.Millisecond, 50 * time.Millisecond, time.Second, 30 * time.Second, -time.Second, time.Nanosecond, time.Duration(math.MaxInt64), time.Duration(math.MinInt64),
	},
	reflect.TypeFor[Config](): {
		Config(nil), Config{}, Config{"acks": "all"}, Config{"acks": 1}, Config{"ack": 1}, Config{"min.insync.replicas": 2}, Config{"min.insync.replicas": 0}, Config{"min.insync.replicas": nil},
		Config{"min.insync.replicas": "many"}, Config{"retention.ms": 1}, Config{"linger.ms": time.Second}, Config{"linger.ms": -1}, Config{"segment.bytes": 1}, Config{"auto.offset.reset": "earliest"}, Config{"group.id": "g"}, Config{"group.id": "g", "partition.assignment.strategy": "sticky"},
		Config{"acks": []int{1}}, Config{"": 1}, Config{"compression.type": "lz4"}, Config{"compression.type": "zip"}, Config{"partitioner.class": "RoundRobinPartitioner"},
	},
	reflect.TypeFor[World](): {
		World{}, World{Kafka: "2.8"}, World{Kafka: "1"}, World{Brokers: -1}, World{Latency: -time.Second}, World{Switches: map[string]bool{"epoch.truncation": false}},
		World{Switches: map[string]bool{"tea": true}}, World{Config: Config{"tea": 1}}, World{Racks: []string{"a"}}, World{LogDirs: 99},
	},
	reflect.TypeFor[Record](): {
		Record{}, Record{Topic: "orders", Key: "k", Value: "v"}, Record{Topic: "orders", Partition: 7}, Record{Topic: "orders", Partition: -1}, Record{Topic: "gone"},
		Record{Topic: "orders", Value: 5}, Record{Topic: "orders", Timestamp: -time.Hour}, Record{Topic: "orders", Partition: 0, Headers: []Header{{}}},
	},
	reflect.TypeFor[any](): {
		nil, 1, 2, 9, -1, "controller", "checkout", "nobody", 1.5, "k", "", struct{}{}, []byte("k"),
	},
	reflect.TypeFor[func(string, any, int) int](): {
		(func(string, any, int) int)(nil), func(string, any, int) int { return 0 }, func(string, any, int) int { return -1 }, func(_ string, _ any, n int) int { return n },
	},
	reflect.TypeFor[func([]TopicPartition)](): {(func([]TopicPartition))(nil), func([]TopicPartition) {}},
	reflect.TypeFor[func(*Committed)]():       {(func(*Committed))(nil), func(*Committed) {}},
	reflect.TypeFor[func()]():                 {(func())(nil), func() {}},
	reflect.TypeFor[CloseOptions](): {
		CloseOptions{}, CloseOptions{Timeout: -1}, CloseOptions{Timeout: time.Second, GroupMembershipOperation: "LEAVE_GROUP"}, CloseOptions{GroupMembershipOperation: "STAY"}, CloseOptions{Timeout: math.MaxInt64},
	},
	reflect.TypeFor[TxnWork](): {
		TxnWork{}, TxnWork{Topics: []string{"orders"}}, TxnWork{Topics: []string{"orders", "gone"}}, TxnWork{Topics: []string{"orders"}, Records: 2, Every: time.Second, AbortEvery: 2},
		TxnWork{Topics: []string{"orders"}, Records: math.MaxInt}, TxnWork{Topics: []string{"orders"}, Every: -1}, TxnWork{Topics: []string{"orders"}, PerRecord: time.Duration(math.MaxInt64), Transactions: 1},
	},
	reflect.TypeFor[Work](): {
		Work{}, Work{Commit: "after", Every: 2}, Work{Commit: "before"}, Work{Commit: "later"}, Work{PerRecord: time.Second}, Work{PerRecord: -1}, Work{Every: 3}, Work{PollTimeout: -1}, Work{Async: true, Commit: "after"},
	},
	reflect.TypeFor[func(*Cluster) bool](): {
		(func(*Cluster) bool)(nil), func(*Cluster) bool { return true }, func(c *Cluster) bool { return c.Now()%7 == 0 },
	},
}

// chance draws numbers.
type chance struct{ seed, n uint64 }

func (r *chance) below(n int) int {
	r.n++
	return prng.Below(prng.Draw(r.seed, 7, r.n), n)
}

// argument draws a value of a type.
func (r *chance) argument(t *testing.T, x reflect.Type) reflect.Value {
	if x.Kind() == reflect.Pointer && x.Elem().Name() == "Cluster" {
		return reflect.ValueOf(New(World{}))
	}
	if x == reflect.TypeFor[*Consumer]() {
		return reflect.ValueOf(New(World{}).NewConsumer("elsewhere", Config{"group.id": "g"}))
	}
	list, ok := values[x]
	if !ok {
		t.Fatalf("no values for arguments of type %s: add some to `values`", x)
	}
	v := list[r.below(len(list))]
	if v == nil {
		return reflect.Zero(x)
	}
	return reflect.ValueOf(v)
}

// enough ends verbs that would let a lifetime pass.
type enough struct{}

// call calls a verb and tells how it ended: "" well, else the mistake's sentence; cut means that it was
// interrupted.
func call(t *testing.T, name string, f reflect.Value, args []reflect.Value) (out []reflect.Value, mistake string, cut bool) {
	polls := 0
	SetPoll(func() {
		if polls++; polls > 40 {
			panic(enough{})
		}
	})
	defer SetPoll(nil)
	defer func() {
		switch r := recover().(type) {
		case nil:
		case enough:
			cut = true
		case *UsageError:
			if mistake = r.UserMessage(); r.What == "" || strings.Contains(mistake, "%!") {
				t.Errorf("%s says %q", name, mistake)
			}
		default:
			t.Fatalf("%s(%s) panics with %v\n%s", name, shown(args), r, debug.Stack())
		}
	}()
	return f.Call(args), "", false
}

func shown(args []reflect.Value) string {
	var out []string
	for _, a := range args {
		out = append(out, fmt.Sprintf("%#v", a))
	}
	return strings.Join(out, ", ")
}

// verb is one exported method of something that a cluster hands out.
type verb struct {
	name string
	on   func(*chance, *Cluster) reflect.Value
	m    reflect.Method
}

// verbs are all of them.
func verbs() []verb {
	var list []verb
	for name, on := range map[string]func(*chance, *Cluster) any{
		"Cluster": func(_ *chance, c *Cluster) any { return c },
		"Broker":  func(r *chance, c *Cluster) any { return c.Broker(1 + r.below(3)) },
		"Producer": func(r *chance, c *Cluster) any {
			return c.Producer([]string{"checkout", "dead", "payments"}[r.below(3)])
		},
		"Consumer":  func(r *chance, c *Cluster) any { return c.Consumer([]string{"reader", "closed"}[r.below(2)]) },
		"Topic":     func(_ *chance, c *Cluster) any { return c.Topic("returns") },
		"Partition": func(_ *chance, c *Cluster) any { return c.Partition("returns", 0) },
		"Messages":  func(_ *chance, c *Cluster) any { return c.InFlight() },
		"Deletion":  func(_ *chance, c *Cluster) any { return &Deletion{c, 0} },
		"Verdict":   func(_ *chance, c *Cluster) any { return c.Check() },
	} {
		x := reflect.TypeOf(on(&chance{}, cornered()))
		for i := range x.NumMethod() {
			m := x.Method(i)
			list = append(list, verb{name + "." + m.Name, func(r *chance, c *Cluster) reflect.Value { return reflect.ValueOf(on(r, c)) }, m})
		}
	}
	slices.SortFunc(list, func(a, b verb) int { return strings.Compare(a.name, b.name) })
	return list
}

// cornered is a cluster with something of everything, and with what should not be touched any more.
func cornered() *Cluster {
	c := New(World{Brokers: 3, Seed: 2, LogDirs: 2})
	c.CreateTopic("orders", 2, 2, nil)
	c.CreateTopic("returns", 1, 3, nil)
	c.CreateTopic("gone", 1, 1, nil)
	c.NewProducer("checkout", nil).Send("orders", "k", "v")
	c.NewProducer("dead", nil).Crash()
	c.NewProducer("payments", Config{"transactional.id": "tx-1"})
	c.NewConsumer("reader", Config{"auto.offset.reset": "earliest"}).Assign("orders", 0)
	c.NewConsumer("closed", nil).Close()
	c.DeleteRecords("orders", 0, 0)
	c.RunFor(30 * time.Millisecond)
	c.DeleteTopic("gone")
	return c
}

// storm calls verbs at random.
func storm(t *testing.T, seed uint64, calls int, seen map[string]int) {
	r := &chance{seed: seed}
	all := verbs()
	c := cornered()
	for range calls {
		v := all[r.below(len(all))]
		if notCalled[v.name] != "" {
			continue
		}
		var on reflect.Value
		if _, mistake, _ := call(t, v.name, reflect.ValueOf(func() { on = v.on(r, c) }), nil); mistake != "" {
			c = cornered() // a topic that is needed was deleted
			continue
		}
		args := []reflect.Value{on}
		for i := 1; i < v.m.Type.NumIn(); i++ {
			x := v.m.Type.In(i)
			if !v.m.Type.IsVariadic() || i < v.m.Type.NumIn()-1 {
				args = append(args, r.argument(t, x))
				continue
			}
			for range r.below(3) {
				args = append(args, r.argument(t, x.Elem()))
			}
		}
		before, script := c.Hash(), c.Script()
		out, mistake, cut := call(t, v.name, v.m.Func, args)
		seen[v.name]++
		if mistake != "" {
			if c.Hash() != before || c.Script() != script {
				t.Fatalf("seed %d: %s(%s) is refused and changes something: %s\n%s\nbefore\n%s", seed, v.name, shown(args[1:]), mistake, c.Script(), script)
			}
			continue
		}
		if cut {
			c = cornered()
			continue
		}
		for _, o := range out {
			if o.Kind() == reflect.Pointer && o.IsNil() {
				t.Fatalf("%s(%s) returns nil", v.name, shown(args[1:]))
			}
			if s := fmt.Sprint(o.Interface()); strings.Contains(s, "%!") || strings.Contains(s, "0xc0") {
				t.Errorf("%s returns something that prints as %q", v.name, s)
			}
		}
	}
}

func TestEveryVerbWithEveryValue(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(12) {
		storm(t, seed, 400, seen)
	}
	for _, v := range verbs() {
		if seen[v.name] == 0 && notCalled[v.name] == "" {
			t.Errorf("%s was never called", v.name)
		}
	}
	for name := range notCalled {
		if !slices.ContainsFunc(verbs(), func(v verb) bool { return v.name == name }) {
			t.Errorf("%s is left out and does not exist", name)
		}
	}
}

func FuzzVerbs(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { storm(t, seed, 150, map[string]int{}) })
}

// A broker that is down cannot crash again, a stopped one not be paused, and so on: each is a sentence.
func TestTwiceIsAMistake(t *testing.T) {
	c := cornered()
	b := c.Broker(2)
	b.Crash()
	for _, x := range []struct {
		want string
		call func()
	}{
		{"Broker(2).Crash: broker 2 is not running; Start() it first", func() { b.Crash() }},
		{"Broker(2).PowerLoss: broker 2 is not running; Start() it first", func() { b.PowerLoss() }},
		{"Broker(2).Stop: broker 2 is not running; Start() it first", func() { b.Stop() }},
		{"Broker(2).Pause: broker 2 is not running; Start() it first", func() { b.Pause() }},
		{"Broker(2).Resume: broker 2 is not paused", func() { b.Resume() }},
		{"Broker(1).Start: broker 1 is running already", func() { c.Broker(1).Start() }},
		{"Broker(1).LoseDisk: broker 1 has no log directory 3; it has 1, 2 (World.LogDirs)", func() { c.Broker(1).LoseDisk(3) }},
		{"Broker(1).LoseDisk: broker 1 has lost its log directory 2 already", func() { c.Broker(1).LoseDisk(2); c.Broker(1).LoseDisk(2) }},
		{"Broker(1).LosePartition: broker 1 is running; Crash() or PowerLoss() it first", func() { c.Broker(1).LosePartition("orders", 0) }},
		{`Partition("gone", 0): topic "gone" was deleted; create it anew with CreateTopic`, func() { c.Partition("gone", 0) }},
		{`AlterTopic("orders"): segment.bytes=1: want at least 1048576`, func() { c.AlterTopic("orders", Config{"segment.bytes": 1}) }},
		{`AlterTopic("orders"): "acks" is a producer property; give it to NewProducer`, func() { c.AlterTopic("orders", Config{"acks": 1}) }},
		{`AddPartitions("orders"): 0 partitions: want how many there shall be in all, 1 to 10000`, func() { c.AddPartitions("orders", 0) }},
		{`Reassign("orders", 0): broker 1 is given twice`, func() { c.Reassign("orders", 0, 1, 1) }},
		{`Reassign("orders", 0): there is no broker 7; this cluster has brokers 1, 2, 3`, func() { c.Reassign("orders", 0, 7) }},
	} {
		if got := mistake(t, x.call); got != "kafkasim: "+x.want {
			t.Errorf("\n got %s\nwant kafkasim: %s", got, x.want)
		}
	}
}
