package charts

import (
	"testing"

	"kafkalab/kafkasim/view"
)

// usage runs a call and returns the message of the UsageError that it panics with, "" for none.
func usage(call func()) (message string) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *UsageError:
			message = r.UserMessage()
		default:
			panic(r)
		}
	}()
	call()
	return ""
}

func TestMistakesAreAnsweredWithASentence(t *testing.T) {
	w := leaderCrash(60)
	empty := newWorld(1)
	var none *world
	for _, c := range []struct {
		call func()
		want string
	}{
		{func() { Cluster(nil) }, "charts.Cluster: there is no cluster to draw (the first argument is nil); give it the one from kafkasim.New"},
		{func() { Replay(none) }, "charts.Replay: there is no cluster to draw (the first argument is nil); give it the one from kafkasim.New"},
		{func() { HighWatermark(w, "order") }, `charts.HighWatermark: no topic "order" - did you mean "orders"?`},
		{func() { ISRSize(w, "payments") }, `charts.ISRSize: no topic "payments"; this cluster has "orders"`},
		{func() { Cluster(empty, "orders") }, `charts.Cluster: no topic "orders"; this cluster has no topics yet`},
		{func() { Lag(w, "Reader") }, `charts.Lag: no consumer or group "Reader" - did you mean "reader"?`},
		{func() { Lag(empty) }, "charts.Lag: this cluster has no consumers yet; make one with NewConsumer, and let it Poll"},
		{func() { Cluster(w).WithID("No!") }, `charts: id "No!"; want 1 to 40 of a-z, 0-9 and -`},
		{func() { Cluster(broken{}) }, "charts.Cluster: this charts.broken has no view or no trace to draw from"},
	} {
		if got := usage(c.call); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

// broken is a source that has nothing to show.
type broken struct{}

func (broken) View() *view.Cluster { return nil }
func (broken) Trace() *view.Trace  { return nil }
