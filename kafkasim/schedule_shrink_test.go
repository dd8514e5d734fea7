package kafkasim

import (
	"fmt"
	"slices"

	"kafkalab/kafkasim/machine"
)

// shrink makes a schedule that breaks an invariant as short as it goes: ops leave one by one, then numbers
// become smaller, as long as the same invariant breaks.
func (s schedule) shrink(m machine.Mutant, number int) schedule {
	breaks := func(x schedule) bool {
		f := x.run(m)
		return f != nil && f.number == number
	}
	for size := max(len(s.ops)/2, 1); size > 0; size /= 2 {
		for i := 0; i+size <= len(s.ops); {
			x := s
			x.ops = slices.Delete(slices.Clone(s.ops), i, i+size)
			if breaks(x) {
				s = x
			} else {
				i++
			}
		}
	}
	for _, simpler := range []func(*shape){
		func(w *shape) { w.small = false }, func(w *shape) { w.flush = false }, func(w *shape) { w.rebalance = false },
		func(w *shape) { w.unclean = false }, func(w *shape) { w.partitions = 1 }, func(w *shape) { w.controllers = 1 }, func(w *shape) { w.latency = 1 },
		func(w *shape) { w.producers = w.producers[:1] }, func(w *shape) { w.elr = false }, func(w *shape) { w.minISR = 1 },
	} {
		x := s
		x.world.producers = slices.Clone(s.world.producers)
		simpler(&x.world)
		if breaks(x) {
			s = x
		}
	}
	for i := range s.ops {
		for _, n := range []int{0, 1, 2, 3} {
			x := s
			x.ops = slices.Clone(s.ops)
			if x.ops[i].n = n; n < s.ops[i].n && breaks(x) {
				s = x
				break
			}
		}
	}
	return s
}

// report is a failure with the shortest way to it, as a cell that can be run.
func (s schedule) report(m machine.Mutant, f *failure) string {
	short := s.shrink(m, f.number)
	if g := short.run(m); g != nil {
		return fmt.Sprintf("%s\n%s", g.text, g.c.Script())
	}
	return fmt.Sprintf("%s\n%s", f.text, f.c.Script())
}
