package kafkasim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
)

// Schedules with a group: the faults of the other schedules, and beside them members that come, go, crash, get slow, are
// replaced and restarted in turn, a coordinator that fails, commits before and after processing, and quotas. They are a
// family of seeds of their own: what the others draw stays what it was.

// groupShape is the group of a schedule; the zero value is none.
type groupShape struct {
	on        bool
	kind      int  // of groupKinds
	work      int  // of groupWork
	static    bool // members have instance ids
	members   int  // at the beginning
	offsets   int  // partitions of __consumer_offsets
	delayed   bool // the first rebalance waits, a target is not computed at once
	topics    int  // how many topics members subscribe to: "t", or "t" and "v"
	racks     bool // brokers and members have racks, and members read in theirs
	isolation bool // members read what is committed only
}

// groupKinds are how members of a group may be told to share its partitions.
var groupKinds = []Config{
	{"partition.assignment.strategy": "range"},
	{"partition.assignment.strategy": "roundrobin"},
	{"partition.assignment.strategy": "sticky"},
	{"partition.assignment.strategy": "cooperative-sticky"},
	{},
	{"group.protocol": "consumer"},
	{"group.protocol": "consumer", "group.remote.assignor": "range"},
	{"group.protocol": "consumer"},
}

func (g *groupShape) modern() bool { return groupKinds[g.kind]["group.protocol"] != nil }

// groupWork are the applications of groups: all members of a group have the same.
var groupWork = []Work{
	{Commit: "after", PerRecord: 3 * time.Millisecond},
	{Commit: "after", PerRecord: time.Millisecond, Every: 2},
	{Commit: "after"},
	{Commit: "after", PerRecord: 2 * time.Millisecond, Async: true},
	{Commit: "before", PerRecord: 3 * time.Millisecond},
	{Commit: "before"},
	{PerRecord: 2 * time.Millisecond},
	{},
}

// The kinds of op that only schedules with a group have.
const (
	opMember = 100 + iota
	opMemberCloses
	opMemberCrashes
	opMemberSlow    // longer than max.poll.interval.ms for a record; or fast again
	opMemberReplace // a process ends and another takes its place
	opRolling       // each in turn
	opCoordinator   // a fault of the group's coordinator
	opCutMember
	opHoldGroup
	opQuota
	opMoveOffsets // __consumer_offsets gets other replicas
	opGroupWaits  // until the group is stable, or a second has passed
)

var groupWeights = []struct{ kind, weight int }{
	{opMember, 6}, {opMemberCloses, 3}, {opMemberCrashes, 5}, {opMemberSlow, 3}, {opMemberReplace, 4}, {opRolling, 2},
	{opCoordinator, 7}, {opCutMember, 3}, {opHoldGroup, 4}, {opQuota, 1}, {opMoveOffsets, 2}, {opGroupWaits, 6},
}

// drawGroupSchedule draws a schedule with a group.
func drawGroupSchedule(pick chooser) schedule {
	s := drawSchedule(pick)
	g := &s.world.group
	*g = groupShape{on: true, kind: pick(len(groupKinds)), work: pick(len(groupWork)), static: pick(4) == 0, members: 1 + pick(3),
		offsets: 1 + pick(2), delayed: pick(4) == 0, topics: 1 + pick(2), racks: pick(6) == 0, isolation: pick(6) == 0}
	s.world.partitions += pick(3)
	if pick(8) == 0 {
		names := []string{"owned.generation", "member.id.required", "consumer.protocol", "rejoin.keeps.epoch", "group.epoch.from.one", "assignment.interval", "late.commits",
			"emptied.group.stays", "uniform.keeps.extras"}
		s.world.kafka, s.world.without = "", names[pick(len(names))]
	}
	if g.modern() && s.world.older().Rules.Without(machine.ConsumerProtocol) {
		g.kind = pick(4)
	}
	if v, _ := config.ParseVersion(s.world.kafka); s.world.kafka != "" && v < config.V2_4 {
		// Kafka brought static members (2.3) and cooperative rebalances (2.4) later.
		g.static, g.racks = false, false
		if g.kind > 2 {
			g.kind = pick(3)
		}
	}
	total := 0
	for _, w := range groupWeights {
		total += w.weight
	}
	for range 5 + pick(12) {
		x, i := pick(total), 0
		for x >= groupWeights[i].weight {
			x -= groupWeights[i].weight
			i++
		}
		s.ops = slices.Insert(s.ops, pick(len(s.ops)+1), op{groupWeights[i].kind, pick(8), pick(8), pick(1000)})
		if pick(2) == 0 {
			s.ops = slices.Insert(s.ops, pick(len(s.ops)+1), op{opRun, 0, 0, 3 + pick(5)}, op{opSend, 1, pick(8), pick(1000)})
		}
	}
	return s
}

