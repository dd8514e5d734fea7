package kernel

import (
	"sync"
	"time"
)

// What the server lets pass in any 3 seconds is 3,000,000 bytes of streams and 3,000 messages. An
// allowance that refills at a rate and holds a burst never spends more than burst + 3 × rate.
const (
	byteRate, byteBurst       = 800e3, 450e3
	messageRate, messageBurst = 800, 500
	messageOverhead           = 1000 // header, parent header and signature of one message, in bytes
	longestWait               = 50 * time.Millisecond
)

// pace keeps a cell's output below the server's limits. Output is never refused: it runs the allowance
// into debt, and the next output waits until the debt is paid.
type pace struct {
	off bool

	mu              sync.Mutex
	at              time.Time
	bytes, messages float64 // what may be sent now
}

func newPace(off bool) *pace {
	return &pace{off: off, at: time.Now(), bytes: byteBurst, messages: messageBurst}
}

// spend counts one message. The server does not count status, execute_input and comm_open, and of other
// messages than streams only the number.
func (p *pace) spend(msgType string, size int) {
	if p.off || msgType == "status" || msgType == "execute_input" || msgType == "comm_open" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refill()
	p.messages--
	if msgType == "stream" {
		p.bytes -= float64(size + messageOverhead)
	}
}

func (p *pace) refill() {
	now := time.Now()
	passed := now.Sub(p.at).Seconds()
	p.at = now
	p.bytes = min(byteBurst, p.bytes+passed*byteRate)
	p.messages = min(messageBurst, p.messages+passed*messageRate)
}

// debt is how long it takes until output is free again.
func (p *pace) debt() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refill()
	wait := max(-p.bytes/byteRate, -p.messages/messageRate, 0)
	return time.Duration(wait * float64(time.Second))
}

// wait sleeps off the debt. An interrupted cell waits a moment only: it has to come to its end.
func (p *pace) wait(stop <-chan struct{}) {
	if p.off {
		return
	}
	for {
		debt := p.debt()
		if debt == 0 {
			return
		}
		timer := time.NewTimer(min(debt, longestWait))
		select {
		case <-timer.C:
		case <-stop:
			<-timer.C
			return
		}
	}
}
