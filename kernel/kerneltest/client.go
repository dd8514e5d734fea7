// Package kerneltest is a Jupyter client for tests: it sends requests to a kernel in memory (or through
// any other transport), collects what comes back, and checks every message against the protocol:
// fields and their types, parent headers, identities, busy first and idle last.
package kerneltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"kafkalab/kernel"
	"kafkalab/kernel/wire"
)

// Patience is how long a client waits before it calls a test failed.
const Patience = 60 * time.Second

// Client is one frontend. Make one with Start, or with New over a transport of your own.
type Client struct {
	T        testing.TB
	K        *kernel.Kernel // nil over a transport
	Identity string         // the routing prefix of its requests
	// Answer answers input_request; nil answers nothing.
	Answer func(prompt string, password bool) string

	session *wire.Session
	deliver func(wire.Channel, wire.Message)

	mu       sync.Mutex
	change   chan struct{} // closed and renewed whenever something arrives
	asked    map[string]*Exchange
	received []Received
	strays   []Received
}

// Received is a message and the channel on which it came.
type Received struct {
	Channel wire.Channel
	wire.Message
}

// New returns a client whose requests go to deliver; whoever receives for it calls Receive.
func New(t testing.TB, deliver func(wire.Channel, wire.Message)) *Client {
	return &Client{
		T: t, Identity: "client", deliver: deliver,
		session: wire.NewSession("tester"), change: make(chan struct{}), asked: map[string]*Exchange{},
	}
}

// Start runs a kernel for lang in memory and returns its client. The kernel is closed with the test.
func Start(t testing.TB, lang kernel.Language, opts kernel.Options) *Client {
	t.Helper()
	opts.Limits.Unpaced = true
	k := kernel.New(lang, opts)
	c := New(t, k.Handle)
	c.K = k
	k.Start(c)
	t.Cleanup(k.Close)
	return c
}

// Send implements kernel.Sender: the kernel speaks to the client.
func (c *Client) Send(ch wire.Channel, m *wire.Message) { c.Receive(ch, *m) }

// Receive takes a message from the kernel.
func (c *Client) Receive(ch wire.Channel, m wire.Message) {
	for _, problem := range Check(ch, &m) {
		c.T.Errorf("%s on %s: %s\n%s", m.Header.MsgType, ch, problem, m.Content)
	}
	c.mu.Lock()
	got := Received{ch, m}
	c.received = append(c.received, got)
	if ex := c.asked[m.ParentHeader().MsgID]; ex != nil {
		ex.take(c.T, got)
	} else {
		c.strays = append(c.strays, got)
	}
	close(c.change)
	c.change = make(chan struct{})
	c.mu.Unlock()
	if m.Header.MsgType == "input_request" && c.Answer != nil {
		go c.answerInput(m)
	}
}

func (c *Client) answerInput(question wire.Message) {
	var q struct {
		Prompt   string `json:"prompt"`
		Password bool   `json:"password"`
	}
	_ = json.Unmarshal(question.Content, &q) // Check has looked at it
	reply := c.message("input_reply", map[string]any{"value": c.Answer(q.Prompt, q.Password)})
	reply.Parent = question.AsParent()
	c.deliver(wire.Stdin, reply)
}

func (c *Client) message(msgType string, content any) wire.Message {
	raw, err := wire.Marshal(content)
	if err != nil {
		c.T.Fatalf("content of %s: %v", msgType, err)
	}
	m := wire.Message{
		Identities: [][]byte{[]byte(c.Identity)},
		Header:     c.session.Header(msgType),
		Parent:     json.RawMessage("{}"),
		Metadata:   json.RawMessage("{}"),
		Content:    raw,
	}
	m.RawHeader = m.AsParent()
	return m
}

// Ask sends a request and returns at once; Exchange.Wait waits for the answer.
func (c *Client) Ask(ch wire.Channel, msgType string, content any, change ...func(*wire.Message)) *Exchange {
	m := c.message(msgType, content)
	for _, f := range change {
		f(&m)
		m.RawHeader = nil
		m.RawHeader = m.AsParent()
	}
	ex := &Exchange{client: c, Request: Received{ch, m}}
	c.mu.Lock()
	c.asked[m.Header.MsgID] = ex
	c.mu.Unlock()
	c.deliver(ch, m)
	return ex
}

// Say sends a message that is no request, such as input_reply, and expects nothing.
func (c *Client) Say(ch wire.Channel, msgType string, content any, change ...func(*wire.Message)) {
	m := c.message(msgType, content)
	for _, f := range change {
		f(&m)
	}
	c.deliver(ch, m)
}

