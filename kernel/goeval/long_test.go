package goeval

import (
	"fmt"
	"runtime"
	"testing"
	"time"
)

// TestManyTypesWithMethods declares a type with methods anew in each of 10,000 cells: compiled code sees the
// methods of the last as well as those of the first, and the session keeps little of each.
func TestManyTypesWithMethods(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	s := newSession(t)
	const cells = 10_000
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var took []time.Duration
	var before uint64
	for i := range cells {
		if i == 100 {
			before = heap()
		}
		start := time.Now()
		got := s.result(fmt.Sprintf("type T struct{ A, B%d int }\nfunc (t T) String() string { return fmt.Sprint(\"T\", t.A) }\nfunc (t *T) Add(n int) { t.A += n }\nfunc (t T) Twice() int { return 2 * t.A }\nx := &T{A: %d}\nx.Add(1)\nfmt.Sprint(x, x.Twice())", i, i))
		took = append(took, time.Since(start))
		if want := fmt.Sprintf("T%d %d", i+1, 2*(i+1)); got != want {
			t.Fatalf("cell %d: %s, want %s", i, got, want)
		}
	}
	held := (heap() - before) / (cells - 100)
	t.Logf("%d bytes a cell; the second hundred %v, the last %v", held, sum(took[100:200]), sum(took[cells-100:]))
	if held > 20<<10 {
		t.Errorf("the session keeps %d bytes a cell", held)
	}
}

func sum(ds []time.Duration) (total time.Duration) {
	for _, d := range ds {
		total += d
	}
	return total
}

// TestHugeTypes uses types and variables that no machine has room for: they are refused, by the cell that
// has them, and do not end the process.
func TestHugeTypes(t *testing.T) {
	s := newSession(t)
	for _, code := range []string{
		"type T struct{ a [1 << 50]int }\nfunc (T) String() string { return \"T\" }\nT{}",
		"var a [1 << 40]int",
		"func f() { var a [1 << 44]*int; _ = a }\nf()",
		"func f(a [1 << 40]int) int { return a[0] }",
		"var p *[1 << 44]*int",
		"make([][1 << 40]int, 3)",
		"[1 << 40]int{5: 1}[5]",
		"struct{ a, b [1 << 61]byte }{}",
		"m := map[int][1 << 40]int{}\nm[1][2]",
		"new([1 << 33]byte)",
	} {
		if o := s.run(code); o.Failure == nil || o.Failure.Name != "NotSupported" && o.Failure.Name != "CompileError" {
			t.Errorf("%s: %+v", code, o)
		}
	}
	story(t, "len([1 << 40]int{})", "1099511627776", "func f() int { var a [1 << 20]int; a[5] = 1; return a[5] }\nf()", "1")
}
