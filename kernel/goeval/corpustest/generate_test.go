package corpustest

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// generator writes small typed programs: the bodies of functions without parameters. They end, and what
// they do is fixed by the language but for panics, which are part of their output.
type generator struct {
	r     *rand.Rand
	b     strings.Builder
	vars  []variable
	depth int // of statements
	loops []string
	inFn  bool // inside a closure: no jumps to loops outside
	n     int
}

type variable struct {
	name, typ string
	fixed     bool // a loop variable, which the program must not assign to
}

var (
	intTypes   = []string{"int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64"}
	plainTypes = append([]string{"float64", "float32", "string", "bool", "complex128", "Kind", "Text"}, intTypes...)
	allTypes   = append([]string{"[]int", "[]string", "[]P", "map[string]int", "map[int]string", "P", "*P", "any", "[3]int16", "func(int) int", "Q", "error", "fmt.Stringer", "Pair[int]", "Pair[string]"}, plainTypes...)
)

// prelude is what the bodies use.
const prelude = `
type P struct {
	X int
	Y string
	Z [2]int8
}
type Q struct {
	P
	N *int
	M uint16
}
type Kind int
type Text string
type Pair[T any] struct{ A, B T }
type Fail struct{ Code int }

func (k Kind) String() string { return fmt.Sprintf("K%d", int(k)) }
func (t Text) Len() int { return len(t) }
func (t Text) String() string { return "<" + string(t) + ">" }
func (p P) Sum() int { return p.X + int(p.Z[0]) + len(p.Y) }
func (p *P) Add(n int) int { p.X += n; return p.X }
func (p Pair[T]) Swap() Pair[T] { return Pair[T]{p.B, p.A} }
func (f *Fail) Error() string { return fmt.Sprint("fail ", f.Code) }
func id[T any](x T) T { return x }
func pick[T any](b bool, x, y T) T {
	if b {
		return x
	}
	return y
}
func seq(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := 0; i < n && yield(i*i); i++ {
		}
	}
}
func mod(n, m int) int { return ((n % m) + m) % m }
func show(xs ...any) {
	for _, x := range xs {
		switch x := x.(type) {
		case *P:
			if x == nil {
				fmt.Print("nil-P ")
			} else {
				fmt.Printf("&%+v ", *x)
			}
		case Q:
			fmt.Printf("Q(%+v %v %v) ", x.P, x.N != nil, x.M)
		case func(int) int:
			fmt.Print("func ")
		case float32, float64, complex128:
			fmt.Printf("%.6g ", x)
		default:
			fmt.Printf("%v:%T ", x, x)
		}
	}
	fmt.Println()
}
func runp(n int, f func()) {
	fmt.Println("==", n)
	defer func() {
		if r := recover(); r != nil {
			fmt.Println("panic:", r)
		}
	}()
	f()
}
`

// body writes one program.
func body(seed, n uint64) string {
	g := &generator{r: rand.New(rand.NewPCG(seed, n))}
	for range 3 + g.r.IntN(4) {
		g.declare(g.oneOf(allTypes))
	}
	for range 3 + g.r.IntN(6) {
		g.stmt()
	}
	var names []string
	for _, v := range g.vars {
		names = append(names, v.name)
	}
	fmt.Fprintf(&g.b, "show(%s)\n", strings.Join(names, ", "))
	return g.b.String()
}

func (g *generator) oneOf(xs []string) string { return xs[g.r.IntN(len(xs))] }

func (g *generator) chance(n int) bool { return g.r.IntN(n) == 0 }

func (g *generator) fresh(prefix string) string {
	g.n++
	return prefix + strconv.Itoa(g.n)
}

func (g *generator) line(format string, args ...any) { fmt.Fprintf(&g.b, format+"\n", args...) }

func (g *generator) declare(t string) {
	name := g.fresh("v")
	switch g.r.IntN(3) {
	case 0:
		g.line("var %s %s = %s", name, t, g.expr(t, 2))
	case 1:
		g.line("var %s %s", name, t)
		if t == "func(int) int" {
			g.line("%s = %s", name, g.expr(t, 2))
		}
	default:
		g.line("%s := %s", name, g.typed(t, 2))
	}
	g.line("_ = %s", name)
	g.vars = append(g.vars, variable{name, t, false})
}

// typed is an expression whose own type is t, also where that is an interface.
func (g *generator) typed(t string, d int) string {
	switch t {
	case "any", "error", "fmt.Stringer":
		return t + "(" + g.expr(t, d) + ")"
	}
	if isInt(t) || t == "float64" || t == "float32" || t == "Kind" || t == "Text" || t == "complex128" || t == "string" {
		return "id[" + t + "](" + g.expr(t, d) + ")"
	}
	return g.expr(t, d)
}

func isInt(t string) bool {
	for _, x := range intTypes {
		if x == t {
			return true
		}
	}
	return false
}

