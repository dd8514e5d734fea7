package machine

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"kafkalab/kafkasim/partlog"
)

// State is plain data: whoever copies its slices has copied it, and its bytes can be hashed.
func TestStateIsPlainData(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var walk func(path string, x reflect.Type)
	walk = func(path string, x reflect.Type) {
		if seen[x] {
			return
		}
		seen[x] = true
		switch x.Kind() {
		case reflect.Func, reflect.Chan, reflect.Map, reflect.Float32, reflect.Float64, reflect.Pointer, reflect.UnsafePointer, reflect.Complex128:
			t.Errorf("%s is a %s", path, x.Kind())
		case reflect.Interface:
			if x != reflect.TypeFor[Payload]() {
				t.Errorf("%s is an interface", path)
			}
		case reflect.Slice, reflect.Array:
			walk(path+"[]", x.Elem())
		case reflect.Struct:
			for i := range x.NumField() {
				walk(path+"."+x.Field(i).Name, x.Field(i).Type)
			}
		}
	}
	walk("State", reflect.TypeFor[State]())
}

// shared lists what a clone shares with its original, by the path's end: what is written once.
var shared = []string{
	"World.Racks", "World.Sessions", "World.Broker", ".Holds", ".Clients", ".TopicBase", "Controllers[].Log", "Committed.Log",
	".Queue[].Payload", ".Backlog[].Payload", ".Held[].Payload", ".Waiting[].Payload", ".InFlight[].Payload", ".InFlight[].Batches",
	".Shards[].Transactions[].Partitions", ".Partitions[].Replicas", ".Partitions[].ISR", ".Partitions[].ELR", ".Partitions[].LastKnownELR", ".Partitions[].Lossy",
	".Partitions[].Adding", ".Partitions[].Removing", ".Topics[].Set", ".Topics[].Gone", "State.Added", ".Brokers[].Dirs", ".Partitions[].Dirs",
	".Replicas[].Replicas", ".Replicas[].ISR", ".Change.ISR", ".Fetchers[].Parts", ".Alter.Items[].ISR", ".Fetches[].Request.Parts", ".Fetches[].Request.Forgotten",
	".Log.Sealed", ".Log.Epochs", ".Results[].Errors", ".Ask.Partitions", ".Verifying[].Guards", ".Transactions.Aborted", ".Txn.New", ".How.Topics", ".App.TxnCalls.Returned", ".App.Returned", ".OffsetQueue.Offsets", ".Txn.Added", ".Active.Batches.Full", ".Active.Batches.Last", ".Log.Producers[].Batches", ".Log.Snapshots",
	".Batch.Records.Data", ".Records.Data", ".Headers", ".Keys", ".Config.PartitionTable", ".Meta.Brokers", ".Runs.Full", ".Runs.Open.Data", "Truth.Acked",
	".GroupAdmin[].Parts", ".Versions", ".Members[].Protocols", ".Classic.Protocols", ".GivenUp.Parts", ".Members[].Topics", ".Assigned", ".Revoking", ".Target", ".Said", ".Patterns[].Topics", ".Assignment", ".Groups[].Topics", ".Group.Topics", ".Group.Joined", ".Former", ".Watched",
	".Share.Sessions[].Parts", ".Jobs[].Request.Parts", ".Jobs[].Request.Forgotten", ".Request.Acks", ".Calls[].Request.Batches", ".Calls[].Undo", ".Consumers[].Topics",
	".Consumers[].Told", ".Consumers[].Assigned", ".Links[].Known", ".Links[].Sent", ".Results", ".Poll.Rows", ".How.Release", ".How.Reject", ".Book[].Done", ".Groups[].Ready",
	".Members[].Topics", ".Members[].Parts", ".Members[].Target", ".States[].Batches", ".Share.Admin[].Gained", ".Share.Admin[].Lost", ".Book[].Gone",
	".Group.Calls", ".Commits[].Parts", ".Answers[].Payload", ".Assignors", ".Buffer[].Batches", ".Buffer[].Aborted", ".Buffer[].AbortedIDs", ".Image.Brokers", ".Image.Quotas", ".Unheard.Changes", ".Image.Topics", ".Poll.Records", ".Blocked.Chunks[]", ".Unsent.Chunks",
}

