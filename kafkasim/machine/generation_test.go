package machine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
	"kafkalab/kafkasim/prng"
)

// The table is whole: every switch has its row, with a name of its own and all its words.
func TestSwitchTable(t *testing.T) {
	seen := map[string]bool{}
	for _, i := range Switches() {
		if i.Name == "" || i.Source == "" || i.Rule == "" || i.Without == "" || i.Since == 0 || seen[i.Name] {
			t.Errorf("row %d: %+v", i.Switch, i)
		}
		seen[i.Name] = true
		if x, ok := SwitchNamed(i.Name); !ok || x != i.Switch {
			t.Errorf("SwitchNamed(%q) = %d %v", i.Name, x, ok)
		}
	}
	if switches > 64 {
		t.Error("more switches than bits")
	}
}

// Which switches are off in a version.
func TestSwitchesByVersion(t *testing.T) {
	for version, want := range map[string]string{
		"4.4": "emptied.group.stays", "4.3": "", "4.1": "fence.takes.new.id group.epoch.from.one assignment.interval late.commits share.release.counts share.epoch.from.one",
		"4.0": "last.known.leader.alive fence.takes.new.id rejoin.keeps.epoch group.epoch.from.one assignment.interval late.commits share.release.counts share.epoch.from.one uniform.keeps.extras eligible.leader.replicas",
		"3.9": "higher.epoch.dropped fetch.answer.epoch pre.vote transactions.v2 last.known.leader.alive fence.takes.new.id consumer.protocol rejoin.keeps.epoch group.epoch.from.one assignment.interval late.commits share.release.counts share.epoch.from.one uniform.keeps.extras eligible.leader.replicas",
		"3.6": "strict.min.isr min.isr.capped leader.hints retry.backoff.exponential higher.epoch.dropped fetch.answer.epoch pre.vote transactions.v2 last.known.leader.alive fence.takes.new.id consumer.protocol rejoin.keeps.epoch group.epoch.from.one assignment.interval late.commits share.release.counts share.epoch.from.one uniform.keeps.extras eligible.leader.replicas",
	} {
		v, _ := config.ParseVersion(version)
		var w World
		w.SetGeneration(v)
		var off []string
		for _, i := range Switches() {
			if !w.On(i.Switch) {
				off = append(off, i.Name)
			}
		}
		if got := strings.Join(off, " "); got != want {
			t.Errorf("%s: off %s\nwant %s", version, got, want)
		}
	}
	for _, c := range []struct {
		version string
		x       Switch
		on      bool
	}{
		{"0.10", EpochTruncation, false}, {"0.11", EpochTruncation, true}, {"1.1", EpochInAnswer, false}, {"2.0", EpochInAnswer, true},
		{"1.1", EpochBeforeRecords, false}, {"2.0", EpochBeforeRecords, true}, {"2.0", FetchFencing, false}, {"2.1", FetchFencing, true},
		{"2.3", FollowerReads, false}, {"2.4", FollowerReads, true}, {"2.3", HighWatermarkWaits, true}, {"2.4", HighWatermarkWaits, false},
		{"2.5", HighWatermarkWaits, false}, {"2.6", HighWatermarkWaits, true}, {"2.6", TruncationOnFetch, false}, {"2.7", TruncationOnFetch, true},
		{"2.6", AlterISR, false}, {"2.7", AlterISR, true}, {"2.6", AlterMovesHighWatermark, true}, {"3.0", AlterMovesHighWatermark, false},
		{"3.1", AlterMovesHighWatermark, true}, {"3.2", KRaft, false}, {"3.3", KRaft, true}, {"3.4", BrokerEpochs, false}, {"3.5", BrokerEpochs, true},
		{"3.5", ShrinkKeepsEpoch, false}, {"3.6", ShrinkKeepsEpoch, true}, {"3.6", StrictMinISR, false}, {"3.7", StrictMinISR, true},
	} {
		v, _ := config.ParseVersion(c.version)
		var w World
		if w.SetGeneration(v); w.On(c.x) != c.on {
			t.Errorf("%s in %s: %v", switchTable[c.x].Name, c.version, w.On(c.x))
		}
	}
	var w World
	w.Turn(StrictMinISR, false)
	w.Turn(StrictMinISR, true)
	if w.Rules != 0 {
		t.Errorf("off and on again: %b", w.Rules)
	}
}

