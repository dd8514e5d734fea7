package kafkasim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kafkalab/kafkasim/machine"
)

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// running is a schedule that is being run.
type running struct {
	*Cluster
	producers []*Producer
	reader    *Consumer
	sent      int
	large     bool // some values are, so that segments fill
	compacts  bool
	wiped     bool // a disk was lost
	group     grouped
	txnRun
}

var largeValue = strings.Repeat("x", 400_000)

// mutantCluster is a cluster of a world with a broken rule.
func mutantCluster(w World, m machine.Mutant) *Cluster {
	w = w.filled()
	mw := w.machine()
	mw.Mutant = m
	c := &Cluster{world: w, s: machine.New(mw)}
	c.traced()
	c.history.begin(w.code(), c.s)
	return c
}

// failure is what a schedule has broken: an invariant and the words about it. Number 0 is a panic.
type failure struct {
	number int
	text   string
	c      *Cluster
}

// run runs a schedule under a mutant and returns the first thing that broke, nil if nothing did, or if an old
// rule is to blame.
func (s *schedule) run(m machine.Mutant) *failure {
	f := s.outcome(m)
	if f != nil && s.excused(f.number) {
		return nil
	}
	return f
}

// outcome is the first thing that broke, whoever is to blame.
func (s *schedule) outcome(m machine.Mutant) (f *failure) {
	r := s.start(m)
	defer func() {
		if x := recover(); x != nil {
			f = &failure{0, fmt.Sprint("panic: ", x), r.Cluster}
		}
	}()
	r.setUp(s)
	for _, o := range s.ops {
		r.act(o)
		if f := r.broken(); f != nil {
			return f
		}
	}
	if v := r.s.Check(); len(v) > 0 {
		return &failure{v[0].Invariant, "Watch did not see: " + v[0].String(), r.Cluster}
	}
	switch {
	case s.world.txns > 0:
		return r.settleTransactions()
	case s.world.seed%8 != 0:
		return nil
	}
	if f := r.calmDown(); f != nil {
		return f
	}
	return r.groupUnwell()
}

// play runs a schedule to its end and returns the cluster.
func (s *schedule) play(m machine.Mutant) *Cluster {
	r := s.start(m)
	r.setUp(s)
	for _, o := range s.ops {
		r.act(o)
	}
	return r.Cluster
}

func (s *schedule) start(m machine.Mutant) *running {
	return &running{Cluster: mutantCluster(s.world.config(), m), large: s.world.small, compacts: s.world.cleanup == 1 || s.world.cleanup == 2}
}

// setUp makes a schedule's topic and clients.
func (r *running) setUp(s *schedule) {
	r.Watch(true)
	r.CreateTopic("t", s.world.partitions, s.world.factor, s.world.topic())
	for _, i := range s.world.producers {
		conf := Config{"request.timeout.ms": 150, "delivery.timeout.ms": 900}
		for k, v := range producerKinds[i] {
			conf[k] = v
		}
		r.producers = append(r.producers, r.NewProducer(fmt.Sprint("p", i), conf))
	}
	r.reader = r.NewConsumer("c", Config{"auto.offset.reset": "earliest", "fetch.max.wait.ms": 50}).Assign("t")
	r.setUpTransactions(s)
	r.RunFor(ms(5))
	r.setUpGroup(s)
}

func (r *running) broken() *failure {
	if r.watch == nil || len(r.watch.found) == 0 {
		return nil
	}
	return &failure{r.watch.found[0].Invariant, r.watch.found[0].String(), r.Cluster}
}

// calmDown mends everything and waits: then everything is replicated and committed (invariant 26).
func (r *running) calmDown() *failure {
	r.Heal()
	r.Release()
	for i := range r.s.Brokers {
		if b := r.Broker(i + 1); b.state().Paused {
			b.Resume()
		}
		if r.Broker(i+1).state().Slow > 0 {
			r.Broker(i + 1).Slow(0)
		}
	}
	r.newDisks()
	r.startAll()
	for range 2 {
		r.RunFor(ms(600)) // one that was stopping may stop only now
		r.startAll()
	}
	r.sacrifice()
	if r.RunFor(ms(1200)); r.unwell() == nil {
		return r.broken()
	}
	for range 4 { // an AlterPartition that was lost is waited for for 30 s
		r.RunFor(ms(9_000))
		r.startAll()
	}
	r.sacrifice()
	r.RunFor(ms(2_000))
	if f := r.broken(); f != nil {
		return f
	}
	return r.unwell()
}

// newDisks restarts the brokers that run without a disk.
func (r *running) newDisks() {
	for i := range r.s.Brokers {
		if b := r.Broker(i + 1); b.alive() && slices.ContainsFunc(b.state().Dirs, func(d machine.LogDir) bool { return d.Offline }) {
			b.Crash()
		}
	}
}