// A clone is whole, and shares nothing that a step may change: every slice of State is filled by
// reflection, cloned, and compared.
func TestCloneIsDeepAndComplete(t *testing.T) {
	s := &State{}
	fill(reflect.ValueOf(s).Elem(), 0)
	s.Notes, s.Watching, s.Answers, s.Losses, s.Untold, s.Commits, s.Transitions = nil, false, nil, nil, nil, nil, nil
	for i := range s.Producers {
		// Chunks of outcomes are shared when they are full and decided.
		s.Producers[i].Outcomes = Outcomes{}
		s.Producers[i].Outcomes.add(BatchOutcome{BaseOffset: 3})
	}
	c := s.Clone()
	if !reflect.DeepEqual(s, c) {
		t.Error("the clone differs")
	}
	if s.Hash() != c.Hash() {
		t.Error("the clone's hash differs")
	}
	used := map[string]bool{}
	compare(t, "State", reflect.ValueOf(s).Elem(), reflect.ValueOf(c).Elem(), used)
	for _, p := range shared {
		if !used[p] && !strings.Contains(p, "Payload") {
			t.Logf("%s is on the list and not shared", p)
		}
	}
}

func fill(v reflect.Value, depth int) {
	if v.Type() == reflect.TypeFor[partlog.Records]() {
		r := partlog.PackRecords(partlog.Record{Key: "x", Value: "x", Timestamp: 1})
		r.Room(100)
		v.Set(reflect.ValueOf(r))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("x")
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i), depth+1)
			}
		}
	case reflect.Slice:
		s := reflect.MakeSlice(v.Type(), 2, 4)
		for i := range 2 {
			fill(s.Index(i), depth+1)
		}
		v.Set(s)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), depth+1)
		}
	case reflect.Interface:
		v.Set(reflect.ValueOf(MetadataRequest{Topics: []string{"x"}}))
	}
}

func compare(t *testing.T, path string, a, b reflect.Value, used map[string]bool) {
	i := slices.IndexFunc(shared, func(p string) bool { return strings.HasSuffix(path, p) })
	if i >= 0 {
		used[shared[i]] = true
		if a.Kind() == reflect.Slice && a.Len() > 0 && a.Pointer() == b.Pointer() && b.Cap() > b.Len() {
			switch {
			case strings.HasSuffix(path, ".Holds"), strings.HasSuffix(path, "Truth.Acked"), strings.HasSuffix(path, ".Runs.Full"), strings.HasSuffix(path, ".Runs.Open.Data"), strings.HasSuffix(path, ".Clients"), strings.HasSuffix(path, ".Active.Batches.Full"), strings.HasSuffix(path, ".Transactions.Aborted"), strings.HasSuffix(path, ".Active.Batches.Last"),
				strings.HasSuffix(path, ".Batch.Records.Data"), strings.HasSuffix(path, ".Blocked.Chunks[]"), strings.HasSuffix(path, "Controllers[].Log"), strings.HasSuffix(path, "Committed.Log"), strings.HasSuffix(path, ".TopicBase"), strings.HasSuffix(path, "State.Added"):
				t.Errorf("%s grows, and the clone has the original's spare room", path)
			}
		}
		return
	}
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			compare(t, path+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i), used)
		}
	case reflect.Slice:
		if a.Len() > 0 && a.Pointer() == b.Pointer() {
			t.Errorf("%s is shared with the clone", path)
			return
		}
		for i := range a.Len() {
			compare(t, path+"[]", a.Index(i), b.Index(i), used)
		}
	}
}

// Every field counts in the hash.
func TestHashSeesEveryField(t *testing.T) {
	s := &State{}
	fill(reflect.ValueOf(s).Elem(), 0)
	s.Notes, s.Watching, s.Answers, s.Losses, s.Untold = nil, false, nil, nil, nil
	base := s.Hash()
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if slices.Contains([]string{"Notes", "Quiet", "Watching", "Answers", "Losses", "Untold", "Commits", "Transitions"}, name) {
			continue
		}
		old := reflect.New(v.Field(i).Type()).Elem()
		old.Set(v.Field(i))
		v.Field(i).SetZero()
		if s.Hash() == base {
			t.Errorf("State.%s does not count in the hash", name)
		}
		v.Field(i).Set(old)
	}
}
