package charts

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kafkalab/kafkasim/view"
)

// grouped is a world with a group of two consumers, of which one came later, and a transactional producer.
func grouped() *world {
	w := leaderCrash(20)
	add := func(tick int64, c view.Change) {
		w.at(tick)
		if c.Partition == 0 {
			c.Partition = -1
		}
		c.Broker = 1
		w.add(c)
	}
	add(22, view.Change{Kind: view.GroupState, Client: "shop", Text: "Stable", A: 1, B: 1})
	add(22, view.Change{Kind: view.Rebalanced, Group: "shop", Client: "c1", Text: "assigned", List: []int{0, 1}, A: 1})
	add(30, view.Change{Kind: view.GroupState, Client: "shop", Text: "PreparingRebalance", A: 1, B: 2})
	add(31, view.Change{Kind: view.Rebalanced, Group: "shop", Client: "c1", Text: "revoked", List: []int{0, 1}, A: 1})
	add(33, view.Change{Kind: view.GroupState, Client: "shop", Text: "Stable", A: 2, B: 2})
	add(33, view.Change{Kind: view.Rebalanced, Group: "shop", Client: "c1", Text: "assigned", List: []int{0}, A: 2})
	add(34, view.Change{Kind: view.Rebalanced, Group: "shop", Client: "c2", Text: "assigned", List: []int{1}, A: 2})
	w.cluster.Groups = []view.Group{{ID: "shop", State: "Stable", Protocol: "range", Generation: 2, Coordinator: 1,
		Members: []view.GroupMember{{ID: "c1-1", ClientID: "c1", Partitions: []view.Position{{Topic: "orders", Partition: 0}}}, {ID: "c2-1", ClientID: "c2"}},
		Offsets: []view.GroupOffset{{Topic: "orders", Partition: 0, Committed: 2, Lag: 3}}}}
	add(35, view.Change{Kind: view.TransactionState, Client: "tx", Text: "Ongoing", A: 7, List: []int{0, 1}})
	add(40, view.Change{Kind: view.TransactionState, Client: "tx", Text: "PrepareAbort", A: 7, List: []int{0, 1}})
	add(42, view.Change{Kind: view.TransactionState, Client: "tx", Text: "CompleteAbort", A: 7})
	w.cluster.Txns = []view.Transaction{{ID: "tx", Coordinator: 1, ProducerID: 7, State: "CompleteAbort", Started: -1}}
	return w.at(50)
}

// The lag of a group is counted from its committed offsets, as kafka-consumer-groups.sh does.
func TestLagOfAGroup(t *testing.T) {
	w := grouped()
	w.at(36).add(view.Change{Kind: view.OffsetCommitted, Client: "shop", Broker: 1, Partition: 1, A: 0})
	w.at(40).add(view.Change{Kind: view.OffsetCommitted, Client: "shop", Broker: 1, Partition: 1, A: 1})
	p := Lag(w.at(50), "shop")
	if want := "orders-1: log end 2, high watermark 2, shop committed 1 (1 record behind the high watermark)."; !strings.Contains(p.String(), want) {
		t.Errorf("no %q in %s", want, p)
	}
	s := curveOf(t, p)
	got := fmt.Sprint(s.named(t, "committed by shop", 0).Points, s.named(t, "committed by shop", 1).Points)
	if want := "[[36 0] [40 1] [50 1]] [[36 2] [40 1] [50 1]]"; got != want {
		t.Errorf("committed and behind: %s, want %s", got, want)
	}
	refused(t, `charts.Lag: no consumer or group "shops" - did you mean "shop"?`, func() { Lag(w, "shops") })
}

