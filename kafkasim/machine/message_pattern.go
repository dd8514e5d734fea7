package machine

import (
	"fmt"
	"slices"
	"strings"
)

// Patterns of messages: how a person names messages that are to be held back.
//
// A pattern has words and at most one way, "2->1", "broker 2 -> controller", "checkout ->". The way says who
// sends and who gets; a side that is missing or * is anybody. Every other word must be a word of the message's
// line: its API ("Fetch" is not "FetchResponse"), a partition, a topic (any of its partitions), or whatever
// else stands there. Nothing of this is Kafka's.

// Pattern is a pattern that was read.
type Pattern struct {
	From, To string // names as NodeName has them; "" for anybody
	Words    []string
}

// ParsePattern reads a pattern; false when there is nothing in it, or two ways.
func ParsePattern(text string) (Pattern, bool) {
	var p Pattern
	before, after, way := strings.Cut(text, "->")
	if !way {
		p.Words = strings.Fields(text)
		return p, len(p.Words) > 0
	}
	left, right := strings.Fields(before), strings.Fields(after)
	if n := len(left); n >= 2 && kindOfNode(left[n-2]) && number(left[n-1]) {
		p.From, left = left[n-2]+" "+left[n-1], left[:n-2]
	} else if n > 0 {
		p.From, left = sideName(left[n-1]), left[:n-1]
	}
	if len(right) >= 2 && kindOfNode(right[0]) && number(right[1]) {
		p.To, right = right[0]+" "+right[1], right[2:]
	} else if len(right) > 0 {
		p.To, right = sideName(right[0]), right[1:]
	}
	p.Words = slices.Concat(left, right)
	return p, !strings.Contains(after, "->") && (p.From != "" || p.To != "" || len(p.Words) > 0)
}

func kindOfNode(word string) bool { return word == "broker" || word == "controller" }

// sideName is one side of a way: a bare number is a broker, from 3001 on a controller.
func sideName(s string) string {
	switch {
	case s == "*":
		return ""
	case number(s) && len(s) == 4 && s > "3000":
		return "controller " + s
	case number(s):
		return "broker " + s
	}
	return s
}

func number(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// Matches tells whether the pattern names a message.
func (p *Pattern) Matches(s *State, e *Event) bool {
	if !s.called(e.From, p.From) || !s.called(e.To, p.To) {
		return false
	}
	if len(p.Words) == 0 {
		return true
	}
	words := s.MessageWords(e.Payload)
	for _, w := range p.Words {
		if !slices.ContainsFunc(words, func(have string) bool { return wordMatches(w, have) }) {
			return false
		}
	}
	return true
}

// called tells whether a side of a pattern means a node: "controller" is any of them.
func (s *State) called(n NodeID, name string) bool {
	return name == "" || name == s.NodeName(n) || n.IsController() && (name == "controller" || name == fmt.Sprintf("controller %d", n))
}

// wordMatches tells whether a word of a pattern means a word of a message: it is the same, or it is a topic
// and the message's word one of its partitions.
func wordMatches(want, have string) bool {
	return want == have || strings.HasPrefix(have, want+"-") && number(have[len(want)+1:])
}

// MessageWords are the words of a message's line, and every partition that it is about, named there or not.
func (s *State) MessageWords(p Payload) []string {
	words := strings.FieldsFunc(s.DescribePayload(p), func(r rune) bool { return strings.ContainsRune(" \t\n,[]", r) })
	for _, tp := range s.payloadPartitions(p) {
		words = append(words, s.PartitionName(tp))
	}
	return words
}

// payloadPartitions are the partitions that a message is about.
func (s *State) payloadPartitions(p Payload) []TopicPartition {
	switch p := p.(type) {
	case ProduceRequest:
		return partitionsOf(p.Parts, func(x ProducePart) TopicPartition { return x.TP })
	case ProduceResponse:
		return partitionsOf(p.Parts, func(x ProduceResult) TopicPartition { return x.TP })
	case FetchRequest:
		return partitionsOf(s.asks(&p), func(x FetchPart) TopicPartition { return x.TP })
	case FetchResponse:
		return partitionsOf(p.Parts, func(x FetchResult) TopicPartition { return x.TP })
	case ListOffsetsRequest:
		return partitionsOf(p.Parts, func(x ListOffsetsPart) TopicPartition { return x.TP })
	case ListOffsetsResponse:
		return partitionsOf(p.Parts, func(x ListOffsetsResult) TopicPartition { return x.TP })
	case OffsetsForLeaderEpochRequest:
		return partitionsOf(p.Parts, func(x EpochQuery) TopicPartition { return x.TP })
	case OffsetsForLeaderEpochResponse:
		return partitionsOf(p.Parts, func(x EpochAnswer) TopicPartition { return x.TP })
	case AlterPartitionRequest:
		return partitionsOf(p.Parts, func(x AlterPart) TopicPartition { return x.TP })
	case AlterPartitionResponse:
		return partitionsOf(p.Parts, func(x AlterResult) TopicPartition { return x.TP })
	case DeleteRecordsRequest:
		return partitionsOf(p.Parts, func(x DeletePart) TopicPartition { return x.TP })
	case DeleteRecordsResponse:
		return partitionsOf(p.Parts, func(x DeleteResult) TopicPartition { return x.TP })
	case WriteTxnMarkersRequest:
		var all []TopicPartition
		for i := range p.Markers {
			all = append(all, p.Markers[i].Partitions...)
		}
		return all
	case AddPartitionsToTxnRequest:
		var all []TopicPartition
		for i := range p.Transactions {
			all = append(all, p.Transactions[i].Partitions...)
		}
		return all
	case AssignReplicasToDirsRequest:
		return partitionsOf(p.Parts, func(x DirAssignment) TopicPartition { return x.TP })
	}
	return nil
}

func partitionsOf[T any](parts []T, of func(T) TopicPartition) []TopicPartition {
	out := make([]TopicPartition, len(parts))
	for i, p := range parts {
		out[i] = of(p)
	}
	return out
}

// MessageNames are the names of all messages as their lines begin: Fetch, FetchResponse, Produce, …
func (s *State) MessageNames() []string {
	var names []string
	for _, p := range payloadKinds {
		if _, closed := p.(Disconnected); closed {
			names = append(names, "connection", "reset")
			continue
		}
		if name := KindOf(p); !strings.HasSuffix(name, "Timer") && name != "SendTick" && name != "NextRequest" {
			names = append(names, strings.Fields(s.DescribePayload(p))[0])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
