package machine

// handleGroup carries out a request of a group's member or of an administrator of groups.
func (s *State) handleGroup(b *Broker, e Event) {
	switch p := e.Payload.(type) {
	case JoinGroupRequest:
		s.onJoinGroup(b, e, p)
	case SyncGroupRequest:
		s.onSyncGroup(b, e, p)
	case HeartbeatRequest:
		s.onHeartbeat(b, e, p)
	case LeaveGroupRequest:
		s.onLeaveGroup(b, e, p)
	case ConsumerGroupHeartbeatRequest:
		s.onConsumerGroupHeartbeat(b, e, p)
	case OffsetCommitRequest:
		s.onOffsetCommit(b, e, p)
	case OffsetFetchRequest:
		s.onOffsetFetch(b, e, p)
	case TxnOffsetCommitRequest:
		s.onTxnOffsetCommitAsked(b, e, p)
	case DeleteGroupRequest:
		s.onDeleteGroup(b, e, p)
	case OffsetDeleteRequest:
		s.onOffsetDelete(b, e, p)
	default:
		unexpected(e)
	}
}
