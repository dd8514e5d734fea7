package machine

import "fmt"

// Messages to and from coordinators, and their timers, in words.

// describeCoordinator is what such a message says or such a timer is for; false for every other payload.
func (s *State) describeCoordinator(p Payload) (string, bool) {
	switch p := p.(type) {
	case FindCoordinatorRequest:
		return fmt.Sprintf("FindCoordinator %s %s", p.Kind, p.Key), true
	case FindCoordinatorResponse:
		return "FindCoordinatorResponse " + orError(p.Error, s.NodeName(p.Node)), true
	case CoordinatorLoadTimer:
		return fmt.Sprintf("has read %s and coordinates it in epoch %d", s.PartitionName(p.TP), p.Epoch), true
	case CoordinatorWritten:
		return fmt.Sprintf("its record in %s %s", s.PartitionName(p.TP), orError(p.Error, "is committed")), true
	}
	return "", false
}
