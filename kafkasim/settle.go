package kafkasim

import (
	"fmt"
	"slices"

	"kafkalab/kafkasim/machine"
)

// open says in words what is under way and not only housekeeping, "" for nothing.
func (c *Cluster) open() string {
	for _, check := range []func() string{c.openProducers, c.openTransactions, c.openControllers, c.openBrokers, c.openPartitions, c.openMessages} {
		if s := check(); s != "" {
			return s
		}
	}
	return ""
}

func (c *Cluster) openProducers() string {
	for i := range c.s.Producers {
		p := &c.s.Producers[i]
		if p.Status == machine.ProducerCrashed {
			continue
		}
		if n := p.Undecided(); n > 0 {
			return fmt.Sprintf("%s has %s undecided", p.Name, plural(n, "record"))
		}
		if p.App.On {
			return p.Name + " goes on with its transactions"
		}
		if p.Txn.Waits() {
			return p.Name + " is " + p.Txn.State.String()
		}
		if len(p.Traffic) > 0 && p.Traffic[0].Left != 0 {
			return p.Name + " goes on sending to " + p.Traffic[0].Topic
		}
	}
	return ""
}

// openTransactions looks for transactions that are decided and whose markers are not all written.
func (c *Cluster) openTransactions() string {
	for _, t := range c.transactions() {
		if t.State == machine.TxnPrepareCommit.String() || t.State == machine.TxnPrepareAbort.String() {
			return t.ID + " is " + t.State
		}
	}
	return ""
}

// openBrokers looks for brokers that the controller sees otherwise than they are.
func (c *Cluster) openBrokers() string {
	if c.s.ActiveController() == nil {
		return "" // nobody will notice anything (R3.30)
	}
	for i := range c.s.Brokers {
		b, reg := &c.s.Brokers[i], &c.image().Brokers[i]
		out := reg.Fenced || reg.Epoch < 0
		switch b.Process {
		case machine.NotRunning:
			if !out && !reg.InControlledShutdown {
				return fmt.Sprintf("the controller has not noticed that broker %d is down", b.ID)
			}
		case machine.Running:
			switch {
			case b.Paused && !out:
				return fmt.Sprintf("the controller has not noticed that broker %d is silent", b.ID)
			case b.Paused:
			case out:
				return fmt.Sprintf("broker %d is fenced", b.ID)
			case b.Image.Offset < c.image().Offset:
				return fmt.Sprintf("broker %d has not read the newest metadata", b.ID)
			}
		default:
			return fmt.Sprintf("broker %d is %s", b.ID, b.Process)
		}
	}
	return ""
}

// up tells whether a broker takes part: alive, not silent, unfenced.
func (c *Cluster) up(id machine.NodeID) bool {
	b := &c.s.Brokers[id-1]
	return b.Process == machine.Running && !b.Paused && !c.image().Brokers[id-1].Fenced
}

// openPartitions looks for replicas that can catch up and have not, and for high watermarks that can move.
func (c *Cluster) openPartitions() string {
	if c.s.ActiveController() == nil {
		return ""
	}
	for t := range c.image().Topics {
		topic := &c.image().Topics[t]
		for p := range topic.Partitions {
			tp := machine.TopicPartition{Topic: int32(t), Partition: int32(p)}
			if s := c.openPartition(tp, &topic.Partitions[p], int(topic.Props.MinInSyncReplicas)); s != "" {
				return c.s.PartitionName(tp) + ": " + s
			}
		}
	}
	return ""
}

func (c *Cluster) openPartition(tp machine.TopicPartition, reg *machine.PartitionRegistration, minISR int) string {
	if reg.Leader == machine.NoNode || !c.up(reg.Leader) {
		return "" // whether anybody can lead is the brokers' affair, and openBrokers looks at them
	}
	leader := c.replica(reg.Leader, tp)
	if leader == nil || leader.Role != machine.Leader || leader.LeaderEpoch != reg.LeaderEpoch {
		return fmt.Sprintf("broker %d does not know yet that it leads", reg.Leader)
	}
	frozen := len(reg.ISR) < min(minISR, len(reg.Replicas))
	if !frozen && leader.Log.HighWatermark < leader.Log.End {
		return fmt.Sprintf("high watermark %d is below the log end %d", leader.Log.HighWatermark, leader.Log.End)
	}
	for _, id := range reg.Replicas {
		if id == reg.Leader {
			continue
		}
		r := c.replica(id, tp)
		switch {
		case !c.up(id):
			if slices.Contains(reg.ISR, id) && len(reg.ISR) > 1 && leader.Log.End > leader.Log.HighWatermark {
				return fmt.Sprintf("broker %d is silent and still in the ISR", id)
			}
		case c.cut(id, reg.Leader):
		case r == nil || r.Role != machine.Follower || r.Log.End < leader.Log.End || r.Log.HighWatermark < leader.Log.HighWatermark:
			return fmt.Sprintf("broker %d has not caught up", id)
		case !slices.Contains(reg.ISR, id):
			return fmt.Sprintf("broker %d is not in the ISR yet", id)
		}
	}
	return ""
}

// cut tells whether two nodes cannot reach each other.
func (c *Cluster) cut(a, b machine.NodeID) bool {
	return slices.ContainsFunc(c.s.Links, func(l machine.Link) bool { return l.Cut && l.From == a && l.To == b })
}

// openMessages looks for messages on the wire that change something when they arrive.
func (c *Cluster) openMessages() string {
	for i := range c.s.Queue {
		if e := &c.s.Queue[i]; e.From != machine.NoNode && !housekeeping(e.Payload) {
			return "on the wire: " + c.s.Describe(*e)
		}
	}
	return ""
}

// housekeeping tells whether a message or timer is one of those that never end: heartbeats, fetches that
// bring nothing, metadata fetches, timers.
func housekeeping(p machine.Payload) bool {
	switch p := p.(type) {
	case machine.ProduceRequest, machine.ProduceResponse, machine.AlterPartitionRequest, machine.AlterPartitionResponse,
		machine.BrokerRegistrationRequest, machine.BrokerRegistrationResponse,
		machine.JoinGroupRequest, machine.JoinGroupResponse, machine.SyncGroupRequest, machine.SyncGroupResponse,
		machine.LeaveGroupRequest, machine.LeaveGroupResponse, machine.OffsetCommitRequest, machine.OffsetCommitResponse,
		machine.DeleteRecordsRequest, machine.DeleteRecordsResponse,
		machine.AddPartitionsToTxnRequest, machine.EndTxnRequest, machine.WriteTxnMarkersRequest:
		return false
	case machine.FetchResponse:
		for i := range p.Parts {
			if len(p.Parts[i].Batches) > 0 || p.Parts[i].Error != machine.NONE || p.Parts[i].Diverging.Epoch >= 0 {
				return false
			}
		}
	case machine.MetadataFetchResponse:
		return len(p.Records) == 0
	case machine.ShareFetchRequest:
		return len(p.Acks) == 0
	case machine.ShareFetchResponse:
		return len(p.Parts)+len(p.Acks) == 0 && p.Error == machine.NONE
	case machine.ShareAcknowledgeRequest, machine.ShareAcknowledgeResponse, machine.ShareStateRequest, machine.ShareStateResponse:
		return false
	}
	return true
}
