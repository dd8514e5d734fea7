package machine

// OffsetQueue is what sendOffsetsToTransaction() was given and the group's coordinator does not have yet.
type OffsetQueue struct {
	GroupNode NodeID // the group's coordinator, NoNode while none is known
}

func (t *TransactionManager) forgetOffsets() {}

func (t *TransactionManager) hasOffsets() bool { return false }

func (s *State) sendTxnOffsets(p *Producer) {}

func (s *State) offsetsAnswered(p *Producer, answer Payload) bool { return false }

func (s *State) offsetsLost(p *Producer, asked Payload) {}
