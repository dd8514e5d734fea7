package machine

// Controller is the active controller of the KRaft quorum.
type Controller struct{}

func (s *State) controllerEvent(e Event) { unexpected(e) }
