package kernel

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"kafkalab/kernel/wire"
)

// request is one message on its way through a lane.
type request struct {
	ch       wire.Channel
	lane     *lane
	shell    *shell
	msg      wire.Message
	parent   json.RawMessage // what its answers carry as parent header
	arrived  time.Time
	serve    func(*request) any
	metadata map[string]any // of the reply
	last     func()         // runs after the reply, before idle
	after    func()         // runs after idle
}

// read fills v from the content; the error is for the person at the frontend.
func (r *request) read(v any) error {
	if len(r.msg.Content) == 0 {
		return nil
	}
	err := json.Unmarshal(r.msg.Content, v)
	if shape := (*json.UnmarshalTypeError)(nil); errors.As(err, &shape) {
		return fmt.Errorf("content of %s: %s is a %s; want %s", r.msg.Header.MsgType, shape.Field, shape.Value, shape.Type)
	}
	if err != nil {
		return fmt.Errorf("content of %s: %w", r.msg.Header.MsgType, err)
	}
	return nil
}

// serve answers one request: busy, the handler, its reply, idle. There is no path around idle, not even
// through a panic: frontends wait for it.
func (k *Kernel) serve(r *request) {
	k.begin(r)
	content := k.guarded(r)
	if content != nil {
		k.reply(r, k.fit(r, content))
	}
	if r.last != nil {
		r.last()
	}
	k.end(r)
	if r.after != nil {
		r.after()
	}
}

// guarded runs the handler; its panic becomes an error reply.
func (k *Kernel) guarded(r *request) (content any) {
	defer func() {
		if p := recover(); p != nil {
			content = errorReply("KernelPanic", fmt.Sprintf("the kernel failed at %s: %v", r.msg.Header.MsgType, p),
				strings.Split(string(debug.Stack()), "\n")...)
		}
	}()
	return r.serve(r)
}

// fit makes a general error reply fit the types that ask for more: every execute_reply has a count, and
// is_complete_reply has words of its own for its status.
func (k *Kernel) fit(r *request, content any) any {
	reply, isMap := content.(map[string]any)
	if !isMap || reply["status"] != "error" {
		return content
	}
	switch r.msg.Header.MsgType {
	case "execute_request":
		if _, has := reply["execution_count"]; !has {
			reply["execution_count"] = r.shell.count.Load()
		}
	case "is_complete_request":
		reply["status"] = "unknown"
	}
	return reply
}

// begin says busy. A frontend's indicator follows every status message, whoever caused it, hence the
// lock: see end.
func (k *Kernel) begin(r *request) {
	k.status.Lock()
	defer k.status.Unlock()
	if r.lane == r.shell.cells {
		k.running = r
	}
	k.iopub.message("status", r.parent, map[string]any{"execution_state": "busy"})
}

// end says idle. When a completion ends while a cell runs, its idle would make the kernel look free;
// a second busy for the cell puts that right.
func (k *Kernel) end(r *request) {
	k.status.Lock()
	defer k.status.Unlock()
	if k.running == r {
		k.running = nil
	}
	k.iopub.message("status", r.parent, map[string]any{"execution_state": "idle"})
	if k.running != nil {
		k.iopub.message("status", k.running.parent, map[string]any{"execution_state": "busy"})
	}
}

// reply answers on the channel that asked, to the identity that asked.
func (k *Kernel) reply(r *request, content any) {
	raw, err := wire.Marshal(content)
	if err != nil {
		raw, _ = wire.Marshal(errorReply("KernelError", "the reply cannot be written as JSON: "+err.Error()))
	}
	var metadata json.RawMessage
	if r.metadata != nil {
		metadata, _ = wire.Marshal(r.metadata) // strings and bools only
	}
	k.out.Send(r.ch, &wire.Message{
		Identities: r.msg.Identities,
		Header:     k.session.Header(replyType(r.msg.Header.MsgType)),
		Parent:     r.parent,
		Metadata:   metadata,
		Content:    raw,
	})
}

func isRequest(msgType string) bool { return strings.HasSuffix(msgType, "_request") }

func replyType(request string) string {
	return strings.TrimSuffix(request, "_request") + "_reply"
}

// errorReply is the content of any reply with status error. traceback is a list even when it is empty:
// null breaks the frontends' schemas.
func errorReply(name, value string, traceback ...string) map[string]any {
	if traceback == nil {
		traceback = []string{}
	}
	return map[string]any{"status": "error", "ename": name, "evalue": value, "traceback": traceback}
}

// badRequest answers a request whose content cannot be read.
func badRequest(err error) map[string]any { return errorReply("BadRequest", err.Error()) }

// unknown answers what we do not know. A request gets a reply, so that nobody waits for ever; anything
// else is let pass, as the message spec asks.
func (k *Kernel) unknown(r *request) any {
	msgType := r.msg.Header.MsgType
	if !isRequest(msgType) {
		return nil
	}
	return errorReply("UnknownMessage", fmt.Sprintf("this kernel does not answer %s", msgType))
}
