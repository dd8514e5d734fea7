package machine

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kafkalab/kafkasim/partlog"
)

// Recordings of real Kafka clusters (4.3.1), replayed: the same steps, and the same seen after each. What
// differed from run to run on the real cluster is named in droppedBecauseDifferent and not compared; nor is
// the high watermark of a dead broker, which is whatever its checkpoint file last said.

type recording struct {
	Cluster struct {
		Brokers  []int
		Config   map[string]string
		Features map[string]int
	}
	Steps []struct {
		Do  map[string]any
		Saw any
	}
	DroppedBecauseDifferent []string
}

func TestOracle(t *testing.T) {
	files, _ := filepath.Glob("testdata/oracle/*.json")
	if len(files) == 0 {
		t.Fatal("no recordings")
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".json"), func(t *testing.T) {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			var r recording
			if err := json.Unmarshal(data, &r); err != nil {
				t.Fatal(err)
			}
			r.DroppedBecauseDifferent = append(r.DroppedBecauseDifferent, eitherFirst[filepath.Base(f)])
			replay(t, &r)
		})
	}
}

// eitherFirst names what the recorder's notes say is never to be compared: which of two lagging replicas
// re-enters the ISR first.
var eitherFirst = map[string]string{
	"b1-elr-clean-return-elr-off.json": "steps[24].saw[5].isr",
	"b2-elr-unclean-return.json":       "steps[19].saw[8].isr",
}

// player replays one recording.
type player struct {
	*bench
	rec    *recording
	topics map[string]TopicPartition
	topic  string // of the last step that named one
	step   int
	batch  map[string]partlog.Batch // idempotent batches by their sequence
}

func replay(t *testing.T, r *recording) {
	num := func(name string, otherwise int64) int64 {
		if v, err := strconv.ParseInt(r.Cluster.Config[name], 10, 64); err == nil {
			return v
		}
		return otherwise
	}
	elr, set := r.Cluster.Features["eligible.leader.replicas.version"]
	b := newBench(t, int32(len(r.Cluster.Brokers)), func(w *World) {
		w.ELR = !set || elr > 0
		c := &w.Broker
		c.BrokerSessionTimeoutMs = num("broker.session.timeout.ms", 9000)
		c.BrokerHeartbeatIntervalMs = num("broker.heartbeat.interval.ms", 2000)
		c.ReplicaLagTimeMaxMs = num("replica.lag.time.max.ms", 30000)
		c.ReplicaHighWatermarkCheckpointMs = num("replica.high.watermark.checkpoint.interval.ms", 5000)
		c.ReplicaFetchWaitMaxMs = num("replica.fetch.wait.max.ms", 500)
		c.ReplicaFetchBackoffMs = num("replica.fetch.backoff.ms", 1000)
	})
	p := &player{bench: b, rec: r, topics: map[string]TopicPartition{}, batch: map[string]partlog.Batch{}}
	for i := range r.Steps {
		p.step = i
		if name, ok := r.Steps[i].Do["topic"].(string); ok {
			p.topic = name
		}
		p.play(r.Steps[i].Do, r.Steps[i].Saw)
		if t.Failed() {
			t.Fatalf("at step %d: %v", i, r.Steps[i].Do)
		}
	}
}

func (p *player) tp() TopicPartition { return p.topics[p.topic] }

func number(v any) int64 { f, _ := v.(float64); return int64(f) }

func node(v any) NodeID { return NodeID(number(v)) }

