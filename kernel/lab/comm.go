package lab

import (
	"encoding/json"
	"fmt"
	"sync"
)

// CommMessage is what a comm carries: JSON and, beside it, bytes.
type CommMessage struct {
	// Data is the JSON as encoding/json reads it into an any: objects are map[string]any, numbers float64.
	Data any
	// JSON is the same as it came, for json.Unmarshal.
	JSON []byte
	// Buffers are the message's bytes, not encoded.
	Buffers [][]byte
}

// NewCommMessage reads the data of a message.
func NewCommMessage(data []byte, buffers [][]byte) CommMessage {
	m := CommMessage{JSON: data, Buffers: buffers}
	_ = json.Unmarshal(data, &m.Data) // it has been read before, and is JSON
	return m
}

// Comm is a line to the code of a frontend, such as a widget or an extension, which both sides may use at
// any time (message spec, "Custom Messages").
type Comm struct {
	id, target string
	port       CommPort

	turn    sync.Mutex // held while a handler runs: messages come one by one
	mu      sync.Mutex
	message func(CommMessage)
	closing func(CommMessage)
	waiting []CommMessage // what came before there was a handler
	closed  *CommMessage
}

// CommPort is what stands behind a comm.
type CommPort interface {
	// Send sends a message; it fails on a comm that is closed.
	Send(data any, buffers [][]byte) error
	// Close closes the comm.
	Close(data any) error
	// Do calls a handler of a cell with arguments and waits for its end, whatever that is.
	Do(handler any, args ...any)
}

// NewComm makes a comm of a session; deliver and closed tell it what the other side says.
func NewComm(id, target string, port CommPort) (c *Comm, deliver, closed func(CommMessage)) {
	c = &Comm{id: id, target: target, port: port}
	return c, c.deliver, c.hangUp
}

// OnComm answers the comms that a frontend opens under the name of a target: f is called with each, and
// with what was sent along. A name that is taken gets the new answer; with nil the target is unknown again.
// f and the handlers that it sets run beside the cells, like goroutines: variables that both use want a
// sync.Mutex.
//
//	lab.OnComm("clock", func(c *lab.Comm, opened lab.CommMessage) {
//		c.OnMessage(func(m lab.CommMessage) { c.Send(m.Data) })
//	})
func OnComm(target string, f func(c *Comm, opened CommMessage)) { notebook().OnComm(target, f) }

// OpenComm opens a comm to a target that a frontend knows, and sends data along. What comes back before
// OnMessage is called waits for it.
func OpenComm(target string, data any, buffers ...[]byte) *Comm {
	return notebook().OpenComm(target, data, buffers)
}

// ID is the comm_id that both sides know the comm by.
func (c *Comm) ID() string { return c.id }

// Target is the name under which the comm was opened.
func (c *Comm) Target() string { return c.target }

// Send sends data, which must encode as JSON, and bytes beside it. It fails on a comm that is closed.
func (c *Comm) Send(data any, buffers ...[]byte) error { return c.port.Send(data, buffers) }

// Close closes the comm for both sides; data may be nil. Closing a comm that is closed does nothing.
func (c *Comm) Close(data any) { _ = c.port.Close(data) }

// OnMessage sets the function that hears the messages, one at a time.
func (c *Comm) OnMessage(f func(m CommMessage)) {
	c.mu.Lock()
	c.message = f
	waiting := c.waiting
	c.waiting = nil
	c.mu.Unlock()
	if len(waiting) > 0 {
		go func() {
			for _, m := range waiting {
				c.deliver(m)
			}
		}()
	}
}

// OnClose sets the function that hears that the other side has closed the comm, even if that was before.
func (c *Comm) OnClose(f func(m CommMessage)) {
	c.mu.Lock()
	c.closing = f
	closed := c.closed
	c.mu.Unlock()
	if closed != nil {
		go c.hangUp(*closed)
	}
}

// String lets a comm be the result of a cell. The id is new in every session and left out.
func (c *Comm) String() string { return fmt.Sprintf("a comm with %q", c.target) }

func (c *Comm) deliver(m CommMessage) {
	c.mu.Lock()
	f := c.message
	if f == nil {
		c.waiting = append(c.waiting, m)
	}
	c.mu.Unlock()
	c.run(f, m)
}

func (c *Comm) hangUp(m CommMessage) {
	c.mu.Lock()
	f := c.closing
	c.closed = &m
	c.mu.Unlock()
	c.run(f, m)
}

func (c *Comm) run(f func(CommMessage), m CommMessage) {
	if f == nil {
		return
	}
	c.turn.Lock()
	defer c.turn.Unlock()
	c.port.Do(f, m)
}