// config adds what a group's brokers need to a world's properties: sessions of tenths of seconds.
func (g *groupShape) config(w *shape, conf Config) {
	if !g.on {
		return
	}
	conf["offsets.topic.num.partitions"], conf["offsets.topic.replication.factor"] = g.offsets, min(3, w.brokers)
	conf["group.min.session.timeout.ms"], conf["group.initial.rebalance.delay.ms"] = 50, 0
	if g.delayed {
		conf["group.initial.rebalance.delay.ms"] = 80
	}
	conf["offsets.commit.timeout.ms"] = 150
	if g.racks {
		conf["replica.selector.class"] = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
	}
	if !g.modern() {
		return
	}
	conf["group.consumer.min.session.timeout.ms"], conf["group.consumer.session.timeout.ms"] = 50, 300
	conf["group.consumer.min.heartbeat.interval.ms"], conf["group.consumer.heartbeat.interval.ms"] = 10, 40
	conf["group.consumer.assignment.interval.ms"] = 0
	if g.delayed {
		conf["group.consumer.assignment.interval.ms"] = 60
	}
}

// names are the racks of so many brokers, nil for none.
func (g *groupShape) names(brokers int) []string {
	if !g.racks {
		return nil
	}
	return []string{"a", "b", "b", "c", "c"}[:brokers]
}

// grouped is the group of a schedule that is being run.
type grouped struct {
	shape   *groupShape
	first   int // partitions of "t" at the beginning
	members []*Consumer
	made    int
}

// setUpGroup makes the group's topics and its first members.
func (r *running) setUpGroup(s *schedule) {
	if !s.world.group.on {
		return
	}
	r.group.shape, r.group.first = &s.world.group, s.world.partitions
	if s.world.group.topics == 2 {
		r.CreateTopic("v", 2, s.world.factor, Config{"min.insync.replicas": s.world.minISR})
	}
	for range s.world.group.members {
		r.join(fmt.Sprint("i", len(r.group.members)))
	}
	r.RunFor(ms(40))
}

// groupTopics are the topics that a schedule with a group has beside "t".
func (r *running) groupTopics() (names []string) {
	for _, name := range []string{"v", machine.ConsumerOffsetsTopic} {
		if r.group.shape != nil && r.findTopic(name) >= 0 {
			names = append(names, name)
		}
	}
	return names
}

// join makes a member.
func (r *running) join(instance string) {
	g := r.group.shape
	r.group.made++
	conf := Config{"group.id": "g", "auto.offset.reset": "earliest", "max.poll.interval.ms": 700, "request.timeout.ms": 250, "default.api.timeout.ms": 600,
		"fetch.max.wait.ms": 30, "retry.backoff.ms": 10, "metadata.max.age.ms": 300, "auto.commit.interval.ms": 60, "max.poll.records": 7}
	for k, v := range groupKinds[g.kind] {
		conf[k] = v
	}
	if !g.modern() {
		conf["session.timeout.ms"], conf["heartbeat.interval.ms"] = 250, 40
	}
	if groupWork[g.work].Commit != "" {
		conf["enable.auto.commit"] = false
	}
	if g.static {
		conf["group.instance.id"] = instance
	}
	if g.racks {
		conf["client.rack"] = []string{"a", "b", "c"}[r.group.made%3]
	}
	if g.isolation {
		conf["isolation.level"] = "read_committed"
	}
	topics := []string{"t", "v"}[:g.topics]
	x := r.NewConsumer(fmt.Sprint("m", r.group.made), conf).Subscribe(topics...)
	r.group.members = append(r.group.members, x)
	r.works(x, 0)
}

