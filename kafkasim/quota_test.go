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
	if got, want := c.AlterQuota("client-id=checkout", Config{"producer_byte_rate": 20000}).String(), "Quota configs for client-id 'checkout' are producer_byte_rate=20000.0"; got != want {
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
	if told := r.Metrics().Value("fetch-throttle-time-max"); told < 100 {
		t.Errorf("fetch-throttle-time-max is %v ms", told)
	}
}

// Quotas are listed, saved in the script, and taken back; a throttled move is set up with Kafka's own names (KIP-73).
func TestQuotaVerbs(t *testing.T) {
	c := New(World{Brokers: 3, Seed: 1})
	c.CreateTopic("orders", 1, 2, Config{"leader.replication.throttled.replicas": "*", "follower.replication.throttled.replicas": "0:1, 0:3"})
	c.Broker(1).Alter(Config{"leader.replication.throttled.rate": 1000})
	c.AlterQuota("client-id=<default>", Config{"consumer_byte_rate": 5, "producer_byte_rate": 6})
	want := "Dynamic configs for broker 1 are:\n  leader.replication.throttled.rate=1000 sensitive=false synonyms={DYNAMIC_BROKER_CONFIG:leader.replication.throttled.rate=1000}\nQuota configs for the default client-id are consumer_byte_rate=5.0, producer_byte_rate=6.0"
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
		{func() { c.AlterQuota("client-id=x", Config{"request_percentage": 0}) }, "want per cent of a thread, at least 0.001"},
		{func() { c.AlterQuota("client-id=x", Config{"request_percentage": "-0.5"}) }, "want per cent of a thread"},
		{func() { c.AlterQuota("client-id=x", Config{"request_percentage": "1."}) }, "want per cent of a thread"},
		{func() { c.AlterQuota("client-id=x", Config{"controller_mutation_rate": 0.0005}) }, "three digits after the point at most"},
		{func() { c.AlterQuota("client-id=x", Config{"controller_mutation_rate": "many"}) }, "want partitions/s"},
		{func() { c.AlterQuota("client-id=x", Config{"producer_byte_rate": 1.5}) }, "want whole bytes/s"},
		{func() { c.Broker(1).Alter(Config{"request_percentage": 1}) }, "unknown property"},
		{func() { c.AlterQuota("client-id=x", Config{"connection_creation_rate": 1}) }, "it is for an ip"},
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

// The tool shows values of clients as doubles.
func TestQuotaValuesAsTheToolShowsThem(t *testing.T) {
	c := New(World{Brokers: 1, Seed: 1})
	for _, x := range []struct {
		name  string
		value any
		want  string
	}{
		{"request_percentage", 12.5, "12.5"},
		{"request_percentage", 200, "200.0"},
		{"request_percentage", "0.001", "0.001"},
		{"controller_mutation_rate", 5, "5.0"},
		{"controller_mutation_rate", 0.25, "0.25"},
		{"producer_byte_rate", 9999999, "9999999.0"},
		{"producer_byte_rate", 10000000, "1.0E7"},
		{"consumer_byte_rate", 10485760, "1.048576E7"},
	} {
		c.AlterQuota("user=<default>", Config{x.name: x.value})
		if got, want := c.Quotas().String(), "Quota configs for the default user-principal are "+x.name+"="+x.want; got != want {
			t.Errorf("%v is shown as %q, want %q", x.value, got, want)
		}
		c.AlterQuota("user=<default>", Config{x.name: nil})
	}
}

// KIP-124: many small requests cost a broker's threads more than few large ones, so the client that does not batch is the
// one that is held up; the same bytes in batches pass.
func TestRequestPercentageHoldsUpWhoDoesNotBatch(t *testing.T) {
	took := func(conf Config) (time.Duration, float64) {
		c := New(World{Brokers: 1, Seed: 1})
		c.CreateTopic("orders", 1, 1, nil)
		c.AlterQuota("client-id=checkout", Config{"request_percentage": 0.5})
		p := c.NewProducer("checkout", conf)
		start := c.Now()
		for i := range 1000 {
			p.Send("orders", nil, "order "+strings.Repeat("x", i%10))
			c.RunFor(3 * time.Millisecond)
		}
		p.Flush()
		return c.Now() - start, p.Metrics().Value("produce-throttle-time-max")
	}
	one, told := took(Config{"batch.size": 0, "linger.ms": 0, "max.in.flight.requests.per.connection": 1})
	many, none := took(Config{"linger.ms": 100})
	if one < 10*time.Second || told < 100 || told > 1000 {
		t.Errorf("without batches 1000 records took %v, throttle-time-max %v; want far more than the 3 s of sending, and up to 1000 ms", one, told)
	}
	if many > 4*time.Second || none != 0 {
		t.Errorf("in batches 1000 records took %v, throttle-time-max %v; want 3 s and no throttle", many, none)
	}
}

// KIP-599: the controller says no to the script that makes too many topics; after the time that it names it says yes.
// With several controllers the answer comes the same way.
func TestControllerMutationQuota(t *testing.T) {
	for _, w := range []World{{Brokers: 3, Seed: 1}, {Brokers: 3, Controllers: 3, Seed: 1}} {
		c := New(w)
		c.AlterQuota("client-id=adminclient-1", Config{"controller_mutation_rate": 1})
		if topic := c.CreateTopic("large", 31, 3, nil); topic.Error != "" {
			t.Fatal(topic)
		}
		want := "topic small was not created: THROTTLING_QUOTA_EXCEEDED (throttle_time_ms "
		if topic := c.CreateTopic("small", 1, 3, nil); topic.Error != "THROTTLING_QUOTA_EXCEEDED" || !strings.HasPrefix(topic.String(), want+"1") && !strings.HasPrefix(topic.String(), want+"20000") {
			t.Errorf("%s, want %s…", topic, want)
		}
		if topic := c.AddPartitions("large", 32); topic.Error != "THROTTLING_QUOTA_EXCEEDED" || len(topic.Partitions) != 31 {
			t.Error(topic)
		}
		if o := c.DeleteTopic("large"); o.Error != "THROTTLING_QUOTA_EXCEEDED" || !strings.Contains(o.String(), "refused, THROTTLING_QUOTA_EXCEEDED (throttle_time_ms ") {
			t.Error(o)
		}
		c.RunFor(20 * time.Second)
		if topic := c.CreateTopic("small", 1, 3, nil); topic.Error != "" {
			t.Errorf("after the time that the controller had named: %s", topic)
		}
		if f := c.Fork(); f.Hash() != c.Hash() {
			t.Error("a fork differs")
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

// The administrator's client has a client id too, and may be over its quota.
func TestQuotaOfTheAdministrator(t *testing.T) {
	c := New(World{Brokers: 1, Seed: 1})
	c.CreateTopic("t", 1, 1, nil)
	c.AlterQuota("client-id=<default>", Config{"producer_byte_rate": 1000})
	c.NewProducer("p", nil).Send("t", "k", "v")
	c.RunFor(time.Second)
	if d := c.DeleteRecords("t", 0, 1).Wait(time.Minute); d.Failure() != "" {
		t.Error(d)
	}
}
