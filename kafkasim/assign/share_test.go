package assign

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// The vectors of Kafka's own class: the same members get the same partitions (H-17).
func TestSimpleVectorsH17(t *testing.T) {
	data, err := os.ReadFile("testdata/simple-assignor.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Topics  [][2]int32
			Members []struct {
				Topics      []int
				Owned, Gets [][]int32
			}
		}
	}
	if err := json.Unmarshal(data, &file); err != nil || len(file.Cases) < 400 {
		t.Fatalf("%d cases: %v", len(file.Cases), err)
	}
	for i, c := range file.Cases {
		named := func(list [][]int32) (out []SharePartition) {
			for _, run := range list {
				for _, p := range run[1:] {
					out = append(out, SharePartition{c.Topics[run[0]][0], p})
				}
			}
			return out
		}
		var members []ShareMember
		var parts []SharePartition
		for _, m := range c.Members {
			x := ShareMember{Owned: named(m.Owned)}
			for _, t := range m.Topics {
				x.Topics = append(x.Topics, c.Topics[t][0])
			}
			members = append(members, x)
		}
		for _, t := range shareTopics(members) {
			k := slices.IndexFunc(c.Topics, func(x [2]int32) bool { return x[0] == t })
			for p := range c.Topics[k][1] {
				parts = append(parts, SharePartition{t, p})
			}
		}
		if SameTopics(members) { // in the order of the first member's subscription
			slices.SortStableFunc(parts, func(a, b SharePartition) int {
				return slices.Index(members[0].Topics, a.Topic) - slices.Index(members[0].Topics, b.Topic)
			})
		}
		for m, got := range Simple(members, parts) {
			want := named(c.Members[m].Gets)
			slices.SortFunc(want, compareShare)
			if !slices.Equal(got, want) {
				t.Fatalf("case %d, member %d of %d:\n got %v\nwant %v", i, m, len(members), got, want)
			}
		}
	}
}

// Properties of any assignment (H-17): with members no partition is without one, no partition has more than it is to,
// nobody has a partition of a topic to which others subscribe and it does not, and members with the same topics differ by
// one at most. (Asking again may change something: Kafka's class does not note whom it has just given a partition.)
func TestSimpleProperties(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 17))
		var parts []SharePartition
		topics := int32(1 + r.IntN(3))
		for topic := range topics {
			for p := range int32(1 + r.IntN(12)) {
				parts = append(parts, SharePartition{topic, p})
			}
		}
		members := make([]ShareMember, 1+r.IntN(15))
		for m := range members {
			for topic := range topics {
				if seed%2 == 0 || topic == int32(m)%topics || r.IntN(2) == 0 {
					members[m].Topics = append(members[m].Topics, topic)
				}
			}
		}
		for range 3 {
			got := Simple(members, parts)
			checkSharing(t, fmt.Sprintf("seed %d", seed), members, parts, got)
			for m := range members {
				members[m].Owned = got[m]
			}
			members = append(members, ShareMember{Topics: members[0].Topics})
			gone := r.IntN(len(members))
			members = slices.Delete(members, gone, gone+1)
		}
	}
}

func checkSharing(t *testing.T, where string, members []ShareMember, parts []SharePartition, got [][]SharePartition) {
	t.Helper()
	same := SameTopics(members)
	least, most := len(parts), 0
	for m := range members {
		least, most = min(least, len(got[m])), max(most, len(got[m]))
		for _, p := range got[m] {
			left := !slices.Contains(shareTopics(members), p.Topic) // nobody wants it, and nobody takes it away
			if !slices.Contains(members[m].Topics, p.Topic) && !left || !slices.Contains(parts, p) {
				t.Fatalf("%s: member %d has %v", where, m, p)
			}
		}
	}
	if same && most-least > 1 {
		t.Fatalf("%s: members have %d to %d partitions", where, least, most)
	}
	for _, p := range parts {
		n, subscribers, of := 0, 0, 0
		for m := range members {
			if slices.Contains(got[m], p) {
				n++
			}
			if slices.Contains(members[m].Topics, p.Topic) {
				subscribers++
			}
		}
		for _, q := range parts {
			if same || q.Topic == p.Topic {
				of++
			}
		}
		if want := (subscribers + of - 1) / of; subscribers > 0 && (n > want || n == 0) {
			t.Fatalf("%s: %v has %d members of %d, want 1 to %d", where, p, n, subscribers, want)
		}
	}
}