// works lets a member's application work, with so much more time for each record.
func (r *running) works(x *Consumer, more time.Duration) {
	w := groupWork[r.group.shape.work]
	w.PerRecord += more
	w.PollTimeout = ms(20)
	x.Work(w)
}

// living are the members whose processes live, and whose applications have not ended by an error that is fatal: who has
// lost its group, with every copy of the coordinator's log, has one (GROUP_ID_NOT_FOUND in the consumer protocol).
func (r *running) living() (list []*Consumer) {
	for _, x := range r.group.members {
		if s := x.state(); !s.Closed && !s.Group.Closing && s.App.On && s.Group.Fatal == machine.NONE {
			list = append(list, x)
		}
	}
	return list
}

// coordinator is the broker that leads the group's partition of __consumer_offsets, nil when nobody does.
func (r *running) coordinator() *Broker {
	if id := r.s.CoordinatorOf("g"); id != machine.NoNode {
		return r.Broker(int(id))
	}
	return nil
}

// actOnGroup does one thing to the group, if it is possible now.
func (r *running) actOnGroup(o op) {
	living := r.living()
	switch {
	case o.kind == opMember:
		if len(living) < 5 {
			r.join(fmt.Sprint("i", o.a%4))
		}
	case o.kind == opCoordinator:
		r.actOnCoordinator(o)
	case o.kind == opHoldGroup:
		if len(r.s.Holds) == 0 {
			r.Hold([]string{"Heartbeat", "JoinGroup", "SyncGroup", "OffsetCommit", "OffsetCommitResponse", "JoinGroupResponse", "SyncGroupResponse",
				"ConsumerGroupHeartbeat", "ConsumerGroupHeartbeatResponse", "OffsetFetchResponse", "FindCoordinatorResponse"}[o.n%11])
		}
	case o.kind == opQuota:
		r.AlterQuota([]string{"client-id=<default>", "client-id=m1", "client-id=p0"}[o.a%3],
			[]Config{{"producer_byte_rate": 2000, "consumer_byte_rate": 1500}, {"consumer_byte_rate": 400}, {"producer_byte_rate": nil, "consumer_byte_rate": nil}}[o.n%3])
	case o.kind == opMoveOffsets:
		r.moveOffsets(o)
	case o.kind == opGroupWaits:
		r.until(func() bool { g := r.Group("g"); return g.Error == "" && g.State == "Stable" })
	case len(living) == 0:
		r.join(fmt.Sprint("i", o.a%4))
	case o.kind == opRolling:
		for _, x := range living {
			r.replace(x, o)
			r.RunFor(ms(100))
		}
	default:
		r.actOnMember(living[o.a%len(living)], o)
	}
}

func (r *running) actOnMember(x *Consumer, o op) {
	switch o.kind {
	case opMemberCloses:
		x.Close()
	case opMemberCrashes:
		x.Crash()
	case opMemberSlow:
		// Not while it has records in hand: they would be dropped.
		if p := x.state().App.Phase; p == machine.AppIdle || p == machine.AppPolling {
			r.works(x, []time.Duration{0, time.Second, 150 * time.Millisecond}[o.n%3])
		}
	case opMemberReplace:
		r.replace(x, o)
	case opCutMember:
		if c := r.coordinator(); c != nil && o.n%2 == 0 {
			r.Cut(x, c)
		} else {
			r.Isolate(x)
		}
	}
}

// replace ends a process and starts another, with the same instance id if there are any.
func (r *running) replace(x *Consumer, o op) {
	instance := x.state().Config.Member.InstanceID
	if o.n%3 == 0 {
		x.Crash()
	} else {
		x.Close()
	}
	r.RunFor(ms([]int{0, 5, 60, 400}[o.b%4]))
	r.join(instance)
}