// generation is a tuning of a bench: a version's rules.
func generation(name string) func(*World) {
	return func(w *World) {
		v, ok := config.ParseVersion(name)
		if !ok {
			panic(name)
		}
		w.SetGeneration(v)
	}
}

// divergenceCases are C06's A to G, G9, and what real brokers did besides (recording bc1): the logs
// of a leader, which leads epoch 12, and of a follower.
var divergenceCases = []struct {
	name             string
	leader, follower []epochRun
	// which ways of truncation do not find where the logs part
	highWatermark, oneRound bool
}{
	{"A", []epochRun{{1, 4}}, []epochRun{{1, 4}}, false, false},
	{"B", []epochRun{{1, 2}, {3, 2}}, []epochRun{{1, 2}}, false, false},
	{"C", []epochRun{{1, 2}}, []epochRun{{1, 4}}, false, false}, // out of range: cut to the leader's end
	{"D", []epochRun{{1, 2}}, []epochRun{{1, 2}, {2, 2}}, false, false},
	{"E", []epochRun{{1, 2}, {3, 2}}, []epochRun{{1, 2}, {2, 2}}, true, false},
	{"F", []epochRun{{1, 2}}, []epochRun{{1, 1}, {2, 2}}, true, true}, // the answer is about another epoch than it seems
	{"G", []epochRun{{1, 1}, {3, 1}}, []epochRun{{2, 1}}, true, true},
	{"G9a", []epochRun{{1, 5}, {4, 3}}, []epochRun{{1, 3}, {2, 3}, {3, 3}}, true, true},
	{"G9b", []epochRun{{1, 4}, {2, 3}, {4, 2}}, []epochRun{{1, 5}, {3, 3}}, true, true},
	{"K", []epochRun{{1, 2}, {3, 2}, {5, 2}, {7, 2}}, []epochRun{{1, 1}, {2, 2}, {4, 2}, {6, 4}}, true, true},
	{"N", []epochRun{{1, 1}, {3, 1}, {5, 1}, {7, 1}}, []epochRun{{1, 1}, {2, 1}, {4, 1}, {6, 1}, {8, 1}}, true, true},
}

// C06: R2.10 by each way of truncation. Truncation on fetch and by request with the epoch in the answer come to
// the same logs; one round, and the high watermark, do not.
func TestDivergenceC06(t *testing.T) {
	for _, c := range divergenceCases {
		for version, fails := range map[string]bool{"4.3": false, "2.6": false, "2.1": false, "2.0": false, "1.1": c.oneRound, "0.10": c.highWatermark} {
			b := newBench(t, 2, generation(version), func(w *World) { w.ELR = false; w.Turn(OutOfRangeNotFatal, true); w.Turn(EpochBeforeRecords, true) })
			follower := craft(c.follower...)
			follower.SetHighWatermark(follower.End) // it believes that all of it is committed
			b.crafted(12, []NodeID{1, 2}, []NodeID{1, 2}, craft(c.leader...), follower)
			for until := b.Now + 3_000*ms; b.Now < until; {
				b.State.Step()
			}
			broken := slices.ContainsFunc(b.State.Check(), func(v Violation) bool { return v.Invariant == 8 })
			if broken != fails {
				t.Errorf("%s in %s: diverges %v, want %v\nleader %v\nfollower %v", c.name, version, broken, fails, logText(b, 1), logText(b, 2))
			}
		}
	}
}

func logText(b *bench, id NodeID) string {
	var out []string
	b.broker(id).Replicas[0].Log.Batches(0, func(p *partlog.Batch) bool {
		out = append(out, fmt.Sprintf("%d:e%d", p.BaseOffset, p.LeaderEpoch))
		return true
	})
	return strings.Join(out, " ")
}

// R2.5: in 2.4 and 2.5 a parked fetch ends when the high watermark has moved; before and after it waits.
func TestParkedFetchAndHighWatermark(t *testing.T) {
	for version, want := range map[string]int64{"2.3": 0, "2.4": 1, "2.5": 1, "2.6": 0, "4.3": 0} {
		b := newBench(t, 2, generation(version))
		tp := b.topic("orders", 1, []NodeID{1, 2})
		b.run(100 * ms)
		b.produce(1, tp, config.AcksAll, "r0")
		b.run(20 * ms)
		if hw := b.log(2, tp).HighWatermark; hw != want {
			t.Errorf("%s: the follower's HW is %d, want %d", version, hw, want)
		}
	}
}

