package goeval

import (
	"strings"
	"testing"
)

// TestGenericTypesOfThePackages uses generic types and functions that compiled packages have only as source.
func TestGenericTypesOfThePackages(t *testing.T) {
	story(t,
		"type T struct{ A int }\nvar q atomic.Pointer[T]\nq.Load() == nil", "true",
		"q.Store(&T{4})\nq.Load().A", "4",
		"q.Swap(&T{5}).A", "4",
		"old := q.Load()\nq.CompareAndSwap(old, &T{6})", "true",
		"q.CompareAndSwap(old, nil)", "false",
		"fmt.Sprintf(\"%T %T\", &q, any(atomic.Pointer[map[string]int]{}))", "*atomic.Pointer[main.T] atomic.Pointer[map[string]int]",
		"type S struct{ atomic.Pointer[int] }\nvar s S\nv := 7\ns.Store(&v)\n*s.Load()", "7",
		"f := (*atomic.Pointer[int]).Load\n*f(&s.Pointer)", "7",
		"store := s.Pointer.Store\nstore(nil)\ns.Load() == nil", "true",
		"type L interface{ Load() *int }\nvar l L = &s\ns.Store(&v)\n*l.Load()", "7",
		"l.(interface{ Swap(*int) *int }).Swap(nil) == &v", "true",
		"type N[K comparable] struct {\n\tnext atomic.Pointer[N[K]]\n\tkey K\n}\nn := &N[string]{key: \"a\"}\nn.next.Store(&N[string]{key: \"b\"})\nn.next.Load().key", "b",
		"var total atomic.Pointer[int]\ntotal.Store(new(int))\nvar wg sync.WaitGroup\nfor range 8 {\n\twg.Go(func() {\n\t\tfor range 500 {\n\t\t\tfor {\n\t\t\t\to := total.Load()\n\t\t\t\tn := *o + 1\n\t\t\t\tif total.CompareAndSwap(o, &n) { break }\n\t\t\t}\n\t\t}\n\t})\n}\nwg.Wait()\n*total.Load()", "4000",
		"import r2 \"math/rand/v2\"\nx := r2.N(10 * time.Second)\nx >= 0 && x < 10*time.Second", "true",
		"r2.N(int8(-1))", "Panic: invalid argument to N",
	)
}

// TestRefusedTypesLeaveNothingBehind refuses a type; those that come later have their methods.
func TestRefusedTypesLeaveNothingBehind(t *testing.T) {
	s := newSession(t)
	if got := s.result("type T struct{ A int; next *T; h [1 << 40]int }\nfunc (*T) String() string { return \"T\" }\nvar p *T"); !strings.HasPrefix(got, "NotSupported") {
		t.Fatal(got)
	}
	if got := s.result("type T struct{ A int }\nfunc (T) String() string { return \"T\" }\nT{}"); got != "T" {
		t.Error(got)
	}
	if got := s.result("import \"container/heap\"\ntype H []int\nfunc (h H) Len() int { return len(h) }\nfunc (h H) Less(i, j int) bool { return h[i] < h[j] }\nfunc (h H) Swap(i, j int) { h[i], h[j] = h[j], h[i] }\nfunc (h *H) Push(x any) { *h = append(*h, x.(int)) }\nfunc (h *H) Pop() any { o := *h; x := o[len(o)-1]; *h = o[:len(o)-1]; return x }\nhh := &H{3, 1, 2}\nheap.Init(hh)\nheap.Pop(hh)"); got != "1" {
		t.Error(got)
	}
}
