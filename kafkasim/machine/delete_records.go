package machine

import "slices"

// DeleteRecords: everything before an offset goes (R7.7).
//
// The leader raises its log start at once; followers learn of it with their next fetch answers, and the
// leader learns that they have from the fetches after. The request waits until every replica on a live
// broker has. Segments that lie before the log start go at each broker's next retention run.
//
// Kafka: ReplicaManager.deleteRecords, Partition.deleteRecordsOnLeader, lowWatermarkIfLeader,
// DelayedDeleteRecords.

// DeleteRecords asks the leader of a partition to delete the records before an offset; -1 is the high
// watermark. The Result's ID is the index of the answer in State.Deletions.
type DeleteRecords struct {
	TP     TopicPartition
	Before int64
}

func (DeleteRecords) command() {}

// Deletion is what became of a DeleteRecords command.
type Deletion struct {
	TP     TopicPartition
	Before int64
	Done   bool
	Error  Code
	Low    int64 // the low watermark of the answer, -1 with an error
}

// AdminNode is the administrator's client, which sends DeleteRecords.
const AdminNode = FirstProbe - 1

// adminPatience is how long the administrator waits for an answer, µs (default.api.timeout.ms), and
// adminTimeout how long a broker may take (request.timeout.ms), ms.
const (
	adminPatience = 60_000_000
	adminTimeout  = 30_000
)

// DeleteRecordsRequest is API 21.
type DeleteRecordsRequest struct {
	TimeoutMs int64
	Parts     []DeletePart
}

// DeletePart is one partition of it.
type DeletePart struct {
	TP     TopicPartition
	Before int64 // -1 for the high watermark
}

// DeleteRecordsResponse answers each partition, in order.
type DeleteRecordsResponse struct{ Parts []DeleteResult }

// DeleteResult is one partition's answer.
type DeleteResult struct {
	TP           TopicPartition
	Error        Code
	LowWatermark int64 // -1 with an error
}

// AdminTimer: the administrator has waited long enough for an answer.
type AdminTimer struct{ Deletion int32 }

func (DeleteRecordsRequest) payload()  {}
func (DeleteRecordsResponse) payload() {}
func (AdminTimer) payload()            {}

// DelayedDelete is a DeleteRecords request that waits for the followers.
type DelayedDelete struct {
	From              NodeID
	Conn, Correlation uint32
	Deadline          int64 // µs
	Parts             []DelayedDeletePart
}

// DelayedDeletePart is one partition of it: decided, or waiting for the low watermark to reach Required.
type DelayedDeletePart struct {
	Result   DeleteResult
	Required int64
	Waiting  bool
}

// deleteRecords sends the command's request to whom the controller has as the leader.
func (s *State) deleteRecords(c DeleteRecords) Result {
	id := int32(len(s.Deletions))
	s.Deletions = append(s.Deletions, Deletion{TP: c.TP, Before: c.Before, Low: -1})
	d := &s.Deletions[id]
	switch reg := s.Metadata().partition(c.TP); {
	case reg == nil:
		d.Done, d.Error = true, UNKNOWN_TOPIC_OR_PARTITION
	case reg.Leader == NoNode:
		d.Done, d.Error = true, LEADER_NOT_AVAILABLE
	default:
		s.send(AdminNode, reg.Leader, uint32(id+1), 1, DeleteRecordsRequest{
			TimeoutMs: adminTimeout, Parts: []DeletePart{{TP: c.TP, Before: c.Before}},
		})
		s.after(adminPatience, AdminNode, AdminTimer{Deletion: id})
	}
	return Result{Error: d.Error, ID: id}
}

// adminEvent is what reaches the administrator's client: the answer, a broken connection, or the end of its
// patience. Each command has a connection of its own, numbered from 1.
func (s *State) adminEvent(e Event) {
	settle := func(i int32, code Code, low int64) {
		if d := &s.Deletions[i]; !d.Done {
			d.Done, d.Error, d.Low = true, code, low
		}
	}
	if s.groupAdministrated(&e) {
		return
	}
	switch p := e.Payload.(type) {
	case DeleteRecordsResponse:
		settle(int32(e.Conn)-1, p.Parts[0].Error, p.Parts[0].LowWatermark)
	case Disconnected:
		settle(int32(e.Conn)-1, NETWORK_EXCEPTION, -1)
	case RequestTimer:
		s.Admin[p.Request].GivenUp = true
	case AdminTimer:
		settle(p.Deletion, REQUEST_TIMED_OUT, -1)
	default:
		unexpected(e)
	}
}

