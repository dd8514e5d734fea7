package machine

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
	"kafkalab/kafkasim/prng"
)

// Random worlds with random crashes, power losses, pauses, stops, cuts and writes: every invariant that
// applies holds after every single event. A failure prints the commands that led to it.

type chaos struct {
	*bench
	seed     uint64
	draws    uint64
	topics   []TopicPartition
	commands []string
	pending  []pendingProduce
	powerOK  bool
}

type pendingProduce struct {
	correlation uint32
	acks        int8
	tp          TopicPartition
	serial      int32
}

func (c *chaos) below(n int) int {
	c.draws++
	return prng.Below(prng.Draw(c.seed, 99, c.draws), n)
}

func (c *chaos) do(cmd Command) {
	c.commands = append(c.commands, fmt.Sprintf("t=%d %T%+v", c.Now, cmd, cmd))
	c.apply(cmd)
}

// act does one random thing.
func (c *chaos) act() {
	id := NodeID(1 + c.below(len(c.Brokers)))
	other := NodeID(1 + c.below(len(c.Brokers)))
	if c.below(4) == 0 {
		other = FirstController
	}
	switch n := c.below(29); {
	case n < 10:
		for range 1 + c.below(6) {
			c.write()
			c.live(int64(c.below(20)) * ms)
		}
	case n == 10:
		c.do(CrashBroker{id})
	case n == 11 && c.powerOK:
		c.do(PowerLoss{id})
	case n == 12:
		c.do(StopBroker{id})
	case n < 16:
		c.do(StartBroker{id})
	case n == 16:
		c.do(PauseBroker{id})
	case n < 19:
		c.do(ResumeBroker{id})
	case n == 19 && id != other:
		c.do(CutLink{id, other})
	case n < 22 && id != other:
		c.do(HealLink{id, other})
	case n == 23:
		c.meddle(func(e Event) Command { return DropMessage{e.Seq} })
	case n == 24:
		c.meddle(func(e Event) Command { return DelayMessage{e.Seq, int64(1+c.below(3000)) * ms} })
	case n == 25:
		c.meddle(func(e Event) Command { return DeliverMessage{e.Seq} })
	case n == 26:
		c.administrate(id, NodeID(1+c.below(len(c.Brokers))))
	case n == 27:
		c.do(ElectLeaders{TP: c.topics[c.below(len(c.topics))]})
	case n == 22 && id != other:
		c.do(SetLatency{id, other, int64(1+c.below(50)) * ms})
	}
}

// meddle does something by hand to a message on the wire.
func (c *chaos) meddle(f func(Event) Command) {
	var wire []Event
	for _, e := range c.Queue {
		if e.From != NoNode {
			wire = append(wire, e)
		}
	}
	if len(wire) > 0 {
		c.do(f(wire[c.below(len(wire))]))
	}
}

// administrate moves a partition, cancels that, or changes a topic's minimum ISR.
func (c *chaos) administrate(a, b NodeID) {
	tp := c.topics[c.below(len(c.topics))]
	switch t := &c.Metadata().Topics[tp.Topic]; c.below(4) {
	case 0:
		c.do(Reassign{TP: tp})
	case 1:
		if c.registration(tp).Leader == NoNode {
			return // ClearElrRecord forgets the last known leader too: TestAlterTopicStrandsALeaderlessPartition
		}
		props := t.Props
		props.MinInSyncReplicas = int32(1 + c.below(3))
		c.do(AlterTopic{Topic: t.Name, Props: props, Set: []string{minISRName}})
	default:
		if a != b {
			c.do(Reassign{TP: tp, Replicas: []NodeID{a, b}})
		}
	}
}

// write sends a batch to whom the controller names, or to anybody.
func (c *chaos) write() {
	tp := c.topics[c.below(len(c.topics))]
	to := c.registration(tp).Leader
	if to == NoNode || c.below(5) == 0 {
		to = NodeID(1 + c.below(len(c.Brokers)))
	}
	acks := []int8{config.AcksAll, config.AcksAll, config.AcksLeader, config.AcksNone}[c.below(4)]
	req := c.produceRequest(tp, acks, "v")
	req.TimeoutMs = 5000
	c.commands = append(c.commands, fmt.Sprintf("t=%d produce %v acks=%d to %d", c.Now, tp, acks, to))
	c.pending = append(c.pending, pendingProduce{c.ask(to, req), acks, tp, req.Parts[0].Batch.Serial})
}

