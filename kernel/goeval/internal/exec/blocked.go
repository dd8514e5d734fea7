package exec

import (
	"bytes"
	"os"
	osexec "os/exec"
	"reflect"
	"runtime"
	"strings"
	"time"
	"unsafe"
)

// A stopped run whose goroutine waits in compiled code cannot end by itself. First the wait is cut short
// where that loses nothing: what has a deadline is given one that is over, a command is killed. What still
// waits then is left behind at once; what works is given time, since it ends at its next step in a cell.

const (
	// promptly is how long a stopped run may take to end by itself.
	promptly = 10 * time.Millisecond
	// roused is how long a wait that was cut short may take to end.
	roused = 30 * time.Millisecond
	// patience is how long a stopped run that works may take to end before it is left behind.
	patience = 2 * time.Second
)

// compiledCall is a call of a compiled function that has not returned: its receiver, if it was called
// through an interface, and its operands.
type compiledCall struct {
	recv reflect.Value
	in   []reflect.Value
}

// leave waits for the end of a run that was stopped; it reports whether the run was left behind.
func (th *Thread) leave(done <-chan Result) (r Result, left bool) {
	wait := func(d time.Duration) bool {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case r = <-done:
			return true
		case <-timer.C:
			return false
		}
	}
	if wait(promptly) {
		return r, false
	}
	restore := th.rouse()
	for end := time.Now().Add(patience); !wait(roused); {
		if time.Now().After(end) || th.calling.Load() != nil && blocked(th.id) {
			go func() {
				<-done
				restore()
			}()
			return r, true
		}
	}
	restore()
	return r, false
}

// rouse cuts short what the thread's compiled call waits for. restore makes the connections usable again.
func (th *Thread) rouse() (restore func()) {
	var found []reflect.Value
	if call := th.calling.Load(); call != nil {
		s := search{found: &found}
		s.look(call.recv, searchDepth)
		for _, v := range call.in {
			s.look(v, searchDepth)
		}
	}
	var undo []func()
	for _, v := range found {
		switch x := v.Interface().(type) {
		case *osexec.Cmd:
			if x.Process != nil {
				x.Process.Kill()
			}
		case interface{ SetDeadline(time.Time) error }:
			if x.SetDeadline(time.Unix(1, 0)) == nil {
				undo = append(undo, func() { x.SetDeadline(time.Time{}) })
			}
		}
	}
	return func() {
		for _, f := range undo {
			f()
		}
	}
}

// search finds, in the operands of a call, what a wait can be cut short by: connections, listeners, files
// and commands, also in the readers and writers of packages that only pass data on.
type search struct{ found *[]reflect.Value }

const searchDepth = 8

func (s search) look(v reflect.Value, depth int) {
	if !v.IsValid() || depth == 0 {
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		s.look(v.Elem(), depth-1)
	case reflect.Slice:
		for i := range min(v.Len(), 8) {
			if e := v.Type().Elem().Kind(); e == reflect.Interface || e == reflect.Pointer {
				s.look(v.Index(i), depth-1)
			}
		}
	case reflect.Pointer:
		s.pointer(v, depth)
	case reflect.Struct:
		if passes(v.Type().PkgPath()) {
			s.fields(v, depth)
		}
	}
}

func (s search) pointer(v reflect.Value, depth int) {
	if v.IsNil() {
		return
	}
	v = reflect.NewAt(v.Type().Elem(), v.UnsafePointer()) // also if it comes from an unexported field
	if own := v.Type().Elem().PkgPath(); own == "" || own == "main" {
		return // code of cells must not run here
	}
	switch x := v.Interface().(type) {
	case *os.File:
		if x == os.Stdout || x == os.Stderr {
			return
		}
		*s.found = append(*s.found, v)
	case *osexec.Cmd, interface{ SetDeadline(time.Time) error }:
		*s.found = append(*s.found, v)
	default:
		s.look(v.Elem(), depth-1)
	}
}

func (s search) fields(v reflect.Value, depth int) {
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.Interface, reflect.Pointer, reflect.Struct:
			if f.CanAddr() {
				f = reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
			}
			s.look(f, depth-1)
		}
	}
}

// passes reports whether the types of a package only pass on what they read and write.
func passes(pkg string) bool {
	return pkg == "io" || pkg == "bufio" || pkg == "net/textproto" || strings.HasPrefix(pkg, "encoding/") || strings.HasPrefix(pkg, "compress/")
}

// goroutineID is the number by which a picture of all goroutines calls the one that asks.
func goroutineID() string {
	var buf [40]byte
	return firstField(buf[:runtime.Stack(buf[:], false)])
}

func firstField(text []byte) string {
	text, _ = bytes.CutPrefix(text, []byte("goroutine "))
	n := bytes.IndexByte(text, ' ')
	return string(text[:max(n, 0)])
}

// maxPicture is the largest picture of all goroutines that is taken.
const maxPicture = 16 << 20

// blocked reports whether a goroutine waits for something. In doubt it does not.
func blocked(id string) bool {
	buf := make([]byte, 256<<10)
	n := runtime.Stack(buf, true)
	for ; n == len(buf); n = runtime.Stack(buf, true) {
		if len(buf) >= maxPicture {
			break
		}
		buf = make([]byte, 4*len(buf))
	}
	_, text, found := bytes.Cut(append([]byte("\n\n"), buf[:n]...), []byte("\n\ngoroutine "+id+" "))
	if !found {
		return false
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	_, state, _ := bytes.Cut(line, []byte("["))
	for _, busy := range []string{"running", "runnable", "preempted", "copystack", "GC ", "idle"} {
		if bytes.HasPrefix(state, []byte(busy)) {
			return false
		}
	}
	return len(state) > 0
}
