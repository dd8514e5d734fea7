package machine

import "testing"

func TestPatterns(t *testing.T) {
	b := newBench(t, 3)
	tp := b.topic("orders", 1, []NodeID{1, 2, 3})
	other := b.topic("orders-old", 1, []NodeID{1, 2, 3})
	fetch := Event{From: 2, To: 1, Payload: FetchRequest{Parts: []FetchPart{{TP: tp, FetchOffset: 5}}}}
	answer := Event{From: 1, To: 2, Payload: FetchResponse{Parts: []FetchResult{{TP: other, Diverging: noEpochEnd}}}}
	for _, x := range []struct {
		pattern       string
		fetch, answer bool
	}{
		{"Fetch", true, false}, {"FetchResponse", false, true},
		{"Fetch 2->1 orders-0", true, false}, {"Fetch 2 -> 1", true, false}, {"2->1", true, false}, {"1->2", false, true},
		{"broker 2 -> broker 1  Fetch", true, false}, {"-> broker 1", true, false}, {"->1 Fetch", true, false}, {"* -> 2", false, true},
		{"orders", true, false}, {"orders-0", true, false}, {"orders-old", false, true}, {"orders-old-0", false, true},
		{"from 5", true, false}, {"from 6", false, false}, {"3->1", false, false}, {"controller -> 1", false, false}, {"Fetch 1->2", false, false},
	} {
		p, ok := ParsePattern(x.pattern)
		if !ok || p.Matches(b.State, &fetch) != x.fetch || p.Matches(b.State, &answer) != x.answer {
			t.Errorf("%q reads as %+v (%v), names the fetch %v, the answer %v", x.pattern, p, ok, p.Matches(b.State, &fetch), p.Matches(b.State, &answer))
		}
	}
	three := newBench(t, 1, controllers(3))
	vote := Event{From: 3001, To: 3002, Payload: VoteRequest{Epoch: 7}}
	for pattern, want := range map[string]bool{"Vote": true, "Vote 3001->3002": true, "controller 3001 -> controller 3002": true, "-> controller": true,
		"Vote 3002->3001": false, "epoch 7": true, "-> broker 1": false} {
		if p, ok := ParsePattern(pattern); !ok || p.Matches(three.State, &vote) != want {
			t.Errorf("%q reads as %+v (%v), names the vote: %v", pattern, p, ok, !want)
		}
	}
	for _, bad := range []string{"", "  ", "->", "* -> *", "1->2->3"} {
		if p, ok := ParsePattern(bad); ok {
			t.Errorf("%q reads as %+v", bad, p)
		}
	}
	many := FetchRequest{}
	for i := range 9 {
		many.Parts = append(many.Parts, FetchPart{TP: TopicPartition{tp.Topic, int32(i)}})
	}
	if p, _ := ParsePattern("orders-8"); !p.Matches(b.State, &Event{From: 2, To: 1, Payload: many}) {
		t.Error("a partition that the line leaves out is not found")
	}
}