func (r *running) actOnCoordinator(o op) {
	b := r.coordinator()
	if b == nil {
		return
	}
	kinds := []int{opCrash, opPower, opPause, opStop, opIsolate, opSlow, opCutOneWay}
	r.actOnBroker(op{kinds[o.n%len(kinds)], b.ID(), o.b, o.n})
}

// moveOffsets gives the group's partition of __consumer_offsets other replicas.
func (r *running) moveOffsets(o op) {
	t := r.findTopic(machine.ConsumerOffsetsTopic)
	if t < 0 || !r.answers() || len(r.s.Holds) > 0 {
		return
	}
	partition := int(machine.CoordinatorPartition("g", int32(r.group.shape.offsets)))
	var to []int
	for i := range r.Partition(machine.ConsumerOffsetsTopic, partition).Replicas {
		to = append(to, 1+(o.a+i)%len(r.s.Brokers))
	}
	r.Reassign(machine.ConsumerOffsetsTopic, partition, to...)
}

// groupUnwell is what is wrong with a group that has had time and nothing in the way: its members have all partitions among
// them, one each, and have read what there is.
func (r *running) groupUnwell() *failure {
	if r.group.shape == nil {
		return nil
	}
	for _, x := range r.living() {
		if x.state().App.How.PerRecord > 100_000 {
			x.Crash() // it would be thrown out again and again
		}
	}
	if len(r.living()) == 0 {
		return nil
	}
	for range 10 {
		r.RunFor(ms(1500))
		if len(r.living()) == 0 || r.groupTrouble() == "" {
			return r.broken()
		}
	}
	if f := r.broken(); f != nil {
		return f
	}
	if slices.ContainsFunc(r.living(), func(x *Consumer) bool { return x.throttled() }) {
		return nil // large records under a small quota: it may not ask anybody for minutes, and nothing bounds that in Kafka
	}
	return &failure{49, "invariant 49: with nothing in the way " + r.groupTrouble(), r.Cluster}
}

// throttled tells whether a broker has told a consumer to be silent until later than now.
func (x *Consumer) throttled() bool {
	return slices.ContainsFunc(x.state().Conns, func(c machine.Connection) bool { return c.ThrottledUntil > x.c.s.Now })
}

func (r *running) groupTrouble() string {
	g := r.Group("g")
	if g.Error != "" || g.State != "Stable" {
		return fmt.Sprintf("the group does not come to rest: %v", g)
	}
	owners := map[string]string{}
	for _, x := range r.living() {
		for i := range x.state().Parts {
			p := &x.state().Parts[i]
			name := fmt.Sprintf("%s-%d", p.Topic, p.TP.Partition)
			if was, twice := owners[name]; twice {
				return fmt.Sprintf("%s has the owners %s and %s", name, was, x.ID())
			}
			owners[name] = x.ID()
		}
	}
	for _, topic := range []string{"t", "v"}[:r.group.shape.topics] {
		for i := range r.Topic(topic).Partitions {
			if i >= r.group.first && topic == "t" && r.group.shape.static && !r.group.shape.modern() {
				// A static leader that comes back goes on with the old assignment, and takes what its metadata have by
				// then for what was assigned: partitions that came while it was away have no owner until the next
				// rebalance (ConsumerCoordinator.onLeaderElected, skipAssignment; KIP-814).
				continue
			}
			if owners[fmt.Sprintf("%s-%d", topic, i)] == "" {
				return fmt.Sprintf("%s-%d has no owner: %v", topic, i, g)
			}
		}
	}
	return ""
}

// Random groups under random faults, with every invariant looked at after every event.
// `go test ./kafkasim -run GroupSchedules -soak 100000 -timeout 0` looks longer.
func TestGroupSchedulesKeepEveryInvariant(t *testing.T) {
	soakFamily(t, "groups", drawGroupSchedule, 1_500)
}