// R2.20 before KIP-497: the leader writes the ISR itself, and a stale one cannot (ZooKeeper's version).
func TestLeaderWritesISR(t *testing.T) {
	b := newBench(t, 3, generation("2.6"), func(w *World) { w.Broker.ReplicaLagTimeMaxMs = 2000 })
	tp := b.topic("orders", 1, []NodeID{1, 2, 3})
	b.run(100 * ms)
	b.apply(CutLink{1, 3})
	b.produce(1, tp, config.AcksLeader, "r0")
	b.record()
	b.runUntil(10_000*ms, "a smaller ISR", func() bool { return len(b.registration(tp).ISR) == 2 })
	b.expectPartition(tp, 1, 0, 1, []NodeID{1, 2}, nil)
	if r := b.broker(1).replica(tp); len(r.ISR) != 2 || r.Change.Kind != NoChange {
		t.Errorf("the leader's ISR is %v, %+v", r.ISR, r.Change)
	}
	for _, e := range b.seen {
		if _, is := e.Payload.(AlterPartitionRequest); is {
			t.Error("AlterPartition was sent")
		}
	}
	b.apply(HealLink{1, 3})
	b.runUntil(10_000*ms, "the old ISR", func() bool { return len(b.registration(tp).ISR) == 3 })
}

// R3.10: until 3.6 a smaller ISR was a new leader epoch; under ZooKeeper whatever the controller did was.
func TestEpochOfAShrink(t *testing.T) {
	for version, want := range map[string]int32{"4.3": 0, "3.6": 0, "3.5": 1, "3.3": 1, "2.8": 1, "0.10": 1} {
		b := newBench(t, 2, generation(version))
		tp := b.topic("orders", 1, []NodeID{1, 2})
		b.run(100 * ms)
		b.apply(CrashBroker{2})
		b.runUntil(20_000*ms, "a smaller ISR", func() bool { return len(b.registration(tp).ISR) == 1 })
		if e := b.registration(tp).LeaderEpoch; e != want {
			t.Errorf("%s: leader epoch %d, want %d", version, e, want)
		}
	}
}

// R1.9 and R1.22 by version: the minimum above the number of replicas, and the high watermark below it.
func TestMinISRByVersion(t *testing.T) {
	for version, old := range map[string]bool{"3.6": true, "3.7": false} {
		b := newBench(t, 2, generation(version))
		tp := b.topic("one", 2, []NodeID{1})
		b.run(100 * ms)
		want := NONE
		if old {
			want = NOT_ENOUGH_REPLICAS
		}
		if got := b.produce(1, tp, config.AcksAll, "x").Error; got != want {
			t.Errorf("%s: RF 1 with min ISR 2: %v, want %v", version, got, want)
		}
	}
}

// KIP-392: who answers a consumer's fetch. KIP-951: who is said to lead.
func TestFollowerReadsAndHints(t *testing.T) {
	for _, c := range []struct {
		version string
		fetch   Code
		hint    NodeID
	}{{"2.3", NOT_LEADER_OR_FOLLOWER, NoNode}, {"2.4", NONE, NoNode}, {"3.6", NONE, NoNode}, {"3.7", NONE, 1}} {
		b := newBench(t, 2, generation(c.version))
		tp := b.topic("orders", 1, []NodeID{1, 2})
		b.run(100 * ms)
		if got := b.consume(2, tp, 0, -1).Error; got != c.fetch {
			t.Errorf("%s: a fetch at the follower: %v, want %v", c.version, got, c.fetch)
		}
		if got := b.produce(2, tp, config.AcksLeader, "x"); got.Error != NOT_LEADER_OR_FOLLOWER || got.Leader != c.hint {
			t.Errorf("%s: %v, hint %d, want %d", c.version, got.Error, got.Leader, c.hint)
		}
	}
}

// P-61: until 3.6 the wait was always the same.
func TestConstantBackoffP61(t *testing.T) {
	var s State
	io := &ClientIO{Times: ClientTimes{RetryBackoff: 100 * ms, RetryBackoffMax: 1000 * ms}}
	s.World.Turn(ExponentialBackoff, false)
	for n := range int32(5) {
		if got := s.retryBackoff(io, n); got != 100*ms {
			t.Errorf("after %d failures %d µs", n, got)
		}
	}
	s.World.Turn(ExponentialBackoff, true)
	if got := s.retryBackoff(io, 3); got < 640*ms || got > 960*ms {
		t.Errorf("after 3 failures %d µs, want 800 ms ± 20 %%", got)
	}
}

