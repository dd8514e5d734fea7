package assign

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// vector is one recorded run of one of Kafka's own assignor classes.
type vector struct {
	Do struct {
		Op, Assignor string
		Topics       map[string]int
		Partitions   int
		Members      int
		Owned        map[string]string
		Subs         string
		ReplicaRacks map[string][]string
		ClientRacks  []string
	}
	Saw map[string]string
}

func vectors(t *testing.T, file string) []vector {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var recording struct{ Steps []vector }
	if err := json.Unmarshal(data, &recording); err != nil {
		t.Fatal(err)
	}
	return recording.Steps
}

// group makes the assignor's input of a recorded step.
func (v *vector) group() *Group {
	d := &v.Do
	sizes := map[string]int{}
	for name, n := range d.Topics {
		sizes[name] = n
	}
	if d.Partitions > 0 {
		sizes["t"] = d.Partitions
	}
	for name, racks := range d.ReplicaRacks {
		sizes[name] = len(racks)
	}
	g := &Group{}
	var every []int32
	for _, name := range slices.Sorted(mapKeys(sizes)) {
		topic := Topic{Name: name, Partitions: sizes[name]}
		for _, letters := range d.ReplicaRacks[name] {
			topic.Racks = append(topic.Racks, strings.Split(letters, ""))
		}
		every = append(every, int32(len(g.Topics)))
		g.Topics = append(g.Topics, topic)
	}
	if d.Subs != "" {
		for _, one := range strings.Fields(d.Subs) {
			id, list, _ := strings.Cut(one, ":")
			m := Member{ID: id, Generation: NoGeneration}
			for _, name := range strings.Split(strings.Trim(list, "[]"), ",") {
				m.Topics = append(m.Topics, g.topic(name))
			}
			g.Members = append(g.Members, m)
		}
		return g
	}
	for i := range max(d.Members, len(d.ClientRacks)) {
		m := Member{ID: "c" + strconv.Itoa(i+1), Topics: every, Generation: NoGeneration}
		if d.ClientRacks != nil {
			m.Rack = d.ClientRacks[i]
		}
		if owned, has := d.Owned[m.ID]; has {
			m.Owned, m.Generation = g.parse(owned), 1
		}
		g.Members = append(g.Members, m)
	}
	return g
}

func mapKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func (g *Group) topic(name string) int32 {
	return int32(slices.IndexFunc(g.Topics, func(t Topic) bool { return t.Name == name }))
}

func (g *Group) parse(text string) []Partition {
	var ps []Partition
	for _, one := range strings.Fields(text) {
		name, number, _ := strings.Cut(one, ":")
		n, _ := strconv.Atoi(number)
		ps = append(ps, Partition{g.topic(name), int32(n)})
	}
	return ps
}

func (g *Group) text(ps []Partition) string {
	var words []string
	for _, p := range ps {
		words = append(words, fmt.Sprintf("%s:%d", g.Topics[p.Topic].Name, p.Number))
	}
	return strings.Join(words, " ")
}

// TestVectors runs every recorded case of Kafka's own classes.
func TestVectors(t *testing.T) {
	for _, file := range []string{"k6-assignor-vectors.json", "gf1-rack-aware-assignors.json"} {
		steps := vectors(t, file)
		if len(steps) < 200 {
			t.Fatalf("%s has only %d cases", file, len(steps))
		}
		for i, v := range steps {
			g := v.group()
			got, known := Do(v.Do.Assignor, g)
			if !known {
				t.Fatalf("no assignor %q", v.Do.Assignor)
			}
			for m := range g.Members {
				if text := g.text(got[m]); text != v.Saw[g.Members[m].ID] {
					t.Errorf("%s, case %d, %s (%+v): %s has %q, with Kafka %q",
						file, i, v.Do.Assignor, v.Do, g.Members[m].ID, text, v.Saw[g.Members[m].ID])
				}
			}
		}
	}
}

