package machine

import (
	"kafkalab/kafkasim/partlog"
)

// The records of __consumer_offsets, to the byte, and what is read back from them.
//
// Keys of version 1 are a group's offset of a partition, keys of version 2 are a group; a null value is a tombstone. Of
// a member only what it said for the chosen protocol is kept, so a member that joins again after the coordinator has
// moved counts as changed.
//
// Kafka: GroupCoordinatorRecordHelpers, OffsetCommitKey and -Value, GroupMetadataKey and -Value (coordinator-key and
// coordinator-value messages), ConsumerProtocolSubscription and -Assignment, GroupMetadataManager.replay.

const (
	offsetKeyVersion    = 1
	groupKeyVersion     = 2
	offsetValueVersion  = 3
	groupValueVersion   = 3
	subscriptionVersion = 3
)

// offsetRecord is the record of a commit, or its tombstone.
func offsetRecord(group, topic string, partition int32, v *OffsetVersion) partlog.Record {
	k := recordWriter{}
	k.int16(offsetKeyVersion)
	k.text(group)
	k.text(topic)
	k.int32(partition)
	if v.Gone {
		return partlog.Record{Key: string(k.bytes), Flags: partlog.NullValue}
	}
	w := recordWriter{}
	w.int16(offsetValueVersion)
	w.int64(v.Offset)
	w.int32(v.LeaderEpoch)
	w.text(v.Metadata)
	w.int64(v.CommitMs)
	return partlog.Record{Key: string(k.bytes), Value: string(w.bytes)}
}

func groupKey(id string) string {
	k := recordWriter{}
	k.int16(groupKeyVersion)
	k.text(id)
	return string(k.bytes)
}

// groupRecord is the record of a group with what its members are to get; nil keeps what they have.
func groupRecord(g *Group, assignments []MemberAssignment) partlog.Record {
	w := recordWriter{}
	w.int16(groupValueVersion)
	w.text(g.Type)
	w.int32(g.Generation)
	w.maybeText(g.Protocol)
	w.maybeText(g.Leader)
	w.int64(g.ChangedMs)
	w.length(len(g.Members))
	for i := range g.Members {
		m := &g.Members[i]
		w.text(m.ID)
		w.maybeText(m.Instance)
		w.text(m.ClientID)
		w.text(m.Host)
		w.int32(int32(m.RebalanceTimeout / ms))
		w.int32(int32(m.SessionTimeout / ms))
		var said []byte
		if p := m.protocol(g.Protocol); p != nil {
			said = subscriptionBytes(&p.Subscription)
		}
		parts := m.Assignment
		if assignments != nil {
			parts = nil
			for j := range assignments {
				if assignments[j].Member == m.ID {
					parts = assignments[j].Parts
				}
			}
		}
		w.data(said)
		w.data(assignmentBytes(parts))
	}
	return partlog.Record{Key: groupKey(g.ID), Value: string(w.bytes)}
}

// storeGroup writes the group as it is.
func (s *State) storeGroup(b *Broker, x *CoordinatorShard, g *Group, assignments []MemberAssignment) {
	s.storeGroupThen(b, x, g, assignments, GroupStored{Group: g.ID})
}

// storeGroupThen writes the group, and lets then follow when that is committed, or at once when it cannot be.
func (s *State) storeGroupThen(b *Broker, x *CoordinatorShard, g *Group, assignments []MemberAssignment, then Payload) {
	if assignments == nil && g.State == GroupCompletingRebalance {
		assignments = []MemberAssignment{}
	}
	base := b.replica(x.TP).Log.End
	code := s.coordinatorAppend(b, x, s.ownBatch(b, groupRecord(g, assignments)), s.commitTimeout(), then)
	switch {
	case code == NONE && g.BornAt < 0:
		g.BornAt = base
	case code != NONE:
		s.after(0, b.ID, CoordinatorWritten{Kind: x.Kind, TP: x.TP, Epoch: x.Epoch, Error: code, Then: Later{then}})
	}
}

func subscriptionBytes(p *Subscription) []byte {
	w := recordWriter{}
	w.int16(subscriptionVersion)
	w.texts(p.Topics)
	if p.Sticky { // StickyAssignor's own user data
		u := recordWriter{}
		u.parts(p.Owned)
		u.int32(p.Generation)
		w.data(u.bytes)
		w.length(0)
		w.int32(-1)
	} else {
		w.length(-1)
		w.parts(p.Owned)
		w.int32(p.Generation)
	}
	w.maybeText(p.Rack)
	return w.bytes
}

func assignmentBytes(parts []TopicParts) []byte {
	w := recordWriter{}
	w.int16(subscriptionVersion)
	w.parts(parts)
	w.length(-1)
	return w.bytes
}

func (w *recordWriter) maybeText(s string) {
	if s == "" {
		w.int16(-1)
		return
	}
	w.text(s)
}

func (w *recordWriter) data(b []byte) {
	w.int32(int32(len(b)))
	w.bytes = append(w.bytes, b...)
}

func (w *recordWriter) parts(list []TopicParts) {
	w.length(len(list))
	for i := range list {
		w.text(list[i].Topic)
		w.length(len(list[i].Partitions))
		for _, p := range list[i].Partitions {
			w.int32(p)
		}
	}
}

// data reads bytes; null is none.
func (r *recordReader) data() string {
	if n := int(r.int32()); n > 0 {
		return r.take(n)
	}
	return ""
}

// maybeText reads a string that may be null.
func (r *recordReader) maybeText() string {
	if n := int(r.int16()); n > 0 {
		return r.take(n)
	}
	return ""
}

