package machine

import (
	"fmt"
	"testing"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
	"kafkalab/kafkasim/prng"
)

// groupChaos is a random life of a group: members come, work, crash and go, brokers crash and return, and every event is
// watched.
type groupChaos struct {
	*groups
	seed, n  uint64
	mode     WorkMode
	assignor []string
	static   bool
	tune     func(*config.Consumer)
	producer int32
	members  []int32
	made     int
}

func (x *groupChaos) below(n int) int {
	x.n++
	return prng.Below(prng.Draw(x.seed, 99, x.n), n)
}

func (x *groupChaos) join() {
	x.made++
	props := memberDefaults()
	props.Member.Assignors, props.Member.EnableAutoCommit = x.assignor, false
	props.Member.SessionTimeoutMs, props.Member.HeartbeatIntervalMs, props.Member.MaxPollIntervalMs = 6000, 1000, 20_000
	if x.static {
		props.Member.InstanceID = fmt.Sprint("i", x.below(4))
	}
	if x.tune != nil {
		x.tune(&props)
	}
	id := x.Apply(NewConsumer{Name: fmt.Sprintf("m%d", x.made), Props: props}).ID
	x.apply(Subscribe{Consumer: id, Topics: []string{"orders", "bills"}[:1+x.below(2)]})
	x.apply(Work{Consumer: id, PollTimeout: 100 * ms, PerRecord: int64(x.below(3)) * 5 * ms, Mode: x.mode})
	x.members = append(x.members, id)
}

func (x *groupChaos) act() {
	alive := func(id int32) bool { return !x.Consumers[id].Closed && !x.Consumers[id].Group.Closing }
	switch k := x.below(10); {
	case k < 3 || len(x.members) == 0:
		x.join()
	case k < 6:
		id := x.members[x.below(len(x.members))]
		if !alive(id) {
			return
		}
		if k == 3 {
			x.apply(CloseConsumer{Consumer: id})
		} else if k == 4 {
			x.apply(CrashConsumer{Consumer: id})
		} else if x.Consumers[id].App.On {
			x.apply(Work{Consumer: id, PollTimeout: 100 * ms, PerRecord: int64(x.below(2)) * 30_000 * ms, Mode: x.mode})
		}
	case k < 8:
		node := NodeID(1 + x.below(3))
		if c := x.coordinatorNode(); c != NoNode && x.below(2) == 0 {
			node = c
		}
		down := 0
		for i := range x.Brokers {
			if !x.Brokers[i].alive() {
				down++
			}
		}
		if b := x.broker(node); !b.alive() {
			x.apply(StartBroker{Broker: node})
		} else if down == 0 {
			x.apply(CrashBroker{Broker: node})
		}
	default:
		for i := range 1 + x.below(30) {
			x.Send(x.producer, "orders", int32(i%4), partlog.Record{Value: "v", Flags: partlog.NullKey, Timestamp: x.Now / 1000}, nil)
		}
	}
}

// Random groups under every invariant: one owner (40), generations (41), commits (42), nothing left out (43) or done
// twice (44).
func TestGroupChaos(t *testing.T) {
	runs := 24
	if testing.Short() {
		runs = 6
	}
	for seed := range uint64(runs) {
		g := newGroups(t, offsetsOne, quick, func(w *World) { w.Seed = seed + 1 })
		g.spread("orders", 4)
		g.spread("bills", 2)
		x := &groupChaos{groups: g, seed: seed, mode: WorkMode(1 + seed%2), static: seed%5 == 4,
			assignor: [][]string{{"range", "cooperative-sticky"}, {"cooperative-sticky"}, {"roundrobin"}, {"sticky"}}[seed/2%4]}
		x.live(t)
	}
}

// live lets it all happen, and then come to rest.
func (x *groupChaos) live(t *testing.T) {
	t.Helper()
	x.producer = x.groups.producer(func(p *config.Producer) { p.LingerMs = 0 })
	for range 25 {
		x.act()
		x.run(int64(1+x.below(4000)) * ms)
	}
	for n := NodeID(1); n <= 3; n++ {
		if !x.broker(n).alive() {
			x.apply(StartBroker{Broker: n})
		}
	}
	x.run(60_000 * ms)
	if t.Failed() {
		t.Fatalf("seed %d", x.seed)
	}
	if grp := x.group(); grp == nil || grp.State != GroupStable && grp.State != GroupEmpty {
		t.Errorf("seed %d: the group does not come to rest: %+v", x.seed, grp)
	}
}

// chaoticGroups is a world for random groups that may have the consumer protocol, with two topics.
func chaoticGroups(t *testing.T, seed uint64) *groups {
	g := newGroups(t, offsetsOne, quick, func(w *World) {
		w.Seed = seed + 1
		w.Broker.ConsumerGroups.SessionTimeoutMs, w.Broker.ConsumerGroups.HeartbeatIntervalMs = 6000, 1000
		w.Broker.ConsumerGroups.AssignmentIntervalMs = int64(seed%2) * 1000
	})
	g.spread("orders", 4)
	g.spread("bills", 2)
	return g
}
