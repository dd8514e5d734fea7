package machine

import (
	"reflect"
	"testing"

	"kafkalab/kafkasim/partlog"
)

// A saved world is whole: every field filled by reflection comes back.
func TestSaveIsComplete(t *testing.T) {
	s := &State{}
	fill(reflect.ValueOf(s).Elem(), 0)
	s.Notes, s.Watching, s.Answers, s.Losses, s.Untold, s.Commits, s.Transitions = nil, false, nil, nil, nil, nil, nil
	got := reload(t, s)
	if !reflect.DeepEqual(s, got) {
		t.Error("what was loaded differs from what was saved")
	}
}

func reload(t *testing.T, s *State) *State {
	t.Helper()
	data, err := s.Save()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Load(data)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// A loaded world and a clone go on exactly as the original does.
func TestLoadedAndClonedWorldsGoOnTheSame(t *testing.T) {
	b := newBench(t, 3, withELR)
	tp := b.topic("orders", 2, []NodeID{1, 2, 3})
	b.run(500 * ms)
	b.produce(1, tp, -1, "a", string([]byte{0xff, 0xfe}))
	b.ask(1, b.produceRequest(tp, -1, "b"))
	b.run(2 * ms)
	b.Apply(CrashBroker{1})
	b.Apply(CutLink{2, 3})
	loaded, clone := reload(t, b.State), b.State.Clone()
	if loaded.Hash() != b.Hash() {
		t.Fatal("the loaded world's hash differs at once")
	}
	for i := range 5000 {
		b.Step()
		loaded.Step()
		clone.Step()
		if i%500 == 0 && (loaded.Hash() != b.Hash() || clone.Hash() != b.Hash()) {
			t.Fatalf("after %d steps the hashes differ: %x %x %x", i+1, b.Hash(), loaded.Hash(), clone.Hash())
		}
	}
}

// Keys and values are bytes.
func TestSavedBytes(t *testing.T) {
	r := partlog.Record{Key: "\xff", Value: "ä\x00", Timestamp: 7, Flags: partlog.NullKey}
	data, err := r.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var got partlog.Record
	if err := got.UnmarshalJSON(data); err != nil || got != r {
		t.Errorf("%+v, %v, want %+v", got, err, r)
	}
}

func TestLoadRefuses(t *testing.T) {
	for _, text := range []string{"", "7", `{"Queue":[{"Payload":{"Kind":"Tea"}}]}`} {
		if _, err := Load([]byte(text)); err == nil {
			t.Errorf("%q was loaded", text)
		}
	}
}