func (r *recordReader) parts() []TopicParts {
	var out []TopicParts
	for n := r.length(); n > 0 && !r.bad; n-- {
		t := TopicParts{Topic: r.text()}
		for k := r.length(); k > 0 && !r.bad; k-- {
			t.Partitions = append(t.Partitions, r.int32())
		}
		out = append(out, t)
	}
	return out
}

func readSubscription(bytes string) Subscription {
	r := recordReader{rest: bytes}
	r.int16()
	p := Subscription{Generation: -1}
	for n := r.length(); n > 0 && !r.bad; n-- {
		p.Topics = append(p.Topics, r.text())
	}
	user := r.data()
	p.Owned = r.parts()
	p.Generation = r.int32()
	p.Rack = r.maybeText()
	if user != "" {
		u := recordReader{rest: user}
		p.Sticky, p.Owned, p.Generation = true, u.parts(), u.int32()
	}
	return p
}

// replayGroups takes a batch of the log over into a shard that is being loaded; forget leaves the offsets out
// (ForgetsCommits).
func (x *CoordinatorShard) replayGroups(im *Image, batch *partlog.Batch, hw int64, forget bool) {
	if m, control := batch.Marker(); control {
		x.endTransaction(batch.ProducerID, m.Commit, batch.BaseOffset, hw, func(*Group, *TxnOffset) {})
		return
	}
	for place, rec := range batch.Records.All() {
		at := batch.BaseOffset + int64(place)
		k := recordReader{rest: rec.Key}
		gone := rec.Flags&partlog.NullValue != 0
		switch version := k.int16(); version {
		case 0, offsetKeyVersion:
			x.replayOffset(&k, rec.Value, gone, at, batch, hw, forget)
		case shareGroupKeyVersion:
			x.replayShareGroup(k.text(), rec.Value, gone)
		case groupKeyVersion:
			id := k.text()
			if gone {
				x.forgetGroup(id)
			} else {
				x.replayGroup(id, rec.Value, at)
			}
		default:
			x.replayConsumerGroup(im, version, &k, rec.Value, gone, at)
		}
	}
}

func (x *CoordinatorShard) replayOffset(k *recordReader, value string, gone bool, at int64, batch *partlog.Batch, hw int64, forget bool) {
	group, topic, partition := k.text(), k.text(), k.int32()
	v := OffsetVersion{At: at, Gone: gone}
	if !gone {
		r := recordReader{rest: value}
		r.int16()
		v.Offset, v.LeaderEpoch, v.Metadata, v.CommitMs = r.int64(), r.int32(), r.text(), r.int64()
	}
	g := x.group(group)
	switch {
	case g == nil && gone:
		return
	case g == nil:
		g = x.addGroup(group)
		g.BornAt = at
	}
	if batch.Transactional {
		g.addTxnOffset(batch.ProducerID, topic, partition, v)
		return
	}
	if !forget {
		g.setOffset(topic, partition, v, hw)
	}
}

func (x *CoordinatorShard) replayGroup(id, value string, at int64) {
	g := x.addGroup(id)
	r := recordReader{rest: value}
	r.int16()
	n := Group{ID: id, BornAt: at, Offsets: g.Offsets, Txn: g.Txn}
	n.Type, n.Generation, n.Protocol, n.Leader, n.ChangedMs = r.text(), r.int32(), r.maybeText(), r.maybeText(), r.int64()
	for k := r.length(); k > 0 && !r.bad; k-- {
		m := GroupMember{ID: r.text(), Instance: r.maybeText(), ClientID: r.text(), Host: r.text()}
		m.RebalanceTimeout, m.SessionTimeout = int64(r.int32())*ms, int64(r.int32())*ms
		m.Protocols = []GroupProtocol{{n.Protocol, readSubscription(r.data())}}
		assigned := recordReader{rest: r.data()}
		assigned.int16()
		m.Assignment = assigned.parts()
		n.Members = append(n.Members, m)
	}
	if len(n.Members) > 0 {
		n.State = GroupStable
		n.Topics = n.subscribedTopics()
	}
	*g = n
}

// groupsLoaded lets the sessions of all members begin anew (G-111). What was not written is not there (G-112).
func (s *State) groupsLoaded(b *Broker, x *CoordinatorShard) {
	for i := range x.Groups {
		g := &x.Groups[i]
		for j := range g.Members {
			s.alive(&g.Members[j])
		}
		if g.Consumer.On {
			s.consumerGroupLoaded(b, x, g)
			continue
		}
		s.noteGroup(b, g)
		s.watchGroup(b, x, g)
	}
	s.watchOffsets(b, x)
}

// groupsResigned tells who waits at a coordinator that is none any more (G-113).
func (s *State) groupsResigned(b *Broker, x *CoordinatorShard) {
	for i := range x.Groups {
		g := &x.Groups[i]
		for j := range g.Members {
			m := &g.Members[j]
			s.answerParked(b, &m.Join, JoinGroupResponse{Error: NOT_COORDINATOR, Generation: -1, Member: m.ID})
			s.answerParked(b, &m.Sync, SyncGroupResponse{Error: NOT_COORDINATOR})
		}
	}
}

// groupWritten is what follows from an append to the log of groups; x is nil when the shard is gone.
func (s *State) groupWritten(b *Broker, x *CoordinatorShard, then Payload, code Code) {
	switch m := then.(type) {
	case OffsetsStored:
		s.offsetsStored(b, m, code)
	case AssignmentStored:
		s.assignmentStored(b, x, m, code)
	case StaticReplaced:
		s.staticReplaced(b, x, m, code)
	case GroupAdministered:
		s.groupAdministered(b, m, code)
	case ConsumerHeartbeatStored:
		s.consumerHeartbeatStored(b, m, code)
	case ClassicJoinStored:
		s.classicJoinStored(b, m, code)
	case GroupStored:
	}
}
