package machine

import (
	"testing"

	"kafkalab/kafkasim/config"
)

// everywhere is how many partitions a group's consumers have in all, and whether everyone has come to rest.
func (g *groups) shared() int {
	n := 0
	for i := range g.Consumers {
		if c := &g.Consumers[i]; !c.Closed {
			n += len(c.Parts)
		}
	}
	return n
}

// a rolling restart from the classic to the consumer protocol and back, one member at a time. The group keeps
// counting, no partition is ever without a committed position, and the last member decides what it is.
func TestGroupMigratesByRollingRestart(t *testing.T) {
	for _, assignor := range []string{"range", "cooperative-sticky", "sticky", "roundrobin"} {
		g := newGroups(t, atOnce)
		g.spread("orders", 6)
		classic := func(c *config.Consumer) { c.Member.Assignors = []string{assignor} }
		rest := func(what string, modern bool, members int) {
			t.Helper()
			g.runUntil(120_000*ms, what, func() bool {
				x := g.group()
				return x != nil && x.State == GroupStable && x.Consumer.On == modern && len(x.Members)+len(x.Consumer.Members) == members && g.shared() == 6
			})
		}
		olds := []int32{g.member("c1", []string{"orders"}, classic), g.member("c2", []string{"orders"}, classic)}
		rest("two classic members", false, 2)
		generation := g.group().Generation
		news := []int32{g.member("n1", []string{"orders"}, protocol848)}
		rest("one of three is new: "+assignor, true, 3)
		if e := g.group().Consumer.Epoch; e != generation+1 {
			t.Errorf("%s: epoch %d after generation %d", assignor, e, generation)
		}
		g.apply(CloseConsumer{Consumer: olds[0]})
		news = append(news, g.member("n2", []string{"orders"}, protocol848))
		rest("two of three are new", true, 3)
		g.apply(CloseConsumer{Consumer: olds[1]})
		rest("all are new", true, 2)
		epoch := g.group().Consumer.Epoch
		back := g.member("b1", []string{"orders"}, classic)
		rest("one is old again", true, 3)
		g.apply(CloseConsumer{Consumer: news[0]})
		rest("one is new", true, 2)
		g.apply(CloseConsumer{Consumer: news[1]})
		rest("a classic group", false, 1)
		if n := g.group().Generation; n <= epoch {
			t.Errorf("%s: generation %d after epoch %d", assignor, n, epoch)
		}
		g.expect("all", len(g.Consumers[back].Parts), 6)
		if v := g.Check(); len(v) > 0 {
			t.Errorf("%s: %v", assignor, v)
		}
	}
}

// the coordinator's successor knows a group of both kinds, and what its classic members said.
func TestMigratingGroupFailsOver(t *testing.T) {
	g := newGroups(t, atOnce, quick)
	g.spread("orders", 6)
	c, n := g.member("c", []string{"orders"}), g.member("n", []string{"orders"}, protocol848)
	stable := func() bool {
		x := g.group()
		return x != nil && x.State == GroupStable && x.Consumer.On && len(x.Consumer.Members) == 2 && g.shared() == 6
	}
	g.runUntil(60_000*ms, "both kinds", stable)
	before := g.group().Consumer.Epoch
	old := g.coordinatorNode()
	g.apply(CrashBroker{Broker: old})
	g.runUntil(30_000*ms, "another coordinator", func() bool { x := g.coordinatorNode(); return x != NoNode && x != old })
	g.run(20_000 * ms)
	g.expect("stable", stable(), true)
	g.expect("epoch", g.group().Consumer.Epoch, before)
	g.apply(CloseConsumer{Consumer: n})
	g.runUntil(60_000*ms, "classic", func() bool {
		x := g.group()
		return x.State == GroupStable && !x.Consumer.On && len(g.Consumers[c].Parts) == 6
	})
}

// Random groups whose members speak one protocol or the other, through failing coordinators, under every invariant.
func TestMigrationChaos(t *testing.T) {
	runs := 12
	if testing.Short() {
		runs = 6
	}
	for seed := range uint64(runs) {
		g := chaoticGroups(t, seed)
		x := &groupChaos{groups: g, seed: seed, mode: WorkMode(1 + seed%2), static: seed%5 == 4,
			assignor: [][]string{{"range", "cooperative-sticky"}, {"cooperative-sticky"}, {"roundrobin"}, {"sticky"}}[seed/2%4]}
		x.tune = func(c *config.Consumer) {
			if x.below(2) == 0 {
				protocol848(c)
			}
		}
		x.live(t)
	}
}

// where the coordinator does not let a group with classic members change its protocol, a member with the consumer
// protocol hears GROUP_ID_NOT_FOUND, which is fatal for it.
func TestMigrationDisabledIsFatal(t *testing.T) {
	g := newGroups(t, atOnce, func(w *World) { w.Broker.ConsumerGroups.Migration.Policy = config.MigrationDowngrade })
	g.spread("orders", 2)
	c := g.member("c", []string{"orders"})
	g.runUntil(60_000*ms, "a classic group", func() bool { return len(g.Consumers[c].Parts) == 2 })
	n := g.member("n", []string{"orders"}, protocol848)
	g.runUntil(10_000*ms, "n is refused", func() bool { return g.Consumers[n].Group.Fatal == GROUP_ID_NOT_FOUND })
	g.run(10_000 * ms)
	g.expect("the classic group", []any{g.group().State, g.group().Consumer.On, len(g.Consumers[c].Parts)}, []any{GroupStable, false, 2})
}
