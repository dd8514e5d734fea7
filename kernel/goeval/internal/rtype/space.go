package rtype

import (
	"fmt"
	"go/types"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/tools/go/types/typeutil"
)

// Space holds the run-time types of one session.
type Space struct {
	mu      sync.Mutex
	direct  map[types.Type]reflect.Type // by pointer: the fast way
	byID    typeutil.Map                // by identity
	known   map[reflect.Type]types.Type // of types made here
	busy    bool                        // a type is being built, and what it is made of
	fresh   []types.Type                // what was made on the way
	later   []func()                    // what is done when all are known
	cells   []*Cell
	byCell  typeutil.Map
	changed atomic.Bool // some type has more than one descriptor

	// Compiled finds the run-time type of a compiled defined type; name has the type arguments of an instance.
	Compiled func(obj *types.TypeName, name string) (reflect.Type, error)
	// Sourced reports whether the methods of a generic type of a compiled package can be made from source.
	Sourced func(obj *types.TypeName) bool
	// Local reports whether a package's types are made here, not compiled.
	Local func(pkg *types.Package) bool
	// Method gives the body of a method in t's method set: a func value of type
	// func(unsafe.Pointer, parameters...) results, whose first argument is what an interface's data
	// word holds.
	Method func(t types.Type, sel *types.Selection, ft reflect.Type) reflect.Value
}

// NewSpace makes an empty space.
func NewSpace() *Space {
	return &Space{direct: map[types.Type]reflect.Type{}, known: map[reflect.Type]types.Type{}}
}

// Refused is a type that cannot be made, with the reason.
type Refused struct{ Type, Why string }

func (r *Refused) Error() string { return fmt.Sprintf("type %s: %s", r.Type, r.Why) }

// Of is the run-time type of t. It panics with *Refused when t cannot be made.
func (s *Space) Of(t types.Type) reflect.Type {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of(t)
}

// Known is the static type behind a run-time type that was made here, or nil.
func (s *Space) Known(t reflect.Type) types.Type {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[t]
}

func (s *Space) of(t types.Type) reflect.Type {
	if r, ok := s.direct[t]; ok {
		return r
	}
	if r, ok := s.byID.At(t).(reflect.Type); ok {
		s.direct[t] = r
		if s.busy {
			s.fresh = append(s.fresh, t)
		}
		return r
	}
	if s.busy {
		r := s.build(t)
		s.remember(t, r)
		return r
	}
	return s.whole(t)
}

// whole builds t and everything it is made of, or nothing at all: a type that is refused leaves no half-made
// ones behind.
func (s *Space) whole(t types.Type) reflect.Type {
	s.busy = true
	done := false
	defer func() {
		if !done {
			for _, t := range s.fresh {
				delete(s.direct, t)
				s.byID.Delete(t)
			}
		}
		s.busy, s.fresh, s.later = false, nil, nil
	}()
	r := s.build(t)
	s.remember(t, r)
	for len(s.later) > 0 {
		f := s.later[0]
		s.later = s.later[1:]
		f()
	}
	done = true
	return r
}

func (s *Space) remember(t types.Type, r reflect.Type) {
	s.fresh = append(s.fresh, t)
	s.direct[t] = r
	s.byID.Set(t, r)
}

// mostBytes is what a value of a type may take: the picture of its pointers must stay small.
const mostBytes = 1 << 32

func (s *Space) build(t types.Type) reflect.Type {
	switch t.Underlying().(type) {
	case *types.Array, *types.Struct:
		if n := Sizes.Sizeof(t); n < 0 || n > mostBytes {
			panic(&Refused{types.TypeString(t, (*types.Package).Name), "a value of it takes more than 4 GiB"})
		}
	}
	switch t := t.(type) {
	case *types.Alias:
		return s.of(types.Unalias(t))
	case *types.Basic:
		return s.basic(t)
	case *types.Named:
		return s.named(t)
	case *types.Pointer:
		return reflect.PointerTo(s.of(t.Elem()))
	case *types.Slice:
		return reflect.SliceOf(s.of(t.Elem()))
	case *types.Array:
		return reflect.ArrayOf(int(t.Len()), s.of(t.Elem()))
	case *types.Map:
		return reflect.MapOf(s.of(t.Key()), s.of(t.Elem()))
	case *types.Chan:
		return reflect.ChanOf(chanDir(t.Dir()), s.of(t.Elem()))
	case *types.Signature:
		return s.signature(t)
	case *types.Struct:
		return s.structType(t, shown.text(t))
	case *types.Interface:
		return s.interfaceType(t, shown.text(t), nil)
	}
	panic(&Refused{t.String(), "it has no run-time form"})
}

