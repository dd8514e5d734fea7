package goeval

import (
	"testing"

	"github.com/traefik/yaegi/interp"
)

// The same loops on yaegi as it comes, for comparison in one run: it was the first plan for running cells
// (DESIGN.md says why it is not used). The names end in Yaegi.
func benchmarkYaegi(b *testing.B, setup, cell string) {
	i := interp.New(interp.Options{})
	if _, err := i.Eval(setup); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := i.Eval(cell); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTrivialCellYaegi(b *testing.B) { benchmarkYaegi(b, "x := 1", "1+1") }

func BenchmarkFib25Yaegi(b *testing.B) {
	benchmarkYaegi(b, "func fib(n int) int {\n\tif n < 2 {\n\t\treturn n\n\t}\n\treturn fib(n-1) + fib(n-2)\n}", "fib(25)")
}

func BenchmarkLoop10MYaegi(b *testing.B) {
	benchmarkYaegi(b, "func loop() int {\n\ts := 0\n\tfor i := 0; i < 10_000_000; i++ { s += i }\n\treturn s\n}", "loop()")
}

func BenchmarkIndex1MYaegi(b *testing.B) {
	benchmarkYaegi(b, "func loop() {\n\ta := make([]int, 1000)\n\tfor i := 0; i < 1_000_000; i++ { a[i%1000] += i }\n}", "loop()")
}

func BenchmarkMap1MYaegi(b *testing.B) {
	benchmarkYaegi(b, "func loop() {\n\tm := map[int]int{}\n\tfor i := 0; i < 1_000_000; i++ { m[i%1000] += i }\n}", "loop()")
}

func BenchmarkMethods1MYaegi(b *testing.B) {
	benchmarkYaegi(b, "type T struct{ n int }\nfunc (t *T) Inc() { t.n++ }\nfunc loop() {\n\tt := &T{}\n\tfor i := 0; i < 1_000_000; i++ { t.Inc() }\n}", "loop()")
}

func BenchmarkClosures1MYaegi(b *testing.B) {
	benchmarkYaegi(b, "func loop() int {\n\ts := 0\n\tf := func(n int) int { return s + n }\n\tfor i := 0; i < 1_000_000; i++ { s = f(i) }\n\treturn s\n}", "loop()")
}
