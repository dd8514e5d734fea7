package kernel

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"kafkalab/kernel/wire"
)

// ErrCommClosed is returned by the methods of a comm that one side has closed.
var ErrCommClosed = errors.New("the comm is closed")

// CommMessage is what comm_open, comm_msg and comm_close carry.
type CommMessage struct {
	Data     json.RawMessage
	Metadata json.RawMessage
	Buffers  [][]byte
}

// Target answers comms that a frontend opens under one name. It is called with each new comm and what
// was sent along, and sets the comm's OnMessage and OnClose. An error closes the comm at once; its text
// travels as data.error. Targets run beside cells, not between them.
type Target func(c *Comm, opened CommMessage) error

// Comms is the registry of targets and open comms (message spec, "Custom Messages").
type Comms struct {
	k *Kernel

	mu      sync.Mutex
	targets map[string]Target
	open    map[string]*Comm
	lanes   map[string]*lane // of comms that frontends opened
}

func newComms(k *Kernel) *Comms {
	return &Comms{k: k, targets: map[string]Target{}, open: map[string]*Comm{}, lanes: map[string]*lane{}}
}

// Comm is one open comm. OnMessage and OnClose may be nil; they are called one at a time.
type Comm struct {
	ID, Target string
	OnMessage  func(CommMessage)
	OnClose    func(CommMessage)

	comms  *Comms
	turn   sync.Mutex // held by the handler that runs: a comm may be reached through several shells
	mu     sync.Mutex
	parent json.RawMessage // of the message that touched the comm last
	closed bool
}

// Register makes a target known; registering a name again replaces its target, and nil forgets it.
func (cs *Comms) Register(name string, t Target) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if t == nil {
		delete(cs.targets, name)
		return
	}
	cs.targets[name] = t
}

// Open opens a comm towards the frontends, with data and buffers for its target there. It belongs to the
// cell that runs, if one does. prepare, which may be nil, sets the handlers before the frontend can answer.
func (cs *Comms) Open(target string, data any, prepare func(*Comm), buffers ...[]byte) (*Comm, error) {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails since Go 1.24
	c := &Comm{ID: hex.EncodeToString(id[:]), Target: target, comms: cs}
	cs.k.status.Lock()
	if cs.k.running != nil {
		c.parent = cs.k.running.parent
	}
	cs.k.status.Unlock()
	if prepare != nil {
		prepare(c)
	}
	cs.mu.Lock()
	cs.open[c.ID] = c
	cs.mu.Unlock()
	err := c.say("comm_open", map[string]any{"comm_id": c.ID, "target_name": target}, data, buffers)
	if err != nil {
		c.forget() // nobody heard of it
	}
	return c, err
}

// Send sends comm_msg to the frontends.
func (c *Comm) Send(data any, buffers ...[]byte) error {
	return c.say("comm_msg", map[string]any{"comm_id": c.ID}, data, buffers)
}

// Close sends comm_close and forgets the comm.
func (c *Comm) Close(data any) error {
	err := c.say("comm_close", map[string]any{"comm_id": c.ID}, data, nil)
	c.forget()
	return err
}

func (c *Comm) say(msgType string, content map[string]any, data any, buffers [][]byte) error {
	c.mu.Lock()
	parent, closed := c.parent, c.closed
	c.mu.Unlock()
	if closed {
		return fmt.Errorf("%s on %s: %w", msgType, c.Target, ErrCommClosed)
	}
	if data == nil {
		data = map[string]any{}
	}
	raw, err := wire.Marshal(data)
	if err != nil {
		return fmt.Errorf("%s on %s: %w", msgType, c.Target, err)
	}
	if raw[0] != '{' {
		return fmt.Errorf("%s on %s: the data is %.40s; want what is a JSON object, a map or a struct", msgType, c.Target, raw)
	}
	content["data"] = raw
	c.comms.k.iopub.message(msgType, parent, content, buffers...)
	return nil
}

func (c *Comm) forget() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.comms.mu.Lock()
	delete(c.comms.open, c.ID)
	delete(c.comms.lanes, c.ID)
	c.comms.mu.Unlock()
}

