package exec

import (
	"reflect"
	"runtime"
	"strings"
)

// callbackName is how a stack shows a call from compiled code.
const callbackName = "kafkalab/kernel/goeval/internal/exec.(*Closure).callback"

// foreign reports whether nobody would stop a panic on this goroutine before it ends the process: compiled
// code started it, as the run time does for finalizers and net/rpc for calls. A server of net/http recovers
// from its handlers itself.
func foreign() bool {
	var pcs [1024]uintptr
	n := runtime.Callers(1, pcs[:])
	if n == len(pcs) {
		return false // too deep to be looked at for every panic
	}
	root, callbacks := "", 0
	for frames := runtime.CallersFrames(pcs[:n]); ; {
		f, more := frames.Next()
		switch f.Function {
		case "net/http.(*conn).serve":
			return false
		case callbackName:
			if callbacks++; callbacks > 1 {
				return false // code of cells is further up, which may recover
			}
		case "", "runtime.goexit":
		default:
			root = f.Function
		}
		if !more {
			break
		}
	}
	ours := strings.HasPrefix(root, "kafkalab/") || root == "runtime.main" || root == "testing.tRunner"
	return !ours
}

// stopForeign reports a panic that nobody else would have stopped. The compiled caller goes on with zero
// values.
func (th *Thread) stopForeign(r any, out []reflect.Type) []reflect.Value {
	th.m.Report(th.run, th.caught(r))
	var zeros []reflect.Value
	for _, t := range out {
		zeros = append(zeros, reflect.Zero(t))
	}
	return zeros
}
