package kerneltest

import (
	"encoding/json"
	"fmt"
	"strings"

	"kafkalab/kernel/wire"
)

// Field reads a field of a JSON object by its path, "data.text/plain"-like parts joined by a slash-free
// list of names. It is nil when there is none.
func Field(raw json.RawMessage, path ...string) any {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	for _, name := range path {
		object, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = object[name]
	}
	return v
}

// Reply reads a field of the reply.
func (ex *Exchange) Reply(path ...string) any {
	ex.client.mu.Lock()
	defer ex.client.mu.Unlock()
	if ex.reply == nil {
		return nil
	}
	return Field(ex.reply.Content, path...)
}

// ReplyMessage is the whole reply, nil while there is none.
func (ex *Exchange) ReplyMessage() *Received {
	ex.client.mu.Lock()
	defer ex.client.mu.Unlock()
	return ex.reply
}

// Status is the reply's status.
func (ex *Exchange) Status() string { return fmt.Sprint(ex.Reply("status")) }

// IOPub lists what came on iopub so far, in order.
func (ex *Exchange) IOPub() []Received {
	ex.client.mu.Lock()
	defer ex.client.mu.Unlock()
	return append([]Received{}, ex.iopub...)
}

// Of lists the contents of the iopub messages of one type.
func (ex *Exchange) Of(msgType string) []json.RawMessage {
	var contents []json.RawMessage
	for _, m := range ex.IOPub() {
		if m.Header.MsgType == msgType {
			contents = append(contents, m.Content)
		}
	}
	return contents
}

// Asked lists the contents of the input_requests.
func (ex *Exchange) Asked() []json.RawMessage {
	ex.client.mu.Lock()
	defer ex.client.mu.Unlock()
	var contents []json.RawMessage
	for _, m := range ex.stdin {
		contents = append(contents, m.Content)
	}
	return contents
}

// Text joins what came on "stdout" or "stderr".
func (ex *Exchange) Text(name string) string {
	var text strings.Builder
	for _, content := range ex.Of("stream") {
		if Field(content, "name") == name {
			text.WriteString(fmt.Sprint(Field(content, "text")))
		}
	}
	return text.String()
}

// Result is the plain text of the execute_result, "" without one.
func (ex *Exchange) Result() string {
	for _, content := range ex.Of("execute_result") {
		if text, ok := Field(content, "data", "text/plain").(string); ok {
			return text
		}
	}
	return ""
}

// Transcript writes the exchange as lines, for golden files: what came on iopub,
// the questions on stdin, then the reply.
func (ex *Exchange) Transcript() string {
	var b strings.Builder
	for _, m := range ex.IOPub() {
		fmt.Fprintf(&b, "iopub  %s\n", describe(m))
	}
	for _, content := range ex.Asked() {
		fmt.Fprintf(&b, "stdin  input_request %s\n", content)
	}
	if reply := ex.ReplyMessage(); reply != nil {
		fmt.Fprintf(&b, "%-6s %s\n", reply.Channel, describe(*reply))
	}
	return b.String()
}

// describe is one line per message, with the fields in a fixed order (encoding/json sorts them).
func describe(m Received) string {
	var content any
	if json.Unmarshal(m.Content, &content) != nil {
		return m.Header.MsgType + " " + string(m.Content)
	}
	raw, err := wire.Marshal(content)
	if err != nil {
		return m.Header.MsgType + " " + err.Error()
	}
	return m.Header.MsgType + " " + string(raw)
}
