package charts

import (
	"strings"
	"testing"

	"kafkalab/kafkasim/view"
)

// shared is a world with a share group in which every state of a record is there.
func shared() *world {
	w := leaderCrash(60)
	record := func(offset int64, state string, times int, member string) view.ShareRecord {
		r := view.ShareRecord{Offset: offset, State: state, DeliveryCount: times, Member: member}
		if member != "" {
			r.LockEnds = 30_060_000
		}
		return r
	}
	writing := record(7, "Acknowledged", 1, "")
	writing.Writing = true
	w.cluster.ShareGroups = []view.ShareGroup{{ID: "workers", State: "Stable", Coordinator: 1, Epoch: 3, AssignmentEpoch: 3,
		Members: []view.ShareMember{{ID: "a", ClientID: "w1", Epoch: 3, Partitions: []string{"orders-0"}}, {ID: "b", ClientID: "w2", Epoch: 3, Partitions: []string{"orders-0", "orders-1"}}},
		Partitions: []view.SharePartition{
			{Topic: "orders", Partition: 0, Leader: 2, Start: 2, End: 8, Written: 1, HighWatermark: 10, Records: []view.ShareRecord{
				record(2, "Acquired", 2, "w1"), record(3, "Acknowledged", 1, ""), record(4, "Archived", 5, ""), record(5, "Acquired", 1, "w2"), record(6, "Available", 1, ""), writing}},
			{Topic: "orders", Partition: 1, Leader: -1, Start: -1, End: -1, Written: -1, HighWatermark: 3},
		}}}
	return w
}

// Each record shows its state, whose it is and how often it was delivered.
func TestShareGroupShowsWhoHasWhat(t *testing.T) {
	p := ShareGroup(shared())
	s := drawingOf(t, p)
	wantTexts(t, s, "written start 1 · start 2 · end 8 · high watermark 10", "no leader", "the start of the records is not known yet", "w1: 1 acquired, 1 partition", "w2: 1 acquired, 2 partitions")
	tips := ""
	for _, shape := range s.shapesAt(0) {
		tips += shape.Tip + "\n"
	}
	for _, want := range []string{
		"offset 1: dealt with\n", "offset 2: Acquired by w1, delivered 2 times, its lock ends at 30060 ms\n", "offset 3: Acknowledged, delivered 1 time\n", "offset 4: Archived, delivered 5 times\n",
		"offset 6: Available, delivered 1 time\n", "offset 7: Acknowledged, delivered 1 time, being written to the share coordinator\n", "offset 8: nobody has asked for it yet\n",
	} {
		if !strings.Contains(tips, want) {
			t.Errorf("no %q in %s", want, tips)
		}
	}
	const told = "orders-0, leader broker 2: start 2, end 8, high watermark 10; in flight 1 available, 2 acquired, 2 acknowledged, 1 archived, delivered at most 5 times."
	if alt := p.String(); !strings.Contains(alt, told) {
		t.Error(alt)
	}
	refused(t, "charts.ShareGroup: this cluster has no share groups yet; let a share consumer Subscribe and Poll", func() { ShareGroup(leaderCrash(20)) })
	refused(t, `charts.ShareGroup: no share group "worker" - did you mean "workers"?`, func() { ShareGroup(shared(), "worker") })
}