func (s *Space) basic(t *types.Basic) reflect.Type {
	if r, ok := basicTypes[basicKinds[t.Kind()]]; ok {
		return r
	}
	panic(&Refused{t.String(), "it has no run-time form"})
}

func (s *Space) signature(t *types.Signature) reflect.Type {
	return reflect.FuncOf(s.tuple(t.Params()), s.tuple(t.Results()), t.Variadic())
}

func (s *Space) tuple(t *types.Tuple) []reflect.Type {
	ts := make([]reflect.Type, t.Len())
	for i := range ts {
		ts[i] = s.of(t.At(i).Type())
	}
	return ts
}

func chanDir(d types.ChanDir) reflect.ChanDir {
	switch d {
	case types.SendOnly:
		return reflect.SendDir
	case types.RecvOnly:
		return reflect.RecvDir
	}
	return reflect.BothDir
}

// Same reports whether two type words stand for one static type: a type of a cell that was given more
// methods later has a new descriptor, and values made before keep the old one.
func (s *Space) Same(a, b unsafe.Pointer) bool {
	if a == b {
		return true
	}
	if !s.changed.Load() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	x, y := s.known[FromWord(a)], s.known[FromWord(b)]
	return x != nil && y != nil && types.Identical(x, y)
}

// Changed tells that a type has got more methods: its descriptor, and those of types made of it, are
// made anew when next asked for.
func (s *Space) Changed(named *types.Named) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed.Store(true)
	for t := range s.direct {
		if mentions(t, named, map[*types.Named]bool{}) {
			delete(s.direct, t)
		}
	}
	for _, t := range s.byID.Keys() {
		if mentions(t, named, map[*types.Named]bool{}) {
			s.byID.Delete(t)
		}
	}
	for _, c := range s.cells {
		c.Word.Store((*byte)(Word(s.of(c.t))))
	}
}

// Cell is the present type word of a type that may get more methods.
type Cell struct {
	Word atomic.Pointer[byte]
	t    types.Type
}

// Cell is where the type word of t can be read from now on; nil if it cannot change.
func (s *Space) Cell(t types.Type) *Cell {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.mutable(t) {
		return nil
	}
	if c, ok := s.byCell.At(t).(*Cell); ok {
		return c
	}
	c := &Cell{t: t}
	c.Word.Store((*byte)(Word(s.of(t))))
	s.cells = append(s.cells, c)
	s.byCell.Set(t, c)
	return c
}

// mutable reports whether t mentions a type that a later cell can add methods to.
func (s *Space) mutable(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		return t.Obj().Pkg() != nil && s.Local(t.Obj().Pkg()) && t.TypeArgs().Len() == 0 && !types.IsInterface(t)
	case *types.Pointer:
		return s.mutable(t.Elem())
	case *types.Slice:
		return s.mutable(t.Elem())
	case *types.Array:
		return s.mutable(t.Elem())
	case *types.Chan:
		return s.mutable(t.Elem())
	case *types.Map:
		return s.mutable(t.Key()) || s.mutable(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			if s.mutable(f.Type()) {
				return true
			}
		}
	}
	return false
}

// mentions reports whether t is made of named.
func mentions(t types.Type, named *types.Named, seen map[*types.Named]bool) bool {
	any := func(ts ...types.Type) bool {
		for _, t := range ts {
			if mentions(t, named, seen) {
				return true
			}
		}
		return false
	}
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		if t == named {
			return true
		}
		if seen[t] || t.Obj().Pkg() != named.Obj().Pkg() {
			return false
		}
		seen[t] = true
		return any(t.Underlying())
	case *types.Map:
		return any(t.Key(), t.Elem())
	case interface{ Elem() types.Type }:
		return any(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			if any(f.Type()) {
				return true
			}
		}
	case *types.Signature:
		for _, tup := range []*types.Tuple{t.Params(), t.Results()} {
			for v := range tup.Variables() {
				if any(v.Type()) {
					return true
				}
			}
		}
	}
	return false
}
