package goeval

import (
	"fmt"
	"go/scanner"
	"path"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"kafkalab/kernel"
	"kafkalab/kernel/goeval/internal/exec"
)

// userMessage marks a panic that is a caller's mistake: it is shown as a sentence, without a stack.
type userMessage interface{ UserMessage() string }

// syntaxFailure shows parse errors in their places.
func (e *Engine) syntaxFailure(src *source, errs scanner.ErrorList) *kernel.Failure {
	var probs []string
	first := ""
	last := -1
	for _, err := range errs {
		line, col := err.Pos.Line, err.Pos.Column
		if line == last || first != "" && strings.HasSuffix(err.Msg, "found 'EOF'") {
			continue // what follows on one line, or at the end, is mostly a consequence
		}
		last = line
		if line == 1 {
			col = max(col-prefixLen, 1)
		}
		if line > len(src.lines) {
			line, col = len(src.lines), len(src.lines[len(src.lines)-1])+1
		}
		msg := "syntax error: " + err.Msg
		if first == "" {
			first = src.at(line, col) + ": " + msg
		}
		probs = append(probs, src.excerpt(line, col, msg)...)
	}
	return &kernel.Failure{Name: "SyntaxError", Value: first, Traceback: probs}
}

// kindOfProblems tells Go that is wrong from Go that cells do not run.
func kindOfProblems(probs []problem) string {
	for _, p := range probs {
		if strings.Contains(p.msg, "not available in cells") || strings.HasPrefix(p.msg, "cells cannot ") {
			return "NotSupported"
		}
	}
	return "CompileError"
}

// compileFailure shows errors of the type checker and refusals.
func (e *Engine) compileFailure(name string, probs []problem) *kernel.Failure {
	defer func() { e.fresh = nil }()
	f := &kernel.Failure{Name: name}
	for i, p := range probs {
		if i == 10 {
			f.Traceback = append(f.Traceback, "too many errors")
			break
		}
		src, line, col := e.position(p.pos)
		if src == nil {
			f.Traceback = append(f.Traceback, p.msg)
		} else {
			f.Traceback = append(f.Traceback, src.excerpt(line, col, p.msg)...)
		}
		for _, note := range []string{e.twoTypes(p.msg), e.missingImport(p.msg)} {
			if note != "" {
				f.Traceback = append(f.Traceback, note)
			}
		}
		if i == 0 {
			f.Value = p.msg
			if src != nil {
				f.Value = src.at(line, col) + ": " + p.msg
			}
		}
	}
	return f
}

// missingImport says which packages an undefined name may mean; "" if there are none.
func (e *Engine) missingImport(msg string) string {
	name, ok := strings.CutPrefix(msg, "undefined: ")
	if !ok {
		return ""
	}
	var lines []string
	for p := range e.imp.exps {
		if path.Base(p) == name || strings.HasSuffix(p, "/"+name+"/v2") {
			lines = append(lines, fmt.Sprintf("import %q", p))
		}
	}
	if len(lines) == 0 {
		return ""
	}
	slices.Sort(lines)
	return "a package has this name; it needs: " + strings.Join(lines, " or ")
}

// excerpt is a message, the line it is about, and a caret under the column.
func (s *source) excerpt(line, col int, msg string) []string {
	out := []string{fmt.Sprintf("in %s, line %d: %s", s.where(), line, msg)}
	return append(out, s.caret(line, col)...)
}

func (s *source) caret(line, col int) []string {
	if line < 1 || line > len(s.lines) {
		return nil
	}
	text := s.lines[line-1]
	pad := []rune{}
	for _, r := range text[:max(0, min(col-1, len(text)))] {
		if r != '\t' {
			r = ' '
		}
		pad = append(pad, r)
	}
	return []string{"    " + text, "    " + string(pad) + "^"}
}

// failureOf makes a failure of how a run ended; nil if it ended well.
func (e *Engine) failureOf(src *source, res exec.Result) *kernel.Failure {
	switch {
	case res.Panic != nil:
		return e.panicFailure(res.Panic)
	case res.Stopped == exec.StopMemory:
		return &kernel.Failure{Name: "OutOfMemory", Value: "the session holds too much memory; the cell was stopped",
			Traceback: []string{"OutOfMemory: the session holds too much memory; the cell was stopped"}}
	case res.Stopped == exec.StopExit && res.Exit.Code == 0:
		return nil // the program said that it is done
	case res.Stopped == exec.StopExit:
		msg := fmt.Sprintf("%s ended the cell with status %d; the kernel lives on", res.Exit.What, res.Exit.Code)
		return e.traced("Exit", msg, res.Exit.Trace, true)
	case res.Stopped == exec.StopFatal:
		return e.traced("FatalError", res.Exit.What, res.Exit.Trace, false)
	case res.Stopped == exec.StopDeadlock:
		return e.deadlockFailure(res)
	case res.Stopped != 0 && res.Abandoned:
		return interrupted("interrupted; the cell waits in compiled code and cannot be stopped there")
	case res.Stopped != 0:
		return interrupted("interrupted")
	}
	return nil
}

