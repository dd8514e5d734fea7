package machine

import (
	"slices"

	"kafkalab/kafkasim/partlog"
)

// What administrators do to share groups: kafka-share-groups.sh --delete, --delete-offsets and --reset-offsets.
//
// The group coordinator asks the share coordinators first, for each partition, and answers when all of them have. Only a
// group without members can be changed (NON_EMPTY_GROUP). New start offsets are a state that is initialized anew, with the
// group's epoch for its state epoch: who has read the state before is fenced.
//
// Kafka: GroupCoordinatorService.deleteShareGroups, alterShareGroupOffsets, deleteShareGroupOffsets; GroupMetadataManager.
// Simplified: the group's record has no list of topics whose states are being deleted, so a coordinator that fails in
// between leaves it to the administrator to ask again.

// AlterShareOffsetsRequest sets start offsets of a share group (API 91).
type AlterShareOffsetsRequest struct {
	Group string
	Parts []CommitPart // topic, partition, offset
}

// AlterShareOffsetsResponse answers for the group and for each partition, in order.
type AlterShareOffsetsResponse struct {
	Error Code
	Parts []CommitResult
}

// DeleteShareOffsetsRequest deletes a share group's state of topics (API 92).
type DeleteShareOffsetsRequest struct {
	Group  string
	Topics []string
}

// DeleteShareOffsetsResponse answers for the group and for each topic, in order.
type DeleteShareOffsetsResponse struct {
	Error Code
	Parts []CommitResult // Partition is 0
}

func (AlterShareOffsetsRequest) payload()   {}
func (AlterShareOffsetsResponse) payload()  {}
func (DeleteShareOffsetsRequest) payload()  {}
func (DeleteShareOffsetsResponse) payload() {}

// ShareAdmin is an administrator's request that waits for share coordinators.
type ShareAdmin struct {
	ID      int64
	Who     Parked
	Group   string
	Left    int32            // answers to wait for
	Gained  []TopicPartition // partitions that have a state then
	Lost    []TopicPartition // … and that have none
	Delete  bool             // the group itself
	Error   Code
	Success Later
}

// ShareGroupChanged answers an administrator when the group's record is committed.
type ShareGroupChanged struct {
	Who    Parked
	Answer Later
}

func (ShareGroupChanged) payload() {}

// emptyShareGroup finds a group that an administrator may change.
func (s *State) emptyShareGroup(b *Broker, id string) (*CoordinatorShard, *ShareGroup, Code) {
	x, code := s.groupShard(b, id)
	if code != NONE {
		return nil, nil, code
	}
	g := x.shareGroup(id)
	switch {
	case g == nil:
		return x, nil, GROUP_ID_NOT_FOUND
	case len(g.Members) > 0:
		return x, g, NON_EMPTY_GROUP
	}
	return x, g, NONE
}

// onDeleteShareGroup is a DeleteGroups request for a share group.
func (s *State) onDeleteShareGroup(b *Broker, p Parked, group string) {
	_, g, code := s.emptyShareGroup(b, group)
	if code != NONE {
		s.answerParked(b, &p, DeleteGroupResponse{Error: code})
		return
	}
	s.beginShareAdmin(b, ShareAdmin{Who: p, Group: group, Lost: g.Ready, Delete: true, Success: Later{DeleteGroupResponse{}}}, nil)
}

// onAlterShareOffsets sets start offsets; a group that nobody knows is made.
func (s *State) onAlterShareOffsets(b *Broker, e Event, m AlterShareOffsetsRequest) {
	p := parked(&e)
	x, g, code := s.emptyShareGroup(b, m.Group)
	if code == GROUP_ID_NOT_FOUND && x.group(m.Group) == nil {
		g, code = s.addShareGroup(x, m.Group), NONE
	}
	if code != NONE {
		s.answerParked(b, &p, AlterShareOffsetsResponse{Error: code})
		return
	}
	a := AlterShareOffsetsResponse{}
	j := ShareAdmin{Who: p, Group: m.Group}
	var calls []ShareStateRequest
	for _, c := range m.Parts {
		r := CommitResult{Topic: c.Topic, Partition: c.Partition}
		tp := TopicPartition{b.Image.topic(c.Topic), c.Partition}
		if b.Image.partition(tp) == nil {
			r.Error = UNKNOWN_TOPIC_OR_PARTITION
		} else {
			calls = append(calls, ShareStateRequest{Op: InitializeShareState, Group: m.Group, TP: tp, StateEpoch: g.Epoch, Start: c.Offset})
			j.Gained = append(j.Gained, tp)
		}
		a.Parts = append(a.Parts, r)
	}
	j.Success = Later{a}
	s.beginShareAdmin(b, j, calls)
}