func (p *player) play(do map[string]any, saw any) {
	if m, ok := saw.(map[string]any); ok && m["timedOut"] == true {
		p.run(40_000 * ms) // it does not come to that
		if isr, ok := do["isr"]; ok && sameSet(p.registration(p.tp()).ISR, nodes(isr)) || !ok && p.registration(p.tp()).Leader == node(do["leader"]) {
			p.t.Errorf("%v happened, in Kafka it does not", do)
		}
		return
	}
	switch op := do["op"].(string); op {
	case "createTopic":
		p.createTopic(do)
		p.settled(saw)
	case "snapshot":
		p.settled(saw)
	case "kill9":
		p.apply(CrashBroker{node(do["broker"])})
		if next := p.rec.Steps[p.step+1].Do["op"]; next == "snapshot" {
			p.runUntil(12_000*ms, "the fencing", func() bool { return p.Controller.Image.broker(node(do["broker"])).Fenced })
		}
	case "sigterm":
		p.apply(StopBroker{node(do["broker"])})
		p.runUntil(60_000*ms, "the exit", func() bool { return !p.broker(node(do["broker"])).alive() })
	case "start":
		p.apply(StartBroker{node(do["broker"])})
		p.runUntil(60_000*ms, "the start", func() bool { return p.broker(node(do["broker"])).Process == Running })
	case "waitIsr":
		want := nodes(do["isr"])
		p.runUntil(120_000*ms, fmt.Sprint("ISR ", want), func() bool { return sameSet(p.registration(p.tp()).ISR, want) })
		p.settled(saw)
	case "waitLeader":
		want := node(do["leader"])
		if want < 0 {
			want = NoNode
		}
		p.runUntil(120_000*ms, fmt.Sprint("leader ", want), func() bool { return p.registration(p.tp()).Leader == want })
		p.settled(saw)
	case "stallReplicationFrom", "resumeReplicationFrom", "dropHeldBytes":
		p.links(op, do)
	case "electPreferred", "elect":
		p.elect(saw)
	case "kill9AndRestartAtOnce", "sigtermAndRestartAtOnce":
		p.restart(op, node(do["broker"]), saw.(map[string]any))
	case "dumpLog":
		p.run(1500 * ms)
		p.dump(node(do["broker"]), saw)
	case "metadataHistory":
		p.compare("metadata history", p.history(), saw)
	case "brokerRecords":
	case "metadata":
		p.metadata(node(do["viaBroker"]), saw.(map[string]any))
	default:
		p.client(op, do, saw)
	}
}

func nodes(v any) []NodeID {
	var out []NodeID
	for _, x := range v.([]any) {
		out = append(out, node(x))
	}
	return out
}

func (p *player) createTopic(do map[string]any) {
	props := topicDefaults()
	for k, v := range do["configs"].(map[string]any) {
		n, _ := strconv.ParseInt(fmt.Sprint(v), 10, 64)
		switch k {
		case "min.insync.replicas":
			props.MinInSyncReplicas = int32(n)
		case "max.message.bytes":
			props.MaxMessageBytes = n
		case "unclean.leader.election.enable":
			props.UncleanLeaderElectionEnable = fmt.Sprint(v) == "true"
		default:
			p.t.Fatalf("topic config %s", k)
		}
	}
	assignment := do["assignment"].(map[string]any)
	replicas := make([][]NodeID, len(assignment))
	for k, v := range assignment {
		n, _ := strconv.Atoi(k)
		replicas[n] = nodes(v)
	}
	p.topics[p.topic] = p.topicWith(p.topic, props, replicas...)
}

// links stalls replication from a leader, lets it go on, or drops what was held.
func (p *player) links(op string, do map[string]any) {
	leader := node(do["leaderBroker"])
	if op == "dropHeldBytes" {
		leader = node(do["from"])
	}
	for i := range p.Brokers {
		id := NodeID(i + 1)
		switch {
		case id == leader:
		case op == "stallReplicationFrom":
			p.apply(CutLink{leader, id})
		default:
			if op == "dropHeldBytes" {
				p.link(leader, id).Held, p.link(id, leader).Held = nil, nil
			}
			p.apply(HealLink{leader, id})
		}
	}
}

func (p *player) elect(saw any) {
	res := p.Apply(ElectLeaders{TP: p.tp()})
	list := saw.([]any)
	if res.Error != NONE {
		p.t.Errorf("election: %v", res.Error)
	}
	p.settled(list[1])
}

