package goeval

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

// TestTraps runs Go that interpreters get wrong. Every trap must be right or refused, never wrong.
func TestTraps(t *testing.T) {
	var traps []struct {
		Name    string
		Imports []string
		Cells   []struct{ Decl, Stmts string }
		Want    string
	}
	data, err := os.ReadFile("testdata/go-traps.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &traps); err != nil {
		t.Fatal(err)
	}
	right, refused := 0, 0
	for _, trap := range traps {
		t.Run(trap.Name, func(t *testing.T) {
			s := newSession(t)
			var imports string
			for _, i := range trap.Imports {
				imports += "import \"" + i + "\"\n"
			}
			kind := ""
			for i, c := range trap.Cells {
				code := c.Decl + "\n" + c.Stmts
				if i == 0 {
					code = imports + code
				}
				timer := time.AfterFunc(30*time.Second, s.Interrupt)
				o := s.run(code)
				timer.Stop()
				if o.Failure != nil {
					kind = o.Failure.Name
					t.Logf("%s: %s", o.Failure.Name, o.Failure.Value)
				}
			}
			got := strings.TrimRight(s.out(), "\n")
			ok := strings.TrimRight(trap.Want, "\n") == got
			switch trap.Want {
			case "!compile":
				ok = kind == "CompileError" && got == ""
			case "!panic":
				ok = kind == "RuntimeError" || kind == "Panic"
			case "!deadlock":
				ok = kind == "Deadlock"
			}
			switch {
			case ok:
				right++
			case kind == "NotSupported":
				refused++
			default:
				t.Errorf("got %q (%s), want %q", got, kind, trap.Want)
			}
		})
	}
	t.Logf("%d right, %d refused, %d wrong", right, refused, len(traps)-right-refused)
	if len(traps) != 87 || right < 86 {
		t.Errorf("%d of %d traps are right; want 86 of 87", right, len(traps))
	}
}
