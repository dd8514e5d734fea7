package kafkasim

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"testing"
	"time"

	"kafkalab/kafkasim/machine"
)

// story is a run with a bit of everything, for comparing runs.
func story(seed uint64) *Cluster {
	c := New(World{Brokers: 3, Seed: seed, Config: Config{"broker.session.timeout.ms": 900, "broker.heartbeat.interval.ms": 200, "replica.lag.time.max.ms": 3000}})
	c.CreateTopic("orders", 3, 3, Config{"min.insync.replicas": 2})
	p := c.NewProducer("checkout", nil)
	q := c.NewProducer("audit", Config{"acks": 1, "linger.ms": 20})
	p.Every(7*time.Millisecond, "orders", "user-1", "user-2", "user-3")
	c.RunFor(100 * time.Millisecond)
	for i := range 50 {
		q.Send("orders", nil, fmt.Sprint("event ", i))
	}
	r := c.NewConsumer("reader", Config{"auto.offset.reset": "earliest"})
	r.Assign("orders")
	r.Poll(50 * time.Millisecond)
	c.Broker(1).Crash()
	c.RunFor(2 * time.Second)
	c.Cut(2, "controller")
	c.RunFor(time.Second)
	c.Heal()
	c.Broker(1).Start()
	c.Steps(777)
	r.Poll(time.Second)
	c.RunFor(3 * time.Second)
	return c
}

// fingerprint is everything of a run that two runs must have in common.
func fingerprint(c *Cluster) string {
	trace := fnv.New64a()
	for _, x := range c.Trace().Changes {
		fmt.Fprintf(trace, "%+v\n", x)
	}
	return fmt.Sprintf("%016x trace %016x %s\n%s", c.Hash(), trace.Sum64(), c, c.Describe())
}

func TestSameSeedSameHash(t *testing.T) {
	a, b := fingerprint(story(7)), fingerprint(story(7))
	if a != b {
		t.Errorf("two runs differ:\n%s\n%s", a, b)
	}
	if other := fingerprint(story(8)); other == a {
		t.Error("another seed made the same world")
	}
}

// A second process, with its own map seeds and addresses, comes to the same state.
func TestSameHashInTwoProcesses(t *testing.T) {
	if os.Getenv("KAFKASIM_STORY") != "" {
		fmt.Println("fingerprint:", fingerprint(story(7)))
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestSameHashInTwoProcesses$", "-test.v")
	cmd.Env = append(os.Environ(), "KAFKASIM_STORY=1", "GODEBUG=randautoseed=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if want := []byte(fingerprint(story(7))); !bytes.Contains(out, want) {
		t.Errorf("the other process saw\n%s\nthis one\n%s", out, want)
	}
}

// A fork of a fork that does the same again has the same trace, and a twin of the schedule in the test too.
func TestSameHashOnAForkOfAFork(t *testing.T) {
	goOn := func(c *Cluster) string {
		c.Broker(2).PowerLoss()
		c.RunFor(1500 * time.Millisecond)
		c.Producer("checkout").Send("orders", "user-1", "late")
		c.Broker(2).Start()
		c.RunFor(3 * time.Second)
		return fingerprint(c)
	}
	c := story(7)
	f := c.Fork().Fork()
	f.Fork().Broker(1).Crash() // what one fork does is nothing to the others
	want := goOn(c)
	if got := goOn(f); got != want {
		t.Errorf("a fork of a fork came to\n%s\nits origin to\n%s", got, want)
	}
	if got := goOn(story(7)); got != want {
		t.Errorf("the same again came to\n%s\nthe first time to\n%s", got, want)
	}
}

// Every schedule, run twice, comes to the same state and the same trace.
func TestSchedulesRunTwiceAreTheSame(t *testing.T) {
	for seed := range uint64(100) {
		s := drawSchedule(draws(seed))
		a, b := s.play(machine.NoMutant), s.play(machine.NoMutant)
		if a, b := fingerprint(a), fingerprint(b); a != b {
			t.Fatalf("schedule %d ran to\n%s\nand to\n%s", seed, a, b)
		}
	}
}

// A fork, and its parent, each go on as if the other did not exist.
func TestForkGoesOnByItself(t *testing.T) {
	c := story(7)
	f := c.Fork()
	if f.Hash() != c.Hash() {
		t.Fatal("a fresh fork differs")
	}
	before := c.Hash()
	f.Broker(2).Crash()
	f.Producer("checkout").Send("orders", "user-9", "only in the fork")
	f.RunFor(time.Second)
	if c.Hash() != before {
		t.Error("what happened in the fork changed its parent")
	}
	if f.Hash() == before {
		t.Error("nothing happened in the fork")
	}
	g := c.Fork()
	c.RunFor(time.Second)
	g.RunFor(time.Second)
	if c.Hash() != g.Hash() {
		t.Error("fork and parent, doing the same, differ")
	}
}

// At(t) is what the cluster was at t: the same state, trace and future.
func TestAtIsThePast(t *testing.T) {
	c := New(World{Seed: 3, Config: Config{"broker.session.timeout.ms": 900, "broker.heartbeat.interval.ms": 200}})
	c.CreateTopic("orders", 2, 3, nil)
	p := c.NewProducer("checkout", nil)
	p.Every(3*time.Millisecond, "orders", "a", "b", "c")
	var moments []moment
	var traces []int
	for i := range 40 {
		if i == 10 {
			c.Broker(2).Crash()
		}
		if i == 30 {
			c.Broker(2).Start()
		}
		p.Send("orders", "x", fmt.Sprint(i))
		c.RunFor(97 * time.Millisecond)
		moments = append(moments, moment{c.Now(), c.Hash()})
		traces = append(traces, len(c.Trace().Changes))
	}
	for i, m := range moments {
		old := c.At(m.at)
		if old.Hash() != m.hash || old.Now() != m.at {
			t.Fatalf("At(%v): hash %x, want %x", m.at, old.Hash(), m.hash)
		}
		if n := len(old.Trace().Changes); n != traces[i] {
			t.Fatalf("At(%v): %d changes, want %d", m.at, n, traces[i])
		}
	}
	// The past can live on, and comes to the same present when nothing else is done.
	old := c.At(moments[20].at)
	for i := 21; i < 30; i++ {
		old.Producer("checkout").Send("orders", "x", fmt.Sprint(i))
		old.RunFor(97 * time.Millisecond)
	}
	if old.Hash() != moments[29].hash {
		t.Error("the past, repeating what was done, came to another present")
	}
	if twice := c.At(moments[20].at).At(moments[5].at); twice.Hash() != moments[5].hash {
		t.Error("the past of the past is another one")
	}
}

// goRun compiles and runs one file as a program of this module.
func goRun(file string) (string, error) {
	out, err := exec.Command("go", "run", file).CombinedOutput()
	return string(out), err
}
