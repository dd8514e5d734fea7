package machine

import (
	"fmt"
	"strings"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
)

// The clients' steps of the recordings: raw requests.

func (p *player) client(op string, do map[string]any, saw any) {
	switch op {
	case "produce":
		p.compare("produce", p.produced(p.raw(p.at(do), do, p.values(do))), saw)
	case "javaProducerSend":
		p.javaSend(do, saw.(map[string]any))
	case "produceIdempotent", "produceIdempotentRetry":
		batch, known := p.batch[fmt.Sprint(do["seq"])]
		if !known {
			batch = p.values(do)
			batch.ProducerID, batch.ProducerEpoch, batch.BaseSequence = 1000, 0, int32(number(do["seq"]))
			p.batch[fmt.Sprint(do["seq"])] = batch
		}
		p.compare(op, p.produced(p.raw(p.at(do), do, batch)), saw)
	case "produceThenHeal":
		p.produceThenHeal(do, saw)
	case "produceAcks0":
		p.acks0(do, saw)
	case "consumerFetch":
		p.compare(op, fetched(p.consume(node(do["fromBroker"]), p.tp(), number(do["offset"]), -1), number(do["offset"])), saw)
	case "fetchAtFollower":
		p.compare(op, fetched(p.consume(node(do["broker"]), p.tp(), 0, p.registration(p.tp()).LeaderEpoch), 0), saw)
	case "fetchAtFollowerNoEpoch":
		p.compare(op, fetched(p.consume(node(do["broker"]), p.tp(), 0, -1), 0), saw)
	case "fetchWithEpochs":
		for _, x := range saw.([]any) {
			p.fetchWithEpochs(x.(map[string]any))
		}
	case "epochProbe":
		p.epochProbe(saw.([]any))
	case "listOffsets", "listOffsetsAtFollower":
		p.listOffsets(do, saw)
	case "produceAtFollower":
		r := p.produce(node(do["broker"]), p.tp(), config.AcksAll, "x")
		p.compare(op, map[string]any{"error": r.Error.String(), "currentLeader": map[string]any{"id": r.Leader, "epoch": r.LeaderEpoch}}, saw)
	case "produceInvalidAcks":
		r := p.produce(p.registration(p.tp()).Leader, p.tp(), int8(number(do["acks"])), "x")
		p.compare(op, map[string]any{"error": r.Error.String()}, saw)
	case "produceUnknownPartition":
		r := p.produce(p.registration(p.tp()).Leader, TopicPartition{p.tp().Topic, int32(number(do["partition"]))}, config.AcksAll, "x")
		p.compare(op, map[string]any{"error": r.Error.String()}, saw)
	default:
		p.t.Fatalf("unknown operation %s", op)
	}
}

// at is the broker that a step names, or the leader.
func (p *player) at(do map[string]any) NodeID {
	if b, ok := do["toBroker"]; ok {
		return node(b)
	}
	return p.registration(p.tp()).Leader
}

// values is a step's batch, sized as Kafka sizes it.
func (p *player) values(do map[string]any) partlog.Batch {
	var values []string
	if list, ok := do["values"].([]any); ok {
		for _, v := range list {
			values = append(values, v.(string))
		}
	} else {
		values = []string{strings.Repeat("y", int(number(do["valueBytes"])))}
	}
	return p.sized(values...)
}

func (p *player) sized(values ...string) partlog.Batch {
	b := p.bench.batch(values...)
	b.Size = partlog.BatchSize(b.Records, nil)
	return b
}

func (p *player) raw(to NodeID, do map[string]any, batch partlog.Batch) ProduceResult {
	timeout := int64(30000)
	if _, ok := do["timeoutMs"]; ok {
		timeout = number(do["timeoutMs"])
	}
	req := ProduceRequest{Acks: int8(number(do["acks"])), TimeoutMs: timeout, Parts: []ProducePart{{TP: p.tp(), Batch: batch}}}
	return p.call(to, req).(ProduceResponse).Parts[0]
}

func (p *player) produced(r ProduceResult) map[string]any {
	out := map[string]any{"error": r.Error.String()}
	if r.Error == NONE {
		out["baseOffset"] = r.BaseOffset
	}
	return out
}

// javaSend is one send of the Java producer without retries: it throws what the answer says.
func (p *player) javaSend(do map[string]any, saw map[string]any) {
	acks := map[string]int8{"all": -1, "1": 1, "0": 0}[fmt.Sprint(do["acks"])]
	value := "r5-acks1-java" // the recorder's only one that was written
	if list, ok := do["values"].([]any); ok {
		value = list[0].(string)
	} else if v, ok := do["value"].(string); ok {
		value = v
	}
	batch := p.sized(value)
	r := p.call(p.at(do), ProduceRequest{Acks: acks, TimeoutMs: 30000, Parts: []ProducePart{{TP: p.tp(), Batch: batch}}}).(ProduceResponse).Parts[0]
	got := "ok"
	if r.Error != NONE {
		got = "error"
	}
	if want := fmt.Sprint(saw["result"]); (want == "error") != (got == "error") {
		p.t.Errorf("send: %s (%v), Kafka has %v", got, r.Error, saw)
	}
	if do["retries"] == "default" {
		return // the Java producer retries until its delivery timeout, and throws that
	}
	if ex, ok := saw["exception"].(string); ok && ex != camel(r.Error.String())+"Exception" {
		p.t.Errorf("send fails with %v, Kafka has %s", r.Error, ex)
	}
	if off, ok := saw["offset"]; ok && number(off) != r.BaseOffset {
		p.t.Errorf("send got offset %d, Kafka has %v", r.BaseOffset, off)
	}
}

