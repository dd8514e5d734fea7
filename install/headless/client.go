package headless

import (
	"encoding/json"
	"sync"

	"kafkalab/install/notebook"
	"kafkalab/kernel/wire"
)

// client is the frontend of a kernel in the same process: it is the kernel's Sender, and knows which cell
// the messages belong to.
type client struct {
	session *wire.Session

	mu      sync.Mutex
	outputs *outputs
	cell    int    // the index of the running cell
	request string // the msg_id of the request that is being answered
	reply   json.RawMessage
	idle    bool
	done    chan json.RawMessage
}

func newClient() *client { return &client{session: wire.NewSession("headless"), outputs: newOutputs()} }

// execute makes the request for a cell.
func (c *client) execute(cell int, id, code string, stopOnError bool) (wire.Message, <-chan json.RawMessage) {
	m, done := c.ask(cell, "execute_request", map[string]any{
		"code": code, "silent": false, "store_history": true, "user_expressions": map[string]any{},
		"allow_stdin": false, "stop_on_error": stopOnError,
	})
	m.Metadata = encoded(map[string]any{"cellId": id})
	return m, done
}

// ask makes a request; done hears the content of its reply once everything before idle was taken.
func (c *client) ask(cell int, msgType string, content any) (wire.Message, <-chan json.RawMessage) {
	header := c.session.Header(msgType)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.outputs.begin()
	c.cell, c.request, c.reply, c.idle = cell, header.MsgID, nil, false
	c.done = make(chan json.RawMessage, 1)
	return wire.Message{Header: header, Content: encoded(content)}, c.done
}

// Send implements kernel.Sender. What an earlier cell still says after its end is dropped, as nbclient
// drops it.
func (c *client) Send(ch wire.Channel, m *wire.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.request == "" || m.ParentHeader().MsgID != c.request {
		return
	}
	switch {
	case ch == wire.Shell:
		c.reply = m.Content
	case ch == wire.IOPub && m.Header.MsgType == "status":
		var status struct {
			State string `json:"execution_state"`
		}
		_ = json.Unmarshal(m.Content, &status)
		c.idle = status.State == "idle"
	case ch == wire.IOPub:
		var content content
		if json.Unmarshal(m.Content, &content) == nil {
			c.outputs.take(c.cell, m.Header.MsgType, content)
		}
	}
	if c.idle && c.reply != nil {
		c.request = ""
		c.done <- c.reply
	}
}

// shown is what a cell shows by now.
func (c *client) shown(cell int) []notebook.Output {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]notebook.Output(nil), c.outputs.cells[cell]...)
}

func encoded(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of strings and booleans
	}
	return raw
}
