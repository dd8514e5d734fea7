package kafkasim

import (
	"strings"
	"testing"
	"time"
)

// Bad input of consumers: Kafka's own sentences, as KafkaConsumer 4.3.1 says them for the same calls, stand in ours.
// (C-75, G-32, KIP-1092.) Not compared: what Go's types rule out, such as null.
func TestConsumerMistakesAreKafkas(t *testing.T) {
	c, _ := filled(2, 4)
	group := Config{"group.id": "g"}
	with := func(kv ...any) Config {
		conf := Config{}
		for k, v := range group {
			conf[k] = v
		}
		for i := 0; i < len(kv); i += 2 {
			conf[kv[i].(string)] = kv[i+1]
		}
		return conf
	}
	for _, w := range []struct {
		conf Config
		want string
	}{
		{with("auto.offset.reset", "newest"), "The value must be either 'earliest', 'latest', 'none' or of the format 'by_duration:<PnDTnHnMn.nS.>'."},
		{with("auto.offset.reset", "by_duration:PT-1H"), "The value must be either 'earliest', 'latest', 'none' or of the format 'by_duration:<PnDTnHnMn.nS.>'."},
		{with("session.timeout.ms", 6000, "heartbeat.interval.ms", 6000), "Heartbeat must be set lower than the session timeout"},
		{with("session.timeout.ms", 6000, "heartbeat.interval.ms", 9000), "Heartbeat must be set lower than the session timeout"},
		{with("group.protocol", "consumer", "session.timeout.ms", 9000), "session.timeout.ms cannot be set when group.protocol=CONSUMER"},
		{with("group.protocol", "consumer", "heartbeat.interval.ms", 3000), "heartbeat.interval.ms cannot be set when group.protocol=CONSUMER"},
		{with("group.protocol", "consumer", "partition.assignment.strategy", "range"), "partition.assignment.strategy cannot be set when group.protocol=CONSUMER"},
		{with("group.remote.assignor", "uniform"), "group.remote.assignor cannot be set when group.protocol=CLASSIC"},
		{with("group.protocol", "modern"), "String must be one of (case insensitive): CONSUMER, CLASSIC"},
		{with("partition.assignment.strategy", "nosuch"), "nosuch ClassNotFoundException exception occurred"},
		{Config{"group.id": ""}, "The configured group.id should not be an empty string or whitespace."},
		{Config{"enable.auto.commit": true}, "enable.auto.commit cannot be set to true when default group id (null) is used."},
		{with("enable.auto.commit", "maybe"), "Expected value to be either true or false"},
		{with("auto.commit.interval.ms", -1), "Value must be at least 0"},
		{with("max.poll.records", 0), "Value must be at least 1"},
		{with("max.poll.interval.ms", 0), "Value must be at least 1"},
		{with("isolation.level", "read_all"), "String must be one of: read_committed, read_uncommitted"},
		{with("fetch.min.bytes", -1), "Value must be at least 0"},
		{with("fetch.max.wait.ms", "soon"), "fetch.max.wait.ms=soon: want a whole number of ms"},
		{with("max.partition.fetch.bytes", -1), "Value must be at least 0"},
		{with("group.instance.id", ""), "String must be non-empty"},
		{with("group.instance.id", "a b"), "Group instance id is invalid: 'a b' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"},
		{with("group.instance.id", ".."), "Group instance id is invalid: '..' is not allowed"},
		{with("request.timeout.ms", -1), "Value must be at least 0"},
		{with("default.api.timeout.ms", -1), "Value must be at least 0"},
		{with("retry.backoff.ms", -1), "Value must be at least 0"},
	} {
		if got := mistake(t, func() { c.NewConsumer("bad", w.conf) }); !strings.Contains(got, w.want) {
			t.Errorf("%v:\n got %s\nwant %s", w.conf, got, w.want)
		}
	}
	for _, protocol := range []string{"classic", "consumer"} {
		x := c.NewConsumer("x-"+protocol, Config{"group.id": "g-" + protocol, "group.protocol": protocol})
		y := c.NewConsumer("y-"+protocol, nil)
		for _, w := range []struct {
			what string
			call func()
			want string // "" for a call that goes well
		}{
			{"poll", func() { x.Poll(0) }, "Consumer is not subscribed to any topics or assigned any partitions (IllegalStateException)"},
			{"seek", func() { x.Seek("orders", 0, 3) }, "No current assignment for partition orders-0 (IllegalStateException)"},
			{"position", func() { x.Position("orders", 0) }, "You can only check the position for partitions assigned to this consumer. (IllegalStateException)"},
			{"pause", func() { x.Pause("orders", 0) }, "No current assignment for partition orders-0 (IllegalStateException)"},
			{"resume", func() { x.Resume("orders", 0) }, "No current assignment for partition orders-0 (IllegalStateException)"},
			{"seekToEnd", func() { x.SeekToEnd("orders", 0) }, "No current assignment for partition orders-0 (IllegalStateException)"},
			{"currentLag", func() { x.CurrentLag("orders", 0) }, "No current assignment for partition orders-0 (IllegalStateException)"},
			{"subscribe to a blank topic", func() { x.Subscribe(" ") }, "Topic collection to subscribe to cannot contain null or empty topic (IllegalArgumentException)"},
			{"an empty pattern", func() { x.SubscribePattern("") }, "Topic pattern to subscribe to cannot be empty (IllegalArgumentException)"},
			{"subscribe", func() { x.Subscribe("orders") }, ""},
			{"assign after subscribe", func() { x.Assign("orders", 0) }, "Subscription to topics, partitions and pattern are mutually exclusive (IllegalStateException)"},
			{"pattern after subscribe", func() { x.SubscribePattern("o.*") }, "Subscription to topics, partitions and pattern are mutually exclusive (IllegalStateException)"},
			{"unsubscribe", func() { x.Subscribe() }, ""},
			{"assign", func() { x.Assign("orders", 0) }, ""},
			{"subscribe after assign", func() { x.Subscribe("orders") }, "Subscription to topics, partitions and pattern are mutually exclusive (IllegalStateException)"},
			{"seek below 0", func() { x.Seek("orders", 0, -1) }, "seek offset must not be a negative number (IllegalArgumentException)"},
			{"seek far away", func() { x.Seek("orders", 0, 1<<60) }, ""},
			{"poll for less than nothing", func() { x.Poll(-time.Millisecond) }, "Invalid negative timeout -1 (IllegalArgumentException)"},
			{"commit below 0", func() { x.CommitOffset("orders", 0, -1) }, "Invalid negative offset (IllegalArgumentException)"},
			{"close for less than nothing", func() { x.Close(CloseOptions{Timeout: -1}) }, "The timeout cannot be negative. (IllegalArgumentException)"},
			{"close", func() { x.Close() }, ""},
			{"poll after close", func() { x.Poll(0) }, "This consumer has already been closed. (IllegalStateException)"},
			{"subscribe after close", func() { x.Subscribe("orders") }, "This consumer has already been closed. (IllegalStateException)"},
			{"commit after close", func() { x.Commit() }, "This consumer has already been closed. (IllegalStateException)"},
			{"position after close", func() { x.Position("orders", 0) }, "This consumer has already been closed. (IllegalStateException)"},
			{"close again", func() { x.Close() }, ""},
			{"without a group: subscribe", func() { y.Subscribe("orders") }, "To use the group management or offset commit APIs, you must provide a valid group.id in the consumer configuration. (InvalidGroupIdException)"},
			{"without a group: assign", func() { y.Assign("orders", 0) }, ""},
			{"without a group: commit", func() { y.Commit() }, "To use the group management or offset commit APIs, you must provide a valid group.id in the consumer configuration. (InvalidGroupIdException)"},
		} {
			if w.want == "" {
				w.call()
				continue
			}
			if got := mistake(t, w.call); !strings.Contains(got, w.want) {
				t.Errorf("%s, %s:\n got %s\nwant %s", protocol, w.what, got, w.want)
			}
		}
	}
}
