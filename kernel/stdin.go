package kernel

import (
	"encoding/json"
	"errors"
	"sync"

	"kafkalab/kernel/wire"
)

// Reasons why a cell gets no line of input.
var (
	ErrNoStdin     = errors.New("this frontend does not allow the cell to ask for input (allow_stdin is false)")
	ErrInterrupted = errors.New("interrupted while waiting for input")
)

// asker holds the one question that may be open at a time.
type asker struct {
	turn sync.Mutex // held by the cell goroutine that asks

	mu   sync.Mutex
	open *question
}

type question struct {
	id       string // msg_id of the input_request
	identity string
	answer   chan string
}

// ask sends input_request to whoever sent the cell and waits for the answer. An interrupt and a
// shutdown end the wait.
func (k *Kernel) ask(o *cellOutput, prompt string, password bool) (string, error) {
	k.asker.turn.Lock()
	defer k.asker.turn.Unlock()
	content, err := wire.Marshal(map[string]any{"prompt": prompt, "password": password})
	if err != nil {
		return "", err
	}
	m := &wire.Message{
		Identities: o.req.msg.Identities, // stdin shares the identity of shell
		Header:     k.session.Header("input_request"),
		Parent:     o.req.parent,
		Content:    content,
	}
	m.Header.SubshellID = o.req.shell.id
	q := &question{id: m.Header.MsgID, identity: identity(&o.req.msg), answer: make(chan string, 1)}
	k.asker.set(q)
	defer k.asker.set(nil)
	k.out.Send(wire.Stdin, m)
	select {
	case line := <-q.answer:
		return line, nil
	case <-o.stop:
		return "", ErrInterrupted
	case <-k.done:
		return "", ErrInterrupted
	}
}

func (a *asker) set(q *question) {
	a.mu.Lock()
	a.open = q
	a.mu.Unlock()
}

// answer takes an input_reply. One that answers another question, or comes from somebody else, is a
// leftover and is dropped. (jupyter_client sends no parent header with its answers.)
func (a *asker) answer(m *wire.Message) {
	var content struct {
		Value string `json:"value"`
	}
	if json.Unmarshal(m.Content, &content) != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	q := a.open
	if q == nil || q.identity != identity(m) {
		return
	}
	if id := m.ParentHeader().MsgID; id != "" && id != q.id {
		return
	}
	a.open = nil
	q.answer <- content.Value
}

func identity(m *wire.Message) string {
	var id []byte
	for _, part := range m.Identities {
		id = append(append(id, part...), 0)
	}
	return string(id)
}
