package corpustest

import (
	"fmt"
	"strconv"
)

func (g *generator) shiftCount() string {
	if g.chance(3) {
		return fmt.Sprintf("(%s%%70)", g.typed(g.oneOf([]string{"uint", "uint8", "uint64"}), 1))
	}
	return strconv.Itoa(g.r.IntN(70))
}

// expr writes an expression that can be assigned to a t.
func (g *generator) expr(t string, d int) string {
	if v := g.variableOf(t, false); v != "" && (d <= 0 || g.chance(2)) {
		return v
	}
	if d <= 0 {
		return g.literal(t)
	}
	if d > 1 && g.chance(12) {
		if e := g.effect(t, d); e != "" {
			return e
		}
	}
	if v := g.variableOf("any", false); v != "" && g.chance(40) {
		return fmt.Sprintf("%s.(%s)", v, t)
	}
	if g.chance(6) && t != "any" && t != "error" && t != "fmt.Stringer" {
		return fmt.Sprintf("pick(%s, %s, %s)", g.expr("bool", d-1), g.typed(t, d-1), g.typed(t, d-1))
	}
	switch {
	case isInt(t) || t == "Kind":
		return g.integer(t, d)
	case t == "float64" || t == "float32":
		return g.float(t, d)
	case t == "string" || t == "Text":
		return g.text(t, d)
	case t == "bool":
		return g.boolean(d)
	case t == "complex128":
		return fmt.Sprintf("(%s %s %s)", g.typed(t, d-1), g.oneOf([]string{"+", "-", "*"}), g.expr(t, d-1))
	}
	return g.composite(t, d)
}

// effect is an expression that changes a variable: when the others are read beside it is to be seen.
func (g *generator) effect(t string, d int) string {
	v := g.target()
	if v.name == "" {
		return ""
	}
	return fmt.Sprintf("func() %s { %s = %s; return %s }()", t, v.name, g.expr(v.typ, 1), g.expr(t, d-1))
}

func (g *generator) literal(t string) string {
	switch t {
	case "float64", "float32":
		return g.oneOf([]string{"0", "1.5", "-2.25", "1e10", "0.1", "3"})
	case "string", "Text":
		return g.oneOf([]string{`""`, `"a"`, `"héllo"`, `"\xff\xfe"`, `"xyz"`, "`b`"})
	case "bool":
		return g.oneOf([]string{"true", "false"})
	case "complex128":
		return g.oneOf([]string{"1i", "(2+3i)", "0.5", "-1"})
	case "int8":
		return g.oneOf([]string{"0", "1", "-1", "127", "-128", "7"})
	case "uint8":
		return g.oneOf([]string{"0", "1", "255", "7", "128"})
	case "Kind", "int", "int64":
		return g.oneOf([]string{"0", "1", "-1", "5", "1 << 40", "-1 << 63", "99"})
	case "int16", "int32":
		return g.oneOf([]string{"0", "1", "-1", "32767", "300", "'x'"})
	case "uint", "uint16", "uint32", "uint64":
		return g.oneOf([]string{"0", "1", "65535", "40000", "7"})
	case "any", "error", "*P", "map[string]int", "[]int", "map[int]string", "fmt.Stringer":
		return g.nilOr(t)
	}
	return g.composite(t, 0)
}

func (g *generator) nilOr(t string) string {
	switch t {
	case "error":
		return g.oneOf([]string{"error(nil)", "error(&Fail{3})", `errors.New("e")`})
	case "fmt.Stringer":
		return g.oneOf([]string{"fmt.Stringer(Kind(4))", `fmt.Stringer(Text("t"))`})
	case "any":
		return g.oneOf([]string{"any(nil)", "any(1)", `any("s")`, "any(2.5)", "any(P{1, \"p\", [2]int8{1, 2}})", "any([]int{1})", "any(Kind(2))", "any([3]int16{1})", "any(&Fail{1})"})
	case "*P":
		return "(*P)(nil)"
	}
	return t + "(nil)"
}

