package goeval

import (
	"fmt"
	"go/types"
	"sort"
	"strings"
	"text/tabwriter"

	"kafkalab/kernel"
	"kafkalab/kernel/goeval/internal/exec"
)

// entry is a name of the session, as %who shows it.
type entry struct{ kind, name, typ, value, cell string }

var whoOrder = []string{"vars", "consts", "funcs", "types"}

func whoKinds(_ *Engine, prefix string) []kernel.Match {
	var ms []kernel.Match
	for _, k := range whoOrder {
		if strings.HasPrefix(k, prefix) {
			ms = append(ms, kernel.Match{Text: k, Kind: "keyword"})
		}
	}
	return ms
}

// who lists the session's names.
func (p *performance) who(part piece) kernel.Outcome {
	known := part.arg == ""
	for _, k := range whoOrder {
		known = known || k == part.arg
	}
	if !known {
		return p.fail(part, "UsageError", "%%who lists vars, consts, funcs or types, not %q", part.arg)
	}
	var all []entry
	for _, n := range p.e.names4who() {
		if part.arg == "" || part.arg == n.kind {
			all = append(all, n)
		}
	}
	if len(all) == 0 {
		b := plain("the cells have declared nothing" + map[bool]string{true: " of this kind"}[part.arg != ""])
		return kernel.Outcome{Result: &b}
	}
	var s strings.Builder
	w := tabwriter.NewWriter(&s, 0, 0, 2, ' ', 0)
	for _, n := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", n.name, n.cell, n.typ, n.value)
	}
	w.Flush()
	lines := strings.Split(strings.TrimRight(s.String(), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	b := plain(strings.Join(lines, "\n"))
	return kernel.Outcome{Result: &b}
}

// names4who lists what the cells have declared, variables first.
func (e *Engine) names4who() []entry {
	e.checking.Lock()
	defer e.checking.Unlock()
	var all []entry
	for name, obj := range elems(e.pkg.Scope()) {
		if obj == nil || strings.Contains(name, early) {
			continue
		}
		n := entry{name: name, typ: types.TypeString(obj.Type(), qualify)}
		if src, _, _ := e.position(obj.Pos()); src != nil {
			n.cell = src.label()
		}
		switch obj := obj.(type) {
		case *types.Var:
			n.kind, n.value = "vars", oneLine(e.valueOf(obj), 60)
		case *types.Const:
			n.kind, n.value = "consts", oneLine(obj.Val().String(), 60)
		case *types.Func:
			n.kind = "funcs"
		case *types.TypeName:
			n.kind, n.typ = "types", "type "+oneLine(types.TypeString(obj.Type().Underlying(), qualify), 60)
		}
		all = append(all, n)
	}
	rank := map[string]int{}
	for i, k := range whoOrder {
		rank[k] = i
	}
	sort.Slice(all, func(i, j int) bool {
		if a, b := rank[all[i].kind], rank[all[j].kind]; a != b {
			return a < b
		}
		return all[i].name < all[j].name
	})
	return all
}

func oneLine(s string, limit int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return s
}

// reset makes the session as it was at its start.
func (p *performance) reset(part piece) kernel.Outcome {
	if part.arg != "" {
		return p.fail(part, "UsageError", "%%reset takes no arguments")
	}
	p.e.forgetAll(p.run)
	p.say("the session is as it was at its start\n")
	return kernel.Outcome{}
}

// forgetAll drops everything that cells have made, and ends their goroutines; run goes on.
func (e *Engine) forgetAll(run *exec.Run) {
	e.checking.Lock()
	defer e.checking.Unlock()
	e.machine.StopOthers(run)
	clear(elems(e.pkg.Scope()))
	dropChildren(e.pkg.Scope())
	e.names, e.dots, e.types = map[string]string{}, nil, map[string]*typeDecl{}
	e.dependents, e.older = map[string]*dependent{}, map[string][]*source{}
	e.localTypes = 0
	e.machine.Reset(e.pkg)
}
