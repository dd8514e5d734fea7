package exec

import (
	"go/token"
	"reflect"
	"sync"
	"unsafe"
)

// ctl is how a statement ended.
type ctl uint8

const (
	ctlNext ctl = iota
	ctlReturn
	ctlBreak    // out of the loop, switch or select that Frame.target names
	ctlContinue // with the loop that Frame.target names
	ctlGoto     // to the label that Frame.target names
	ctlFall     // fallthrough
)

type stmt func(*Frame) ctl

// Frame is one call in progress: memory laid out by the compiler for parameters, results, variables
// and temporaries.
type Frame struct {
	mem    ptr
	clo    []ptr // cells that the closure captured
	th     *Thread
	up     *Frame
	code   *code
	pos    token.Pos // what is being executed, kept up at calls and where things can fail
	target *target
	defers []func()
	pan    *Panic // the panic that this call's deferred functions may recover
	armed  *Panic // for a deferred call: what recover returns
	used   uintptr
	sp     uintptr
	wide   uint64 // the last index that no int can hold
}

// target is a statement that break, continue or goto can name.
type target struct{ name string }

// code is a compiled function body. Parameters come first in its frame, then results, each at the
// offset that the signature alone determines.
type code struct {
	name      string
	pos       token.Pos
	body      stmt
	finish    func(*Frame) // moves captured results into their slots
	frame     reflect.Type // nil if the frame is empty
	pointers  []uintptr
	results   []resultSlot
	hasDefer  bool
	synthetic bool // wrappers are not shown in call chains
	machine   *Machine
	pool      sync.Pool
}

// resultSlot is how a result gets its zero value at entry.
type resultSlot struct {
	off, size uintptr
}

// nothingAt is the memory of empty frames: values of size zero have an address, too.
var nothingAt = ptr(new([0]uintptr))

func (c *code) enter(th *Thread, up *Frame, clo []ptr) *Frame {
	fr, _ := c.pool.Get().(*Frame)
	if fr == nil {
		fr = &Frame{code: c, mem: nothingAt}
		if c.frame != nil {
			fr.mem = newOf(c.frame)
		}
	}
	fr.th, fr.up, fr.clo = th, up, clo
	return fr
}

// release gives a frame back. Its pointers are cleared, so that it keeps nothing alive.
func (fr *Frame) release() {
	c := fr.code
	for _, off := range c.pointers {
		*(*ptr)(unsafe.Add(fr.mem, off)) = nil
	}
	fr.up, fr.th, fr.clo, fr.target, fr.pan, fr.armed = nil, nil, nil, nil, nil, nil
	fr.defers = fr.defers[:0]
	c.pool.Put(fr)
}

// run executes the body of a frame whose parameters are set.
func (fr *Frame) run() {
	c, th := fr.code, fr.th
	th.enter(fr)
	for _, r := range c.results {
		clear(unsafe.Slice((*byte)(unsafe.Add(fr.mem, r.off)), r.size))
	}
	if c.hasDefer {
		fr.runWithDefers()
	} else {
		c.body(fr)
	}
	if c.finish != nil {
		c.finish(fr)
	}
	th.top = fr.up
}