// sacrifice elects whoever lives where nobody can lead by the rules. Where a disk was lost, the last who knew may
// have come back with an empty one that the controller had not heard of in time, and is waited for for ever (R3.21).
// And a change of min.insync.replicas clears who is eligible and the last known leader (a ClearElrRecord does, in
// TopicDelta.maybeClearElr): a partition with an empty ISR at that moment has nobody left to wait for (R3.16).
func (r *running) sacrifice() {
	for _, name := range append([]string{"t"}, r.groupTopics()...) {
		for i := range r.s.Metadata().Topics[r.findTopic(name)].Partitions {
			reg := &r.s.Metadata().Topics[r.findTopic(name)].Partitions[i]
			stranded := len(reg.ISR)+len(reg.ELR)+len(reg.LastKnownELR) == 0
			if (r.wiped || stranded) && reg.Leader == machine.NoNode {
				r.ElectUnclean(name, i)
				r.RunFor(ms(500))
			}
		}
	}
}

// startAll starts and resumes every broker.
func (r *running) startAll() {
	for i := range r.s.Brokers {
		if b := r.Broker(i + 1); !b.alive() {
			b.Start()
		} else if b.state().Paused {
			b.Resume()
		}
	}
	for i := range r.s.Controllers {
		if x := r.Controller(int(machine.FirstController) + i); !x.state().Running {
			x.Start()
		} else if x.state().Paused {
			x.Resume()
		}
	}
}

// unwell is what is not as it should be in a cluster with nothing in the way.
func (r *running) unwell() *failure {
	if v := r.watch.w.Stuck(r.s); len(v) > 0 {
		return &failure{v[0].Invariant, v[0].String(), r.Cluster}
	}
	for i := range r.Topic("t").Partitions {
		p := r.Partition("t", i)
		if p.Leader <= 0 || len(p.ISR) < len(p.Replicas) {
			return &failure{26, fmt.Sprintf("invariant 26: t-%d has leader %d and ISR %v of %v with nothing in the way", i, p.Leader, p.ISR, p.Replicas), r.Cluster}
		}
		for _, l := range p.Logs {
			if l.LogEndOffset != p.Logs[0].LogEndOffset {
				return &failure{26, fmt.Sprintf("invariant 26: t-%d: broker %d has LEO %d, broker %d has LEO %d", i, l.Broker, l.LogEndOffset, p.Logs[0].Broker, p.Logs[0].LogEndOffset), r.Cluster}
			}
		}
	}
	return nil
}

// first is the controller's record of the first partition.
func (r *running) first() *machine.PartitionRegistration {
	return &r.s.Metadata().Topics[0].Partitions[0]
}

// target is the broker that an op means: 0 is the leader of the first partition.
func (r *running) target(n int) *Broker {
	if n == 0 || n > len(r.s.Brokers) {
		n = max(int(r.first().Leader), 1)
	}
	return r.Broker(n)
}

// until lets time pass until cond holds, at most a second.
func (r *running) until(cond func() bool) {
	r.RunUntil(func(*Cluster) bool { return cond() }, time.Second)
}

// act does one thing, if it is possible now.
func (r *running) act(o op) {
	switch o.kind {
	case opSend:
		p := r.producers[o.b%len(r.producers)]
		for range 1 + o.n%4 {
			r.sent++
			value := fmt.Sprint(r.sent)
			if r.large && o.n%3 == 0 {
				value = largeValue
			}
			r.send(p, o, value)
		}
	case opRun:
		r.RunFor(ms([]int{1, 2, 5, 12, 30, 70, 150, 300}[o.n%8]))
	case opSteps:
		r.Steps(1 + o.n%30)
	case opPoll:
		r.reader.Poll(ms(o.n % 60))
	case opShrunk:
		n := len(r.first().ISR)
		r.until(func() bool { return len(r.first().ISR) < n })
	case opMoved:
		leader := r.first().Leader
		r.until(func() bool { l := r.first().Leader; return l > 0 && l != leader })
	case opDrop, opDelay, opDeliver:
		r.meddle(o)
	case opHold:
		if len(r.s.Holds) == 0 {
			r.Hold([]string{"AlterPartition", "AlterPartitionResponse", "MetadataFetchResponse", "-> controller", "Fetch", "FetchResponse", "ProduceResponse"}[o.n%7])
		}
	case opRelease:
		r.Release()
	case opElect:
		if r.answers() || o.n%8 == 0 {
			r.ElectPreferred("t")
		}
	case opUnclean:
		if o.n%3 == 0 && r.answers() {
			r.ElectUnclean("t", 0)
		}
	case opReassign:
		if r.answers() || o.n%8 == 0 {
			r.reassign(o)
		}
	case opAlter:
		if r.answers() {
			r.AlterTopic("t", Config{"min.insync.replicas": 1 + o.n%2})
		}
	case opDelete:
		if hw := r.Partition("t", 0).HighWatermark; hw > 0 && o.n%2 == 0 {
			r.DeleteRecords("t", 0, hw)
		}
	case opController:
		r.actOnController(o)
	case opLoseDisk, opLoseReplica:
		r.lose(o)
	case opGrow:
		if n := len(r.Topic("t").Partitions); n < 4 && r.answers() {
			r.AddPartitions("t", n+1)
		}
	case opTopic:
		r.another(o)
	case opTxn, opTxnOther, opTxnCrash, opTxnTwice, opTxnHold, opTxnWait, opCoordinator:
		r.actOnTransactions(o)
	default:
		if o.kind >= opMember {
			r.actOnGroup(o)
			return
		}
		r.actOnBroker(o)
	}
}

