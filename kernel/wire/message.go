package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// ProtocolVersion is what every header of ours carries (message spec, "Versioning").
const ProtocolVersion = "5.6"

// Channel is one of the sockets between a frontend and a kernel.
type Channel string

// The four channels that carry messages; the heartbeat carries bytes only.
const (
	Shell   Channel = "shell"
	Control Channel = "control"
	Stdin   Channel = "stdin"
	IOPub   Channel = "iopub"
)

// Header is the header of a message.
type Header struct {
	MsgID      string `json:"msg_id"`
	Session    string `json:"session"`
	Username   string `json:"username"`
	Date       string `json:"date"` // ISO 8601 with a zone
	MsgType    string `json:"msg_type"`
	Version    string `json:"version"`
	SubshellID string `json:"subshell_id,omitempty"` // JEP 91
}

// Message is one Jupyter message. The JSON parts stay as they came, so that the parent header of a
// reply is the request's header to the last unknown field.
type Message struct {
	Identities [][]byte // where it came from or goes to; on iopub the one topic
	Header     Header
	RawHeader  json.RawMessage // the header as received; empty in messages that we made
	Parent     json.RawMessage // header of the message that caused this one; empty means {}
	Metadata   json.RawMessage // empty means {}
	Content    json.RawMessage // empty means {}
	Buffers    [][]byte
	Signature  []byte // as received; empty without a key
}

// AsParent is the header to put into the parent field of whatever this message causes.
func (m *Message) AsParent() json.RawMessage {
	if len(m.RawHeader) > 0 {
		return m.RawHeader
	}
	raw, err := json.Marshal(m.Header)
	if err != nil { // a struct of strings always encodes
		panic(err)
	}
	return raw
}

// ParentHeader reads the parent's header; its MsgID is empty when there is no parent.
func (m *Message) ParentHeader() Header {
	var h Header
	if len(m.Parent) > 0 {
		_ = json.Unmarshal(m.Parent, &h) // a parent that is no header is no parent
	}
	return h
}

// Delimiter stands between the routing prefix and the signature.
var Delimiter = []byte("<IDS|MSG>")

// Reasons for refusing frames. Decode wraps them.
var (
	ErrNoDelimiter  = errors.New("no <IDS|MSG> delimiter")
	ErrTooShort     = errors.New("fewer than five frames after the delimiter")
	ErrBadSignature = errors.New("wrong signature")
	ErrBadHeader    = errors.New("bad header")
	ErrBadJSON      = errors.New("a part that is no JSON object")
)

var emptyObject = json.RawMessage("{}")

// Encode lays the message out in frames and signs it.
func (s *Signer) Encode(m *Message) ([][]byte, error) {
	header, err := json.Marshal(m.Header)
	if err != nil {
		return nil, fmt.Errorf("wire: header of %s: %w", m.Header.MsgType, err)
	}
	parts := [4][]byte{header, orEmpty(m.Parent), orEmpty(m.Metadata), orEmpty(m.Content)}
	frames := make([][]byte, 0, len(m.Identities)+6+len(m.Buffers))
	frames = append(frames, m.Identities...)
	frames = append(frames, Delimiter, s.Sign(parts))
	frames = append(frames, parts[:]...)
	return append(frames, m.Buffers...), nil
}

// Decode checks the signature, then reads the frames. Nothing of a message whose signature is wrong
// is looked at. The message shares the frames' memory.
func (s *Signer) Decode(frames [][]byte) (Message, error) {
	at := -1
	for i, f := range frames {
		if bytes.Equal(f, Delimiter) {
			at = i
			break
		}
	}
	if at < 0 {
		return Message{}, fmt.Errorf("wire: %w", ErrNoDelimiter)
	}
	rest := frames[at+1:]
	if len(rest) < 5 {
		return Message{}, fmt.Errorf("wire: %w (%d)", ErrTooShort, len(rest))
	}
	parts := [4][]byte(rest[1:5])
	if !s.Verify(rest[0], parts) {
		return Message{}, fmt.Errorf("wire: %w", ErrBadSignature)
	}
	m := Message{
		Identities: frames[:at:at],
		RawHeader:  parts[0],
		Parent:     parts[1],
		Metadata:   parts[2],
		Content:    parts[3],
		Buffers:    rest[5:],
		Signature:  rest[0],
	}
	return m, m.check()
}

// check reads the header and requires every part to be a JSON object.
func (m *Message) check() error {
	if err := json.Unmarshal(m.RawHeader, &m.Header); err != nil {
		return fmt.Errorf("wire: %w: %v", ErrBadHeader, err)
	}
	if m.Header.MsgID == "" || m.Header.MsgType == "" {
		return fmt.Errorf("wire: %w: msg_id and msg_type are needed", ErrBadHeader)
	}
	for _, part := range [][]byte{m.RawHeader, m.Parent, m.Metadata, m.Content} {
		if !isObject(part) {
			return fmt.Errorf("wire: %w in %s", ErrBadJSON, m.Header.MsgType)
		}
	}
	return nil
}

func isObject(raw []byte) bool {
	trimmed := bytes.TrimLeft(raw, " \t\r\n")
	return len(trimmed) > 0 && trimmed[0] == '{' && json.Valid(raw)
}

func orEmpty(raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return emptyObject
	}
	return raw
}

// Marshal is json.Marshal without HTML escapes, which only make messages longer.
func Marshal(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}
