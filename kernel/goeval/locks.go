package goeval

import (
	"reflect"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"kafkalab/kernel/goeval/internal/exec"
)

// The methods of package sync that wait, or that end a process when they are misused, know here who calls:
// an interrupt ends the wait, and misuse ends the cell.

func init() {
	on := func(name string, f func(c *exec.Call, a []reflect.Value)) {
		intrinsics["sync."+name] = func(_ *Engine, c *exec.Call, a []reflect.Value) []reflect.Value {
			f(c, a)
			return nil
		}
	}
	on("Mutex.Lock", func(c *exec.Call, a []reflect.Value) { lockMutex(c, mutex(a)) })
	on("Mutex.Unlock", func(c *exec.Call, a []reflect.Value) {
		if mu := mutex(a); mu.TryLock() {
			mu.Unlock()
			c.Fatal("sync: unlock of unlocked mutex")
		} else {
			mu.Unlock()
		}
	})
	on("RWMutex.Lock", func(c *exec.Call, a []reflect.Value) {
		if mu := rwMutex(a); !mu.TryLock() {
			c.Await("sync.RWMutex.Lock", mu.Lock, mu.Unlock, nil)
		}
	})
	on("RWMutex.RLock", func(c *exec.Call, a []reflect.Value) {
		if mu := rwMutex(a); !mu.TryRLock() {
			c.Await("sync.RWMutex.RLock", mu.RLock, mu.RUnlock, nil)
		}
	})
	on("RWMutex.Unlock", func(c *exec.Call, a []reflect.Value) {
		mu := rwMutex(a)
		if readers(a[0]) >= 0 { // a writer makes the number negative
			c.Fatal("sync: Unlock of unlocked RWMutex")
		}
		mu.Unlock()
	})
	on("RWMutex.RUnlock", func(c *exec.Call, a []reflect.Value) {
		mu := rwMutex(a)
		if n := readers(a[0]); n == 0 || n == -1<<30 {
			c.Fatal("sync: RUnlock of unlocked RWMutex")
		}
		mu.RUnlock()
	})
	on("WaitGroup.Wait", func(c *exec.Call, a []reflect.Value) {
		wg := a[0].Interface().(*sync.WaitGroup)
		c.Await("sync.WaitGroup.Wait", wg.Wait, nil, nil)
	})
	on("WaitGroup.Go", func(c *exec.Call, a []reflect.Value) {
		wg := a[0].Interface().(*sync.WaitGroup)
		wg.Add(1)
		c.Go(a[1], wg.Done)
	})
	on("Cond.Wait", func(c *exec.Call, a []reflect.Value) { waitCond(c, a[0].Interface().(*sync.Cond)) })
}

func mutex(a []reflect.Value) *sync.Mutex     { return a[0].Interface().(*sync.Mutex) }
func rwMutex(a []reflect.Value) *sync.RWMutex { return a[0].Interface().(*sync.RWMutex) }

func lockMutex(c *exec.Call, mu *sync.Mutex) {
	if !mu.TryLock() {
		c.Await("sync.Mutex.Lock", mu.Lock, mu.Unlock, nil)
	}
}

// readers is the count of readers of an RWMutex, lowered by 1<<30 while a writer holds it or waits.
func readers(mu reflect.Value) int64 {
	if f, ok := mu.Elem().Type().FieldByName("readerCount"); ok && f.Type == reflect.TypeFor[atomic.Int32]() {
		return int64((*atomic.Int32)(unsafe.Add(mu.UnsafePointer(), f.Offset)).Load())
	}
	return -1 // another version of Go: it will see to it by itself
}

// condLock is how long the lock of a condition is waited for when a cell is stopped.
const condLock = 100 * time.Millisecond

// waitCond waits for a condition. A cell that is stopped meanwhile takes the lock again, because its
// deferred functions are going to give it back.
func waitCond(c *exec.Call, cond *sync.Cond) {
	c.Await("sync.Cond.Wait", cond.Wait, func() { cond.L.Unlock() }, func() bool {
		locked := make(chan struct{})
		go func() {
			cond.L.Lock()
			close(locked)
		}()
		select {
		case <-locked:
			return true
		case <-time.After(condLock):
			return false
		}
	})
}