// Request asks on shell and waits for reply and idle.
func (c *Client) Request(msgType string, content any) *Exchange {
	c.T.Helper()
	return c.Ask(wire.Shell, msgType, content).Wait()
}

// Control asks on control and waits for reply and idle.
func (c *Client) Control(msgType string, content any) *Exchange {
	c.T.Helper()
	return c.Ask(wire.Control, msgType, content).Wait()
}

// Execution is the content of execute_request as JupyterLab fills it; tests change what they need.
func Execution(code string) map[string]any {
	return map[string]any{
		"code": code, "silent": false, "store_history": true,
		"user_expressions": map[string]any{}, "allow_stdin": true, "stop_on_error": true,
	}
}

// Execute runs a cell to its end.
func (c *Client) Execute(code string) *Exchange {
	c.T.Helper()
	return c.Request("execute_request", Execution(code))
}

// AskExecute sends a cell and returns at once.
func (c *Client) AskExecute(code string) *Exchange {
	return c.Ask(wire.Shell, "execute_request", Execution(code))
}

// Until waits until the condition holds; it is asked again after each message. what names it.
func (c *Client) Until(what string, holds func() bool) {
	c.T.Helper()
	deadline := time.NewTimer(Patience)
	defer deadline.Stop()
	for {
		c.mu.Lock()
		ok, change := holds(), c.change
		c.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-change:
		case <-deadline.C:
			c.T.Fatalf("waited %v for %s", Patience, what)
		}
	}
}

// UntilStray waits for a message of a type that belongs to none of our requests, and returns it.
func (c *Client) UntilStray(msgType string) (found Received) {
	c.T.Helper()
	c.Until(msgType, func() bool {
		for _, m := range c.strays {
			if m.Header.MsgType == msgType {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

// All returns every message received so far, in order.
func (c *Client) All() []Received {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Received{}, c.received...)
}

// Strays returns the messages without a parent among our requests, such as status starting.
func (c *Client) Strays() []Received {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Received{}, c.strays...)
}

// Exchange is a request and everything that came for it.
type Exchange struct {
	Request Received
	client  *Client

	reply *Received
	iopub []Received
	stdin []Received
	busy  bool
	idle  bool
}

// take files a message and checks its place; the client's lock is held.
func (ex *Exchange) take(t testing.TB, m Received) {
	asked := ex.Request.Header.MsgType
	if !bytes.Equal(m.Parent, ex.Request.RawHeader) {
		t.Errorf("%s: parent header of %s is %s, want the request's, %s", asked, m.Header.MsgType, m.Parent, ex.Request.RawHeader)
	}
	switch {
	case m.Channel == wire.IOPub:
		ex.takeIOPub(t, m)
	case m.Channel == wire.Stdin:
		ex.stdin = append(ex.stdin, m)
	case m.Channel != ex.Request.Channel:
		t.Errorf("%s was asked on %s and answered on %s", asked, ex.Request.Channel, m.Channel)
	case ex.reply != nil:
		t.Errorf("%s has a second reply", asked)
	default:
		want := strings.TrimSuffix(asked, "_request") + "_reply"
		if m.Header.MsgType != want {
			t.Errorf("%s was answered by %s", asked, m.Header.MsgType)
		}
		if ex.client.K != nil && string(bytes.Join(m.Identities, nil)) != ex.client.Identity {
			t.Errorf("%s was asked by %q and answered to %q", asked, ex.client.Identity, m.Identities)
		}
		ex.reply = &m
	}
}

func (ex *Exchange) takeIOPub(t testing.TB, m Received) {
	asked := ex.Request.Header.MsgType
	ex.iopub = append(ex.iopub, m)
	state := ""
	if m.Header.MsgType == "status" {
		state = fmt.Sprint(Field(m.Content, "execution_state"))
	}
	switch {
	case !ex.busy && state != "busy":
		t.Errorf("%s: %s came before busy", asked, m.Header.MsgType)
	case ex.idle && state != "":
		t.Errorf("%s: status %s came after idle", asked, state)
	}
	ex.busy = ex.busy || state == "busy"
	ex.idle = ex.idle || state == "idle"
}

// Done reports whether reply and idle are there. Messages that have no reply need idle only.
func (ex *Exchange) Done() bool {
	ex.client.mu.Lock()
	defer ex.client.mu.Unlock()
	return ex.done()
}

func (ex *Exchange) done() bool {
	return ex.idle && (ex.reply != nil || !strings.HasSuffix(ex.Request.Header.MsgType, "_request"))
}

// Wait waits for reply and idle.
func (ex *Exchange) Wait() *Exchange {
	ex.client.T.Helper()
	ex.client.Until("reply and idle of "+ex.Request.Header.MsgType, ex.done)
	return ex
}
