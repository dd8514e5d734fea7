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
}

// alterTimeout is how long an answer may take, µs (controller.socket.timeout.ms). After an error of the whole
// request the manager waits controllerRetry, which is Kafka's 50 ms (R2.20).
const alterTimeout = 30_000_000

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
	if len(m.Items) == 0 || !s.mayAsk(b, &m.Channel, AlterPartitionTimer{}) {
		return
	}
	m.Sent = int32(len(m.Items))
	s.ask(b, &m.Channel, alterTimeout, AlterPartitionTimer{}, AlterPartitionRequest{
		Broker: b.ID, BrokerEpoch: b.Lifecycle.Epoch, Parts: slices.Clone(m.Items),
	})
}

// onAlterPartitionTimer sends again what was refused as a whole or not answered.
func (s *State) onAlterPartitionTimer(b *Broker, e Event) {
	if s.channelDue(b, e, &b.Alter.Channel) {
		s.sendAlter(b)
	}
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
		s.askAgain(b, &a.Channel, AlterPartitionTimer{})
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
