package kafkasim

import (
	"fmt"

	"kafkalab/kafkasim/machine"
)

// A consumer's metrics, and its lag as it knows it (C-80).

// CurrentLag is how many offsets the consumer's position in a partition is behind the high watermark, or under
// read_committed behind the last stable offset, as the last answer to a fetch said (KafkaConsumer.currentLag); -1 while
// that is not known, where Kafka has an empty OptionalLong. The tool's lag, from what is committed, is Group.Lag.
func (x *Consumer) CurrentLag(topic string, partition int) int64 {
	x.assigned("CurrentLag", topic, partition)
	p := x.part(topic, partition)
	if p.HighWatermark < 0 || p.Position < 0 {
		return -1
	}
	return max(p.HighWatermark-p.Position, 0)
}

// Metrics are the consumer's numbers by Kafka's names, of the groups consumer-metrics, consumer-fetch-manager-metrics and
// consumer-coordinator-metrics, with records-lag and records-lead of each partition. Kafka's rates, averages and maxima are
// those of the last half minute; here they are over the consumer's whole life.
func (x *Consumer) Metrics() *Metrics {
	m := &Metrics{who: "consumer " + x.ID()}
	x.pollMetrics(m)
	x.fetchMetrics(m)
	if x.state().Config.Member.GroupID != "" {
		x.coordinatorMetrics(m)
	}
	return m
}

// adder puts rows of one of Kafka's groups into m.
func (m *Metrics) adder(group string) func(name string, value float64, doc string) {
	return func(name string, value float64, doc string) {
		m.Rows = append(m.Rows, Metric{group, name, value, doc})
	}
}

// ago is how many seconds a moment is past, -1 for one that never was.
func (c *Cluster) ago(at int64) float64 {
	if at <= 0 {
		return -1
	}
	return float64(c.s.Now-at) / 1e6
}

// perSecond is a rate over the consumer's life.
func (x *Consumer) perSecond(n int64) float64 {
	return float64(n) / max(float64(x.c.s.Now-x.state().Stats.Born)/1e6, 0.001)
}

// times are the average and the longest of some durations, ms.
func times(d machine.Duration) (avg, longest float64) {
	return float64(d.Sum) / float64(max(d.Count, 1)) / 1000, float64(d.Max) / 1000
}

func (x *Consumer) pollMetrics(m *Metrics) {
	s := &x.state().Stats
	add := m.adder("consumer-metrics")
	last := -1.0
	if s.Polls > 0 {
		last = float64(x.c.s.Now-s.LastPoll) / 1e6
	}
	add("last-poll-seconds-ago", last, "s since the last poll began; -1 before the first")
	avg, longest := times(s.Between)
	add("time-between-poll-avg", avg, "ms from one poll to the next")
	add("time-between-poll-max", longest, "ms, the longest of them: beyond max.poll.interval.ms the consumer leaves its group")
}

func (x *Consumer) fetchMetrics(m *Metrics) {
	s := &x.state().Stats
	add := m.adder("consumer-fetch-manager-metrics")
	add("fetch-total", float64(s.Fetch.Count), "fetches that were answered")
	add("fetch-rate", x.perSecond(s.Fetch.Count), "… in a second")
	avg, longest := times(s.Fetch)
	add("fetch-latency-avg", avg, "ms from a fetch to its answer; an idle consumer's wait is in it")
	add("fetch-latency-max", longest, "ms, the longest of them")
	add("fetch-size-avg", float64(s.Bytes)/float64(max(s.Fetch.Count, 1)), "bytes of batches in an answer")
	add("fetch-size-max", float64(s.MaxBytes), "bytes, the most of them")
	add("fetch-throttle-time-avg", float64(s.Throttled)/float64(max(s.Fetch.Count, 1)), "ms that an answer told the consumer to be silent, because of a quota")
	add("fetch-throttle-time-max", float64(s.MaxThrottled), "ms, the longest of them")
	add("bytes-consumed-total", float64(s.Bytes), "bytes of batches that came")
	add("bytes-consumed-rate", x.perSecond(s.Bytes), "… in a second")
	add("records-consumed-total", float64(s.Records), "records that polls returned")
	add("records-consumed-rate", x.perSecond(s.Records), "… in a second")
	add("records-per-request-avg", float64(s.Records)/float64(max(s.Fetch.Count, 1)), "records for each fetch")
	add("records-lag-max", float64(s.MaxLag), "records, the most that any partition was behind")
	add("records-lead-min", float64(s.MinLead), "records, the least that any position was from the log's start: at 0 retention overtakes; -1 before the first answer")
	for i := range x.state().Parts {
		p := &x.state().Parts[i]
		if p.HighWatermark >= 0 && p.Position >= 0 {
			name := fmt.Sprintf("{topic=%s,partition=%d}", p.Topic, p.TP.Partition)
			add("records-lag"+name, float64(max(p.HighWatermark-p.Position, 0)), "records that the position is behind")
			add("records-lead"+name, float64(p.Position-p.LogStart), "records between the log's start and the position")
		}
	}
}

func (x *Consumer) coordinatorMetrics(m *Metrics) {
	s, c := &x.state().Stats, x.c
	add := m.adder("consumer-coordinator-metrics")
	add("assigned-partitions", float64(len(x.state().Parts)), "partitions that it has")
	add("commit-total", float64(s.Commit.Count), "commits that were answered")
	add("commit-rate", x.perSecond(s.Commit.Count), "… in a second")
	avg, longest := times(s.Commit)
	add("commit-latency-avg", avg, "ms from a commit to its answer")
	add("commit-latency-max", longest, "ms, the longest of them")
	add("heartbeat-total", float64(s.Heartbeat.Count), "heartbeats that were answered")
	add("heartbeat-rate", x.perSecond(s.Heartbeat.Count), "… in a second")
	_, longest = times(s.Heartbeat)
	add("heartbeat-response-time-max", longest, "ms from a heartbeat to its answer, the longest")
	add("last-heartbeat-seconds-ago", c.ago(s.LastHeartbeat), "s since the last answer to a heartbeat; -1 before the first")
	for _, step := range []struct {
		name string
		d    machine.Duration
	}{{"join", s.Join}, {"sync", s.Sync}} {
		avg, longest = times(step.d)
		add(step.name+"-total", float64(step.d.Count), "JoinGroup and SyncGroup, only with group.protocol=classic")
		add(step.name+"-time-avg", avg, "ms from the request to its answer, which waits for the other members")
		add(step.name+"-time-max", longest, "ms, the longest of them")
	}
	avg, longest = times(s.Rebalance)
	add("rebalance-total", float64(s.Rebalance.Count), "rebalances that ended with an assignment")
	add("rebalance-rate-per-hour", x.perSecond(s.Rebalance.Count)*3600, "… in an hour")
	add("rebalance-latency-avg", avg, "ms that a rebalance took the consumer")
	add("rebalance-latency-max", longest, "ms, the longest of them")
	add("rebalance-latency-total", float64(s.Rebalance.Sum)/1000, "ms, all of them")
	add("failed-rebalance-total", float64(s.Failed), "rebalances that came to nothing and were begun again")
	add("last-rebalance-seconds-ago", c.ago(s.LastRebalanceAt), "s since one ended; -1 before the first")
}
