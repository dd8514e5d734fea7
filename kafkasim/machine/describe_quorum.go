package machine

import "fmt"

// Messages among controllers, and of administrators through brokers, in words.

// describeQuorum is what such a message says; false for every other payload.
func (s *State) describeQuorum(p Payload) (string, bool) {
	switch p := p.(type) {
	case VoteRequest:
		return fmt.Sprintf("%s epoch %d, log ends at %d in epoch %d", voteWord(p.PreVote), p.Epoch, p.End, p.LastEpoch), true
	case VoteResponse:
		if p.Error != NONE {
			return "VoteResponse " + p.Error.String() + leaderWord(p.Leader, p.Epoch), true
		}
		return "VoteResponse " + grantWord(p.Granted) + leaderWord(p.Leader, p.Epoch), true
	case BeginQuorumEpochRequest:
		return "BeginQuorumEpoch" + leaderWord(p.Leader, p.Epoch), true
	case BeginQuorumEpochResponse:
		return "BeginQuorumEpochResponse " + orError(p.Error, "ok") + leaderWord(p.Leader, p.Epoch), true
	case EndQuorumEpochRequest:
		return "EndQuorumEpoch" + leaderWord(p.Leader, p.Epoch), true
	case EndQuorumEpochResponse:
		return "EndQuorumEpochResponse " + orError(p.Error, "ok") + leaderWord(p.Leader, p.Epoch), true
	case AdminResponse:
		return "AdminResponse " + orError(p.Error, "done"), true
	}
	return s.describeAdmin(p)
}

// describeAdmin is what an administrator asks of the controller.
func (s *State) describeAdmin(p Payload) (string, bool) {
	switch p := p.(type) {
	case CreateTopic:
		return "CreateTopics " + p.Name, true
	case AddPartitions:
		return fmt.Sprintf("CreatePartitions %s to %d", p.Topic, p.Total), true
	case AlterTopic:
		return "IncrementalAlterConfigs " + p.Topic, true
	case DeleteTopic:
		return "DeleteTopics " + p.Topic, true
	case Reassign:
		return "AlterPartitionReassignments " + s.PartitionName(p.TP) + " to " + orNobody(p.Replicas), true
	case UnregisterBroker:
		return fmt.Sprintf("UnregisterBroker %d", p.Broker), true
	case AlterQuota:
		if p.Quota.Entity.Broker != NoNode {
			return fmt.Sprintf("IncrementalAlterConfigs of broker %d", p.Quota.Entity.Broker), true
		}
		return "AlterClientQuotas " + p.Quota.Entity.String(), true
	case ElectLeaders:
		if p.Unclean {
			return "ElectLeaders unclean " + s.PartitionName(p.TP), true
		}
		return "ElectLeaders preferred " + s.PartitionName(p.TP), true
	}
	return "", false
}

func orNobody(ids []NodeID) string {
	if len(ids) == 0 {
		return "what it was"
	}
	return nodeWords(ids)
}

func voteWord(pre bool) string {
	if pre {
		return "Vote (pre-vote)"
	}
	return "Vote"
}

func grantWord(granted bool) string {
	if granted {
		return "granted"
	}
	return "refused"
}

// leaderWord is " epoch 3, leader 3001".
func leaderWord(leader NodeID, epoch int32) string {
	if leader == NoNode {
		return fmt.Sprintf(" epoch %d, no leader known", epoch)
	}
	return fmt.Sprintf(" epoch %d, leader %d", epoch, leader)
}
