package exec

import "unsafe"

type locKind uint8

const (
	locFrame   locKind = iota // at off in the frame
	locCell                   // in a heap cell whose pointer is at off in the frame
	locClosure                // in a heap cell that the closure holds under index off
	locGlobal                 // at a fixed address
	locAddr                   // wherever addr says
)

// loc is where a variable lies.
type loc struct {
	kind locKind
	off  uintptr
	add  uintptr // further offset into the variable: a field
	p    ptr
	addr ev[ptr]
}

// at moves l to a part of the variable.
func (l loc) at(off uintptr) loc {
	switch l.kind {
	case locFrame:
		l.off += off
	case locGlobal:
		l.p = unsafe.Add(l.p, off)
	default:
		l.add += off
	}
	return l
}

// address computes where l is.
func (l loc) address() ev[ptr] {
	off, add := l.off, l.add
	switch l.kind {
	case locFrame:
		return func(fr *Frame) ptr { return unsafe.Add(fr.mem, off) }
	case locCell:
		return func(fr *Frame) ptr { return unsafe.Add(*(*ptr)(unsafe.Add(fr.mem, off)), add) }
	case locClosure:
		return func(fr *Frame) ptr { return unsafe.Add(fr.clo[off], add) }
	case locGlobal:
		p := l.p
		return func(*Frame) ptr { return p }
	}
	if add == 0 {
		return l.addr
	}
	a := l.addr
	return func(fr *Frame) ptr { return unsafe.Add(a(fr), add) }
}

func frameLoc(off uintptr) loc { return loc{kind: locFrame, off: off} }
