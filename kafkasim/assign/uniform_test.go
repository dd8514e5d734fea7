package assign

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// every target of the recording, in which members join one by one, each assignment made upon the
// one before.
func TestServerAssignorsRecorded(t *testing.T) {
	for _, version := range []string{"", "-v4.0.2", "-v4.4.0"} {
		data, err := os.ReadFile("../../tests/oracle/testdata/l2-consumer-protocol-assignors" + version + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var recording struct {
			Steps []struct {
				Do struct {
					Assignor, Topic, Member string
					Partitions              int
					Topics                  []string
					Unequal                 map[string][]string
				}
				Saw struct{ Target map[string][]string }
			}
		}
		if err := json.Unmarshal(data, &recording); err != nil {
			t.Fatal(err)
		}
		sizes := map[string]int{}
		var orders []*joining // the topics' ids may have had either order
		compared := 0
		for i, step := range recording.Steps {
			members, subscriptions := []string{step.Do.Member}, step.Do.Unequal
			switch {
			case step.Do.Topic != "":
				sizes[step.Do.Topic] = step.Do.Partitions
				subscriptions = map[string][]string{step.Do.Member: {step.Do.Topic}}
			case subscriptions == nil:
				subscriptions = map[string][]string{step.Do.Member: step.Do.Topics}
			default:
				members = []string{"m1", "m2", "m3"}
			}
			if members[0] == "m1" {
				topics := []Topic{{Name: "l2p3", Partitions: 3}, {Name: "l2p5", Partitions: 5}}
				orders = []*joining{{Group{Topics: topics}, []int32{0, 1}, nil}, {Group{Topics: topics}, []int32{1, 0}, nil}}
				if step.Do.Topic != "" {
					orders = []*joining{{Group{Topics: []Topic{{Name: step.Do.Topic, Partitions: sizes[step.Do.Topic]}}}, []int32{0}, nil}}
				}
			}
			for _, o := range orders {
				for _, m := range members {
					o.join(m, subscriptions[m], step.Do.Assignor)
				}
				o.compare(step.Saw.Target)
			}
			compared += len(step.Saw.Target)
			if !slices.ContainsFunc(orders, func(o *joining) bool { return o.wrong == nil }) {
				t.Errorf("%s step %d, %v: %v", version, i, step.Do, orders[0].wrong)
			}
		}
		if compared < 100 {
			t.Errorf("%s: only %d targets compared", version, compared)
		}
	}
}

// joining is a group that members join one by one.
type joining struct {
	g     Group
	order []int32
	wrong []string
}

func (o *joining) join(member string, topics []string, assignor string) {
	x := Member{ID: member}
	for _, name := range topics {
		x.Topics = append(x.Topics, int32(slices.IndexFunc(o.g.Topics, func(t Topic) bool { return t.Name == name })))
	}
	o.g.Members = append(o.g.Members, x)
	got, _ := DoServer(assignor, &o.g, o.order)
	for j := range o.g.Members {
		o.g.Members[j].Owned = got[j]
	}
}

func (o *joining) compare(target map[string][]string) {
	for m, want := range target {
		j := slices.IndexFunc(o.g.Members, func(x Member) bool { return x.ID == m })
		var names []string
		for _, p := range o.g.Members[j].Owned {
			names = append(names, fmt.Sprintf("%s:%d", o.g.Topics[p.Topic].Name, p.Number))
		}
		slices.Sort(want)
		if !slices.Equal(names, want) {
			o.wrong = append(o.wrong, fmt.Sprintf("%s: %v, want %v", m, names, want))
		}
	}
}

func inOrder(g *Group) []int32 {
	var order []int32
	for i := range g.Topics {
		order = append(order, int32(i))
	}
	return order
}

// whoever comes and goes, all partitions have one owner who subscribes to them; nobody has two more than
// another who could take one; and with equal subscriptions no more moves than balance needs.
func TestUniformProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var g Group
		for i := range rapid.IntRange(1, 4).Draw(t, "topics") {
			g.Topics = append(g.Topics, Topic{Name: fmt.Sprint("t", i), Partitions: rapid.IntRange(1, 9).Draw(t, "partitions")})
		}
		unequal := rapid.Bool().Draw(t, "unequal")
		next := 0
		for range rapid.IntRange(1, 12).Draw(t, "rounds") {
			if len(g.Members) > 0 && rapid.IntRange(0, 2).Draw(t, "leave") == 0 {
				i := rapid.IntRange(0, len(g.Members)-1).Draw(t, "who")
				g.Members = slices.Delete(g.Members, i, i+1)
			} else {
				m := Member{ID: fmt.Sprintf("m%02d", next), Topics: inOrder(&g)}
				next++
				if unequal {
					m.Topics = slices.DeleteFunc(m.Topics, func(topic int32) bool { return len(m.Topics) > 1 && rapid.Bool().Draw(t, "without") })
				}
				g.Members = append(g.Members, m)
			}
			order := rapid.Permutation(inOrder(&g)).Draw(t, "order")
			got := Uniform(&g, order)
			checkUniform(t, &g, got, unequal)
			for i := range g.Members {
				g.Members[i].Owned = got[i]
			}
		}
	})
}

func checkUniform(t *rapid.T, g *Group, got Assignment, unequal bool) {
	owners, wanted := map[Partition]int{}, map[Partition]bool{}
	for m := range g.Members {
		for _, topic := range g.Members[m].Topics {
			for n := range g.Topics[topic].Partitions {
				wanted[Partition{topic, int32(n)}] = true
			}
		}
		for _, p := range got[m] {
			owners[p]++
			if !slices.Contains(g.Members[m].Topics, p.Topic) {
				t.Fatalf("%v for a member that does not subscribe", p)
			}
		}
	}
	for p := range wanted {
		if owners[p] != 1 {
			t.Fatalf("%v has %d owners", p, owners[p])
		}
	}
	if len(owners) != len(wanted) {
		t.Fatalf("%d partitions assigned, of %d", len(owners), len(wanted))
	}
	for m := range g.Members {
		for _, p := range got[m] {
			for o := range g.Members {
				if slices.Contains(g.Members[o].Topics, p.Topic) && len(got[m]) > len(got[o])+1 {
					t.Fatalf("%d has %d, %d could take %v and has %d", m, len(got[m]), o, p, len(got[o]))
				}
			}
		}
		if !unequal {
			kept := 0
			for _, p := range g.Members[m].Owned {
				if slices.Contains(got[m], p) {
					kept++
				}
			}
			if least := len(wanted) / len(g.Members); kept < min(least, len(g.Members[m].Owned)) {
				t.Fatalf("%d kept %d of %d", m, kept, len(g.Members[m].Owned))
			}
		}
	}
}