// learn writes what was acknowledged into the truth.
func (c *chaos) learn() {
	kept := c.pending[:0]
	for _, p := range c.pending {
		a, ok := c.answers[p.correlation]
		if !ok {
			kept = append(kept, p)
			continue
		}
		r, ok := a.p.(ProduceResponse)
		if ok && r.Parts[0].Error == NOT_ENOUGH_REPLICAS {
			c.nowhere(p) // invariant 18
		}
		if ok && r.Parts[0].Error == NONE {
			c.Truth.Acked = append(c.Truth.Acked, AckedBatch{
				TP: p.tp, BaseOffset: r.Parts[0].BaseOffset, Count: 1, Sender: -1, Serial: p.serial, Acks: p.acks, At: a.at,
			})
		}
	}
	c.pending = kept
}

// nowhere fails if any log has a batch.
func (c *chaos) nowhere(p pendingProduce) {
	for i := range c.Brokers {
		if r := c.Brokers[i].replica(p.tp); r != nil {
			r.Log.Batches(0, func(b *partlog.Batch) bool {
				if b.Serial == p.serial {
					c.t.Errorf("refused with NOT_ENOUGH_REPLICAS and in the log of broker %d at offset %d", i+1, b.BaseOffset)
				}
				return true
			})
		}
	}
}

// live lets some time pass.
func (c *chaos) live(d int64) {
	until := c.Now + d
	for {
		e, ok := c.Peek()
		if !ok || e.At > until {
			c.Now = until
			return
		}
		c.step()
		c.learn()
	}
}

// recover heals everything and waits: then every log is the same and everything is committed (invariants 8
// and 26), and nobody is out of the ISR.
func (c *chaos) recover() {
	for i := range c.Brokers {
		id := NodeID(i + 1)
		c.do(ResumeBroker{id})
		for j := range c.Brokers {
			c.do(HealLink{id, NodeID(j + 1)})
		}
	}
	c.healControllers()
	c.live(1_000 * ms)
	for i := range c.Brokers {
		c.do(StartBroker{NodeID(i + 1)})
	}
	c.live(60_000 * ms)
	for i := range c.Brokers { // one that was stopping may have stopped only now
		c.do(StartBroker{NodeID(i + 1)})
	}
	c.live(60_000 * ms)
	for _, tp := range c.topics {
		reg := c.registration(tp)
		if reg.Leader == NoNode {
			c.t.Fatalf("%v has no leader after everything was healed: %+v", tp, *reg)
		}
		if len(reg.ISR) != len(reg.Replicas) {
			c.t.Fatalf("%v: ISR %v after everything was healed", tp, reg.ISR)
		}
		leader := c.bench.log(reg.Leader, tp)
		for _, id := range reg.Replicas {
			if l := c.bench.log(id, tp); l.End != leader.End || l.HighWatermark != leader.End {
				c.t.Fatalf("%v broker %d: LEO %d HW %d, the leader's LEO is %d", tp, id, l.End, l.HighWatermark, leader.End)
			}
		}
	}
}

func runChaos(t *testing.T, seed uint64, acts int, controllers int32) {
	d := prng.Draw(seed, 7)
	brokers := int32(3 + d>>8%2)
	b := newBench(t, brokers, func(w *World) {
		w.Seed, w.ELR, w.Controllers = seed, d&1 == 0, controllers
		w.Broker.BrokerSessionTimeoutMs, w.Broker.BrokerHeartbeatIntervalMs = 3000, 500
		w.Broker.ReplicaLagTimeMaxMs, w.Broker.ReplicaSocketTimeoutMs = 4000, 3000
	})
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
			t.Logf("seed %d ELR %v\n%s", seed, b.World.ELR, strings.Join(c.commands, "\n"))
		}
	}()
	for range acts {
		if controllers > 1 && c.below(2) == 0 {
			c.actController()
		} else {
			c.act()
		}
		c.live(int64(c.below(1500)) * ms)
	}
	c.recover()
	if controllers > 1 {
		c.one()
	}
}

func TestRandomRuns(t *testing.T) {
	for seed := range seeds() {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { runChaos(t, seed, 60, 1) })
	}
}

// seeds is how many random runs to make: few by default, KAFKALAB_SEEDS for a long search.
func seeds() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("KAFKALAB_SEEDS"), 10, 64); err == nil {
		return n
	}
	return 15
}
