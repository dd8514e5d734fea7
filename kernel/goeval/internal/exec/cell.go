package exec

import (
	"go/ast"
	"go/types"
	"reflect"
	"time"
	"unsafe"
)

// Program is the compiled body of a cell.
type Program struct {
	code    *code
	machine *Machine
	results []reflect.Type
	offs    []uintptr
	reached int
}

// Result is how a run ended.
type Result struct {
	Values    []reflect.Value // of the last expression, if the run came that far
	Reached   int             // the index of the last statement that began
	Panic     *Panic
	Stopped   int32  // why the run was stopped, 0 if it was not
	Exit      *Exit  // set with StopExit and StopFatal
	Waits     string // what the cell's goroutine waited for in a deadlock, and where
	Waited    []Site
	Abandoned bool // it was stopped, but blocks in compiled code; its goroutine is left behind
}

// CompileCell compiles statements, and a last expression whose values are the result; it may be nil.
func (m *Machine) CompileCell(u *Unit, stmts []ast.Stmt, last ast.Expr) *Program {
	c := &compiler{m: m, u: u}
	p := &Program{machine: m}
	void := types.NewSignatureType(nil, nil, nil, nil, nil, false)
	f := c.newFn("cell", void, nil)
	all := append([]ast.Stmt{}, stmts...)
	if last != nil {
		all = append(all, &ast.ExprStmt{X: last})
	}
	f.escapes = escapes(u.Info, &ast.BlockStmt{List: all})
	c.fn = f
	for _, s := range all {
		f.defers = f.defers || hasDefer(s)
	}
	body := c.marked(stmts, func(i int) stmt {
		return func(*Frame) ctl { p.reached = i; return ctlNext }
	})
	if last != nil {
		end := c.lastExpr(p, last)
		first := body
		body = func(fr *Frame) ctl {
			if k := first(fr); k != ctlNext {
				return k
			}
			p.reached = len(stmts)
			return end(fr)
		}
	}
	p.code = c.finish(f, 0, body)
	return p
}

// lastExpr compiles the expression whose values a cell shows.
func (c *compiler) lastExpr(p *Program, e ast.Expr) stmt {
	e = ast.Unparen(e)
	if call, ok := e.(*ast.CallExpr); ok && !c.u.Info.Types[call.Fun].IsType() && c.builtinOf(call.Fun) == nil {
		pre, inv := c.call(call)
		do, temps := c.tuple(inv)
		for i, tmp := range temps {
			p.results = append(p.results, c.rt(inv.results.At(i).Type()))
			p.offs = append(p.offs, tmp.off)
		}
		return after(pre, func(fr *Frame) ctl { do(fr); return ctlNext })
	}
	if call, ok := e.(*ast.CallExpr); ok && c.u.Info.Types[call].IsVoid() {
		return c.exprStmt(e)
	}
	v := c.expr(e)
	t := v.t
	if b, ok := t.(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
		if v.nil {
			t = anyType
		} else {
			t = types.Default(t)
		}
	}
	v = c.convert(v, t)
	tmp := c.temp(t)
	p.results, p.offs = append(p.results, c.rt(t)), append(p.offs, tmp.off)
	return c.ops(t).store(tmp, v.ev)
}

// Run executes the cell in a goroutine of its own, and returns when it has ended.
func (p *Program) Run(run *Run) Result {
	done := make(chan Result, 1)
	th := &Thread{m: p.machine, run: run}
	go p.run(th, done)
	select {
	case r := <-done:
		return p.after(run, r)
	case <-run.stopped:
	}
	r, left := th.leave(done)
	if left {
		return Result{Reached: p.reached, Stopped: run.Reason(), Exit: run.exit.Load(), Abandoned: true}
	}
	return p.after(run, r)
}

// after waits for the other goroutines of a run that was stopped: they are on their way out, and must not
// work beside the next cell.
func (p *Program) after(run *Run, r Result) Result {
	if run.Reason() == stopNone {
		return r
	}
	for end := time.Now().Add(leaving); p.machine.alive(run) > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if r.Stopped == 0 && r.Panic == nil { // stopped by another goroutine, at the very end
		r.Stopped, r.Exit = run.Reason(), run.exit.Load()
	}
	return r
}

// leaving is how long the goroutines of a stopped run are waited for.
const leaving = 60 * time.Millisecond

func (p *Program) run(th *Thread, done chan<- Result) {
	run := th.run
	th.id = goroutineID()
	var res Result
	ended := false
	p.machine.begin(run)
	defer func() {
		p.machine.end(run)
		if !ended {
			if r := recover(); r != nil {
				res.Panic = th.caught(r)
			} else if th.overflow || run.overflow.Load() {
				res.Panic = &Panic{Value: StackOverflow{}, Trace: th.overflowTrace}
			} else {
				res.Stopped, res.Exit = run.Reason(), run.exit.Load()
				res.Waits, res.Waited = th.waits, th.waited
			}
		}
		res.Reached = p.reached
		done <- res
	}()
	fr := p.code.enter(th, nil, nil)
	fr.run()
	for i, t := range p.results {
		v := reflect.New(t).Elem()
		v.Set(valueAt(t, unsafe.Add(fr.mem, p.offs[i])))
		res.Values = append(res.Values, v)
	}
	ended = true
}
