package wire

import "sync"

// Seen remembers the last messages' signatures, so that a recorded message cannot be played a second
// time. It holds a bounded number of them (jupyter_client keeps 65,536 for the same purpose).
//
// The msg_id would not do: jupyter_client's manager and client share a session and count their messages
// apart, so that a shutdown_request may well have the id of an earlier kernel_info_request.
type Seen struct {
	mu         sync.Mutex
	signatures map[string]struct{}
	ring       []string
	next       int
}

// NewSeen remembers up to size signatures.
func NewSeen(size int) *Seen {
	return &Seen{signatures: make(map[string]struct{}), ring: make([]string, max(size, 1))}
}

// First reports whether the message is new, and remembers it. Messages without a signature are always
// new: who may write anything needs no replay.
func (s *Seen) First(m *Message) bool {
	if len(m.Signature) == 0 {
		return true
	}
	signature := string(m.Signature)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, old := s.signatures[signature]; old {
		return false
	}
	delete(s.signatures, s.ring[s.next])
	s.signatures[signature] = struct{}{}
	s.ring[s.next] = signature
	s.next = (s.next + 1) % len(s.ring)
	return true
}
