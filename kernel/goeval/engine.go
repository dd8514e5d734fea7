package goeval

import (
	"go/ast"
	"go/token"
	"go/types"
	"io"
	"math"
	"reflect"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"kafkalab/kernel"
	"kafkalab/kernel/goeval/internal/exec"
	"kafkalab/kernel/goeval/stdlib"
)

// Options say what a session can use.
type Options struct {
	// Libraries come after the standard library, which is always there.
	Libraries []Library
	// Capture redirects the file descriptors 1 and 2 of the process into the running cell's output, so
	// that prints of compiled code are seen too. Only for a process that is a kernel.
	Capture bool
	// Log takes what is printed while no cell has run yet; nil discards it.
	Log io.Writer
	// Banner is shown by consoles.
	Banner string
	// HelpLinks appear in the frontend's Help menu.
	HelpLinks []kernel.HelpLink
	// AllowShell lets !command run a command of the shell.
	AllowShell bool
	// MemoryLimit in bytes ends a cell whose session holds more; 0 means three quarters of the machine's.
	MemoryLimit uint64
}

// Engine is one session of Go cells. It implements kernel.Language.
type Engine struct {
	opts    Options
	fset    *token.FileSet
	pkg     *types.Package
	machine *exec.Machine
	imp     *imports
	std     streams
	alarms  alarms

	checking sync.Mutex // held while code is checked: the scope of the session is at work
	docSet   *token.FileSet

	mu    sync.Mutex // guards what follows
	docs  map[string][]*ast.File
	names map[string]string
	dots  []string
	cells map[int]*source
	files map[*token.File]*source
	types map[string]*typeDecl
	// dependents and older say who keeps the old meanings of names; guarded by checking.
	dependents map[string]*dependent
	older      map[string][]*source
	fresh      map[string]*types.TypeName // types that the cell now checked declares anew, if it fails
	localTypes int                        // how many types the functions of its cells declare; guarded by checking
	running    *running
	closed     bool
}

var _ kernel.Language = (*Engine)(nil)

// New starts a session.
func New(opts Options) (*Engine, error) {
	e := &Engine{
		opts: opts, fset: token.NewFileSet(), pkg: types.NewPackage("main", "main"),
		names: map[string]string{}, cells: map[int]*source{}, files: map[*token.File]*source{}, types: map[string]*typeDecl{},
		dependents: map[string]*dependent{}, older: map[string][]*source{}, docSet: token.NewFileSet(), docs: map[string][]*ast.File{},
	}
	std := Library{Symbols: stdlib.Symbols(), Exports: stdlib.Exports(), Imports: stdImports}
	imp, err := newImports(append([]Library{std}, opts.Libraries...))
	if err != nil {
		return nil, err
	}
	e.imp = imp
	e.pkg.Scope().Insert(types.NewTypeName(token.NoPos, e.pkg, early, nil)) // so that its map exists
	delete(elems(e.pkg.Scope()), early)
	if err := scopeUsable(); err != nil {
		return nil, err
	}
	e.machine = exec.NewMachine(e.fset)
	e.machine.MaxAlloc = uintptr(e.memoryLimit() / 2)
	e.machine.Room = e.room
	if opts.Capture && debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(int64(e.memoryLimit())) // collect before it is reached
	}
	e.machine.Symbol = e.symbol
	e.machine.Intrinsic = e.intrinsic
	e.machine.Print = func(run *exec.Run, text string) { e.write(run, "stderr", text) }
	e.machine.Report = e.goroutinePanicked
	e.machine.Space.Local = func(p *types.Package) bool { return p == e.pkg || imp.isSource(p) }
	e.machine.Source = e.genericSource
	e.machine.Space.Sourced = sourced
	e.machine.Space.Compiled = imp.compiledType
	for _, l := range opts.Libraries {
		if l.Poll != nil {
			l.Poll(e.machine.Poll)
		}
		if l.Progress != nil {
			l.Progress((&meter{e: e, now: time.Now}).progress)
		}
		if l.Display != nil {
			l.Display(e.showAndReplace, func(f func()) { notebook{e, e.machine.Current()}.AtEnd(f) })
		}
	}
	if err := e.std.start(e); err != nil {
		return nil, err
	}
	return e, nil
}

// Info describes the language for kernel_info_reply.
func (e *Engine) Info() kernel.LanguageInfo {
	return kernel.LanguageInfo{
		Name: "go", Version: runtime.Version(), MIMEType: "text/x-go", FileExtension: ".go",
		PygmentsLexer: "go", CodeMirrorMode: "go", NBConvertExporter: "script",
		Banner: e.opts.Banner, HelpLinks: e.opts.HelpLinks,
	}
}

// Interrupt asks the running cell to stop. With no cell running it ends the goroutines that earlier
// cells left behind.
func (e *Engine) Interrupt() {
	e.mu.Lock()
	r := e.running
	e.mu.Unlock()
	if r != nil {
		r.run.Stop(exec.StopInterrupt)
		return
	}
	e.machine.StopOthers(nil)
}

// Close ends the session.
func (e *Engine) Close() {
	e.Interrupt()
	e.mu.Lock()
	closed := e.closed
	e.closed = true
	e.mu.Unlock()
	if !closed {
		e.std.stop()
	}
}

// symbol finds a compiled function or variable.
func (e *Engine) symbol(pkg, name string) (reflect.Value, bool) {
	if v, ok := e.std.symbol(pkg, name); ok {
		return v, true
	}
	if withheld[pkg+"."+name] {
		return reflect.Value{}, false
	}
	if v, ok := e.imp.symbols(pkg)[name]; ok {
		return v, true
	}
	return stdlib.Helper(pkg, name)
}

// withheld are compiled functions that would tell a cell of the kernel's own call chain, or end the
// kernel.
var withheld = map[string]bool{
	"runtime.Caller": true, "runtime.Callers": true, "runtime.CallersFrames": true, "runtime.FuncForPC": true,
	"flag.Parse": true, "flag.CommandLine": true, "testing.Main": true, "testing.MainStart": true,
	"runtime.Breakpoint": true, "runtime/debug.SetMaxStack": true, "runtime/debug.SetPanicOnFault": true,
}

func (e *Engine) memoryLimit() uint64 {
	if e.opts.MemoryLimit > 0 {
		return e.opts.MemoryLimit
	}
	return machineMemory() / 4 * 3
}

// position says where pos is: the cell, and line and column in it (columns count bytes, from 1).
func (e *Engine) position(pos token.Pos) (src *source, line, col int) {
	f := e.fset.File(pos)
	if f == nil {
		return nil, 0, 0
	}
	e.mu.Lock()
	src = e.files[f]
	e.mu.Unlock()
	if src == nil {
		return nil, 0, 0
	}
	p := f.PositionFor(pos, false)
	if p.Line == 1 {
		p.Column -= prefixLen
	}
	return src, p.Line, max(p.Column, 1)
}