// The assignment says who had what, when: bars add up to the ownerships of the trace.
func TestAssignmentShowsWhoOwnsWhat(t *testing.T) {
	p := Assignment(grouped())
	s := drawingOf(t, p)
	var tips []string
	for _, shape := range s.shapesAt(0) {
		if strings.Contains(shape.Tip, " has ") {
			tips = append(tips, shape.Tip)
		}
	}
	want := "nobody has orders-0 from 31 ms to 33 ms, for 2 ms|nobody has orders-1 from 31 ms to 34 ms, for 3 ms|" +
		"c1 has orders-0 from 22 ms to 31 ms, generation 1|c1 has orders-0 from 33 ms to 50 ms, generation 2|" +
		"c1 has orders-1 from 22 ms to 31 ms, generation 1|c2 has orders-1 from 34 ms to 50 ms, generation 2"
	if got := strings.Join(tips, "|"); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	wantTexts(t, s, "at 2, lag 3", "c2: idle, nothing left for it", "c1: 1 partition")
	alt := p.String()
	for _, part := range []string{"Stable in generation 2 with 2 members, assignor range. 1 rebalance since 22 ms.", "Longest without an owner: orders-1, for 3 ms from 31 ms to 34 ms."} {
		if !strings.Contains(alt, part) {
			t.Errorf("no %q in %s", part, alt)
		}
	}
	refused(t, "charts.Assignment: this cluster has no consumer groups yet; let a consumer with a group.id Subscribe and Poll", func() { Assignment(leaderCrash(20)) })
	refused(t, `charts.Assignment: no group "shops" - did you mean "shop"?`, func() { Assignment(grouped(), "shops") })
}

// What a member of another group was given is none of this group's, even when both are of one client name.
func TestAssignmentKeepsGroupsApart(t *testing.T) {
	w := grouped()
	w.at(45).add(view.Change{Kind: view.Rebalanced, Group: "fraud", Client: "c1", Broker: 1, Partition: -1, Text: "assigned", List: []int{1}, A: 7})
	w.at(50).cluster.Groups = append(w.cluster.Groups, view.Group{ID: "fraud", State: "Stable", Generation: 9, Modern: true,
		Members: []view.GroupMember{{ID: "m", ClientID: "c1", InstanceID: "i-1", State: "UNRELEASED_PARTITIONS", Target: make([]view.Position, 2), Partitions: make([]view.Position, 1)}}})
	refused(t, `charts.Assignment: which group? This cluster has "shop" and "fraud"`, func() { Assignment(w) })
	shop, fraud := drawingOf(t, Assignment(w, "shop")), drawingOf(t, Assignment(w, "fraud"))
	wantTexts(t, fraud, "c1 (static i-1): 1 partition, waits for 1 of another")
	for _, c := range []struct {
		s    *DrawingSpec
		want string
	}{{shop, "c2 has orders-1 from 34 ms to 50 ms, generation 2"}, {fraud, "c1 has orders-1 from 45 ms to 50 ms, epoch 7"}} {
		if !slices.ContainsFunc(c.s.Shapes, func(s Shape) bool { return s.Tip == c.want }) {
			t.Errorf("no %q", c.want)
		}
	}
	if alt := Assignment(w, "fraud").String(); !strings.Contains(alt, "Stable in epoch 9 with 1 member, the consumer protocol (KIP-848).") {
		t.Error(alt)
	}
}

// A transaction's life: open in its partitions until the markers are written, and how it ended.
func TestTransactionShowsItsLife(t *testing.T) {
	p := Transaction(grouped())
	tips := ""
	for _, shape := range drawingOf(t, p).shapesAt(0) {
		tips += shape.Tip + "\n"
	}
	for i := range 2 {
		if want := fmt.Sprintf("a transaction is open in orders-%d from 35 ms to 42 ms: aborted", i); !strings.Contains(tips, want) {
			t.Errorf("no %q in %s", want, tips)
		}
	}
	if alt := p.String(); !strings.Contains(alt, "0 commits and 1 abort so far.") {
		t.Error(alt)
	}
	refused(t, `charts.Transaction: no transactional id "t" - did you mean "tx"?`, func() { Transaction(grouped(), "t") })
}

// Groups and transactional ids are no clients: no line of a picture counts them among producers and consumers.
func TestGroupsAreNoClients(t *testing.T) {
	if alt := Replay(grouped()).String(); strings.Contains(alt, "onsumer shop") || strings.Contains(alt, "onsumer tx") || !strings.Contains(alt, "Transaction tx is Ongoing.") {
		t.Error(alt)
	}
}