// variableOf finds a variable of type t, "" if there is none.
func (g *generator) variableOf(t string, assign bool) string {
	var found []string
	for _, v := range g.vars {
		if v.typ == t && !(assign && v.fixed) {
			found = append(found, v.name)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return g.oneOf(found)
}

// block writes statements in braces; what they declare ends with them.
func (g *generator) block(n int) {
	vars := len(g.vars)
	g.depth++
	for range n {
		g.stmt()
	}
	g.depth--
	g.vars = g.vars[:vars]
}

func (g *generator) stmt() {
	kinds := []func(){g.assign, g.assign, g.assign, g.opAssign, g.opAssign, g.incDec, g.elements, g.calls, g.show, g.twoAssign, g.jump}
	if g.depth < 3 {
		kinds = append(kinds, g.ifStmt, g.loop, g.rangeStmt, g.switchStmt, g.typeSwitch, g.closure, g.deferStmt, g.scoped, g.recovered)
	}
	if g.depth < 2 {
		kinds = append(kinds, func() { g.declare(g.oneOf(allTypes)) })
	}
	kinds[g.r.IntN(len(kinds))]()
}

func (g *generator) assign() {
	v := g.target()
	if v.name == "" {
		g.show()
		return
	}
	g.line("%s = %s", v.name, g.expr(v.typ, 3))
}

// target is something that can be assigned to.
func (g *generator) target() variable {
	t := g.oneOf(allTypes)
	switch g.r.IntN(5) {
	case 0:
		if s := g.variableOf("[]int", true); s != "" {
			return variable{name: fmt.Sprintf("%s[%s]", s, g.index(s)), typ: "int"}
		}
	case 1:
		if m := g.variableOf("map[string]int", false); m != "" {
			return variable{name: fmt.Sprintf("%s[%s]", m, g.expr("string", 1)), typ: "int"}
		}
	case 2:
		if p := g.variableOf("P", true); p != "" {
			return variable{name: p + ".X", typ: "int"}
		}
		if p := g.variableOf("*P", true); p != "" {
			return variable{name: p + ".Y", typ: "string"}
		}
	case 3:
		if a := g.variableOf("[3]int16", true); a != "" {
			return variable{name: fmt.Sprintf("%s[mod(%s, 3)]", a, g.expr("int", 1)), typ: "int16"}
		}
	}
	return variable{name: g.variableOf(t, true), typ: t}
}

// index is mostly inside the bounds of s.
func (g *generator) index(s string) string {
	if g.chance(8) {
		return g.expr("int", 1)
	}
	return fmt.Sprintf("mod(%s, max(len(%s), 1))", g.expr("int", 1), s)
}

func (g *generator) opAssign() {
	v := g.target()
	switch {
	case v.name == "":
	case isInt(v.typ) || v.typ == "Kind":
		op := g.oneOf([]string{"+=", "-=", "*=", "&=", "|=", "^=", "&^=", "<<=", ">>=", "/=", "%="})
		right := g.expr(v.typ, 2)
		switch op {
		case "<<=", ">>=":
			right = g.shiftCount()
		case "/=", "%=":
			right = "(" + g.typed(v.typ, 1) + "|1)"
		}
		g.line("%s %s %s", v.name, op, right)
	case v.typ == "string" || v.typ == "Text":
		g.line("if len(%s) < 200 { %s += %s }", v.name, v.name, g.expr(v.typ, 2))
	case v.typ == "float64" || v.typ == "complex128" || v.typ == "float32":
		g.line("%s %s %s", v.name, g.oneOf([]string{"+=", "-=", "*="}), g.expr(v.typ, 2))
	default:
		g.line("%s = %s", v.name, g.expr(v.typ, 2))
	}
}

func (g *generator) incDec() {
	if v := g.target(); v.name != "" && (isInt(v.typ) || v.typ == "float64") {
		g.line("%s%s", v.name, g.oneOf([]string{"++", "--"}))
	}
}

func (g *generator) elements() {
	if s := g.variableOf("[]int", true); s != "" {
		g.line("if len(%s) < 20 { %s = append(%s, %s, %s) }", s, s, s, g.expr("int", 2), g.expr("int", 1))
		g.line("%s = %s[:len(%s)/2+1:cap(%s)]", s, "append("+s+"[:len("+s+"):len("+s+")], 7)", s, s)
	}
	if m := g.variableOf("map[int]string", false); m != "" && !g.chance(5) {
		g.line("if %s != nil { %s[%s%%5] = %s; delete(%s, 3) }", m, m, g.typed("int", 1), g.expr("string", 1), m)
	}
	if s := g.variableOf("[]string", true); s != "" {
		g.line("%s = append(%s, %s)[:min(len(%s)+1, 4)]", s, s, g.expr("string", 2), s)
		g.line("copy(%s, %s[len(%s)/2:])", s, s, s)
	}
}

func (g *generator) calls() {
	if p := g.variableOf("*P", false); p != "" {
		g.line("if %s != nil { show(%s.Add(%s), %s.Sum()) }", p, p, g.expr("int", 2), p)
	}
	if p := g.variableOf("P", true); p != "" {
		g.line("%s.Add(%s)", p, g.expr("int", 2))
	}
	if f := g.variableOf("func(int) int", false); f != "" {
		g.line("show(%s(%s))", f, g.expr("int", 1))
	}
}

func (g *generator) show() {
	g.line("show(%s, %s)", g.typed(g.oneOf(allTypes), 3), g.typed(g.oneOf(plainTypes), 3))
}

func (g *generator) twoAssign() {
	a, b := g.target(), g.target()
	if a.name != "" && b.name != "" && a.name != b.name {
		g.line("%s, %s = %s, %s", a.name, b.name, g.expr(a.typ, 2), g.expr(b.typ, 2))
	}
}
