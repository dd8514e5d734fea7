package kafkasim

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// A producer over its quota slows down: what it sends comes to the rate, and its metrics say how long it was told to
// be silent (KIP-13, KIP-219).
func TestProducerQuota(t *testing.T) {
	c := New(World{Brokers: 1, Seed: 1})
	c.CreateTopic("orders", 1, 1, nil)
	if got, want := c.AlterQuota("client-id=checkout", Config{"producer_byte_rate": 20000}).String(), "Quota configs for client-id 'checkout' are producer_byte_rate=20000"; got != want {
		t.Errorf("AlterQuota says %q, want %q", got, want)
	}
	fast := c.NewProducer("other", Config{"linger.ms": 0})
	slow := c.NewProducer("checkout", Config{"linger.ms": 0})
	value := strings.Repeat("x", 10000)
	for range 50 {
		fast.Send("orders", nil, value)
		slow.Send("orders", nil, value)
	}
	start := c.Now()
	fast.Flush()
	if took := c.Now() - start; took > time.Second {
		t.Errorf("without a quota 500 kB took %v", took)
	}
	slow.Flush()
	// The first ten seconds' worth comes at once. It is forgotten after eleven, and until then little more gets through.
	if took := c.Now() - start; took < 10*time.Second || took > 20*time.Second {
		t.Errorf("500 kB at 20 kB/s took %v, want 11 to 20 s", took)
	}
	if n := slow.Metrics().Value("produce-throttle-time-max"); n < 100 {
		t.Errorf("produce-throttle-time-max is %v ms", n)
	}
	if n := fast.Metrics().Value("produce-throttle-time-max"); n != 0 {
		t.Errorf("produce-throttle-time-max without a quota is %v ms", n)
	}
}

// A consumer over its quota gets an empty answer and waits; it gets everything all the same.
func TestConsumerQuota(t *testing.T) {
	c := New(World{Brokers: 1, Seed: 1})
	c.CreateTopic("orders", 1, 1, nil)
	c.AlterQuota("user=ANONYMOUS,client-id=<default>", Config{"consumer_byte_rate": 20000})
	p := c.NewProducer("checkout", Config{"linger.ms": 0})
	for range 50 {
		p.Send("orders", nil, strings.Repeat("x", 10000))
	}
	p.Flush()
	r := c.NewConsumer("audit", Config{"auto.offset.reset": "earliest"})
	r.Assign("orders", 0)
	start, n := c.Now(), 0
	for n < 50 && c.Now() < start+60*time.Second {
		n += len(r.Poll(time.Second).Records)
	}
	if took := c.Now() - start; n != 50 || took < 10*time.Second || took > 35*time.Second {
		t.Errorf("%d of 50 records of 10 kB in %v at 20 kB/s", n, took)
	}
}

// Quotas are listed, saved in the script, and taken back; a throttled move is set up with Kafka's own names (KIP-73).
func TestQuotaVerbs(t *testing.T) {
	c := New(World{Brokers: 3, Seed: 1})
	c.CreateTopic("orders", 1, 2, Config{"leader.replication.throttled.replicas": "*", "follower.replication.throttled.replicas": "0:1, 0:3"})
	c.Broker(1).Alter(Config{"leader.replication.throttled.rate": 1000})
	c.AlterQuota("client-id=<default>", Config{"consumer_byte_rate": 5, "producer_byte_rate": 6})
	want := "Dynamic configs for broker 1 are leader.replication.throttled.rate=1000\nQuota configs for the default client-id are consumer_byte_rate=5, producer_byte_rate=6"
	if got := c.Quotas().String(); got != want {
		t.Errorf("Quotas says\n%s\nwant\n%s", got, want)
	}
	if s := string(c.Script()); !strings.Contains(s, `c.AlterQuota("client-id=<default>", `) || !strings.Contains(s, "c.Broker(1).Alter(") {
		t.Errorf("the script lacks the quotas:\n%s", s)
	}
	if d := c.Describe("orders").String(); !strings.Contains(d, "follower.replication.throttled.replicas=0:1,0:3,leader.replication.throttled.replicas=*") {
		t.Errorf("Describe says %s", d)
	}
	if f := c.Fork(); f.Hash() != c.Hash() {
		t.Error("a fork differs")
	}
	c.AlterQuota("client-id=<default>", Config{"consumer_byte_rate": nil, "producer_byte_rate": nil})
	c.Broker(1).Alter(Config{"leader.replication.throttled.rate": nil})
	if got := c.Quotas().String(); got != "There are no quotas." {
		t.Errorf("Quotas says %q after all were taken back", got)
	}
	for _, bad := range []struct {
		do   func()
		want string
	}{
		{func() { c.AlterQuota("checkout", Config{"producer_byte_rate": 1}) }, `want "client-id=NAME"`},
		{func() { c.AlterQuota("clientid=x", Config{"producer_byte_rate": 1}) }, `did you mean "client-id"`},
		{func() { c.AlterQuota("client-id=x,client-id=y", Config{"producer_byte_rate": 1}) }, "given twice"},
		{func() { c.AlterQuota("client-id=x", nil) }, "no properties"},
		{func() { c.AlterQuota("client-id=x", Config{"producer_bytes_rate": 1}) }, `did you mean "producer_byte_rate"`},
		{func() { c.AlterQuota("client-id=x", Config{"request_percentage": 1}) }, "requests take no time"},
		{func() { c.AlterQuota("client-id=x", Config{"producer_byte_rate": -1}) }, "want whole bytes/s"},
		{func() { c.Broker(1).Alter(Config{"producer_byte_rate": 1}) }, "unknown property"},
		{func() { c.AlterTopic("orders", Config{"leader.replication.throttled.replicas": "0-1"}) }, "partition:broker"},
	} {
		before := c.Hash()
		err := usage(bad.do)
		if err == nil || !strings.Contains(err.Error(), bad.want) || c.Hash() != before {
			t.Errorf("got %v, want a sentence with %q and nothing changed", err, bad.want)
		}
	}
}

// usage is the UsageError that a call ends in, nil for none.
func usage(do func()) (err error) {
	defer func() {
		var u *UsageError
		if e, ok := recover().(error); ok && errors.As(e, &u) {
			err = u
		}
	}()
	do()
	return nil
}
