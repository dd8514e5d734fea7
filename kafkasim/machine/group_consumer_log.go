package machine

import (
	"encoding/binary"
	"slices"

	"kafkalab/kafkasim/partlog"
)

// The records of groups with the consumer protocol in __consumer_offsets, and what is read back from them.
//
// Kafka: ConsumerGroupMetadataKey (3), -MemberMetadataKey (5), -TargetAssignmentMetadataKey (6), -TargetAssignmentMemberKey
// (7), -CurrentMemberAssignmentKey (8), -RegularExpressionKey (16) and their values; GroupCoordinatorRecordHelpers.
// Simplified: a topic's id is its number, and the epochs at which partitions were assigned stand behind them.

const (
	consumerGroupKey   = 3
	consumerMemberKey  = 5
	consumerTargetKey  = 6
	memberTargetKey    = 7
	memberCurrentKey   = 8
	consumerPatternKey = 16
)

// consumerKey is the key of a record: keys are of no flexible version.
func consumerKey(kind int16, parts ...string) string {
	k := recordWriter{}
	k.int16(kind)
	for _, p := range parts {
		k.text(p)
	}
	return string(k.bytes)
}

// consumerRecord has a key and a value.
func consumerRecord(key string, w *recordWriter) partlog.Record {
	w.noTags()
	return partlog.Record{Key: key, Value: string(w.bytes)}
}

func consumerTombstone(key string) partlog.Record {
	return partlog.Record{Key: key, Flags: partlog.NullValue}
}

// consumerValue begins the value of a record, version 0.
func consumerValue() *recordWriter {
	w := &recordWriter{flexible: true}
	w.bytes = binary.BigEndian.AppendUint16(w.bytes, 0)
	return w
}

// consumerRecords are the records of what has changed in a group, in Kafka's order: who went, who said what, the group's
// epoch, the target, who has what.
func consumerRecords(id string, was, is *ConsumerGroup) []partlog.Record {
	var out []partlog.Record
	for i := range was.Members {
		if m := &was.Members[i]; is.member(m.ID) == nil {
			for _, kind := range []int16{memberCurrentKey, memberTargetKey, consumerMemberKey} {
				out = append(out, consumerTombstone(consumerKey(kind, id, m.ID)))
			}
		}
	}
	for i := range is.Members {
		if m, old := &is.Members[i], was.member(is.Members[i].ID); old == nil || !sameSubscription(old, m) {
			out = append(out, memberRecord(id, m))
		}
	}
	out = append(out, patternRecords(id, was, is)...)
	if !was.On || is.Epoch != was.Epoch || is.Metadata != was.Metadata {
		w := consumerValue()
		w.int32(is.Epoch)
		w.int64(int64(is.Metadata))
		out = append(out, consumerRecord(consumerKey(consumerGroupKey, id), w))
	}
	for i := range is.Members {
		if m, old := &is.Members[i], was.member(is.Members[i].ID); old == nil || !slices.Equal(old.Target, m.Target) {
			w := consumerValue()
			w.topicPartitions(m.Target)
			out = append(out, consumerRecord(consumerKey(memberTargetKey, id, m.ID), w))
		}
	}
	if is.AssignmentEpoch != was.AssignmentEpoch {
		w := consumerValue()
		w.int32(is.AssignmentEpoch)
		w.text(is.Assignor)
		out = append(out, consumerRecord(consumerKey(consumerTargetKey, id), w))
	}
	for i := range is.Members {
		if m, old := &is.Members[i], was.member(is.Members[i].ID); old == nil || !sameCurrent(old, m) {
			out = append(out, currentRecord(id, m))
		}
	}
	return out
}

func sameSubscription(a, b *ConsumerMember) bool {
	return a.Instance == b.Instance && a.Rack == b.Rack && a.ClientID == b.ClientID && a.Host == b.Host && slices.Equal(a.Topics, b.Topics) &&
		a.Pattern == b.Pattern && a.Assignor == b.Assignor && a.RebalanceTimeout == b.RebalanceTimeout &&
		a.Classic.SessionTimeout == b.Classic.SessionTimeout && slices.EqualFunc(a.Classic.Protocols, b.Classic.Protocols, equalProtocols)
}

func sameCurrent(a, b *ConsumerMember) bool {
	return a.Epoch == b.Epoch && a.Previous == b.Previous && a.State == b.State && slices.Equal(a.Assigned, b.Assigned) && slices.Equal(a.Revoking, b.Revoking)
}

func memberRecord(id string, m *ConsumerMember) partlog.Record {
	w := consumerValue()
	w.compact(m.Instance)
	w.compact(m.Rack)
	w.text(m.ClientID)
	w.text(m.Host)
	w.texts(m.Topics)
	w.compact(m.Pattern)
	w.int32(int32(m.RebalanceTimeout / ms))
	w.compact(m.Assignor)
	if m.classic() {
		w.classicMember(&m.Classic)
		return partlog.Record{Key: consumerKey(consumerMemberKey, id, m.ID), Value: string(w.bytes)}
	}
	return consumerRecord(consumerKey(consumerMemberKey, id, m.ID), w)
}

