package assign

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawGroup draws topics, racks, subscriptions, and for every partition at most one member that had it.
func drawGroup(t *rapid.T, same bool) *Group {
	g := &Group{}
	racks := []string{"", "a", "b", "c"}
	withRacks := rapid.Bool().Draw(t, "racks")
	for i := range rapid.IntRange(1, 5).Draw(t, "topics") {
		topic := Topic{Name: fmt.Sprintf("t%d", i), Partitions: rapid.IntRange(0, 9).Draw(t, "partitions")}
		for range topic.Partitions {
			if withRacks {
				topic.Racks = append(topic.Racks, rapid.SliceOfN(rapid.SampledFrom(racks), 1, 3).Draw(t, "replicas"))
			}
		}
		g.Topics = append(g.Topics, topic)
	}
	for i := range rapid.IntRange(1, 9).Draw(t, "members") {
		m := Member{ID: fmt.Sprintf("m%d", i), Generation: rapid.IntRange(-1, 3).Draw(t, "generation")}
		if withRacks {
			m.Rack = rapid.SampledFrom(racks).Draw(t, "rack")
		}
		for topic := range g.Topics {
			if same || rapid.Bool().Draw(t, "wants") {
				m.Topics = append(m.Topics, int32(topic))
			}
		}
		g.Members = append(g.Members, m)
	}
	for topic := range g.Topics {
		for n := range g.Topics[topic].Partitions {
			for range rapid.IntRange(0, 2).Draw(t, "claims") {
				m := rapid.IntRange(0, len(g.Members)-1).Draw(t, "owner")
				if p := (Partition{int32(topic), int32(n)}); !slices.Contains(g.Members[m].Owned, p) {
					g.Members[m].Owned = append(g.Members[m].Owned, p)
				}
			}
		}
	}
	return g
}

// owners returns who has each partition, and fails if two have it or one that does not subscribe.
func owners(t *rapid.T, g *Group, a Assignment) map[Partition]int {
	owner := map[Partition]int{}
	for m := range a {
		for _, p := range a[m] {
			if other, has := owner[p]; has {
				t.Fatalf("%v has two owners, %d and %d", p, other, m)
			}
			if !slices.Contains(g.Members[m].Topics, p.Topic) {
				t.Fatalf("member %d has %v and does not subscribe to the topic", m, p)
			}
			if int(p.Number) >= g.Topics[p.Topic].Partitions {
				t.Fatalf("%v does not exist", p)
			}
			owner[p] = m
		}
	}
	return owner
}

// complete fails if a partition that somebody wants has no owner.
func complete(t *rapid.T, g *Group, a Assignment) {
	owner := owners(t, g, a)
	for topic := range g.Topics {
		wanted := slices.ContainsFunc(g.Members, func(m Member) bool { return slices.Contains(m.Topics, int32(topic)) })
		for n := range g.Topics[topic].Partitions {
			if _, has := owner[Partition{int32(topic), int32(n)}]; wanted && !has {
				t.Fatalf("nobody has %s-%d", g.Topics[topic].Name, n)
			}
		}
	}
}

func spread(a Assignment) int {
	least, most := len(a[0]), len(a[0])
	for _, list := range a {
		least, most = min(least, len(list)), max(most, len(list))
	}
	return most - least
}

func after(g *Group, a Assignment) *Group {
	next := &Group{Topics: g.Topics, Members: slices.Clone(g.Members)}
	for m := range next.Members {
		next.Members[m].Owned, next.Members[m].Generation = a[m], 9
	}
	return next
}

// TestEveryPartitionOnce: with every assignor each wanted partition has one owner, who subscribes to it.
func TestEveryPartitionOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGroup(t, rapid.Bool().Draw(t, "same"))
		complete(t, g, Range(g))
		complete(t, g, RoundRobin(g))
		complete(t, g, Sticky(g))
		owners(t, g, CooperativeSticky(g))
	})
}

// TestBalance: with equal subscriptions nobody has two more than another (range: in one topic).
func TestBalance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGroup(t, true)
		if d := spread(RoundRobin(g)); d > 1 {
			t.Fatalf("round robin: sizes differ by %d", d)
		}
		if d := spread(Sticky(g)); d > 1 {
			t.Fatalf("sticky: sizes differ by %d", d)
		}
		one := &Group{Topics: g.Topics[:1], Members: slices.Clone(g.Members)}
		for m := range one.Members {
			one.Members[m].Topics = []int32{0}
		}
		if d := spread(Range(one)); d > 1 {
			t.Fatalf("range: sizes in one topic differ by %d", d)
		}
	})
}

