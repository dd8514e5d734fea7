package goeval

import (
	"strings"
	"testing"
	"time"
)

// TestPanicsInGoroutinesOfThePackages panics where compiled code calls back in a goroutine of its own, with
// nobody there to recover: the panic is reported, and the session goes on.
func TestPanicsInGoroutinesOfThePackages(t *testing.T) {
	for name, c := range map[string]struct{ code, shows, says string }{
		"finalizer": {
			"import \"runtime\"\ntype T struct{ a [100]int }\nfunc f() { runtime.SetFinalizer(&T{}, func(*T) { panic(\"late\") }) }\nf()\nruntime.GC()\ntime.Sleep(100 * time.Millisecond)\nruntime.GC()\ntime.Sleep(100 * time.Millisecond)\n1",
			"1", "Panic: late",
		},
		"rpc": {
			"import (\"net\"; \"net/rpc\")\ntype Arith struct{}\nfunc (Arith) Div(a [2]int, q *int) error { *q = a[0] / a[1]; return nil }\nsrv := rpc.NewServer()\nsrv.Register(Arith{})\na, b := net.Pipe()\ngo srv.ServeConn(a)\nc := rpc.NewClient(b)\nvar q int\nerr := c.Call(\"Arith.Div\", [2]int{7, 2}, &q)\nfmt.Print(q, err)\nfmt.Print(c.Call(\"Arith.Div\", [2]int{7, 0}, &q))",
			"3 <nil><nil>", "in Arith.Div",
		},
		"writer of a command": {
			"import \"os/exec\"\ntype W struct{}\nfunc (W) Write([]byte) (int, error) { panic(\"no writing\") }\nc := exec.Command(\"go\", \"version\")\nc.Stdout = W{}\nc.Run()",
			"short write", "Panic: no writing",
		},
		"recovered further up": {
			"import \"runtime\"\ntype T struct{ a [100]int }\ngot := make(chan any, 1)\nfunc g() { runtime.SetFinalizer(&T{}, func(*T) {\n\tdefer func() { got <- recover() }()\n\tsort.Slice([]int{1, 2}, func(i, j int) bool { panic(\"in less\") })\n}) }\ng()\nruntime.GC()\n<-got",
			"in less", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSession(t)
			if got := s.result(c.code); got != c.shows {
				t.Errorf("shows %q, want %q", got, c.shows)
			}
			time.Sleep(10 * time.Millisecond)
			if got := s.err(); !strings.Contains(got, c.says) || c.says == "" && got != "" {
				t.Errorf("says %q, want %q", got, c.says)
			}
			if got := s.result("1 + 1"); got != "2" {
				t.Errorf("afterwards %q", got)
			}
		})
	}
}