func currentRecord(id string, m *ConsumerMember) partlog.Record {
	w := consumerValue()
	w.int32(m.Epoch)
	w.int32(m.Previous)
	w.int8(int8(m.State))
	w.topicPartitions(tps(m.Assigned))
	w.topicPartitions(tps(m.Revoking))
	w.length(len(m.Assigned) + len(m.Revoking))
	for _, o := range slices.Concat(m.Assigned, m.Revoking) {
		w.int32(o.Epoch)
	}
	return consumerRecord(consumerKey(memberCurrentKey, id, m.ID), w)
}

func patternRecords(id string, was, is *ConsumerGroup) []partlog.Record {
	var out []partlog.Record
	find := func(g *ConsumerGroup, p string) *ResolvedPattern {
		for i := range g.Patterns {
			if g.Patterns[i].Pattern == p {
				return &g.Patterns[i]
			}
		}
		return nil
	}
	for i := range was.Patterns {
		if p := was.Patterns[i].Pattern; find(is, p) == nil {
			out = append(out, consumerTombstone(consumerKey(consumerPatternKey, id, p)))
		}
	}
	for i := range is.Patterns {
		p := &is.Patterns[i]
		if old := find(was, p.Pattern); old != nil && slices.Equal(old.Topics, p.Topics) {
			continue
		}
		w := consumerValue()
		w.texts(p.Topics)
		w.int64(p.At)
		out = append(out, consumerRecord(consumerKey(consumerPatternKey, id, p.Pattern), w))
	}
	return out
}

// compact writes a string that may be null.
func (w *recordWriter) compact(s string) {
	if s == "" {
		w.uvarint(0)
		return
	}
	w.text(s)
}

// compact reads a string that may be null.
func (r *recordReader) compact() string {
	if n := int(r.uvarint()); n > 1 {
		return r.take(n - 1)
	}
	return ""
}

// classicMember writes the tagged field of a member with the classic protocol (ClassicMemberMetadata).
func (w *recordWriter) classicMember(m *ClassicMember) {
	f := recordWriter{flexible: true}
	f.int8(1) // it is there
	f.int32(int32(m.SessionTimeout / ms))
	f.length(len(m.Protocols))
	for i := range m.Protocols {
		f.text(m.Protocols[i].Name)
		f.text(string(subscriptionBytes(&m.Protocols[i].Subscription)))
		f.noTags()
	}
	f.noTags()
	w.uvarint(1)
	w.uvarint(0)
	w.uvarint(uint64(len(f.bytes)))
	w.bytes = append(w.bytes, f.bytes...)
}

func (r *recordReader) classicMember() ClassicMember {
	r.int8()
	m := ClassicMember{SessionTimeout: int64(r.int32()) * ms}
	for n := r.length(); n > 0 && !r.bad; n-- {
		m.Protocols = append(m.Protocols, GroupProtocol{Name: r.text(), Subscription: readSubscription(r.text())})
		r.tags(nil)
	}
	return m
}

// topicPartitions writes partitions, which are in order, by their topics' ids.
func (w *recordWriter) topicPartitions(list []TopicPartition) {
	topics := 0
	for i := range list {
		if i == 0 || list[i].Topic != list[i-1].Topic {
			topics++
		}
	}
	w.length(topics)
	for i := 0; i < len(list); {
		n := i
		for n < len(list) && list[n].Topic == list[i].Topic {
			n++
		}
		w.int64(0)
		w.int64(int64(list[i].Topic))
		w.length(n - i)
		for ; i < n; i++ {
			w.int32(list[i].Partition)
		}
		w.noTags()
	}
}

func (r *recordReader) topicPartitions() []TopicPartition {
	var out []TopicPartition
	for n := r.length(); n > 0 && !r.bad; n-- {
		r.int64()
		t := int32(r.int64())
		for k := r.length(); k > 0 && !r.bad; k-- {
			out = append(out, TopicPartition{t, r.int32()})
		}
		r.tags(nil)
	}
	return out
}

// storeConsumerGroup writes what has changed, and lets then follow when it is committed; at once when nothing has changed.
func (s *State) storeConsumerGroup(b *Broker, x *CoordinatorShard, g *Group, before *ConsumerGroup, then Payload) Code {
	records := consumerRecords(g.ID, before, &g.Consumer)
	if !before.On && g.BornAt >= 0 && g.Type != "" {
		records = append([]partlog.Record{{Key: groupKey(g.ID), Flags: partlog.NullValue}}, records...)
	}
	if len(records) == 0 {
		s.afterPending(b, x, then)
		return NONE
	}
	base := b.replica(x.TP).Log.End
	code := s.coordinatorAppend(b, x, s.ownBatch(b, records...), s.commitTimeout(), then)
	if code == NONE && g.BornAt < 0 {
		g.BornAt = base
	}
	return code
}

