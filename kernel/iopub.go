package kernel

import (
	"encoding/json"
	"sync"
	"time"
	"unicode/utf8"

	"kafkalab/kernel/wire"
)

// publisher puts everything that goes out on iopub in one order, and merges printed text: pieces of one
// stream of one cell are gathered until Flush has passed, StreamBytes are there, or anything else has
// to be said.
type publisher struct {
	send   func(msgType string, parent, content json.RawMessage, buffers [][]byte)
	limits Limits
	pace   *pace

	mu    sync.Mutex
	from  *cellOutput // whose text is gathered
	name  string      // stdout or stderr
	text  []byte
	timer *time.Timer
}

func newPublisher(send func(string, json.RawMessage, json.RawMessage, [][]byte), limits Limits) *publisher {
	p := &publisher{limits: limits, pace: newPace(limits.Unpaced)}
	p.send = func(msgType string, parent, content json.RawMessage, buffers [][]byte) {
		p.pace.spend(msgType, len(content))
		send(msgType, parent, content, buffers)
	}
	return p
}

// stream gathers text.
func (p *publisher) stream(from *cellOutput, name, text string) {
	if text == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.from != from || p.name != name {
		p.emit(true)
		p.from, p.name = from, name
	}
	if len(p.text) == 0 {
		p.arm()
	}
	p.text = append(p.text, text...)
	if len(p.text) >= p.limits.StreamBytes {
		p.emit(false)
	}
}

func (p *publisher) arm() {
	if p.timer == nil {
		p.timer = time.AfterFunc(p.limits.Flush, p.tick)
		return
	}
	p.timer.Reset(p.limits.Flush)
}

func (p *publisher) tick() {
	p.mu.Lock()
	p.emit(false)
	p.mu.Unlock()
}

// flush sends what is gathered.
func (p *publisher) flush() {
	p.mu.Lock()
	p.emit(true)
	p.mu.Unlock()
}

// message sends anything but a stream's text, after what was printed before it.
func (p *publisher) message(msgType string, parent json.RawMessage, content any, buffers ...[]byte) {
	raw, err := wire.Marshal(content)
	if err != nil {
		raw, _ = wire.Marshal(map[string]any{"name": "stderr", "text": msgType + " cannot be written as JSON: " + err.Error() + "\n"})
		msgType = "stream"
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.emit(true)
	p.send(msgType, parent, raw, buffers)
}

// emit sends the gathered text, under the lock. Unless everything must go, the first bytes of a
// character that is not whole yet stay behind: a program may write one in two pieces.
func (p *publisher) emit(everything bool) {
	whole := len(p.text)
	if !everything {
		whole -= incomplete(p.text)
	}
	if whole == 0 {
		return
	}
	raw, err := wire.Marshal(map[string]string{"name": p.name, "text": string(p.text[:whole])})
	if err != nil { // strings always encode
		panic(err)
	}
	p.send("stream", p.from.req.parent, raw, nil)
	p.text = append(p.text[:0], p.text[whole:]...)
	if cap(p.text) > 4*p.limits.StreamBytes {
		p.text = append([]byte(nil), p.text...)
	}
}

// incomplete is the length of a cut-off UTF-8 sequence at the end of b.
func incomplete(b []byte) int {
	for n := 1; n <= min(len(b), utf8.UTFMax-1); n++ {
		c := b[len(b)-n]
		if utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}