func (g *generator) integer(t string, d int) string {
	switch g.r.IntN(10) {
	case 0:
		from := g.oneOf(intTypes)
		return fmt.Sprintf("%s(%s)", t, g.typed(from, d-1))
	case 1:
		return fmt.Sprintf("(%s %s %s)", g.typed(t, d-1), g.oneOf([]string{"<<", ">>"}), g.shiftCount())
	case 2:
		return fmt.Sprintf("(%s %s (%s|1))", g.typed(t, d-1), g.oneOf([]string{"/", "%"}), g.typed(t, d-1))
	case 3:
		return fmt.Sprintf("%s(%s)", g.oneOf([]string{"min", "max"}), g.typed(t, d-1)+", "+g.expr(t, d-1))
	case 4:
		return fmt.Sprintf("(%s%s)", g.oneOf([]string{"-", "^", "+"}), g.typed(t, d-1))
	case 5:
		if t == "int" {
			return g.intCall(d)
		}
		if t == "uint8" {
			s := g.typed("string", d-1)
			return fmt.Sprintf("(%s + \"q\")[0]", s)
		}
	case 6:
		if g.chance(3) {
			return fmt.Sprintf("(%s / %s)", g.typed(t, d-1), g.typed(t, d-1))
		}
	}
	return fmt.Sprintf("(%s %s %s)", g.typed(t, d-1), g.oneOf([]string{"+", "-", "*", "&", "|", "^", "&^"}), g.expr(t, d-1))
}

func (g *generator) intCall(d int) string {
	switch g.r.IntN(8) {
	case 0:
		return fmt.Sprintf("len(%s)", g.typed(g.oneOf([]string{"string", "[]int", "map[string]int", "[]P"}), d-1))
	case 1:
		if f := g.variableOf("func(int) int", false); f != "" {
			return fmt.Sprintf("%s(%s)", f, g.expr("int", d-1))
		}
	case 2:
		if s := g.variableOf("[]int", false); s != "" {
			return fmt.Sprintf("%s[%s]", s, g.index(s))
		}
	case 3:
		return fmt.Sprintf("%s.Sum()", g.typed("P", d-1))
	case 4:
		if m := g.variableOf("map[string]int", false); m != "" {
			return fmt.Sprintf("%s[%s]", m, g.expr("string", d-1))
		}
	case 5:
		if p := g.variableOf("*P", false); p != "" {
			return p + ".X"
		}
	case 6:
		return fmt.Sprintf("func(z int) int { return z*%s }(%s)", g.expr("int", d-1), g.expr("int", d-1))
	}
	return fmt.Sprintf("%s.Swap().A", g.typed("Pair[int]", d-1))
}

func (g *generator) float(t string, d int) string {
	switch g.r.IntN(5) {
	case 0:
		return fmt.Sprintf("%s(%s)", t, g.typed(g.oneOf(intTypes), d-1))
	case 1:
		return fmt.Sprintf("(-%s)", g.typed(t, d-1))
	case 2:
		return fmt.Sprintf("%s(%s, %s)", g.oneOf([]string{"min", "max"}), g.typed(t, d-1), g.expr(t, d-1))
	}
	// Each product is converted, so that compiled code cannot fuse it with a sum.
	return fmt.Sprintf("%s(%s %s %s)", t, g.typed(t, d-1), g.oneOf([]string{"+", "-", "*", "/"}), g.typed(t, d-1))
}

func (g *generator) text(t string, d int) string {
	switch g.r.IntN(6) {
	case 0:
		return fmt.Sprintf("%s(fmt.Sprint(%s, %s))", t, g.typed(g.oneOf(plainTypes), d-1), g.typed(g.oneOf([]string{"int", "any", "Kind", "error"}), d-1))
	case 1:
		return fmt.Sprintf("%s(rune(%s))", t, g.typed("uint16", d-1))
	case 2:
		return fmt.Sprintf("%s([]byte(%s))", t, g.typed(t, d-1))
	case 3:
		return fmt.Sprintf("%s([]rune(%s))", t, g.typed(t, d-1))
	case 4:
		return fmt.Sprintf("(%s + \"é\")[%d:]", g.typed(t, d-1), g.r.IntN(3))
	}
	return fmt.Sprintf("(%s + %s)", g.typed(t, d-1), g.expr(t, d-1))
}

