package wire

import "sync"

// Seen remembers the last messages' ids, so that a recorded message cannot be played a second time.
// It holds a bounded number of them (jupyter_client keeps 65,536 digests for the same purpose).
type Seen struct {
	mu   sync.Mutex
	ids  map[string]struct{}
	ring []string
	next int
}

// NewSeen remembers up to size ids.
func NewSeen(size int) *Seen {
	return &Seen{ids: make(map[string]struct{}), ring: make([]string, max(size, 1))}
}

// First reports whether the message's id is new, and remembers it.
func (s *Seen) First(h Header) bool {
	id := h.Session + "\x00" + h.MsgID
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, old := s.ids[id]; old {
		return false
	}
	delete(s.ids, s.ring[s.next])
	s.ids[id] = struct{}{}
	s.ring[s.next] = id
	s.next = (s.next + 1) % len(s.ring)
	return true
}
