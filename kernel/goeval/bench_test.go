package goeval

import (
	"runtime"
	"sort"
	"testing"
	"time"
)

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		e, err := New(Options{})
		if err != nil {
			b.Fatal(err)
		}
		e.Close()
	}
}

func BenchmarkFirstPrint(b *testing.B) {
	for b.Loop() {
		s := newSession(b)
		s.run(`fmt.Println("hello")`)
	}
}

func benchmarkCell(b *testing.B, setup, cell string) {
	s := newSession(b)
	if o := s.run(setup); o.Failure != nil {
		b.Fatal(o.Failure)
	}
	for b.Loop() {
		if o := s.run(cell); o.Failure != nil {
			b.Fatal(o.Failure)
		}
	}
}

func BenchmarkTrivialCell(b *testing.B) { benchmarkCell(b, "", "1+1") }
func BenchmarkPrintCell(b *testing.B)   { benchmarkCell(b, "", "fmt.Println(1)") }
func BenchmarkDefineCell(b *testing.B) {
	benchmarkCell(b, "", "x := 1\nfunc f(n int) int { return n + x }")
}

// Loops and calls of every kind; DESIGN.md has the figures.
func BenchmarkFib25(b *testing.B) {
	benchmarkCell(b, "func fib(n int) int {\n\tif n < 2 {\n\t\treturn n\n\t}\n\treturn fib(n-1) + fib(n-2)\n}", "fib(25)")
}
func BenchmarkLoop10M(b *testing.B) {
	benchmarkCell(b, "", "s := 0\nfor i := 0; i < 10_000_000; i++ { s += i }")
}
func BenchmarkIndex1M(b *testing.B) {
	benchmarkCell(b, "a := make([]int, 1000)", "for i := 0; i < 1_000_000; i++ { a[i%1000] += i }")
}
func BenchmarkMap1M(b *testing.B) {
	benchmarkCell(b, "m := map[int]int{}", "for i := 0; i < 1_000_000; i++ { m[i%1000] += i }")
}
func BenchmarkMethods1M(b *testing.B) {
	benchmarkCell(b, "type T struct{ n int }\nfunc (t *T) Inc() { t.n++ }\nt := &T{}", "for i := 0; i < 1_000_000; i++ { t.Inc() }")
}
func BenchmarkInterfaces100k(b *testing.B) {
	benchmarkCell(b, "type T struct{ n int }\nfunc (t *T) Inc() { t.n++ }\nvar t interface{ Inc() } = &T{}", "for i := 0; i < 100_000; i++ { t.Inc() }")
}
func BenchmarkClosures1M(b *testing.B) {
	benchmarkCell(b, "n := 0\nf := func() { n++ }", "for i := 0; i < 1_000_000; i++ { f() }")
}
func BenchmarkCompiledCalls100k(b *testing.B) {
	benchmarkCell(b, "", "for i := 0; i < 100_000; i++ { strings.ToUpper(\"abc\") }")
}
func BenchmarkSortSlice100k(b *testing.B) {
	benchmarkCell(b, "x := make([]int, 100_000)", "for i := range x { x[i] = i * 7919 % 100_003 }\nsort.Slice(x, func(i, j int) bool { return x[i] < x[j] })")
}
func BenchmarkDefers100k(b *testing.B) {
	benchmarkCell(b, "func f() { defer func() {}() }", "for i := 0; i < 100_000; i++ { f() }")
}
func BenchmarkChannel100k(b *testing.B) {
	benchmarkCell(b, "", "ch := make(chan int)\ngo func() {\n\tfor i := 0; i < 100_000; i++ {\n\t\tch <- i\n\t}\n\tclose(ch)\n}()\nfor range ch {\n}")
}

// BenchmarkTenThousandCells reports how a session ages: the last cells against the first, and what a
// cell leaves behind.
func BenchmarkTenThousandCells(b *testing.B) {
	for b.Loop() {
		s := newSession(b)
		s.run("x := 0")
		times := make([]time.Duration, 10_000)
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range times {
			began := time.Now()
			s.run("x = x + 1\nx")
			times[i] = time.Since(began)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		first, last := median(times[:100]), median(times[9900:])
		b.ReportMetric(float64(first.Microseconds()), "first-µs")
		b.ReportMetric(float64(last.Microseconds()), "last-µs")
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/10_000, "B/cell")
	}
}

func median(d []time.Duration) time.Duration {
	d = append([]time.Duration{}, d...)
	sort.Slice(d, func(i, j int) bool { return d[i] < d[j] })
	return d[len(d)/2]
}

func BenchmarkComplete(b *testing.B) {
	s := newSession(b)
	s.run("type C struct{}\nfunc (C) Crash() {}\nc := C{}")
	for b.Loop() {
		if len(s.Complete("c.Cr", 4).Matches) != 1 {
			b.Fatal("no match")
		}
	}
}
