package exec

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"

	"kafkalab/kernel/goeval/internal/rtype"
)

// Machine holds what the cells of one session share.
type Machine struct {
	Space *rtype.Space
	Fset  *token.FileSet
	// Symbol finds a function or variable of a compiled package: a func, or an addressable variable.
	Symbol func(pkg, name string) (reflect.Value, bool)
	// Intrinsic replaces a compiled function by one that knows its caller; nil if there is none.
	Intrinsic func(pkg, name string) Intrinsic
	// Report is told of a panic that ended a goroutine other than the cell's own.
	Report func(run *Run, p *Panic)
	// Source finds the generic function obj of a compiled package in the package's source; nil if that
	// is not at hand.
	Source func(obj *types.Func) *types.Func
	// Print takes what the builtins print and println write.
	Print func(run *Run, text string)

	funcs     map[*types.Func]*Func
	decls     map[*types.Func]genericDecl
	instances map[string]*Func
	globals   map[*types.Var]ptr
	current   atomic.Pointer[Run]
	inner     atomic.Pointer[Panic] // a panic that has just left a callback
	callbacks atomic.Int64
	parallel  atomic.Bool // a go statement has run: map operations are locked
	maps      sync.Mutex
	written   atomic.Uintptr // the map that the holder of maps writes
	read      atomic.Uintptr // or reads
	itabs     sync.Map
	mu        sync.Mutex
	runs      map[*Run]int // goroutines alive, by run
	// MaxAlloc bounds a single allocation, in bytes.
	MaxAlloc uintptr
	// Room is asked before a large allocation whether the session may hold that many bytes more.
	Room func(bytes uintptr) bool
}

// Intrinsic is a compiled function with access to the calling run.
type Intrinsic func(call *Call, args []reflect.Value) []reflect.Value

// Call tells an intrinsic who calls.
type Call struct {
	Machine *Machine
	Run     *Run
	thread  *Thread
}

type genericDecl struct {
	decl *ast.FuncDecl
	unit *Unit
}

// Unit is one type-checked piece of source: a cell, or a package given as source.
type Unit struct {
	Info *types.Info
	Pkg  *types.Package
}

// NewMachine makes an empty machine; the caller fills the exported fields.
func NewMachine(fset *token.FileSet) *Machine {
	m := &Machine{
		Space: rtype.NewSpace(), Fset: fset,
		funcs: map[*types.Func]*Func{}, decls: map[*types.Func]genericDecl{}, instances: map[string]*Func{},
		globals: map[*types.Var]ptr{}, runs: map[*Run]int{}, MaxAlloc: 1 << 33,
	}
	m.Space.Method = m.methodEntry
	m.current.Store(NewRun(nil))
	return m
}

// Current is the run of the cell that is being executed, or was last.
func (m *Machine) Current() *Run { return m.current.Load() }

// SetCurrent says which cell compiled code calls back into.
func (m *Machine) SetCurrent(r *Run) { m.current.Store(r) }

// Poll ends the calling goroutine if the current run was stopped: for loops in compiled code.
func (m *Machine) Poll() {
	if r := m.Current(); r.stop.Load() != stopNone {
		runtime.Goexit()
	}
}

// maxCallbacks is how many nested calls from compiled code are believed without looking at the stack.
const maxCallbacks = 500 // the stack is looked at each time the number is a multiple

// tooDeep looks whether many callbacks mean endless recursion through compiled code (a String method
// that formats its receiver): then the goroutine ends, before its stack ends the process.
func (m *Machine) tooDeep(th *Thread) {
	pcs := make([]uintptr, 100_000)
	if runtime.Callers(0, pcs) == len(pcs) {
		th.overflow = true
		m.current.Load().overflow.Store(true)
		runtime.Goexit()
	}
}

// Global is the address of a package-level variable of a cell.
func (m *Machine) Global(v *types.Var) ptr {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p, ok := m.globals[v]; ok {
		return p
	}
	p := reflect.New(m.Space.Of(v.Type())).UnsafePointer()
	m.globals[v] = p
	return p
}

// Share makes v lie where old lies: a variable defined again with the same type.
func (m *Machine) Share(v, old *types.Var) {
	p := m.Global(old)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.globals[v] = p
}

// Value is the present value of a package-level variable of a cell.
func (m *Machine) Value(v *types.Var) reflect.Value {
	return valueAt(m.Space.Of(v.Type()), m.Global(v))
}

// Forget drops what the machine knows of an object that nothing can name any more.
func (m *Machine) Forget(obj types.Object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v, ok := obj.(*types.Var); ok {
		delete(m.globals, v)
	}
}

// funcOf is the session's function for obj, made on first mention so that calls may come before bodies.
func (m *Machine) funcOf(obj *types.Func) *Func {
	m.mu.Lock()
	defer m.mu.Unlock()
	obj = obj.Origin()
	f := m.funcs[obj]
	if f == nil {
		f = &Func{Name: obj.Name()}
		m.funcs[obj] = f
	}
	return f
}

// hasBody reports whether a function of a package given as source is written out there; others are the
// compiled ones.
func (m *Machine) hasBody(obj *types.Func) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.funcs[obj.Origin()]
	return f != nil && (f.code != nil || f.lazy != nil)
}

// Replace makes callers of old run the body of f from now on.
func (m *Machine) Replace(f, old *types.Func) {
	fn := m.funcOf(old)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.funcs[f] = fn
}

// Reset forgets every function and variable of pkg, and the instances of generic functions.
func (m *Machine) Reset(pkg *types.Package) {
	m.mu.Lock()
	defer m.mu.Unlock()
	own := func(obj types.Object) bool { return obj.Pkg() == pkg }
	maps.DeleteFunc(m.funcs, func(f *types.Func, _ *Func) bool { return own(f) })
	maps.DeleteFunc(m.decls, func(f *types.Func, _ genericDecl) bool { return own(f) })
	maps.DeleteFunc(m.globals, func(v *types.Var, _ ptr) bool { return own(v) })
	clear(m.instances)
}

// begin and end count the goroutines of a run.
func (m *Machine) begin(r *Run) {
	m.mu.Lock()
	m.runs[r]++
	m.mu.Unlock()
}

func (m *Machine) end(r *Run) {
	m.mu.Lock()
	if m.runs[r]--; m.runs[r] == 0 {
		delete(m.runs, r)
	}
	m.mu.Unlock()
}

func (m *Machine) alive(r *Run) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.runs[r]
}

// Running is the number of goroutines of cells that are alive.
func (m *Machine) Running() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.runs {
		n += k
	}
	return n
}

// StopOthers asks the goroutines of every run but this one to end.
func (m *Machine) StopOthers(but *Run) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for r := range m.runs {
		if r != but {
			r.Stop(StopInterrupt)
		}
	}
}

// Refusal is Go that cells cannot run, at a position, with the reason.
type Refusal struct {
	Pos token.Pos
	Msg string
}

func (r *Refusal) Error() string { return r.Msg }

func refuse(pos token.Pos, format string, args ...any) {
	panic(&Refusal{pos, fmt.Sprintf(format, args...)})
}
