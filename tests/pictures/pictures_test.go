package pictures

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"kafkalab/charts"
	"kafkalab/kafkasim"
)

// drawn is one picture with the name of its state.
type drawn struct {
	name string
	of   *charts.Picture
}

// everyPicture is all pictures in all their states.
func everyPicture() []drawn {
	var all []drawn
	add := func(name string, p *charts.Picture) { all = append(all, drawn{name, p}) }
	for _, w := range []struct {
		name string
		c    *kafkasim.Cluster
	}{{"normal", leaderCrash()}, {"empty", empty()}, {"one-record", oneRecord()}, {"crowded", crowded()}} {
		add("cluster-"+w.name, charts.Cluster(w.c))
		add("replay-"+w.name, charts.Replay(w.c))
		add("messages-"+w.name, charts.Messages(w.c))
	}
	one, many := oneRecord(), crowded()
	add("log-normal", charts.Log(leaderCrash(), "orders", 0))
	add("log-widget", charts.Log(widgetStory(), "log", 0))
	add("log-one-record", charts.Log(one, "orders", 0))
	add("log-crowded", charts.Log(many, "orders-of-every-shop", 3))
	add("log-down", charts.Log(leaderCrash().At(30*time.Millisecond), "orders", 0))
	add("segments-normal", charts.Segments(segments(), "orders", 0))
	add("segments-one-record", charts.Segments(one, "orders", 0))
	add("segments-crowded", charts.Segments(many, "orders-of-every-shop", 3))
	add("quorum-normal", charts.Quorum(elections()))
	add("quorum-empty", charts.Quorum(empty()))
	add("quorum-crowded", charts.Quorum(many))
	add("batches-normal", charts.Batches(filling()))
	add("batches-empty", charts.Batches(one))
	add("batches-crowded", charts.Batches(many, "shop-1"))
	add("throughput-normal", charts.Throughput(steady("all")))
	add("throughput-empty", charts.Throughput(empty()))
	add("throughput-one-record", charts.Throughput(one))
	add("throughput-crowded", charts.Throughput(many))
	add("latency-normal", charts.Latency(steady("1", "all")))
	add("latency-one-record", charts.Latency(one))
	add("latency-crowded", charts.Latency(many))
	add("lag-normal", charts.Lag(reading()))
	add("lag-crowded", charts.Lag(many))
	add("isr-normal", charts.ISRSize(steady("all")))
	add("hw-normal", charts.HighWatermark(steady("all")))
	add("hw-crowded", charts.HighWatermark(many))
	add("isr-crowded", charts.ISRSize(many))
	add("compare-normal", charts.Compare(widgetRun("1"), widgetRun("all")))
	add("widget-normal", charts.Widget(widgetStory()))
	add("page-normal", charts.Page(leaderCrash()))
	add("page-one-record", charts.Page(one))
	add("page-crowded", charts.Page(many))
	add("widget-crowded", charts.Widget(many))
	add("assignment-normal", charts.Assignment(scaling()))
	add("share-group-normal", charts.ShareGroup(sharing()))
	add("transaction-normal", charts.Transaction(transactions()))
	add("replay-group", charts.Replay(scaling()))
	crash := leaderCrash()
	add("messages-crash", charts.Messages(crash, charts.Filter{From: 20 * time.Millisecond, To: 40 * time.Millisecond, Words: "orders-0"}))
	return all
}

func TestEveryPictureIsOfTheSchemaAndDrawn(t *testing.T) {
	for _, d := range everyPicture() {
		data, err := json.Marshal(d.of.Envelope())
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := charts.ParseEnvelope(data); err != nil {
			t.Errorf("%s: %v", d.name, err)
		}
		png, err := d.of.PNG()
		if err != nil {
			t.Errorf("%s: %v", d.name, err)
		}
		t.Logf("%s: spec %d bytes, PNG %d bytes", d.name, len(data), len(png))
		if dir := os.Getenv("KAFKALAB_LOOK"); dir != "" {
			if err := os.WriteFile(filepath.Join(dir, d.name+".png"), png, 0o644); err != nil {
				t.Fatal(err)
			}
			t.Logf("%s", d.of)
		}
	}
}
