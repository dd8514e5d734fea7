package kernel

import "sync"

// lane is a queue of requests with one goroutine that serves them in order. Every shell has two, cells
// (execute_request and whatever must stay in order with it) and talk (comms); the kernel has tools
// (complete, inspect and the like, which the language answers while a cell runs) and control.
type lane struct {
	mu     sync.Mutex
	change *sync.Cond
	queue  []*request
	busy   bool
	closed bool
}

func newLane() *lane {
	l := &lane{}
	l.change = sync.NewCond(&l.mu)
	return l
}

// push appends a request; a closed lane takes none.
func (l *lane) push(r *request) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.queue = append(l.queue, r)
	l.change.Broadcast()
	return true
}

// run serves until the lane is closed and empty.
func (l *lane) run(serve func(*request)) {
	for {
		r := l.next()
		if r == nil {
			return
		}
		serve(r)
	}
}

func (l *lane) next() *request {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy = false
	l.change.Broadcast()
	for len(l.queue) == 0 {
		if l.closed {
			return nil
		}
		l.change.Wait()
	}
	r := l.queue[0]
	l.queue[0] = nil
	l.queue = l.queue[1:]
	l.busy = true
	return r
}

// idle reports whether nothing is served and nothing waits.
func (l *lane) idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.busy && len(l.queue) == 0
}

// shut lets the lane end once it is empty.
func (l *lane) shut() {
	l.mu.Lock()
	l.closed = true
	l.change.Broadcast()
	l.mu.Unlock()
}

// lanes lists the lanes of the kernel and of its shells.
func (k *Kernel) lanes() []*lane {
	list := []*lane{k.tools, k.control}
	for _, sh := range k.shells.all() {
		list = append(list, sh.cells, sh.talk)
	}
	return list
}
