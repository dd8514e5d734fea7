package partlog

import "testing"

// seq appends a record of a producer.
func seq(l *Log, id int64, n int32) {
	b := Batch{ProducerID: id, BaseSequence: n, BaseOffset: l.End, MaxTimestamp: int64(n), Size: 70, Records: PackRecords(Record{Value: "v"})}
	l.Append(b, 1<<30)
}

// verdict is what a log says to a record of producer 1.
func verdict(l *Log, n int32) Verdict {
	v, _ := l.CheckSequence(&Batch{ProducerID: 1, BaseSequence: n, Records: PackRecords(Record{Value: "v"})})
	return v
}

// Snapshots of producer state (P-83, P-86, R4.3): taken when a segment begins; read after a restart and a truncation
// together with what came after; those of what was cut off are gone.
func TestSnapshotsOfProducers(t *testing.T) {
	var l Log
	for n := range int32(4) {
		seq(&l, 1, n)
	}
	seq(&l, 2, 0)
	l.Roll(l.End)
	if len(l.Snapshots) != 1 || l.Snapshots[0].Offset != 5 || len(l.Snapshots[0].Producers) != 2 {
		t.Fatalf("snapshots %+v", l.Snapshots)
	}
	seq(&l, 1, 4)
	seq(&l, 1, 5)
	if v := verdict(&l, 1); v != Duplicate {
		t.Errorf("in memory sequence 1 is %v, want a duplicate: five are remembered", v)
	}
	other := l
	other.Unshare()
	l.Load(5)
	for n, want := range map[int32]Verdict{5: Duplicate, 4: Duplicate, 3: Duplicate, 2: OutOfOrder, 6: Append} {
		if v := verdict(&l, n); v != want {
			t.Errorf("after a restart sequence %d is %v, want %v", n, v, want)
		}
	}
	l.Roll(l.End)
	l.TruncateTo(6)
	if len(l.Snapshots) != 1 || verdict(&l, 5) != Append || verdict(&l, 4) != Duplicate {
		t.Errorf("after a truncation to 6: %d snapshots, 5 is %v, 4 is %v", len(l.Snapshots), verdict(&l, 5), verdict(&l, 4))
	}
	if len(other.Snapshots) != 1 || verdict(&other, 1) != Duplicate {
		t.Error("the copy has changed with its original")
	}
	l.Sealed[0], l.Active.Batches = Segment{BaseOffset: 0}, Batches{} // its records are deleted
	l.LogStart = 4
	l.Load(5)
	if verdict(&l, 4) != Append || verdict(&l, 3) != Duplicate || verdict(&l, 9) != OutOfOrder {
		t.Errorf("with records deleted: 4 is %v, 3 is %v, 9 is %v", verdict(&l, 4), verdict(&l, 3), verdict(&l, 9))
	}
	l.LogStart = 5
	l.Load(5)
	if verdict(&l, 9) != Append {
		t.Error("a snapshot at the log's start still counts")
	}
}

// P-86: expiry goes by the timestamp of a producer's last batch.
func TestProducersExpire(t *testing.T) {
	var l Log
	seq(&l, 1, 10)
	seq(&l, 2, 20)
	l.ExpireProducers(9)
	if !l.Knows(1) {
		t.Error("forgotten too early")
	}
	l.ExpireProducers(10)
	if l.Knows(1) || !l.Knows(2) {
		t.Errorf("knows 1: %v, 2: %v; want only 2", l.Knows(1), l.Knows(2))
	}
}