func (g *generator) boolean(d int) string {
	switch g.r.IntN(7) {
	case 0:
		return fmt.Sprintf("(%s && %s)", g.typed("bool", d-1), g.expr("bool", d-1))
	case 1:
		return fmt.Sprintf("(%s || %s)", g.typed("bool", d-1), g.expr("bool", d-1))
	case 2:
		return fmt.Sprintf("!%s", g.typed("bool", d-1))
	case 3:
		t := g.oneOf([]string{"any", "error", "fmt.Stringer"})
		return fmt.Sprintf("(%s == nil)", g.typed(t, d-1))
	case 4:
		t := g.oneOf([]string{"P", "any", "[3]int16", "Pair[string]", "complex128", "*P", "error"})
		return fmt.Sprintf("(%s %s %s)", g.typed(t, d-1), g.oneOf([]string{"==", "!="}), g.typed(t, d-1))
	case 5:
		return fmt.Sprintf("func() bool { _, ok := %s.(%s); return ok }()", g.typed("any", d-1), g.oneOf(allTypes))
	}
	t := g.oneOf(append([]string{"string", "float64", "Kind"}, intTypes...))
	return fmt.Sprintf("(%s %s %s)", g.typed(t, d-1), g.oneOf([]string{"==", "!=", "<", "<=", ">", ">="}), g.expr(t, d-1))
}

func (g *generator) composite(t string, d int) string {
	e := func(t string) string { return g.expr(t, d-1) }
	switch t {
	case "[]int":
		return fmt.Sprintf("[]int{%s, %s}", e("int"), e("int"))
	case "[]string":
		return fmt.Sprintf("[]string{2: %s, 0: %s}", e("string"), e("string"))
	case "[]P":
		return fmt.Sprintf("[]P{{X: %s}, %s}", e("int"), g.typed("P", d-1))
	case "map[string]int":
		return fmt.Sprintf("map[string]int{\"k\": %s, \"é\": %s}", e("int"), e("int"))
	case "map[int]string":
		return fmt.Sprintf("map[int]string{1: %s, -3: %s}", e("string"), e("string"))
	case "P":
		return fmt.Sprintf("(P{%s, %s, [2]int8{%s}})", e("int"), e("string"), e("int8"))
	case "*P":
		return fmt.Sprintf("&P{X: %s, Z: [2]int8{1: %s}}", e("int"), e("int8"))
	case "Q":
		return fmt.Sprintf("(Q{P: %s, N: new(int), M: %s})", e("P"), e("uint16"))
	case "[3]int16":
		return fmt.Sprintf("([3]int16{%s, 2: %s})", e("int16"), e("int16"))
	case "Pair[int]":
		return fmt.Sprintf("(Pair[int]{%s, %s})", e("int"), e("int"))
	case "Pair[string]":
		return fmt.Sprintf("(Pair[string]{%s, %s}).Swap()", e("string"), e("string"))
	case "func(int) int":
		a := g.fresh("a")
		return fmt.Sprintf("func(%s int) int { return %s ^ %s }", a, a, e("int"))
	case "error":
		return g.oneOf([]string{fmt.Sprintf("error(&Fail{%s})", e("int")), fmt.Sprintf("fmt.Errorf(\"w: %%w\", error(&Fail{%s}))", e("int")), g.nilOr(t)})
	case "fmt.Stringer":
		return g.oneOf([]string{fmt.Sprintf("fmt.Stringer(%s)", g.typed("Kind", d-1)), fmt.Sprintf("fmt.Stringer(%s)", g.typed("Text", d-1))})
	case "any":
		return fmt.Sprintf("any(%s)", g.typed(g.oneOf([]string{"int", "string", "P", "Kind", "[3]int16", "error", "uint8", "float64", "Pair[int]"}), d-1))
	}
	panic("no expression of type " + t)
}