// TestStickiness: what was assigned stays when nothing changes; and when a member is added or gone, a member loses only
// what is above its new share.
func TestStickiness(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGroup(t, true)
		for m := range g.Members {
			g.Members[m].Rack = ""
		}
		first := Sticky(g)
		again := after(g, first)
		if second := Sticky(again); fmt.Sprint(second) != fmt.Sprint(first) {
			t.Fatalf("nothing changed, and %v became %v", first, second)
		}
		if rapid.Bool().Draw(t, "leave") && len(again.Members) > 1 {
			gone := rapid.IntRange(0, len(again.Members)-1).Draw(t, "gone")
			again.Members = slices.Delete(again.Members, gone, gone+1)
		} else {
			again.Members = append(again.Members, Member{ID: "new", Topics: g.Members[0].Topics, Generation: NoGeneration})
		}
		total := 0
		for _, topic := range g.Topics {
			total += topic.Partitions
		}
		for m, list := range Sticky(again) {
			had, kept := again.Members[m].Owned, 0
			for _, p := range had {
				if slices.Contains(list, p) {
					kept++
				}
			}
			if share := min(len(had), total/len(again.Members)); kept < share {
				t.Fatalf("member %d had %d and keeps %d of a share of at least %d", m, len(had), kept, share)
			}
		}
	})
}

// TestCooperativeRounds: in no round does a partition go from one member to another. With equal subscriptions and
// no racks the second round takes nothing and is complete; else the rounds come to an end.
func TestCooperativeRounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		same := rapid.Bool().Draw(t, "same")
		g := drawGroup(t, same)
		plain := same && !slices.ContainsFunc(g.Members, func(m Member) bool { return m.Rack != "" })
		for m := range g.Members {
			g.Members[m].Generation = 5
			g.Members[m].Owned = slices.DeleteFunc(g.Members[m].Owned, func(p Partition) bool {
				return slices.ContainsFunc(g.Members[:m], func(o Member) bool { return slices.Contains(o.Owned, p) })
			})
		}
		for round := 1; ; round++ {
			now := CooperativeSticky(g)
			noHandOver(t, g, now)
			taken := 0
			for m := range now {
				for _, p := range g.Members[m].Owned {
					if !slices.Contains(now[m], p) {
						taken++
					}
				}
			}
			if taken == 0 {
				complete(t, g, now)
				return
			}
			if plain && round == 2 || round == 8 {
				t.Fatalf("round %d takes %d partitions again", round, taken)
			}
			g = after(g, now)
		}
	})
}

func noHandOver(t *rapid.T, g *Group, now Assignment) {
	owner := map[Partition]int{}
	for m := range g.Members {
		for _, p := range g.Members[m].Owned {
			owner[p] = m
		}
	}
	for m, list := range now {
		for _, p := range list {
			if o, has := owner[p]; has && o != m {
				t.Fatalf("%v goes from member %d to %d at once", p, o, m)
			}
		}
	}
}

// large is a group of 200 members and 2,000 partitions in 40 topics.
func large(same bool) *Group {
	g := &Group{}
	for i := range 40 {
		g.Topics = append(g.Topics, Topic{Name: fmt.Sprintf("t%02d", i), Partitions: 50})
	}
	for i := range 200 {
		m := Member{ID: fmt.Sprintf("m%03d", i), Generation: NoGeneration}
		for topic := range g.Topics {
			if same || (topic+i)%3 != 0 {
				m.Topics = append(m.Topics, int32(topic))
			}
		}
		g.Members = append(g.Members, m)
	}
	return g
}

// Benchmark assigns 2,000 partitions to 200 members: all new, and after one of them left.
func Benchmark(b *testing.B) {
	for _, name := range Names() {
		for _, same := range []bool{true, false} {
			fresh := large(same)
			first, _ := Do(name, fresh)
			if name == CooperativeStickyName {
				first = Sticky(fresh)
			}
			left := after(fresh, first)
			left.Members = left.Members[:199]
			b.Run(fmt.Sprintf("%s/same=%v/fresh", name, same), func(b *testing.B) {
				for b.Loop() {
					Do(name, fresh)
				}
			})
			b.Run(fmt.Sprintf("%s/same=%v/left", name, same), func(b *testing.B) {
				for b.Loop() {
					Do(name, left)
				}
			})
		}
	}
}
