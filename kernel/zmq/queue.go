package zmq

import (
	"net"
	"sync"
	"time"
)

// queue holds what waits to be written to one connection. A writer goroutine empties it, so that
// whoever sends never waits for whoever reads.
type queue struct {
	conn  net.Conn
	limit int // bytes; at most one message more is held
	fail  func()

	mu     sync.Mutex
	change *sync.Cond
	items  net.Buffers
	bytes  int // queued or being written
	closed bool
}

func newQueue(conn net.Conn, limit int, fail func()) *queue {
	q := &queue{conn: conn, limit: limit, fail: fail}
	q.change = sync.NewCond(&q.mu)
	return q
}

// push appends a message; false means that the queue is full or closed.
func (q *queue) push(message []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.bytes >= q.limit {
		return false
	}
	q.items = append(q.items, message)
	q.bytes += len(message)
	q.change.Broadcast()
	return true
}

// run writes until the queue is closed or the connection fails.
func (q *queue) run() {
	for {
		items := q.take()
		if items == nil {
			return
		}
		n, err := items.WriteTo(q.conn)
		q.mu.Lock()
		q.bytes -= int(n)
		q.change.Broadcast()
		q.mu.Unlock()
		if err != nil {
			q.fail()
			return
		}
	}
}

func (q *queue) take() net.Buffers {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == 0 {
		if q.closed {
			return nil
		}
		q.change.Wait()
	}
	items := q.items
	q.items = nil
	return items
}

// close drops what is queued.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.items = nil
	q.change.Broadcast()
	q.mu.Unlock()
}

// drain waits until everything is written, at most until the deadline.
func (q *queue) drain(deadline time.Time) bool {
	timer := time.AfterFunc(time.Until(deadline), func() {
		q.mu.Lock() // without it the broadcast may fall between a waiter's look and its wait
		q.change.Broadcast()
		q.mu.Unlock()
	})
	defer timer.Stop()
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.bytes > 0 && !q.closed && time.Now().Before(deadline) {
		q.change.Wait()
	}
	return q.bytes == 0
}

// full reports whether the peer has let too much wait.
func (q *queue) full() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes >= q.limit
}