func (p *player) restart(op string, id NodeID, saw map[string]any) {
	p.record()
	if op == "kill9AndRestartAtOnce" {
		p.apply(CrashBroker{id})
	} else {
		p.apply(StopBroker{id})
		p.runUntil(60_000*ms, "the exit", func() bool { return !p.broker(id).alive() })
	}
	p.run(3600 * ms) // a JVM takes that long to come up
	p.apply(StartBroker{id})
	p.runUntil(60_000*ms, "the whole ISR", func() bool {
		return p.broker(id).Process == Running && len(p.registration(p.tp()).ISR) == len(p.registration(p.tp()).Replicas)
	})
	duplicate := slices.ContainsFunc(p.seen, func(e Event) bool {
		m, ok := e.Payload.(BrokerRegistrationResponse)
		return ok && m.Error == DUPLICATE_BROKER_REGISTRATION
	})
	if want := saw["duplicateRegistrationSeen"]; duplicate != want {
		p.t.Errorf("duplicate registration seen: %v, want %v", duplicate, want)
	}
	p.settled(saw["snapshot"])
}

// settled waits as the recorder did, until nothing changes, and compares.
func (p *player) settled(saw any) {
	p.run(1500 * ms)
	p.compare("snapshot", p.snapshot(), saw)
}

// snapshot is what the recorder took.
func (p *player) snapshot() map[string]any {
	reg := p.registration(p.tp())
	leader := int(reg.Leader)
	if reg.Leader == NoNode {
		leader = -1
	}
	out := map[string]any{
		"leader": leader, "leaderEpoch": reg.LeaderEpoch, "partitionEpoch": reg.PartitionEpoch, "replicas": nodeInts(reg.Replicas),
		"isr": sorted(reg.ISR), "elr": sorted(reg.ELR), "lastKnownElr": nodeInts(reg.LastKnownELR),
	}
	if reg.Recovering {
		out["recovery"] = "RECOVERING"
	}
	logs := map[string]any{}
	for _, id := range reg.Replicas {
		l := p.log(id, p.tp())
		entry := map[string]any{"leo": l.End, "epochs": [][]int64{}}
		if p.broker(id).alive() {
			entry["hw"] = l.HighWatermark
		}
		for _, e := range l.Epochs {
			entry["epochs"] = append(entry["epochs"].([][]int64), []int64{int64(e.Epoch), e.StartOffset})
		}
		if l.LogStart > 0 {
			entry["start"] = l.LogStart
		}
		logs[fmt.Sprint(id)] = entry
	}
	out["logs"] = logs
	return out
}

func sorted(ids []NodeID) []int {
	out := nodeInts(ids)
	slices.Sort(out)
	return out
}

// compare compares what we see with what the recorder saw, as JSON.
func (p *player) compare(what string, got, want any) {
	data, err := json.Marshal(got)
	if err != nil {
		p.t.Fatal(err)
	}
	var plain any
	if err := json.Unmarshal(data, &plain); err != nil {
		p.t.Fatal(err)
	}
	p.same(fmt.Sprintf("%s at step %d", what, p.step), fmt.Sprintf("steps[%d].saw", p.step), plain, want)
}

func (p *player) same(what, path string, got, want any) {
	if slices.Contains(p.rec.DroppedBecauseDifferent, path) {
		return
	}
	switch w := want.(type) {
	case map[string]any:
		g, _ := got.(map[string]any)
		for k := range w {
			if _, live := g[k]; k == "hw" && !live && strings.Contains(path, ".logs.") {
				continue // a dead broker's
			}
			p.same(what, path+"."+k, g[k], w[k])
		}
		for k := range g {
			if _, known := w[k]; !known && !slices.Contains(p.rec.DroppedBecauseDifferent, path+"."+k) {
				p.t.Errorf("%s: %s.%s is %v, Kafka has none", what, path, k, g[k])
			}
		}
	case []any:
		g, _ := got.([]any)
		if len(g) != len(w) {
			p.t.Errorf("%s: %s is %v, Kafka has %v", what, path, got, want)
			return
		}
		for i := range w {
			p.same(what, fmt.Sprintf("%s[%d]", path, i), g[i], w[i])
		}
	default:
		if !reflect.DeepEqual(got, want) {
			p.t.Errorf("%s: %s is %v, Kafka has %v", what, path, got, want)
		}
	}
}

