package charts

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with testdata/name, or writes it with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from what is drawn now; look at both, then go test ./charts -update\nnow:\n%s", path, got)
	}
}

// asJSON is a chart as it travels, one field a line.
func asJSON(t *testing.T, p *Picture) []byte {
	t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetIndent("", " ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(p.Envelope()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// pictures are the charts that golden files hold.
func pictures() map[string]*Picture {
	NumberFrom(1)
	w := leaderCrash(60)
	return map[string]*Picture{
		"cluster":        Cluster(leaderCrash(34)).WithID("cluster-sample"),
		"widget":         Cluster(widget()).WithID("widget-sample"),
		"replay":         Replay(w).WithID("replay-sample"),
		"high-watermark": HighWatermark(w).WithID("high-watermark-sample"),
		"isr-size":       ISRSize(w, "orders").WithID("isr-size-sample"),
		"lag":            Lag(w, "reader").WithID("lag-sample"),
		"quorum-cluster": Cluster(below()).WithID("quorum-cluster-sample"),
		"log":            Log(leaderCrash(34), "orders", 0).WithID("log-sample"),
		"messages":       Messages(below()).WithID("messages-sample"),
		"segments":       Segments(below(), "orders", 0).WithID("segments-sample"),
		"quorum":         Quorum(below()).WithID("quorum-sample"),
		"batches":        Batches(below()).WithID("batches-sample"),
		"page":           Page(w).WithID("page-sample"),
		"widget-steps":   Widget(widget()).WithID("widget-steps-sample"),
		"throughput":     Throughput(w).WithID("throughput-sample"),
		"latency":        Latency(w).WithID("latency-sample"),
		"assignment":     Assignment(grouped()).WithID("assignment-sample"),
		"share-group":    ShareGroup(shared()).WithID("share-group-sample"),
		"transaction":    Transaction(grouped()).WithID("transaction-sample"),
		"compare":        Compare(w, leaderCrash(30)).WithID("compare-sample"),
	}
}

func TestGoldenSpecsAndPictures(t *testing.T) {
	for name, p := range pictures() {
		golden(t, "golden/"+name+".json", asJSON(t, p))
		if _, err := p.PNG(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if p.Envelope().Kind != KindCurve { // curves are drawn by the browser's script: tested in echarts
			golden(t, "golden/"+name+".svg", []byte(p.SVG()))
		}
	}
}