func (c *Comm) touched(by *request) {
	c.mu.Lock()
	c.parent = by.parent
	c.mu.Unlock()
}

// commContent is the content of the three comm messages.
type commContent struct {
	ID     string          `json:"comm_id"`
	Target string          `json:"target_name"`
	Data   json.RawMessage `json:"data"`
}

func (r *request) comm() (commContent, CommMessage, error) {
	var content commContent
	if err := r.read(&content); err != nil {
		return content, CommMessage{}, err
	}
	if len(content.Data) == 0 {
		content.Data = json.RawMessage("{}")
	}
	return content, CommMessage{Data: content.Data, Metadata: r.msg.Metadata, Buffers: r.msg.Buffers}, nil
}

// lane chooses where a comm message is served. A comm whose target is known lives beside the cells, so
// that it answers while one runs. Any other open waits for its turn among the cells: one of those
// before it may register the target. Messages follow their comm. What comes through a subshell never
// waits for cells: that is what a frontend makes the subshell for.
func (cs *Comms) lane(r *request) *lane {
	content, _, err := r.comm()
	if err != nil || r.shell.id != "" {
		return r.shell.talk
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if r.msg.Header.MsgType == "comm_open" {
		lane := r.shell.talk
		if _, known := cs.targets[content.Target]; !known {
			lane = r.shell.cells
		}
		cs.lanes[content.ID] = lane
		return lane
	}
	if lane := cs.lanes[content.ID]; lane != nil {
		return lane
	}
	return r.shell.talk
}

// opened serves comm_open. A comm that nobody here answers is closed at once, as the spec asks.
func (cs *Comms) opened(r *request) any {
	content, message, err := r.comm()
	if err != nil || content.ID == "" {
		return nil
	}
	c := &Comm{ID: content.ID, Target: content.Target, comms: cs, parent: r.parent}
	cs.mu.Lock()
	target, known := cs.targets[content.Target]
	if known {
		cs.open[c.ID] = c
	}
	cs.mu.Unlock()
	if !known {
		err = fmt.Errorf("there is no comm target %q", content.Target)
	} else {
		c.turn.Lock()
		err = guard(func() error { return target(c, message) })
		c.turn.Unlock()
	}
	if err != nil {
		_ = c.Close(map[string]any{"error": err.Error()}) // fails only if the target closed it already
	}
	return nil
}

// message serves comm_msg; one for a comm that is not open is dropped.
func (cs *Comms) message(r *request) any {
	c, message := cs.find(r)
	if c == nil || c.OnMessage == nil {
		return nil
	}
	c.turn.Lock()
	defer c.turn.Unlock()
	err := guard(func() error { c.OnMessage(message); return nil })
	if err != nil {
		_ = c.Close(map[string]any{"error": err.Error()})
	}
	return nil
}

// closed serves comm_close.
func (cs *Comms) closed(r *request) any {
	c, message := cs.find(r)
	if c == nil {
		return nil
	}
	c.forget()
	if c.OnClose != nil {
		c.turn.Lock()
		defer c.turn.Unlock()
		_ = guard(func() error { c.OnClose(message); return nil }) // nobody is left to tell
	}
	return nil
}

func (cs *Comms) find(r *request) (*Comm, CommMessage) {
	content, message, err := r.comm()
	if err != nil {
		return nil, message
	}
	cs.mu.Lock()
	c := cs.open[content.ID]
	cs.mu.Unlock()
	if c != nil {
		c.touched(r)
	}
	return c, message
}

// info answers comm_info_request, for one target or for all.
func (cs *Comms) info(r *request) any {
	var q struct {
		Target string `json:"target_name"`
	}
	if err := r.read(&q); err != nil {
		return badRequest(err)
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	comms := map[string]any{}
	for id, c := range cs.open {
		if q.Target == "" || q.Target == c.Target {
			comms[id] = map[string]any{"target_name": c.Target}
		}
	}
	return map[string]any{"status": "ok", "comms": comms}
}

// guard runs a handler; its panic becomes an error.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the comm's handler failed: %v", p)
		}
	}()
	return f()
}
