package machine

// Events in words.
//
// Every message and timer has one line, in Kafka's own names: what a learner reads when stepping, what a
// story prints, and what a pattern of HoldMessages is matched against.

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"kafkalab/kafkasim/partlog"
)

// shown is how many partitions or records of a message are named before "and n more".
const shown = 3

// NodeName is a node as a person calls it: "broker 1", "controller", or a client's id.
func (s *State) NodeName(n NodeID) string {
	switch {
	case n.IsBroker():
		return fmt.Sprintf("broker %d", n)
	case n.IsController() && s.soleController():
		return "controller"
	case n.IsController():
		return fmt.Sprintf("controller %d", n)
	case n == AdminNode:
		return "admin"
	case n.IsClient() && int(n-FirstClient) < len(s.Clients):
		return s.client(n).Name
	}
	return "nobody"
}

// PartitionName is a partition as Kafka's logs write it: topic-partition.
func (s *State) PartitionName(tp TopicPartition) string {
	return fmt.Sprintf("%s-%d", s.topicName(tp.Topic), tp.Partition)
}

// Describe is an event in words, without its time.
func (s *State) Describe(e Event) string {
	if e.From == NoNode {
		if e.To.IsClient() {
			return s.describeClientEvent(&e)
		}
		return s.NodeName(e.To) + "  " + s.DescribePayload(e.Payload)
	}
	return s.NodeName(e.From) + " -> " + s.NodeName(e.To) + "  " + s.DescribePayload(e.Payload)
}

// DescribePayload is what a message says or what a timer is for.
func (s *State) DescribePayload(p Payload) string {
	switch p := p.(type) {
	case Disconnected:
		return "connection reset"
	case MetadataRequest:
		return "Metadata " + strings.Join(p.Topics, ", ")
	case MetadataResponse:
		return "MetadataResponse " + list(p.Topics, s.metadataWords)
	case ProduceRequest:
		return "Produce " + list(p.Parts, func(r ProducePart) string {
			return s.PartitionName(r.TP) + " " + recordWords(&r.Batch.Records)
		}) + " acks=" + acksWord(p.Acks)
	case ProduceResponse:
		return "ProduceResponse " + list(p.Parts, s.produceWords)
	case ListOffsetsRequest:
		return "ListOffsets " + list(p.Parts, func(r ListOffsetsPart) string {
			return s.PartitionName(r.TP) + " " + timestampWord(r.Timestamp)
		})
	case ListOffsetsResponse:
		return "ListOffsetsResponse " + list(p.Parts, func(r ListOffsetsResult) string {
			return s.PartitionName(r.TP) + " " + orError(r.Error, fmt.Sprintf("offset %d", r.Offset))
		})
	case OffsetsForLeaderEpochRequest:
		return "OffsetsForLeaderEpoch " + list(p.Parts, func(r EpochQuery) string {
			return fmt.Sprintf("%s epoch %d", s.PartitionName(r.TP), r.Epoch)
		})
	case OffsetsForLeaderEpochResponse:
		return "OffsetsForLeaderEpochResponse " + list(p.Parts, func(r EpochAnswer) string {
			return s.PartitionName(r.TP) + " " + orError(r.Error, fmt.Sprintf("epoch %d ends at %d", r.End.Epoch, r.End.Offset))
		})
	case InitProducerIDRequest:
		return strings.TrimSuffix("InitProducerId "+p.TransactionalID, " ")
	case InitProducerIDResponse:
		return "InitProducerIdResponse " + orError(p.Error, fmt.Sprintf("id %d epoch %d", p.ProducerID, p.ProducerEpoch))
	case FetchRequest:
		return s.fetchRequestWords(&p)
	case DeleteRecordsRequest:
		return "DeleteRecords " + list(p.Parts, func(r DeletePart) string {
			return fmt.Sprintf("%s before %d", s.PartitionName(r.TP), r.Before)
		})
	case DeleteRecordsResponse:
		return "DeleteRecordsResponse " + list(p.Parts, func(r DeleteResult) string {
			return s.PartitionName(r.TP) + " " + orError(r.Error, fmt.Sprintf("low watermark %d", r.LowWatermark))
		})
	case NextRequest:
		return "reads the next request of " + s.NodeName(p.Node)
	case FetchResponse:
		switch {
		case p.Error != NONE:
			return "FetchResponse " + p.Error.String()
		case len(p.Parts) == 0:
			return "FetchResponse nothing new"
		}
		return "FetchResponse " + list(p.Parts, s.fetchWords)
	}
	if text, ok := s.describeShare(p); ok {
		return text
	}
	if text, ok := s.describeCluster(p); ok {
		return text
	}
	return plainName(p)
}

func (s *State) fetchRequestWords(m *FetchRequest) string {
	asked := list(s.asks(m), func(r FetchPart) string {
		return fmt.Sprintf("%s from %d", s.PartitionName(r.TP), r.FetchOffset)
	})
	switch {
	case asked == "" && m.SessionEpoch == FinalFetchEpoch && m.SessionID != 0:
		return "Fetch ends its session"
	case len(m.Forgotten) > 0:
		return strings.Join(strings.Fields("Fetch "+asked+" without "+list(m.Forgotten, s.PartitionName)), " ")
	}
	return "Fetch " + asked
}