func interrupted(msg string) *kernel.Failure {
	return &kernel.Failure{Name: "KeyboardInterrupt", Value: msg, Traceback: []string{"KeyboardInterrupt: " + msg}}
}

// deadlockFailure says in the run time's words that nothing can go on, and where the cell waited.
func (e *Engine) deadlockFailure(res exec.Result) *kernel.Failure {
	f := e.traced("Deadlock", "fatal error: all goroutines are asleep - deadlock!", res.Waited, false)
	if res.Waits != "" {
		f.Traceback = slices.Insert(f.Traceback, 1, "the cell waits here ["+res.Waits+"]:")
	}
	return f
}

func (e *Engine) panicFailure(p *exec.Panic) *kernel.Failure {
	switch v := p.Value.(type) {
	case *exec.Refusal: // an instance of a generic function, compiled when it was called
		return e.traced("NotSupported", v.Msg, p.Trace, false)
	case exec.StackOverflow:
		return e.traced("StackOverflow", "stack overflow: the recursion has no end", p.Trace, false)
	case exec.TooMuchMemory:
		return e.traced("OutOfMemory", v.Error(), p.Trace, false)
	case userMessage:
		return e.traced(typeName(v), v.UserMessage(), p.Trace, true)
	case runtime.Error:
		f := e.traced("RuntimeError", v.Error(), p.Trace, false)
		if strings.Contains(f.Value, "types from different scopes") {
			e.checking.Lock()
			defer e.checking.Unlock()
			f.Traceback = append(f.Traceback, e.twoTypes(f.Value))
		}
		return f
	}
	return e.traced("Panic", PanicText(p.Value), p.Trace, false)
}

// typeName is a type's bare name: UsageError for *kafkasim.UsageError.
func typeName(v any) string {
	t := reflect.TypeOf(v)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Name()
}

// PanicText is what the run time prints behind "panic:".
func PanicText(v any) string {
	switch v := v.(type) {
	case error:
		return v.Error()
	case fmt.Stringer:
		return v.String()
	case string:
		return v
	}
	t := reflect.TypeOf(v)
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8,
		reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128, reflect.String:
		if t.PkgPath() == "" && t.Kind() != reflect.String {
			return fmt.Sprintf("%v", v)
		}
		return fmt.Sprintf("%s(%#v)", t, reflect.ValueOf(v))
	}
	return fmt.Sprintf("(%s) %+v", t, v)
}

// traced adds the place and the call chain; brief shows the innermost place only.
func (e *Engine) traced(name, msg string, trace []exec.Site, brief bool) *kernel.Failure {
	f := &kernel.Failure{Name: name, Value: msg, Traceback: []string{name + ": " + msg}}
	shown := 0
	for _, site := range shorter(trace) {
		if site.Func == "…" {
			f.Traceback = append(f.Traceback, "  …")
			continue
		}
		src, line, col := e.position(site.Pos)
		if src == nil || src.count == 0 && src.text == "" {
			continue
		}
		where := fmt.Sprintf("in %s", site.Func)
		if site.Func == "cell" {
			where = src.where()
		} else {
			where += ", " + src.where()
		}
		f.Traceback = append(f.Traceback, fmt.Sprintf("%s, line %d", where, line))
		f.Traceback = append(f.Traceback, src.caret(line, col)...)
		if shown++; brief {
			break
		}
	}
	return f
}

// shorter leaves out the middle of a call chain that is longer than anyone reads.
func shorter(trace []exec.Site) []exec.Site {
	const head, tail = 8, 4
	if len(trace) <= head+tail+1 {
		return trace
	}
	return slices.Concat(trace[:head], []exec.Site{{Func: "…"}}, trace[len(trace)-tail:])
}

// goroutinePanicked reports a panic that ended a goroutine of a cell: compiled Go would have ended the
// whole program.
func (e *Engine) goroutinePanicked(run *exec.Run, p *exec.Panic) {
	f := e.panicFailure(p)
	e.write(run, "stderr", "panic in a goroutine: "+strings.Join(f.Traceback, "\n")+"\n")
}

// internalError is a defect of ours, told as such.
func (e *Engine) internalError(r any) *kernel.Failure {
	msg := fmt.Sprintf("%v (this is a defect of the kernel, not of the cell)", r)
	return &kernel.Failure{Name: "InternalError", Value: msg, Traceback: append([]string{"InternalError: " + msg}, strings.Split(string(debug.Stack()), "\n")...)}
}
