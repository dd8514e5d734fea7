package machine

import "testing"

// Runs come back as they were, whichever record of them is asked for, and copies grow apart.
func TestSendRuns(t *testing.T) {
	var r SendRuns
	var want []SendRun
	x := SendRun{}
	for i := range 3 * sendRunChunk {
		x = SendRun{First: x.First + int64(i%5*i%9) + 1, At: int64(i / 3 * 1000), Batch: int32(i % 7 * i), Index: int32(i * 31 % 400)}
		r.add(x)
		want = append(want, x)
	}
	fork := r.clone()
	fork.add(SendRun{First: x.First + 1, At: 1, Batch: 2, Index: 3})
	r.add(SendRun{First: x.First + 2, At: 4, Batch: 5, Index: 6})
	for i, w := range want {
		if got := r.find(w.First); got != w {
			t.Fatalf("run %d: %+v, want %+v", i, got, w)
		}
		if i+1 < len(want) && r.find(want[i+1].First-1) != w || fork.find(w.First) != w {
			t.Fatalf("run %d ends too early", i)
		}
	}
	if got := r.find(x.First + 9); got != (SendRun{x.First + 2, 4, 5, 6}) {
		t.Errorf("%+v", got)
	}
	if got := fork.find(x.First + 9); got != (SendRun{x.First + 1, 1, 2, 3}) {
		t.Errorf("the fork's own: %+v", got)
	}
}