// afterPending lets then follow when everything that the shard has written before is committed: what a coordinator says may
// rest on it. A coordinator that nobody follows any more would tell its members what its successor has never heard of
// (CoordinatorRuntime, CoordinatorWriteEvent: no records, but writes that are pending).
func (s *State) afterPending(b *Broker, x *CoordinatorShard, then Payload) {
	l := &b.replica(x.TP).Log
	if l.HighWatermark >= l.End || s.mutant(AnswersPending) {
		s.groupWritten(b, x, then, NONE)
		return
	}
	s.awaitEarlier(b, DelayedProduce{
		Deadline: s.Now + s.commitTimeout(), Parts: []DelayedPart{{Result: ProduceResult{TP: x.TP}, Required: l.End, Waiting: true}},
		Then: Later{CoordinatorWritten{Kind: x.Kind, TP: x.TP, Epoch: x.Epoch, Then: Later{then}}},
	})
}

// consumerHeartbeatStored answers a heartbeat.
func (s *State) consumerHeartbeatStored(b *Broker, m ConsumerHeartbeatStored, code Code) {
	r := m.Response
	if code != NONE {
		r = ConsumerGroupHeartbeatResponse{Error: code, Member: r.Member}
	}
	s.answerParked(b, &m.To, r)
}

// replayConsumerGroup takes one record over into a shard that is being loaded.
func (x *CoordinatorShard) replayConsumerGroup(im *Image, kind int16, k *recordReader, value string, gone bool, at int64) {
	id := k.text()
	r := recordReader{rest: value, flexible: true}
	r.int16()
	g := x.group(id)
	switch {
	case g == nil && gone:
		return
	case g == nil:
		g = x.addGroup(id)
		g.BornAt = at
	}
	c := &g.Consumer
	if kind == consumerGroupKey {
		if gone {
			x.forgetGroup(id)
		} else {
			c.On, c.Epoch, c.Metadata = true, r.int32(), uint64(r.int64())
			g.Type = "consumer"
		}
		return
	}
	if kind == consumerTargetKey {
		if !gone {
			c.AssignmentEpoch, c.Assignor = r.int32(), r.text()
		}
		return
	}
	who := k.text()
	if kind == consumerPatternKey {
		c.replayPattern(who, &r, gone)
		return
	}
	if gone {
		if kind == consumerMemberKey {
			c.drop(who)
		}
		return
	}
	m := ConsumerMember{ID: who}
	if p := c.member(who); p != nil {
		m = *p
	}
	m.replay(kind, &r)
	c.put(m)
}

func (c *ConsumerGroup) replayPattern(pattern string, r *recordReader, gone bool) {
	c.Patterns = slices.DeleteFunc(slices.Clone(c.Patterns), func(p ResolvedPattern) bool { return p.Pattern == pattern })
	if gone {
		return
	}
	p := ResolvedPattern{Pattern: pattern}
	for n := r.length(); n > 0 && !r.bad; n-- {
		p.Topics = append(p.Topics, r.text())
	}
	p.At = r.int64()
	c.Patterns = append(c.Patterns, p)
}

// replay takes a record of the member over.
func (m *ConsumerMember) replay(kind int16, r *recordReader) {
	switch kind {
	case consumerMemberKey:
		m.Instance, m.Rack, m.ClientID, m.Host, m.Topics = r.compact(), r.compact(), r.text(), r.text(), nil
		for n := r.length(); n > 0 && !r.bad; n-- {
			m.Topics = append(m.Topics, r.text())
		}
		m.Pattern, m.RebalanceTimeout, m.Assignor = r.compact(), int64(r.int32())*ms, r.compact()
		m.Classic = ClassicMember{}
		r.tags(func(tag uint64, field *recordReader) {
			if tag == 0 {
				m.Classic = field.classicMember()
			}
		})
	case memberTargetKey:
		m.Target = r.topicPartitions()
	case memberCurrentKey:
		m.Epoch, m.Previous, m.State = r.int32(), r.int32(), MemberAssignmentState(r.int8())
		assigned, revoking := r.topicPartitions(), r.topicPartitions()
		r.length()
		with := func(list []TopicPartition) []OwnedPartition {
			var out []OwnedPartition
			for _, tp := range list {
				out = append(out, OwnedPartition{tp, r.int32()})
			}
			return out
		}
		m.Assigned, m.Revoking = with(assigned), with(revoking)
	}
}

// consumerGroupLoaded lets the sessions of all members, and what they have to give up, begin anew (G-111).
func (s *State) consumerGroupLoaded(b *Broker, x *CoordinatorShard, g *Group) {
	for i := range g.Consumer.Members {
		m := &g.Consumer.Members[i]
		m.ExpiresAt = s.Now + s.memberSession(m)
		if m.State == MemberUnrevoked && !m.classic() {
			m.RevokeBy = s.Now + m.RebalanceTimeout
		}
	}
	g.State = GroupDead // whatever it is now, it is new here
	s.consumerGroupMoved(b, g)
	s.watchConsumerGroup(b, x, g)
}