// onDeleteShareOffsets deletes the state of topics.
func (s *State) onDeleteShareOffsets(b *Broker, e Event, m DeleteShareOffsetsRequest) {
	p := parked(&e)
	_, g, code := s.emptyShareGroup(b, m.Group)
	if code != NONE {
		s.answerParked(b, &p, DeleteShareOffsetsResponse{Error: code})
		return
	}
	a := DeleteShareOffsetsResponse{}
	j := ShareAdmin{Who: p, Group: m.Group}
	for _, name := range m.Topics {
		r := CommitResult{Topic: name, Error: UNKNOWN_TOPIC_OR_PARTITION}
		for _, tp := range g.Ready {
			if tp.Topic == b.Image.topic(name) {
				j.Lost = append(j.Lost, tp)
				r.Error = NONE
			}
		}
		a.Parts = append(a.Parts, r)
	}
	j.Success = Later{a}
	s.beginShareAdmin(b, j, nil)
}

// beginShareAdmin asks the share coordinators, and then goes on.
func (s *State) beginShareAdmin(b *Broker, j ShareAdmin, calls []ShareStateRequest) {
	for _, tp := range j.Lost {
		calls = append(calls, ShareStateRequest{Op: DeleteShareState, Group: j.Group, TP: tp})
	}
	b.Share.LastJob++
	j.ID, j.Left = b.Share.LastJob, int32(len(calls))
	b.Share.Admin = append(b.Share.Admin, j)
	for _, m := range calls {
		s.shareCall(b, ShareCall{Request: m, Job: j.ID})
	}
	s.goOnShareAdmin(b, j.ID)
}

// shareStateMade goes on when a share coordinator has made or deleted a state.
func (s *State) shareStateMade(b *Broker, c *ShareCall, code Code) {
	i := slices.IndexFunc(b.Share.Admin, func(j ShareAdmin) bool { return j.ID == c.Job })
	if c.Job == 0 || i < 0 {
		s.shareInitialized(b, c, code)
		return
	}
	j := &b.Share.Admin[i]
	j.Left--
	if code != NONE {
		j.Error = code
	}
	s.goOnShareAdmin(b, c.Job)
}

// goOnShareAdmin changes the group when all share coordinators have answered.
func (s *State) goOnShareAdmin(b *Broker, id int64) {
	i := slices.IndexFunc(b.Share.Admin, func(j ShareAdmin) bool { return j.ID == id })
	if b.Share.Admin[i].Left > 0 {
		return
	}
	j := b.Share.Admin[i]
	b.Share.Admin = slices.Delete(b.Share.Admin, i, i+1)
	x, g, code := s.emptyShareGroup(b, j.Group)
	if code == NONE {
		code = j.Error
	}
	then := ShareGroupChanged{Who: j.Who, Answer: j.Success}
	if code == NONE && !j.Delete {
		g.Ready = slices.DeleteFunc(slices.Concat(g.Ready, j.Gained), func(tp TopicPartition) bool { return slices.Contains(j.Lost, tp) })
		slices.SortFunc(g.Ready, compareTP)
		g.Ready = slices.Compact(g.Ready)
	}
	if code == NONE {
		code = s.coordinatorAppend(b, x, s.ownBatch(b, shareGroupRecord(g, j.Delete)), s.commitTimeout(), then)
	}
	if code != NONE {
		s.answerParked(b, &j.Who, shareAdminFailed(j.Success, code))
		return
	}
	if x = b.shard(x.TP); j.Delete && x != nil {
		if k, found := x.findShareGroup(j.Group); found {
			x.Share.Groups = slices.Delete(x.Share.Groups, k, k+1)
		}
	}
}

// shareAdminFailed is an answer with an error.
func shareAdminFailed(answer Later, code Code) Payload {
	switch answer.Payload.(type) {
	case DeleteGroupResponse:
		return DeleteGroupResponse{Error: code}
	case AlterShareOffsetsResponse:
		return AlterShareOffsetsResponse{Error: code}
	}
	return DeleteShareOffsetsResponse{Error: code}
}

// shareGroupChanged answers an administrator.
func (s *State) shareGroupChanged(b *Broker, m ShareGroupChanged, code Code) {
	if code != NONE {
		m.Answer = Later{shareAdminFailed(m.Answer, code)}
	}
	s.answerParked(b, &m.Who, m.Answer.Payload)
}

// shareGroupsForget takes a deleted topic out of what groups have a state of.
func (s *State) shareGroupsForget(b *Broker, topic int32) {
	for i := range b.Shards {
		var records []partlog.Record
		for k := range b.Shards[i].Share.Groups {
			g := &b.Shards[i].Share.Groups[k]
			left := slices.DeleteFunc(slices.Clone(g.Ready), func(tp TopicPartition) bool { return tp.Topic == topic })
			if len(left) != len(g.Ready) {
				g.Ready = left
				records = append(records, shareGroupRecord(g, false))
			}
		}
		if len(records) > 0 {
			s.coordinatorAppend(b, &b.Shards[i], s.ownBatch(b, records...), s.commitTimeout(), ShareGroupStored{})
		}
	}
}
