package simtest

import (
	"fmt"
	"strings"
)

// at prints what `show` would have printed at an earlier time.
func (e *Env) at(a Args) (string, error) {
	t, err := a.takeTime("t", 0)
	if err != nil {
		return "", err
	}
	old := e.C.At(t)
	out := ""
	for _, what := range a.plain {
		s, err := e.look(old, what)
		if err != nil {
			return "", err
		}
		out += s + "\n"
	}
	return out, nil
}

// fork puts a copy of the cluster aside under a name, or goes on with one.
func (e *Env) fork(a Args) (string, error) {
	if name, ok := a.take("keep"); ok {
		e.kept[name] = e.C.Fork()
		return "ok", nil
	}
	name, _ := a.take("use")
	c, ok := e.kept[name]
	if !ok {
		return "", fmt.Errorf("no cluster was kept as %q", name)
	}
	e.C = c.Fork()
	return e.C.String(), nil
}

// replay goes on with a cluster that has lived through the same commands under other rules.
func (e *Env) replay(a Args) (string, error) {
	w, err := takeRules(&a)
	if err != nil {
		return "", err
	}
	w.Config = a.config()
	e.C = e.C.Replay(w)
	for i := range e.Deliveries {
		e.Deliveries[i].Delivery = e.Deliveries[i].Delivery.In(e.C)
	}
	return e.C.String(), nil
}

// check prints the invariants, or only what does not hold.
func (e *Env) check(a Args) (string, error) {
	v := e.C.Check()
	e.checked, v.Watched = true, nil // how many events it were is no story
	if a.word(0) != "broken" {
		return v.String(), nil
	}
	out := append(append([]string{}, v.Broken...), v.Lost...)
	if len(out) == 0 {
		return "all hold", nil
	}
	return strings.Join(out, "\n"), nil
}
