package machine

import (
	"fmt"
	"slices"
	"testing"

	"kafkalab/kafkasim/partlog"
	"kafkalab/kafkasim/view"
)

// round is one truncation of a follower: what the leader answered, and where the follower cut.
type round struct {
	epoch   int32
	end, to int64
}

// Divergent logs (C06 A–G, G9, and more), crafted on a real 4.3.1 and replayed here: the rounds of R2.10
// and R2.11 cut to the same offsets, and the logs end up equal. A log is written as runs of records by
// epoch; the leader takes epoch 12.
func TestTruncationOfDivergentLogs(t *testing.T) {
	type runs = []epochRun
	cases := []struct {
		name             string
		leader, follower runs
		rounds           []round
		epochs           string // the follower's in the end
	}{
		{"A equal", runs{{1, 4}}, runs{{1, 4}}, nil, "[{1 0}]"},
		{"B shorter", runs{{1, 2}, {3, 2}}, runs{{1, 2}}, nil, "[{1 0} {3 2}]"},
		{"C longer", runs{{1, 2}}, runs{{1, 4}}, []round{{1, 2, 2}}, "[{1 0}]"},
		{"D newer epoch", runs{{1, 2}}, runs{{1, 2}, {2, 2}}, []round{{1, 2, 2}}, "[{1 0}]"},
		{"E fork", runs{{1, 2}, {3, 2}}, runs{{1, 2}, {2, 2}}, []round{{1, 2, 2}}, "[{1 0} {3 2}]"},
		{"F fork inside", runs{{1, 2}}, runs{{1, 1}, {2, 2}}, []round{{1, 2, 1}}, "[{1 0}]"},
		{"G no common epoch", runs{{1, 1}, {3, 1}}, runs{{2, 1}}, []round{{1, 1, 0}}, "[{1 0} {3 1}]"},
		{"H empty follower", runs{{1, 3}}, nil, nil, "[{1 0}]"},
		// The leader does not know epoch 1 and answers with it: R1.6, no floor.
		{"I empty leader", nil, runs{{1, 3}}, []round{{1, 0, 0}}, "[]"},
		{"J same epoch longer", runs{{1, 2}, {2, 1}}, runs{{1, 2}, {2, 3}}, []round{{2, 3, 3}}, "[{1 0} {2 2}]"},
		{"G9a", runs{{1, 5}, {4, 3}}, runs{{1, 3}, {2, 3}, {3, 3}}, []round{{1, 5, 3}}, "[{1 0} {4 5}]"},
		{"G9b two rounds", runs{{1, 4}, {2, 3}, {4, 2}}, runs{{1, 5}, {3, 3}}, []round{{2, 7, 5}, {1, 4, 4}}, "[{1 0} {2 4} {4 7}]"},
		{"K three rounds", runs{{1, 2}, {3, 2}, {5, 2}, {7, 2}}, runs{{1, 1}, {2, 2}, {4, 2}, {6, 4}},
			[]round{{5, 6, 5}, {3, 4, 3}, {1, 2, 1}}, "[{1 0} {3 2} {5 4} {7 6}]"},
		{"L older epochs only", runs{{5, 4}}, runs{{1, 2}, {2, 2}}, []round{{2, 0, 0}}, "[{5 0}]"},
		{"M newer only", runs{{1, 4}}, runs{{5, 2}, {6, 2}}, []round{{1, 4, 0}}, "[{1 0}]"},
		{"N four rounds", runs{{1, 1}, {3, 1}, {5, 1}, {7, 1}}, runs{{1, 1}, {2, 1}, {4, 1}, {6, 1}, {8, 1}},
			[]round{{7, 4, 4}, {5, 3, 3}, {3, 2, 2}, {1, 1, 1}}, "[{1 0} {3 1} {5 2} {7 3}]"},
		{"O equal end", runs{{1, 2}, {3, 2}}, runs{{1, 2}, {4, 2}}, []round{{3, 4, 2}}, "[{1 0} {3 2}]"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, 2)
			b.recording = true
			tp := b.crafted(12, []NodeID{1, 2}, []NodeID{1}, craft(c.leader...), craft(c.follower...))
			b.run(400 * ms) // less than the parked fetch lasts
			var rounds []round
			for _, a := range b.fetchAnswers(2, tp) {
				if a.Diverging.Epoch >= 0 {
					rounds = append(rounds, round{epoch: a.Diverging.Epoch, end: a.Diverging.Offset})
				}
			}
			cuts := truncations(b, 2)
			for i := range rounds {
				if i < len(cuts) {
					rounds[i].to = cuts[i]
				}
			}
			if !slices.Equal(rounds, c.rounds) {
				t.Errorf("rounds %v, want %v", rounds, c.rounds)
			}
			l, f := b.log(1, tp), b.log(2, tp)
			if fmt.Sprint(f.Epochs) != c.epochs {
				t.Errorf("the follower's epochs are %v, want %s", f.Epochs, c.epochs)
			}
			if !slices.Equal(records(l), records(f)) {
				t.Errorf("the follower has %v, the leader %v", records(f), records(l))
			}
		})
	}
}

