package simtest

import "fmt"

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
