package goeval

import (
	"go/ast"
	"go/scanner"
	"go/types"
	"strings"
	"sync"

	"kafkalab/kernel"
	"kafkalab/kernel/goeval/internal/exec"
	"kafkalab/kernel/lab"
)

// running is the cell that is being executed.
type running struct {
	run *exec.Run
	out *outlet
}

// outlet is where a run's output goes.
type outlet struct {
	out   kernel.Output
	count int
	comms *kernel.Comms

	mu    sync.Mutex
	ends  []func()
	ended bool
	late  bool // something was printed after the end
	open  bool // the last line has no end yet
}

// stream prints. What a goroutine prints after its cell has ended still belongs to the cell, and is marked.
func (o *outlet) stream(stream, text string) {
	o.mu.Lock()
	first := o.ended && !o.late
	o.late = o.late || first
	open := o.open
	o.open = !strings.HasSuffix(text, "\n")
	o.mu.Unlock()
	if first {
		mark := lateMark
		if open {
			mark = "\n" + mark
		}
		o.out.Stream("stderr", mark)
	}
	o.out.Stream(stream, text)
}

const lateMark = "(from a goroutine, after the cell ended:)\n"

func (o *outlet) atEnd(f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.ended {
		o.ends = append(o.ends, f)
	}
}

// end calls what waits for the end of the cell.
func (o *outlet) end() {
	o.mu.Lock()
	ends := o.ends
	o.ends, o.ended = nil, true
	o.mu.Unlock()
	for _, f := range ends {
		f()
	}
}

// Execute runs one cell. The state of the session outlives every kind of failure.
func (e *Engine) Execute(cell kernel.Cell, out kernel.Output) (outcome kernel.Outcome) {
	run := exec.NewRun(&outlet{out: out, count: cell.Count, comms: cell.Comms})
	p := &performance{e: e, src: newSource(cell.Count, cell.Code), out: out, run: run}
	e.mu.Lock()
	e.running = &running{run: run, out: run.Tag.(*outlet)}
	e.mu.Unlock()
	e.machine.SetCurrent(run)
	lab.Bind(notebook{e, run})
	defer func() {
		e.std.flush()
		run.Tag.(*outlet).end()
		e.mu.Lock()
		e.running = nil
		e.mu.Unlock()
		if r := recover(); r != nil { // a defect of this package must not end the session
			outcome = kernel.Outcome{Failure: e.internalError(r)}
		}
	}()
	if pieces := e.cutMagics(cell.Code); pieces != nil {
		return p.pieces(pieces)
	}
	return p.source(p.src)
}

// source runs Go: a cell, a piece of one, or a file.
func (p *performance) source(src *source) kernel.Outcome {
	e, run := p.e, p.run
	done := p.prep.start()
	prog, c, failure := e.prepare(src)
	done()
	if failure != nil {
		return kernel.Outcome{Failure: failure}
	}
	stop := e.watch(run)
	res := prog.Run(run)
	stop()
	f := e.failureOf(src, res)
	e.checking.Lock()
	if f != nil {
		c.restore(e, func(name string) bool { return c.after(name, res.Reached) })
	}
	notes := e.staleNotes(c)
	e.rememberUses(c)
	e.checking.Unlock()
	for _, note := range notes {
		e.write(run, "stderr", note)
	}
	if f != nil {
		return kernel.Outcome{Failure: f}
	}
	result := e.show(run, res.Values)
	if run.Reason() == exec.StopInterrupt { // while it was being shown
		return kernel.Outcome{Failure: interrupted("interrupted")}
	}
	return kernel.Outcome{Result: result}
}

// prepare takes a cell through parse, check and compile.
func (e *Engine) prepare(src *source) (prog *exec.Program, c *checked, failure *kernel.Failure) {
	e.checking.Lock()
	defer e.checking.Unlock()
	p, err := e.parse(src)
	if err != nil {
		return nil, nil, e.syntaxFailure(src, err.(scanner.ErrorList))
	}
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		if c != nil {
			c.undo(e)
		}
		no, ok := r.(*exec.Refusal)
		if !ok {
			panic(r)
		}
		failure = e.compileFailure("NotSupported", []problem{{no.Pos, no.Msg}})
	}()
	c, probs := e.check(p)
	if probs != nil {
		return nil, nil, e.compileFailure(kindOfProblems(probs), probs)
	}
	return e.compile(c), c, nil
}

// compile turns a checked cell into closures and binds its functions.
func (e *Engine) compile(c *checked) *exec.Program {
	scope := e.pkg.Scope()
	for name, old := range c.old {
		e.inherit(scope.Lookup(name), old)
	}
	e.machine.Generics(c.unit, []*ast.File{{Decls: funcDecls(c.funcs)}}, false)
	var binds []func()
	for _, d := range c.funcs {
		obj, ok := c.unit.Info.Defs[d.Name].(*types.Func)
		if !ok || obj.Signature().TypeParams().Len()+obj.Signature().RecvTypeParams().Len() > 0 {
			continue
		}
		binds = append(binds, e.machine.CompileFunc(c.unit, d, obj))
	}
	for _, m := range c.late {
		e.machine.Replace(m.fn, m.method)
		binds = append(binds, e.machine.CompileFunc(c.unit, m.decl, m.fn))
	}
	for _, m := range c.late {
		if m.added != nil {
			e.machine.Space.Changed(m.added)
		}
	}
	prog := e.machine.CompileCell(c.unit, c.stmts, c.last)
	for _, bind := range binds {
		bind()
	}
	return prog
}

func funcDecls(fs []*ast.FuncDecl) []ast.Decl {
	ds := make([]ast.Decl, len(fs))
	for i, f := range fs {
		ds[i] = f
	}
	return ds
}

// inherit lets a new definition take the place of an old one of the same type: variables keep their
// memory, callers of a function run its new body.
func (e *Engine) inherit(obj, old types.Object) {
	switch obj := obj.(type) {
	case *types.Var:
		if o, ok := old.(*types.Var); ok && types.Identical(obj.Type(), o.Type()) {
			e.machine.Share(obj, o)
		}
	case *types.Func:
		o, ok := old.(*types.Func)
		if ok && types.Identical(obj.Type(), o.Type()) && obj.Signature().TypeParams() == nil {
			e.machine.Replace(obj, o)
		}
	}
}

// after reports whether the statement that gives name its value came after the one reached.
func (c *checked) after(name string, reached int) bool {
	for _, d := range c.defs {
		if d.name == name && d.stmt >= 0 {
			return d.stmt > reached || d.stmt == reached && reached < len(c.stmts)
		}
	}
	return false
}

// Evaluate computes one expression for user_expressions.
func (e *Engine) Evaluate(expression string) (kernel.Bundle, *kernel.Failure) {
	src := newSource(0, expression)
	prog, _, failure := e.prepare(src)
	if failure != nil {
		return kernel.Bundle{}, failure
	}
	run := exec.NewRun(&outlet{})
	res := prog.Run(run)
	if f := e.failureOf(src, res); f != nil {
		return kernel.Bundle{}, f
	}
	if b := e.show(run, res.Values); b != nil {
		return *b, nil
	}
	return kernel.Bundle{Data: map[string]any{}, Metadata: map[string]any{}}, nil
}
