package machine

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
)

// shareVectors are what Kafka's own classes did.
type shareVectors struct {
	Transitions []struct {
		Limit, Count, Then int16
		From, To           int
		Op                 string
	}
	Merges []struct {
		Start          int64
		Old, New, Want [][4]int64
	}
}

func readShareVectors(t *testing.T) (v shareVectors) {
	data, err := os.ReadFile("testdata/share-states.json")
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	if err != nil || len(v.Transitions) < 100 || len(v.Merges) < 300 {
		t.Fatalf("%d transitions, %d merges: %v", len(v.Transitions), len(v.Merges), err)
	}
	return v
}

// oneRecord is a share partition with one record in a state.
func oneRecord(t testing.TB, limit int16, state ShareRecordState, count int16) (*shares, *SharePartition) {
	s := &shares{clients: newClients(t, 1)}
	s.apply(AlterShareGroup{Group: "g", Props: config.ShareGroup{DeliveryLimit: int32(limit), Set: config.ShareGroupSet{DeliveryLimit: true}}})
	w := ShareRecord{State: state, Count: count, Size: 1}
	if state == ShareAcquired {
		w.Member, w.LockEnds = "m", s.Now+1000*ms
	}
	return s, &SharePartition{Group: "g", Ready: true, Window: []ShareRecord{w}}
}

// Every state, delivery count and operation: what Kafka's InFlightState does, and what it refuses (H-2, H-4, H-6, H-7).
func TestShareTransitions(t *testing.T) {
	for _, v := range readShareVectors(t).Transitions {
		s, p := oneRecord(t, v.Limit, ShareRecordState(v.From), v.Count)
		w := &p.Window[0]
		var code Code
		switch v.Op {
		case "acquire":
			a := acquisition{s: s.State, p: p, m: &ShareFetchRequest{Member: "m2"}, left: 1, limit: v.Limit, locks: 1}
			if a.batch(0, 0) == 0 {
				code = INVALID_RECORD_STATE
			}
		default:
			as := map[string]AckType{"accept": AckAccept, "release": AckRelease, "reject": AckReject}[v.Op]
			code = s.acknowledgeRange(p, "m", &ShareAck{Type: as}, &[]ShareUndo{})
		}
		what := fmt.Sprintf("limit %d, %s, %d deliveries, %s", v.Limit, ShareRecordState(v.From), v.Count, v.Op)
		if refused := code != NONE; refused != (v.To < 0) {
			t.Errorf("%s: %v, with Kafka to %d", what, code, v.To)
		} else if !refused && (w.State != ShareRecordState(v.To) || w.Count != v.Then) {
			t.Errorf("%s: %s with %d deliveries, with Kafka %s with %d", what, w.State, w.Count, ShareRecordState(v.To), v.Then)
		}
		if v.Op == "release" && v.To >= 0 { // what a lock's end and a session's end do, too (H-5, H-8)
			s, p := oneRecord(t, v.Limit, ShareRecordState(v.From), v.Count)
			s.shareRelease("g", &p.Window[0], true)
			if w := p.Window[0]; w.State != ShareRecordState(v.To) || w.Count != v.Then || w.Member != "" {
				t.Errorf("%s by the end of a lock: %+v", what, w)
			}
		}
	}
}

// States over states, as the share coordinator keeps them: Kafka's PersisterStateBatchCombiner (H-19).
func TestShareStateMerges(t *testing.T) {
	for i, v := range readShareVectors(t).Merges {
		batches := func(list [][4]int64) (out []ShareStateBatch) {
			for _, x := range list {
				out = append(out, ShareStateBatch{x[0], x[1], ShareRecordState(x[2]), int16(x[3])})
			}
			return out
		}
		each := func(list []ShareStateBatch) (out []ShareStateBatch) { // where rows are cut is nobody's business
			for _, x := range list {
				for o := x.First; o <= x.Last; o++ {
					out = append(out, ShareStateBatch{o, o, x.State, x.Count})
				}
			}
			return out
		}
		if got := mergeShareBatches(batches(v.Old), batches(v.New), v.Start); !slices.Equal(each(got), each(batches(v.Want))) {
			t.Errorf("%d: %v over %v from %d: %v, with Kafka %v", i, v.New, v.Old, v.Start, got, v.Want)
		}
	}
}

// The records of __share_group_state are read back as they were written, snapshots and updates.
func TestShareStateRecords(t *testing.T) {
	y := ShareState{Group: "g", TP: TopicPartition{3, 4}, StateEpoch: 5, LeaderEpoch: 6, Start: 7, Complete: 2, Snapshot: 8,
		Batches: []ShareStateBatch{{7, 9, ShareAvailable, 2}, {10, 11, ShareAcknowledged, 1}}}
	m := ShareStateRequest{Op: WriteShareState, Group: "g", TP: y.TP, StateEpoch: 5, LeaderEpoch: 6, Start: 8, Complete: 3, Batches: []ShareStateBatch{{8, 8, ShareArchived, 3}}}
	var x CoordinatorShard
	for _, r := range []partlog.Record{shareSnapshot(&y), shareUpdate(&y, &m)} {
		var b partlog.Batch
		b.Records.Append(&r, nil)
		x.replayShareStates(&b)
	}
	if got, want := fmt.Sprintf("%+v", x.Share.States), fmt.Sprintf("%+v", []ShareState{y.with(&m)}); got != want {
		t.Errorf("read back %s, want %s", got, want)
	}
	var b partlog.Batch
	gone := shareTombstone(&y)
	b.Records.Append(&gone, nil)
	if x.replayShareStates(&b); len(x.Share.States) != 0 {
		t.Errorf("after the tombstone: %+v", x.Share.States)
	}
}
