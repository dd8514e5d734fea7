package corpustest

import (
	"fmt"
	"strings"
)

func (g *generator) jump() {
	if len(g.loops) == 0 || g.inFn {
		return
	}
	label := g.oneOf(g.loops)
	g.line("if %s { %s %s }", g.expr("bool", 2), g.oneOf([]string{"break", "continue"}), label)
}

func (g *generator) ifStmt() {
	if g.chance(3) {
		name := g.fresh("v")
		t := g.oneOf(plainTypes)
		g.line("if %s := %s; %s {", name, g.typed(t, 2), g.expr("bool", 2))
		g.line("_ = %s", name)
		g.vars = append(g.vars, variable{name, t, false})
		g.block(2)
		g.vars = g.vars[:len(g.vars)-1]
	} else {
		g.line("if %s {", g.expr("bool", 3))
		g.block(1 + g.r.IntN(2))
	}
	if g.chance(2) {
		g.line("} else {")
		g.block(1)
	}
	g.line("}")
}

// looping writes the body of a loop with label, with the loop's variables in scope.
func (g *generator) looping(label string, vars ...variable) {
	n := len(g.vars)
	g.vars = append(g.vars, vars...)
	for _, v := range vars {
		g.line("_ = %s", v.name)
	}
	g.loops = append(g.loops, label)
	g.line("if false { continue %s }", label)
	g.block(1 + g.r.IntN(3))
	g.loops = g.loops[:len(g.loops)-1]
	g.vars = g.vars[:n]
	g.line("}")
}

func (g *generator) loop() {
	label, i := g.fresh("L"), g.fresh("i")
	g.line("%s:", label)
	if g.chance(2) {
		g.line("for %s := 0; %s < %d; %s++ {", i, i, 1+g.r.IntN(4), i)
	} else {
		g.line("for %s, k%s := 3, 1; %s > 0 && k%s < 9; %s, k%s = %s-1, k%s*2 {", i, i, i, i, i, i, i, i)
	}
	g.looping(label, variable{i, "int", true})
}

func (g *generator) rangeStmt() {
	label, k, v := g.fresh("L"), g.fresh("k"), g.fresh("e")
	g.line("%s:", label)
	switch g.r.IntN(6) {
	case 0:
		t := g.oneOf(intTypes)
		g.line("for %s := range %s(%d) {", k, t, g.r.IntN(4))
		g.looping(label, variable{k, t, false})
	case 1:
		g.line("for %s, %s := range %s {", k, v, g.expr("[]int", 1))
		g.looping(label, variable{k, "int", false}, variable{v, "int", false})
	case 2:
		g.line("for %s, %s := range pick(%s, \"aé\\xffz\", string(%s)) {", k, v, g.expr("bool", 1), g.sliceOf(g.typed("string", 1)))
		g.looping(label, variable{k, "int", false}, variable{v, "int32", false})
	case 3:
		g.line("for %s := range seq(%d) {", k, g.r.IntN(4))
		g.looping(label, variable{k, "int", false})
	case 4:
		g.line("for %s, %s := range %s {", k, v, g.expr("[3]int16", 1))
		g.looping(label, variable{k, "int", false}, variable{v, "int16", false})
	default:
		g.line("for %s, %s := range %s {", k, v, g.expr("[]P", 1))
		g.looping(label, variable{k, "int", false}, variable{v, "P", false})
	}
}

// sliceOf keeps a string short.
func (g *generator) sliceOf(s string) string {
	return fmt.Sprintf("func(s string) string { return s[:min(len(s), 3)] }(%s)", s)
}

func (g *generator) switchStmt() {
	if g.chance(3) {
		g.line("switch {")
		for range 2 {
			g.line("case %s:", g.expr("bool", 2))
			g.block(1)
		}
	} else {
		t := g.oneOf([]string{"int", "uint8", "string", "any", "Kind"})
		g.line("switch %s {", g.typed(t, 2))
		for range 1 + g.r.IntN(3) {
			g.line("case %s, %s:", g.typed(t, 2), g.typed(t, 1))
			g.block(1)
			if g.chance(4) {
				g.line("fallthrough")
				g.line("case %s:", g.typed(t, 1))
			}
		}
	}
	if g.chance(2) {
		g.line("default:")
		g.block(1)
	}
	g.line("}")
}

func (g *generator) typeSwitch() {
	x := g.fresh("t")
	g.line("switch %s := %s.(type) {", x, g.typed("any", 2))
	seen := map[string]bool{}
	for range 4 {
		t := g.oneOf(allTypes)
		if seen[t] || t == "any" {
			continue
		}
		seen[t] = true
		g.line("case %s:", t)
		g.line("show(%s)", x)
		g.vars = append(g.vars, variable{x, t, false})
		g.block(1)
		g.vars = g.vars[:len(g.vars)-1]
	}
	g.line("default:\nshow(%s)\n}", x)
}

// function writes a function literal's body.
func (g *generator) function(vars []variable, result string) string {
	inner := &generator{r: g.r, n: g.n, depth: g.depth + 1, inFn: true}
	inner.vars = append(append([]variable{}, g.vars...), vars...)
	for range 1 + g.r.IntN(2) {
		inner.stmt()
	}
	if result != "" {
		inner.line("return %s", inner.expr(result, 2))
	}
	g.n = inner.n
	return inner.b.String()
}

func (g *generator) closure() {
	name, a := g.fresh("f"), g.fresh("a")
	text := g.function([]variable{{a, "int", false}}, "int")
	g.line("%s := func(%s int) int {\n%s}", name, a, text)
	g.line("_ = %s", name)
	g.vars = append(g.vars, variable{name, "func(int) int", true})
}

func (g *generator) deferStmt() {
	if len(g.loops) > 0 && g.chance(2) {
		return
	}
	g.line("defer func() {\n%s}()", g.function(nil, ""))
}

func (g *generator) scoped() {
	g.line("{")
	g.block(2)
	g.line("}")
}

// recovered runs statements in a function that recovers.
func (g *generator) recovered() {
	r := g.fresh("r")
	text := g.function([]variable{{r, "int", false}}, "")
	if g.chance(2) {
		text += fmt.Sprintf("if %s { panic(%s) }\n", g.expr("bool", 1), g.typed(g.oneOf([]string{"int", "string", "error", "Kind"}), 1))
	}
	g.line("func() (%s int) {\ndefer func() {\nif x := recover(); x != nil { %s++; show(\"recovered\", x != nil) }\n}()\n%sreturn\n}()", r, r, strings.TrimSpace(text)+"\n")
}
