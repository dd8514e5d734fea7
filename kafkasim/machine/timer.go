package machine

// wake makes sure that a node gets a wake-up at a time, and not one event per reason to wake: at is the
// time for which one is set, 0 for none. A later one that is set already stays in the queue and is
// ignored when it fires, because its time is no longer the one in at.
func (s *State) wake(at *int64, when int64, node NodeID, p Payload) {
	if *at != 0 && *at <= when {
		return
	}
	*at = when
	s.after(when-s.Now, node, p)
}