// asks is what a fetch asks for, in its own words and by what its session remembers: what is new comes first.
func (s *State) asks(m *FetchRequest) []FetchPart {
	if m.SessionEpoch <= InitialFetchEpoch {
		return m.Parts
	}
	var f *FetchSession
	for i := range s.Brokers {
		if x := s.Brokers[i].session(m.SessionID); x != nil {
			f = x
		}
	}
	parts := slices.Clone(m.Parts)
	for i := 0; f != nil && i < len(f.Parts); i++ {
		p := f.Parts[i].FetchPart
		if !slices.ContainsFunc(m.Parts, func(x FetchPart) bool { return x.TP == p.TP }) && !slices.Contains(m.Forgotten, p.TP) {
			parts = append(parts, p)
		}
	}
	return parts
}

func (s *State) metadataWords(t TopicMetadata) string {
	if t.Error != NONE {
		return t.Name + " " + t.Error.String()
	}
	return list(t.Partitions, func(p PartitionMetadata) string {
		leader := "none"
		if p.Leader != NoNode {
			leader = fmt.Sprint(p.Leader)
		}
		return fmt.Sprintf("%s leader=%s epoch=%d", t.Name, leader, p.LeaderEpoch)
	})
}

func (s *State) produceWords(r ProduceResult) string {
	return s.PartitionName(r.TP) + " " + orError(r.Error, fmt.Sprintf("offset %d", r.BaseOffset))
}

func (s *State) fetchWords(r FetchResult) string {
	name := s.PartitionName(r.TP)
	switch {
	case r.Error != NONE:
		return name + " " + r.Error.String()
	case r.Diverging.Epoch >= 0:
		return fmt.Sprintf("%s diverges: epoch %d ends at %d", name, r.Diverging.Epoch, r.Diverging.Offset)
	case r.PreferredReplica != NoNode:
		return fmt.Sprintf("%s is better read from %s", name, s.NodeName(r.PreferredReplica))
	case len(r.Batches) == 0:
		return fmt.Sprintf("%s nothing new, hw=%d", name, r.HighWatermark)
	}
	var records []partlog.Record
	n := 0
	for i := range r.Batches {
		if m, marker := r.Batches[i].Marker(); marker {
			records = append(records, partlog.Record{Value: outcome(m.Commit) + " marker", Flags: partlog.NullKey})
		} else {
			records = firstRecords(records, &r.Batches[i].Records)
		}
		n += r.Batches[i].Records.Live()
	}
	return fmt.Sprintf("%s %s hw=%d", name, recordList(records, n), r.HighWatermark)
}

func recordWords(r *partlog.Records) string { return recordList(firstRecords(nil, r), r.Live()) }

// firstRecords adds records to a list until it has one more than are shown.
func firstRecords(list []partlog.Record, r *partlog.Records) []partlog.Record {
	for c := r.From(0); len(list) <= shown && c.Next(); {
		list = append(list, c.Record)
	}
	return list
}

// recordList shows the first of n records as [key=value, …].
func recordList(records []partlog.Record, n int) string {
	var b strings.Builder
	b.WriteByte('[')
	for i := range records {
		if i > 0 {
			b.WriteString(", ")
		}
		if i == shown {
			break
		}
		b.WriteString(recordWord(&records[i]))
	}
	if n > shown {
		fmt.Fprintf(&b, "… %d records", n)
	}
	b.WriteByte(']')
	return b.String()
}

func recordWord(r *partlog.Record) string {
	value := short(r.Value)
	if r.Flags&partlog.NullValue != 0 {
		value = "null"
	}
	if r.Flags&partlog.NullKey != 0 {
		return value
	}
	return short(r.Key) + "=" + value
}

// short keeps a text within a line. Of bytes that are no text only the number is told.
func short(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == utf8.RuneError }) {
		return fmt.Sprintf("<%d bytes>", len(s))
	}
	r := []rune(s)
	if len(r) > 24 {
		return string(r[:23]) + "…"
	}
	return s
}

func acksWord(acks int8) string {
	if acks < 0 {
		return "all"
	}
	return fmt.Sprint(acks)
}

func timestampWord(t int64) string {
	switch t {
	case LatestTimestamp:
		return "latest"
	case EarliestTimestamp:
		return "earliest"
	case MaxTimestamp:
		return "with the largest timestamp"
	}
	return fmt.Sprintf("at %dms", t)
}

func orError(c Code, words string) string {
	if c != NONE {
		return c.String()
	}
	return words
}

// list names the first parts of a message.
func list[T any](parts []T, words func(T) string) string {
	var b strings.Builder
	for i, p := range parts {
		if i > 0 {
			b.WriteString(", ")
		}
		if i == shown && len(parts) > shown+1 {
			fmt.Fprintf(&b, "and %d more", len(parts)-i)
			break
		}
		b.WriteString(words(p))
	}
	return b.String()
}

// plainName is a payload's type as words: HeartbeatTimer is "heartbeat timer".
func plainName(p Payload) string {
	name := reflect.TypeOf(p).Name()
	if !strings.HasSuffix(name, "Timer") {
		return strings.TrimSuffix(name, "Request")
	}
	var b strings.Builder
	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' && (name[i-1] < 'A' || name[i-1] > 'Z') {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return strings.ToLower(b.String())
}