// TestTablesOfTheRules runs the cases of the rules' own tables that are not among the recorded ones.
func TestTablesOfTheRules(t *testing.T) {
	static := &Group{Topics: []Topic{{Name: "t", Partitions: 4}}, Members: []Member{
		{ID: "c1", Topics: []int32{0}}, {ID: "c2", Topics: []int32{0}}, {ID: "c9", Instance: "i", Topics: []int32{0}}}}
	check(t, "A-2 static members first", static, Range(static), "t:2", "t:3", "t:0 t:1")

	racks := &Group{Topics: []Topic{{Name: "t", Partitions: 3, Racks: [][]string{{"r0", "r1"}, {"r1", "r2"}, {"r2", "r0"}}}},
		Members: []Member{{ID: "c1", Rack: "r2", Topics: []int32{0}}, {ID: "c2", Rack: "r0", Topics: []int32{0}}, {ID: "c3", Rack: "r1", Topics: []int32{0}}}}
	check(t, "A-13 racks", racks, Range(racks), "t:1", "t:0", "t:2")

	conflict := &Group{Topics: []Topic{{Name: "t", Partitions: 4}}, Members: []Member{
		{ID: "c1", Topics: []int32{0}, Owned: []Partition{{0, 0}, {0, 1}}, Generation: 5},
		{ID: "c2", Topics: []int32{0}, Owned: []Partition{{0, 1}, {0, 2}}, Generation: 4}}}
	check(t, "A-31 the higher generation keeps", conflict, Sticky(conflict), "t:0 t:1", "t:2 t:3")

	conflict.Members[1].Generation = 5
	got := CooperativeSticky(conflict)
	check(t, "A-31 equal generations: neither", conflict, got, "t:0", "t:2 t:3")

	gone := &Group{Topics: []Topic{{Name: "t", Partitions: 6}}, Members: []Member{
		{ID: "c1", Topics: []int32{0}, Owned: []Partition{{0, 0}, {0, 3}}, Generation: 2},
		{ID: "c2", Topics: []int32{0}, Owned: []Partition{{0, 1}, {0, 4}}, Generation: 2}}}
	check(t, "A-32 a member left", gone, Sticky(gone), "t:0 t:2 t:3", "t:1 t:4 t:5")
	check(t, "A-42 free at once", gone, CooperativeSticky(gone), "t:0 t:2 t:3", "t:1 t:4 t:5")

	many := &Group{}
	for i := range 10 {
		many.Topics = append(many.Topics, Topic{Name: "t" + strconv.Itoa(i), Partitions: 3})
	}
	for _, id := range []string{"c1", "c2"} {
		many.Members = append(many.Members, Member{ID: id, Topics: []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}})
	}
	if got := Range(many); len(got[0]) != 20 || len(got[1]) != 10 {
		t.Errorf("A-11: range over 10 topics of 3 partitions gives %d and %d, want 20 and 10", len(got[0]), len(got[1]))
	}
}

func check(t *testing.T, what string, g *Group, got Assignment, want ...string) {
	t.Helper()
	for m := range want {
		if text := g.text(got[m]); text != want[m] {
			t.Errorf("%s: %s has %q, want %q", what, g.Members[m].ID, text, want[m])
		}
	}
}

// TestTrustedClaims shows what the generations prevent (KAFKA-12984).
func TestTrustedClaims(t *testing.T) {
	g := &Group{TrustClaims: true, Topics: []Topic{{Name: "t", Partitions: 2}}, Members: []Member{
		{ID: "c1", Topics: []int32{0}, Owned: []Partition{{0, 0}}, Generation: 7},
		{ID: "c2", Topics: []int32{0}, Owned: []Partition{{0, 0}}, Generation: 3}}}
	check(t, "both keep it", g, CooperativeSticky(g), "t:0", "t:0")
	g.TrustClaims = false
	check(t, "the newer keeps it", g, CooperativeSticky(g), "t:0", "t:1")
}
