package machine

// FindCoordinator: which broker coordinates a group or a transactional id.
//
// The id's hash picks a partition of an internal topic, and that partition's leader is the coordinator (T-1,
// G-1). Any broker can say who that is, as far as its metadata go; the coordinator itself may not be ready yet
// (coordinator_log.go).
//
// Kafka: KafkaApis.handleFindCoordinatorRequest (API 10), Utils.abs, GroupCoordinatorService.partitionFor,
// TransactionStateManager.partitionFor. Simplified: one key in each request (KIP-699 has several).

// CoordinatorKind says for what a coordinator is: Kafka's CoordinatorType, with its numbers.
type CoordinatorKind uint8

// The kinds of coordinator.
const (
	GroupCoordinator       CoordinatorKind = 0
	TransactionCoordinator CoordinatorKind = 1
	ShareCoordinator       CoordinatorKind = 2
)

// String is Kafka's name of the kind.
func (k CoordinatorKind) String() string { return [...]string{"GROUP", "TRANSACTION", "SHARE"}[k] }

// Topic is the internal topic of the coordinators of a kind.
func (k CoordinatorKind) Topic() string {
	return [...]string{ConsumerOffsetsTopic, TransactionStateTopic, ShareGroupStateTopic}[k]
}

// FindCoordinatorRequest asks any broker for the coordinator of a group or a transactional id (API 10).
type FindCoordinatorRequest struct {
	Kind CoordinatorKind
	Key  string
}

// FindCoordinatorResponse names it: COORDINATOR_NOT_AVAILABLE while there is none.
type FindCoordinatorResponse struct {
	Error Code
	Node  NodeID // NoNode with an error
}

func (FindCoordinatorRequest) payload()  {}
func (FindCoordinatorResponse) payload() {}

// CoordinatorPartition is the partition, of n, of the internal topic that an id belongs to (T-1, G-1).
func CoordinatorPartition(id string, n int32) int32 {
	h := javaHash(id)
	if h == -1<<31 {
		h = 0 // Utils.abs: it has no positive counterpart
	}
	return max(h, -h) % n
}

// javaHash is String.hashCode: over UTF-16 code units, in 32 bits (G-2).
func javaHash(text string) int32 {
	h := int32(0)
	for _, r := range text {
		if r > 0xffff {
			r -= 0x10000
			h = 31*h + 0xd800 + r>>10
			r = 0xdc00 + r&0x3ff
		}
		h = 31*h + r
	}
	return h
}

// onFindCoordinator answers from the broker's own image. An internal topic that is not there is asked for.
func (s *State) onFindCoordinator(b *Broker, e Event, m FindCoordinatorRequest) {
	res := FindCoordinatorResponse{Error: COORDINATOR_NOT_AVAILABLE}
	if b.Image.topic(m.Kind.Topic()) < 0 {
		s.makeInternalTopic(b, m.Kind.Topic())
	} else if node := b.coordinatorOf(m.Kind, m.Key); node != NoNode {
		res = FindCoordinatorResponse{Node: node}
	}
	s.reply(b, e.From, e.Conn, e.Correlation, res)
}

// coordinatorOf is the coordinator of an id as a broker knows it; NoNode for none that is there.
func (b *Broker) coordinatorOf(kind CoordinatorKind, key string) NodeID {
	t := b.Image.topic(kind.Topic())
	if t < 0 {
		return NoNode
	}
	ps := b.Image.Topics[t].Partitions
	leader := ps[CoordinatorPartition(key, int32(len(ps)))].Leader
	if leader == NoNode || b.Image.broker(leader).Fenced {
		return NoNode
	}
	return leader
}