// send hands a producer a record; in a compacted topic some are tombstones.
func (r *running) send(p *Producer, o op, value string) {
	topic, key := "t", fmt.Sprint("k", r.sent%3)
	if o.a%3 == 0 && r.findTopic("u") >= 0 {
		topic = "u"
	}
	if r.compacts && r.sent%7 == 3 {
		p.Send(topic, key, nil)
		return
	}
	p.Send(topic, key, value)
}

// lose destroys a disk, or what a dead broker has of the first partition.
func (r *running) lose(o op) {
	b := r.target(o.a)
	if o.kind == opLoseDisk {
		if dir := 1 + o.n%len(b.state().Dirs); !b.state().Dirs[dir-1].Offline {
			r.wiped = true
			b.LoseDisk(dir)
		}
		return
	}
	if b.alive() || r.replica(b.id, machine.TopicPartition{}) == nil {
		return
	}
	if r.wiped = true; o.n%4 == 0 {
		b.LosePartition("t", 0)
	} else {
		b.LoseTail("t", 0, o.n%4)
	}
}

// answers tells whether the controllers answer soon: without that a command of an administrator takes a minute.
func (r *running) answers() bool {
	return len(r.s.Controllers) == 1 || len(r.s.Holds) == 0 && r.s.ActiveController() != nil
}

// another makes a second topic, or deletes it.
func (r *running) another(o op) {
	if !r.answers() {
		return
	}
	if r.findTopic("u") >= 0 {
		r.DeleteTopic("u")
	} else {
		r.CreateTopic("u", 1+o.n%2, 1+o.a%len(r.s.Brokers), nil)
	}
}

func (r *running) actOnBroker(o op) {
	b, other := r.target(o.a), r.Broker(1+o.b%len(r.s.Brokers))
	up, paused := b.alive(), b.state().Paused
	switch {
	case o.kind == opCrash && up:
		b.Crash()
	case o.kind == opPower && up:
		b.PowerLoss()
	case o.kind == opStop && up && !paused && b.state().Process == machine.Running:
		b.Stop()
	case o.kind == opStart && !up:
		b.Start()
	case o.kind == opStartAll:
		r.startAll()
	case o.kind == opRestart && up:
		if o.n%2 == 0 {
			b.Crash()
		} else {
			b.PowerLoss()
		}
		r.RunFor(ms([]int{1, 20, 190, 400}[o.n/2%4]))
		b.Start()
		r.RunFor(ms(220))
	case o.kind == opPause && up && !paused:
		b.Pause()
	case o.kind == opResume && paused:
		b.Resume()
	case o.kind == opCut && b.ID() != other.ID():
		r.Cut(b, other)
	case o.kind == opCutOneWay && b.ID() != other.ID():
		r.CutOneWay(b, other)
	case o.kind == opIsolate && o.n%2 == 0:
		for i := range r.s.Controllers {
			r.Cut(b, r.Controller(int(machine.FirstController)+i))
		}
	case o.kind == opIsolate:
		r.Isolate(b)
	case o.kind == opHeal:
		r.Heal()
	case o.kind == opLatency && b.ID() != other.ID():
		r.Latency(b, other, ms([]int{1, 3, 10, 40}[o.n%4]))
	case o.kind == opSlow:
		b.Slow(ms(o.n % 3 * 4))
	}
}

// actOnController ends a controller or lets it come back, if there are several.
func (r *running) actOnController(o op) {
	if len(r.s.Controllers) == 1 {
		return
	}
	x := r.Controller(int(machine.FirstController) + o.a%len(r.s.Controllers))
	if active := r.s.ActiveController(); active != nil && o.n%2 == 0 {
		x = r.Controller(int(active.ID))
	}
	switch up := x.state().Running; {
	case !up:
		x.Start()
	case x.state().Paused:
		x.Resume()
	case o.n%5 == 4:
		x.Pause()
	case o.n%5 == 3:
		r.Isolate(x)
	default:
		x.Crash()
	}
}

// meddle does something to a message on the wire.
func (r *running) meddle(o op) {
	wire := slices.DeleteFunc(r.InFlight(), func(m Message) bool { return m.Held })
	if len(wire) == 0 {
		return
	}
	n := wire[o.n%len(wire)].Number
	switch o.kind {
	case opDrop:
		r.Drop(n)
	case opDelay:
		r.Delay(n, ms([]int{1, 4, 30, 200}[o.a%4]))
	case opDeliver:
		r.Deliver(n)
	}
}

// reassign moves the first partition by one broker, or cancels that.
func (r *running) reassign(o op) {
	if o.n%3 == 0 {
		r.CancelReassign("t", 0)
		return
	}
	var to []int
	for i := range r.Partition("t", 0).Replicas {
		to = append(to, 1+(o.a+i)%len(r.s.Brokers))
	}
	r.Reassign("t", 0, to...)
}