// truncations are the offsets to which a broker's logs were cut.
func truncations(b *bench, id int) []int64 {
	var out []int64
	for _, n := range b.Notes {
		if n.Kind == view.Truncated && n.Broker == id {
			out = append(out, n.A)
		}
	}
	return out
}

func records(l *partlog.Log) []string {
	var out []string
	l.Batches(0, func(b *partlog.Batch) bool {
		for i, r := range b.Records.All() {
			out = append(out, fmt.Sprintf("%d:%s", b.BaseOffset+int64(i), r.Value))
		}
		return true
	})
	return out
}

// G8 (R1.5, R2.11): an epoch without records. The follower led epoch 5 and wrote nothing; the leader of epoch
// 6 does not know 5. One truncation removes no record and drops the entry, and the next fetch is fine (C24).
func TestG8EpochWithoutRecords(t *testing.T) {
	b := newBench(t, 2)
	b.recording = true
	tp := b.crafted(6, []NodeID{1, 2}, []NodeID{1, 2}, craft(epochRun{4, 10}), craft(epochRun{4, 10}, epochRun{5, 0}))
	b.run(400 * ms)
	answers := b.fetchAnswers(2, tp)
	if len(answers) != 1 || answers[0].Diverging != (EpochEnd{4, 10}) {
		t.Errorf("answers %+v, want one with diverging (4, 10)", answers)
	}
	b.expectLog(1, tp, 10, 10, partlog.EpochStart{Epoch: 4}, partlog.EpochStart{Epoch: 6, StartOffset: 10})
	b.expectLog(2, tp, 10, 0, partlog.EpochStart{Epoch: 4})
	if n := len(b.broker(1).Fetches); n != 1 {
		t.Errorf("%d fetches parked, want the follower's at 10 in epoch 4", n)
	}
}

// R2.11b: the leader's log starts above the follower's end (the follower was away longer than retention).
func TestFollowerBelowTheLeadersLogStart(t *testing.T) {
	b := newBench(t, 2)
	l := craft(epochRun{1, 6})
	l.SetHighWatermark(6)
	l.SetLogStart(4)
	tp := b.crafted(2, []NodeID{1, 2}, []NodeID{1}, l, craft(epochRun{1, 2}))
	b.run(400 * ms)
	f := b.log(2, tp)
	if f.LogStart != 4 || f.End != 6 {
		t.Errorf("the follower has [%d, %d), want [4, 6)", f.LogStart, f.End)
	}
}

// R2.11b: an uncleanly elected leader that has forgotten everything, epochs too, ends before the follower.
func TestFollowerAboveAnEmptyLeader(t *testing.T) {
	b := newBench(t, 2)
	l := craft()
	l.TruncateFullyAndStartAt(1)
	tp := b.crafted(1, []NodeID{1, 2}, []NodeID{1}, l, craft(epochRun{1, 3}))
	b.run(400 * ms)
	if got := b.log(2, tp).End; got != 1 {
		t.Errorf("the follower ends at %d, want 1", got)
	}
}

// KAFKA-18723 (R2.6): a follower does not append a batch of an epoch it has not heard of.
func TestFollowerDropsBatchesOfAHigherEpoch(t *testing.T) {
	b := newBench(t, 2)
	tp := b.crafted(3, []NodeID{1, 2}, []NodeID{1, 2}, craft(epochRun{3, 1}), craft(epochRun{3, 1}))
	b.run(100 * ms)
	r := b.broker(2).replica(tp)
	higher := craft(epochRun{3, 2}, epochRun{4, 1})
	batches, _ := higher.Read(1, 3, 1<<20, true)
	b.appendFetched(b.broker(2), r, 0, &FetchResult{TP: tp, Batches: batches, HighWatermark: 1})
	if r.Log.End != 2 || r.Log.Epochs.Latest() != 3 {
		t.Errorf("LEO %d, latest epoch %d; want 2 and 3", r.Log.End, r.Log.Epochs.Latest())
	}
}

// R2.6: a follower takes the leader's high watermark as it is, lower ones too.
func TestFollowerHighWatermarkMayGoDown(t *testing.T) {
	b := newBench(t, 2)
	tp := b.crafted(3, []NodeID{1, 2}, []NodeID{1, 2}, craft(epochRun{3, 5}), craft(epochRun{3, 5}))
	b.run(100 * ms)
	r := b.broker(2).replica(tp)
	r.Log.SetHighWatermark(5)
	b.appendFetched(b.broker(2), r, 0, &FetchResult{TP: tp, HighWatermark: 3})
	if r.Log.HighWatermark != 3 {
		t.Errorf("HW %d, want 3", r.Log.HighWatermark)
	}
}