// P-22: before 2.4 records without key go round; until 3.2 each new batch goes to another partition.
func TestPartitionersOfOldP22(t *testing.T) {
	partitions := func(version string, records int) (list []int32) {
		f := newFake(t, 1, 5)
		props := producerProps()
		props.LingerMs, props.BatchRecords = 2000, 4
		p := f.producer(props)
		f.warm(p)
		v, _ := config.ParseVersion(version)
		f.s.World.SetGeneration(v)
		f.s.Producers[p].Topics[0].Sticky = Sticky{Partition: -1}
		for range records {
			n := f.send(p, anyPartition, "x")
			f.at(f.s.Now / ms)
			list = append(list, f.s.Delivery(p, n).TP.Partition)
		}
		return list
	}
	round := partitions("2.3", 10)
	for i := range round[1:] {
		if round[i+1] != (round[i]+1)%5 {
			t.Fatalf("2.3: %v does not go round", round)
		}
	}
	sticky := partitions("3.2", 40)
	for i := 0; i+4 <= len(sticky); i += 4 {
		if run := sticky[i : i+4]; slices.Min(run) != slices.Max(run) {
			t.Fatalf("3.2: %v leaves a partition within a batch of 4", sticky)
		}
		if i > 0 && sticky[i] == sticky[i-1] {
			t.Fatalf("3.2: %v begins a batch where the last one was", sticky)
		}
	}
}

// Every version lives through random crashes, power losses, pauses and cuts without anything but the promises
// breaking that it did not keep, and comes to rest.
func TestRandomRunsOfOldVersions(t *testing.T) {
	for _, c := range []struct {
		version string
		breaks  []int
	}{
		{"0.10", []int{2, 6, 7, 8, 9, 11, 12, 13, 15}},
		{"1.1", []int{2, 6, 8, 9, 11, 12, 13, 15}},
		{"2.0", []int{6, 8, 9, 11, 12, 13, 15}},
		{"2.1", []int{9, 11, 12, 13, 15, 19}}, // KIP-841 and KIP-903 are to come: rare
		{"2.6", []int{9, 11, 12, 13, 15, 19}},
		{"2.8", []int{9, 11, 12, 13, 15, 19}},
		{"3.3", []int{9, 11, 12, 13, 15}},
		{"3.6", []int{15}},
		{"3.9", nil}, {"4.0", nil}, {"4.1", nil}, {"4.4", nil},
	} {
		t.Run(c.version, func(t *testing.T) {
			for seed := range max(seeds()/4, 4) {
				oldChaos(t, c.version, 1000+seed, c.breaks)
			}
		})
	}
}

// oldChaos is a random run under a version's rules in which some promises may break.
func oldChaos(t *testing.T, version string, seed uint64, breaks []int) {
	d := prng.Draw(seed, 7)
	b := newBench(t, 3, generation(version), func(w *World) {
		w.Seed = seed
		w.Broker.BrokerSessionTimeoutMs, w.Broker.BrokerHeartbeatIntervalMs = 3000, 500
		w.Broker.ReplicaLagTimeMaxMs, w.Broker.ReplicaSocketTimeoutMs = 4000, 3000
	})
	b.breaks = breaks
	c := &chaos{bench: b, seed: seed, powerOK: d>>1&1 == 0}
	for i := range 2 {
		props := topicDefaults()
		props.MinInSyncReplicas = 1 + int32(d>>(2+i)&1)
		props.UncleanLeaderElectionEnable = d>>(4+i)&3 == 0
		props.SegmentBytes = 400
		c.topics = append(c.topics, b.topicWith(fmt.Sprint("t", i), props, []NodeID{NodeID(1 + i), NodeID(2 + i), 3 - 2*NodeID(i)}))
	}
	defer func() {
		if t.Failed() {
			t.Logf("version %s seed %d\n%s", version, seed, strings.Join(c.commands, "\n"))
		}
	}()
	for range 40 {
		c.act()
		c.live(int64(c.below(1500)) * ms)
	}
}
