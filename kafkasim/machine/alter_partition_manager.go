package machine

import "slices"

// The AlterPartition manager of a broker: carries proposed ISRs to the controller.
//
// One request is in flight per broker, and at most one change per partition is with the manager. Changes
// that are proposed while a request is in flight go with the next one.
//
// Kafka: DefaultAlterPartitionManager (R2.20).

// AlterManager is the manager's state.
type AlterManager struct {
	Channel ControllerChannel
	Items   []AlterPart // with the manager; the first Sent of them are in the request in flight
	Sent    int32
	WakeAt  int64
	RetryAt int64 // µs: not before, after an error of the whole request
}

const (
	alterRetry   = 50_000     // µs after a top-level error (R2.20)
	alterTimeout = 30_000_000 // µs (controller.socket.timeout.ms)
)

// submitAlter hands a change to the manager; false when it already has one for the partition.
func (s *State) submitAlter(b *Broker, item AlterPart) bool {
	if slices.ContainsFunc(b.Alter.Items, func(i AlterPart) bool { return i.TP == item.TP }) {
		return false
	}
	b.Alter.Items = append(b.Alter.Items, item)
	s.sendAlter(b)
	return true
}

// sendAlter sends what is with the manager, unless a request is in flight or a retry is due later.
func (s *State) sendAlter(b *Broker) {
	m := &b.Alter
	if m.Channel.Channel.InFlight || len(m.Items) == 0 {
		return
	}
	if s.Now < m.RetryAt {
		s.wake(&m.WakeAt, m.RetryAt, b.ID, AlterPartitionTimer{}) // the timer may have been for something earlier
		return
	}
	m.Sent = int32(len(m.Items))
	if !s.askController(b, &m.Channel, alterTimeout, AlterPartitionRequest{
		Broker: b.ID, BrokerEpoch: b.Lifecycle.Epoch, Parts: slices.Clone(m.Items),
	}) {
		s.retryAlter(b)
		return
	}
	s.wake(&m.WakeAt, m.Channel.Channel.Deadline, b.ID, AlterPartitionTimer{})
}

// onAlterPartitionTimer sends again what was refused as a whole or not answered.
func (s *State) onAlterPartitionTimer(b *Broker, e Event) {
	m := &b.Alter
	if e.At != m.WakeAt {
		return
	}
	m.WakeAt = 0
	if m.Channel.Channel.InFlight {
		if s.Now < m.Channel.Channel.Deadline {
			s.wake(&m.WakeAt, m.Channel.Channel.Deadline, b.ID, AlterPartitionTimer{})
			return
		}
		s.leaveController(b, &m.Channel)
	}
	s.sendAlter(b)
}

// onAlterPartitionResponse hands the answers to the partitions, and sends what has come up meanwhile.
func (s *State) onAlterPartitionResponse(b *Broker, e Event, m AlterPartitionResponse) {
	a := &b.Alter
	if !a.Channel.Channel.answers(&e) {
		return
	}
	if m.Error != NONE {
		if m.Error == NOT_CONTROLLER {
			s.leaveController(b, &a.Channel)
		}
		s.retryAlter(b)
		return
	}
	sent := slices.Clone(a.Items[:a.Sent])
	a.Items = slices.Delete(a.Items, 0, int(a.Sent))
	a.Sent = 0
	for i := range sent {
		s.onISRAnswer(b, &sent[i], &m.Parts[i])
	}
	s.sendAlter(b)
}

// retryAlter sends what is with the manager again, a little later.
func (s *State) retryAlter(b *Broker) {
	a := &b.Alter
	a.RetryAt = s.Now + alterRetry
	s.wake(&a.WakeAt, a.RetryAt, b.ID, AlterPartitionTimer{})
}
