package assign

import (
	"fmt"
	"testing"
)

// BenchmarkUniform assigns 2,000 partitions to 200 members, one of whom has just come.
func BenchmarkUniform(b *testing.B) {
	g := Group{Topics: []Topic{{Name: "a", Partitions: 1000}, {Name: "b", Partitions: 1000}}}
	order := []int32{0, 1}
	for i := range 199 {
		g.Members = append(g.Members, Member{ID: fmt.Sprintf("m%03d", i), Topics: order})
	}
	got := Uniform(&g, order)
	for i := range g.Members {
		g.Members[i].Owned = got[i]
	}
	g.Members = append(g.Members, Member{ID: "m199", Topics: order})
	for b.Loop() {
		Uniform(&g, order)
	}
}
