package oracle

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
)

// notFalsified are steps whose answer says only that they were carried out.
var notFalsified = []string{"createTopic", "topic", "alterClusterDefaultConfig"}

// TestFalsifiedRecordingsFail changes one value of each step that the recordings about transactions and groups saw, and replays
// them: a value that may be anything would not be compared.
func TestFalsifiedRecordingsFail(t *testing.T) {
	var files []string
	for _, pattern := range []string{"j?-*.json", "ea?-*.json", "eb1-*.json", "ee1-*.json", "k?-*.json", "l?-*.json", "ga?-*.json", "ge1-*.json", "gb1-*.json", "gc1-*.json", "gd1-*.json", "m1-*.json"} {
		some, err := filepath.Glob(filepath.Join("testdata", pattern))
		if err != nil || len(some) == 0 {
			t.Fatalf("no recordings %s (%v)", pattern, err)
		}
		files = append(files, some...)
	}
	replays := 0
	for _, file := range files {
		rec, err := load(file)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rec.Steps {
			step := &rec.Steps[i]
			var saw any
			if slices.Contains(notFalsified, step.Do.name()) || json.Unmarshal(step.Saw, &saw) != nil {
				continue
			}
			n := 0
			falsify(saw, -1, &n)
			if n == 0 || string(step.Saw) == `"OK"` && step.Do.name() == "adminAbortTransaction" {
				continue
			}
			at := (7*i + 3) % n // another kind of value in each step
			n = 0
			true_, wrong := step.Saw, falsify(saw, at, &n)
			step.Saw, _ = json.Marshal(wrong)
			if err := replayAll(t, file, rec); err == nil || errors.Is(err, errInexpressible) {
				t.Errorf("%s, step %d: %s passes for %s (%v)", file, i, step.Saw, true_, err)
			}
			step.Saw = true_
			replays++
		}
	}
	if replays < 200 {
		t.Errorf("%d replays", replays)
	}
}

// replayAll replays a recording up to the first difference.
func replayAll(t *testing.T, file string, rec *Recording) error {
	fresh, err := load(file) // steps may add to what they are told
	if err != nil {
		return err
	}
	for i := range rec.Steps {
		fresh.Steps[i].Saw = rec.Steps[i].Saw
	}
	r := newReplay(t, fresh)
	for i := range fresh.Steps {
		r.at = i
		if err := r.do(fresh.Steps[i].Do, fresh.saw(i)); err != nil {
			return err
		}
	}
	return nil
}

// falsify returns a value with its at-th number, text or truth changed; n counts them.
func falsify(v any, at int, n *int) any {
	switch x := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(x))
		for k := range x {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		out := map[string]any{}
		for _, k := range keys {
			out[k] = falsify(x[k], at, n)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = falsify(x[i], at, n)
		}
		return out
	case nil:
		return nil
	}
	*n++
	if *n-1 != at {
		return v
	}
	switch x := v.(type) {
	case float64:
		return x + 1
	case bool:
		return !x
	}
	return fmt.Sprint(v, "?")
}
