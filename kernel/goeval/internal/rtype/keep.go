package rtype

import (
	"sync"
	"sync/atomic"
)

// The collector does not follow type words, and descriptors refer to each other by offsets: whatever
// they are made of is kept for the life of the process.
var kept struct {
	sync.Mutex
	all []any
}

func keep(x any) {
	kept.Lock()
	defer kept.Unlock()
	kept.all = append(kept.all, x)
}

var hashes atomic.Uint32

// nextHash gives each type a hash of its own. The run time only needs it to be spread well.
func nextHash() uint32 { return hashes.Add(1) * 0x9E3779B1 }