// dump is a replica's log, batch by batch.
func (p *player) dump(id NodeID, saw any) {
	out := []any{}
	p.log(id, p.tp()).Batches(0, func(b *partlog.Batch) bool {
		e := map[string]any{"base": b.BaseOffset, "last": b.NextOffset() - 1, "leaderEpoch": b.LeaderEpoch, "size": b.Size}
		if b.ProducerID >= 0 {
			e["pid"], e["pepoch"], e["seq"] = "P1", b.ProducerEpoch, []int32{b.BaseSequence, b.BaseSequence + int32(len(b.Records)) - 1}
		}
		recs := []string{}
		for i := range b.Records {
			recs = append(recs, fmt.Sprintf("%d:%s", b.BaseOffset+int64(i), b.Records[i].Value))
		}
		e["records"] = recs
		out = append(out, e)
		return true
	})
	p.compare("log", out, saw)
}

// history is the partition's records in the metadata log: the first whole, then what changed.
func (p *player) history() []any {
	out := []any{}
	if p.clearELR() {
		out = append(out, map[string]any{"rec": "ClearElrRecord"})
	}
	var old PartitionRegistration
	for _, r := range p.Controller.Log {
		if r.TP != p.tp() || r.Kind != PartitionRecord && r.Kind != PartitionChangeRecord {
			continue
		}
		n := r.Partition
		e := map[string]any{"rec": "PartitionChange", "p": 0}
		if r.Kind == PartitionRecord {
			e = map[string]any{"rec": "Partition", "p": 0, "replicas": n.Replicas, "isr": n.ISR, "leader": n.Leader, "leaderEpoch": n.LeaderEpoch, "partitionEpoch": n.PartitionEpoch}
		} else {
			p.changed(e, &old, &n)
		}
		old = n
		out = append(out, e)
	}
	return out
}

// clearELR tells whether the recorder's topic set min.insync.replicas, which writes a ClearElrRecord (R3.16):
// the machine's record says nothing of it, as a new topic has no ELR.
func (p *player) clearELR() bool {
	if !p.World.ELR {
		return false
	}
	for _, s := range p.rec.Steps[:p.step] {
		if s.Do["op"] == "createTopic" && s.Do["topic"] == p.topic {
			_, set := s.Do["configs"].(map[string]any)["min.insync.replicas"]
			return set
		}
	}
	return false
}

func (p *player) changed(e map[string]any, old, n *PartitionRegistration) {
	if !slices.Equal(old.ISR, n.ISR) {
		e["isr"] = nodeInts(n.ISR)
	}
	if old.Leader != n.Leader {
		e["leader"] = noteNode(n.Leader)
	}
	if !slices.Equal(old.ELR, n.ELR) {
		e["elr"] = sorted(n.ELR)
	}
	if !slices.Equal(old.LastKnownELR, n.LastKnownELR) {
		e["lastKnownElr"] = nodeInts(n.LastKnownELR)
	}
	if old.Recovering != n.Recovering {
		e["recovery"] = 0
		if n.Recovering {
			e["recovery"] = 1
		}
	}
}

func (p *player) metadata(via NodeID, saw map[string]any) {
	m := p.call(via, MetadataRequest{Topics: []string{p.topic}}).(MetadataResponse)
	part := m.Topics[0].Partitions[0]
	offline := []int{}
	for _, id := range part.Replicas {
		if !slices.Contains(m.Brokers, id) {
			offline = append(offline, int(id))
		}
	}
	p.compare("metadata", map[string]any{
		"error": part.Error.String(), "leader": noteNode(part.Leader), "leaderEpoch": part.LeaderEpoch, "replicas": part.Replicas,
		"isr": sorted(part.ISR), "offline": offline, "brokers": sorted(m.Brokers),
	}, saw)
}