func camel(name string) string {
	var b strings.Builder
	for _, w := range strings.Split(name, "_") {
		b.WriteString(w[:1] + strings.ToLower(w[1:]))
	}
	return b.String()
}

// produceThenHeal sends acks=all under stalled replication, heals when the ISR is down to the leader, and
// reads the answer.
func (p *player) produceThenHeal(do map[string]any, saw any) {
	c := p.ask(1, ProduceRequest{Acks: -1, TimeoutMs: number(do["timeoutMs"]), Parts: []ProducePart{{TP: p.tp(), Batch: p.values(do)}}})
	p.runUntil(15_000*ms, "ISR {1}", func() bool { return len(p.registration(p.tp()).ISR) == 1 })
	p.run(500 * ms)
	p.links("resumeReplicationFrom", map[string]any{"leaderBroker": 1.0})
	p.runUntil(20_000*ms, "the answer", func() bool { return p.answered(c) })
	p.compare("produceThenHeal", p.produced(p.answers[c].p.(ProduceResponse).Parts[0]), saw)
}

// acks0 sends acks=0, and then acks=1 on the same connection: an error closed it.
func (p *player) acks0(do map[string]any, saw any) {
	to, conn := p.at(do), p.conn+1
	p.conn++
	p.correlation += 2
	second := p.correlation
	p.Probe(0, to, conn, second-1, ProduceRequest{Acks: 0, Parts: []ProducePart{{TP: p.tp(), Batch: p.values(do)}}})
	p.run(10 * ms)
	if a, closed := p.answers[0]; closed {
		if _, ok := a.p.(Disconnected); ok {
			delete(p.answers, 0)
			p.compare("acks=0", map[string]any{"connection": "closed"}, saw)
			return
		}
	}
	p.Probe(0, to, conn, second, ProduceRequest{Acks: 1, Parts: []ProducePart{{TP: p.tp(), Batch: p.sized("z")}}})
	p.runUntil(1000*ms, "the second answer", func() bool { return p.answered(second) })
	p.compare("acks=0", p.produced(p.answers[second].p.(ProduceResponse).Parts[0]), saw)
}

func fetched(r FetchResult, from int64) map[string]any {
	out := map[string]any{"error": r.Error.String()}
	if r.Error != NONE {
		return out
	}
	out["hw"], out["logStart"] = r.HighWatermark, r.LogStartOffset
	if r.Diverging.Epoch >= 0 {
		out["diverging"] = map[string]any{"epoch": r.Diverging.Epoch, "endOffset": r.Diverging.Offset}
	}
	recs := []string{}
	for i := range r.Batches {
		for k, rec := range r.Batches[i].Records {
			if o := r.Batches[i].BaseOffset + int64(k); o >= from { // a client drops what is before its offset
				recs = append(recs, fmt.Sprintf("%d:%s", o, rec.Value))
			}
		}
	}
	out["records"] = recs
	return out
}

func (p *player) fetchWithEpochs(x map[string]any) {
	f := x["fetch"].([]any)
	req := FetchRequest{MaxBytes: 1 << 20, MinBytes: 1, BrokerEpoch: -1, Parts: []FetchPart{{
		TP: p.tp(), FetchOffset: number(f[0]), LeaderEpoch: int32(number(f[1])), LastFetchedEpoch: int32(number(f[2])), LogStartOffset: -1, MaxBytes: 1 << 20,
	}}}
	res := p.call(p.registration(p.tp()).Leader, req).(FetchResponse).Parts[0]
	p.compare(fmt.Sprint("fetch ", f), fetched(res, number(f[0])), x["answer"])
}

func (p *player) epochProbe(saw []any) {
	for _, x := range saw {
		want := x.(map[string]any)
		res := p.call(p.registration(p.tp()).Leader, OffsetsForLeaderEpochRequest{Parts: []EpochQuery{
			{TP: p.tp(), CurrentEpoch: p.registration(p.tp()).LeaderEpoch, Epoch: int32(number(want["asked"]))},
		}}).(OffsetsForLeaderEpochResponse).Parts[0]
		p.compare("epoch probe", map[string]any{"error": res.Error.String(), "epoch": res.End.Epoch, "endOffset": res.End.Offset}, want["answer"])
	}
}

func (p *player) listOffsets(do map[string]any, saw any) {
	to := p.registration(p.tp()).Leader
	if b, ok := do["broker"]; ok {
		to = node(b)
	}
	ts := LatestTimestamp
	if do["ts"] == "earliest" {
		ts = EarliestTimestamp
	}
	r := p.call(to, ListOffsetsRequest{Parts: []ListOffsetsPart{{TP: p.tp(), Timestamp: ts, LeaderEpoch: p.registration(p.tp()).LeaderEpoch}}}).(ListOffsetsResponse).Parts[0]
	p.compare("listOffsets", map[string]any{"error": r.Error.String(), "offset": r.Offset}, saw)
}
