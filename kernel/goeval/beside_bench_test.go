package goeval

import (
	"slices"
	"strings"
	"testing"

	"github.com/traefik/yaegi/interp"
	"github.com/traefik/yaegi/stdlib"
)

// BenchmarkBeside runs the same work as cells, on yaegi as it comes, and compiled, in one run. (yaegi was the
// first plan for running cells; DESIGN.md says why it is not used.) Most of the work is one function, work,
// which is declared once and then called.
//
//	go test -run xxx -bench Beside ./kernel/goeval
func BenchmarkBeside(b *testing.B) {
	for _, w := range besides {
		cell := "work()"
		if w.cell != "" {
			cell = w.cell
		}
		b.Run(w.name+"/cells", func(b *testing.B) { benchmarkCell(b, w.source, cell) })
		b.Run(w.name+"/yaegi", func(b *testing.B) { benchmarkYaegi(b, w, cell) })
		if w.compiled != nil {
			b.Run(w.name+"/compiled", func(b *testing.B) {
				for b.Loop() {
					w.compiled()
				}
			})
		}
	}
}

// work is what is compared: source for cells, yaegi's own where it cannot do the same.
type work struct {
	name, source, cell, yaegi string
	compiled                  func()
}

func benchmarkYaegi(b *testing.B, w work, cell string) {
	i := interp.New(interp.Options{})
	i.Use(stdlib.Symbols)
	source := w.source
	if w.yaegi != "" {
		source = w.yaegi
	}
	for _, code := range []string{"import (\"slices\"; \"sort\"; \"strings\")", "var n int", source} {
		if _, err := i.Eval(code); err != nil {
			b.Skip(err)
		}
	}
	for b.Loop() {
		if _, err := i.Eval(cell); err != nil {
			b.Fatal(err)
		}
	}
}

var besides = []work{
	{name: "Trivial", cell: "1+1"},
	{
		name:     "Loop10M",
		source:   "func work() int {\n\ts := 0\n\tfor i := 0; i < 10_000_000; i++ { s += i }\n\treturn s\n}",
		compiled: func() { sink = loop10M() },
	},
	{
		name:     "Fib25",
		source:   "func fib(n int) int {\n\tif n < 2 {\n\t\treturn n\n\t}\n\treturn fib(n-1) + fib(n-2)\n}",
		cell:     "fib(25)",
		compiled: func() { sink = fib(25) },
	},
	{
		name:     "CompiledCalls100k",
		source:   "func work() {\n\tfor i := 0; i < 100_000; i++ { strings.ToUpper(\"abc\") }\n}",
		compiled: func() { upper100k() },
	},
	{
		name:     "SlicesSort100k",
		source:   "func work() {\n\tx := make([]int, 100_000)\n\tfor i := range x { x[i] = i * 7919 % 100_003 }\n\tslices.Sort(x)\n}",
		yaegi:    "func work() {\n\tx := make([]int, 100_000)\n\tfor i := range x { x[i] = i * 7919 % 100_003 }\n\tsort.Ints(x)\n}",
		compiled: func() { sort100k() },
	},
	{
		name:     "SlicesSortFunc100k",
		source:   "func work() {\n\tx := make([]int, 100_000)\n\tfor i := range x { x[i] = i * 7919 % 100_003 }\n\tslices.SortFunc(x, func(a, b int) int { return a - b })\n}",
		yaegi:    "func work() {\n\tx := make([]int, 100_000)\n\tfor i := range x { x[i] = i * 7919 % 100_003 }\n\tsort.Slice(x, func(i, j int) bool { return x[i] < x[j] })\n}",
		compiled: func() { sortFunc100k() },
	},
	{
		name:     "IndexAdd1M",
		source:   "func work() {\n\ta := make([]int, 1000)\n\tfor i := 0; i < 1_000_000; i++ { a[i%1000] += i }\n}",
		compiled: func() { index1M() },
	},
	{
		name:     "MapAdd1M",
		source:   "func work() {\n\tm := map[int]int{}\n\tfor i := 0; i < 1_000_000; i++ { m[i%1000] += i }\n}",
		compiled: func() { map1M() },
	},
	{
		name:   "Methods1M",
		source: "type T struct{ n int }\nfunc (t *T) Inc() { t.n++ }\nfunc work() {\n\tt := &T{}\n\tfor i := 0; i < 1_000_000; i++ { t.Inc() }\n}",
	},
	{
		name:   "Closures1M",
		source: "func work() int {\n\ts := 0\n\tf := func(n int) int { return s + n }\n\tfor i := 0; i < 1_000_000; i++ { s = f(i) }\n\treturn s\n}",
	},
}

var sink int

func loop10M() (s int) {
	for i := 0; i < 10_000_000; i++ {
		s += i
	}
	return s
}

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func upper100k() {
	for i := 0; i < 100_000; i++ {
		sink += len(strings.ToUpper("abc"))
	}
}

func mixed(n int) []int {
	x := make([]int, n)
	for i := range x {
		x[i] = i * 7919 % 100_003
	}
	return x
}

func sort100k()     { slices.Sort(mixed(100_000)) }
func sortFunc100k() { slices.SortFunc(mixed(100_000), func(a, b int) int { return a - b }) }

func index1M() {
	a := make([]int, 1000)
	for i := 0; i < 1_000_000; i++ {
		a[i%1000] += i
	}
}

func map1M() {
	m := map[int]int{}
	for i := 0; i < 1_000_000; i++ {
		m[i%1000] += i
	}
}

// BenchmarkPrepare20Lines parses, checks and compiles a cell of twenty lines, without running it.
func BenchmarkPrepare20Lines(b *testing.B) {
	const text = `type Account struct {
	Owner   string
	Balance int
	History []string
}

func (a *Account) Deposit(n int) error {
	if n <= 0 {
		return fmt.Errorf("deposit of %d: want more than nothing", n)
	}
	a.Balance += n
	a.History = append(a.History, fmt.Sprintf("deposit %d", n))
	return nil
}

accounts := map[string]*Account{}
for _, name := range []string{"ann", "bob"} {
	accounts[name] = &Account{Owner: name}
}
err := accounts["ann"].Deposit(10)
fmt.Println(accounts["ann"].Balance, err, strings.Join(accounts["ann"].History, ", "))`
	s := newSession(b)
	src := newSource(1, text)
	for b.Loop() {
		if _, _, failure := s.prepare(src); failure != nil {
			b.Fatal(failure.Traceback)
		}
	}
}