// onDeleteRecords raises the log starts and waits for the followers (R7.7).
func (s *State) onDeleteRecords(b *Broker, e Event, m DeleteRecordsRequest) {
	d := DelayedDelete{From: e.From, Conn: e.Conn, Correlation: e.Correlation, Deadline: s.Now + m.TimeoutMs*1000,
		Parts: make([]DelayedDeletePart, len(m.Parts))}
	for i := range m.Parts {
		d.Parts[i] = s.deleteBefore(b, &m.Parts[i])
	}
	if !s.tryDelete(b, &d) {
		b.Deletes = append(b.Deletes, d)
		s.wake(&b.PurgatoryAt, d.Deadline, b.ID, PurgatoryTimer{})
	}
}

// deleteBefore is one partition of it, on the leader (R7.8: never above the high watermark).
func (s *State) deleteBefore(b *Broker, p *DeletePart) DelayedDeletePart {
	fail := func(code Code) DelayedDeletePart {
		s.refused(b, p.TP, code)
		return DelayedDeletePart{Result: DeleteResult{TP: p.TP, Error: code, LowWatermark: -1}}
	}
	r, code := b.leaderReplica(p.TP)
	if code != NONE {
		return fail(code)
	}
	if policy := b.topicProps(p.TP.Topic).CleanupPolicy; policy.Compacts() && !policy.Deletes() {
		return fail(POLICY_VIOLATION)
	}
	before := p.Before
	if before == -1 {
		before = r.Log.HighWatermark
	}
	if before < 0 || before > r.Log.HighWatermark {
		return fail(OFFSET_OUT_OF_RANGE)
	}
	s.raiseLogStart(b, r, before)
	return DelayedDeletePart{Result: DeleteResult{TP: p.TP}, Required: before, Waiting: true}
}

// lowWatermark is the lowest log start of a partition, over the leader and the replicas on live brokers as
// they last fetched.
func (b *Broker) lowWatermark(r *Replica) int64 {
	low := r.Log.LogStart
	for i := range r.Remotes {
		if x := &r.Remotes[i]; !b.Image.broker(x.Broker).Fenced {
			low = min(low, x.LogStart)
		}
	}
	return low
}

// tryDelete decides what can be decided of a waiting request, and answers it when nothing waits any more.
func (s *State) tryDelete(b *Broker, d *DelayedDelete) bool {
	waiting := false
	for i := range d.Parts {
		p := &d.Parts[i]
		if !p.Waiting {
			continue
		}
		r, code := b.leaderReplica(p.Result.TP)
		if code != NONE {
			p.Waiting, p.Result.Error, p.Result.LowWatermark = false, code, -1
			s.refused(b, p.Result.TP, code)
			continue
		}
		p.Result.LowWatermark = b.lowWatermark(r)
		p.Waiting = p.Result.LowWatermark < p.Required
		waiting = waiting || p.Waiting
	}
	if waiting {
		return false
	}
	s.answerDelete(b, d)
	return true
}

func (s *State) answerDelete(b *Broker, d *DelayedDelete) {
	res := DeleteRecordsResponse{Parts: make([]DeleteResult, len(d.Parts))}
	for i := range d.Parts {
		res.Parts[i] = d.Parts[i].Result
	}
	s.reply(b, d.From, d.Conn, d.Correlation, res)
}

// completeDeletes tries the DeleteRecords requests that wait: a follower has fetched, or a role has changed.
func (s *State) completeDeletes(b *Broker) {
	if len(b.Deletes) == 0 {
		return
	}
	b.Deletes = slices.DeleteFunc(b.Deletes, func(d DelayedDelete) bool { return s.tryDelete(b, &d) })
}

// expireDeletes ends the DeleteRecords requests whose time is over.
func (s *State) expireDeletes(b *Broker) {
	b.Deletes = slices.DeleteFunc(b.Deletes, func(d DelayedDelete) bool {
		if d.Deadline > s.Now {
			s.wake(&b.PurgatoryAt, d.Deadline, b.ID, PurgatoryTimer{})
			return false
		}
		for i := range d.Parts {
			if p := &d.Parts[i]; p.Waiting {
				p.Result.Error, p.Result.LowWatermark = REQUEST_TIMED_OUT, -1
				s.refused(b, p.Result.TP, REQUEST_TIMED_OUT)
			}
		}
		s.answerDelete(b, &d)
		return true
	})
}
