package charts

import (
	"fmt"
	"sync"
	"testing"

	"kafkalab/charts/svg"
	"kafkalab/kafkasim/view"
)

// The cost of one displayed picture, from the source to the bytes of the PNG.

func benchmarkPicture(b *testing.B, draw func() *Picture) {
	if _, err := draw().PNG(); err != nil { // compiles ECharts, parses fonts
		b.Fatal(err)
	}
	cpu := newCPU()
	for b.Loop() {
		p := draw()
		if _, err := p.PNG(); err != nil {
			b.Fatal(err)
		}
	}
	cpu.report(b)
}

func BenchmarkCluster(b *testing.B) {
	w := leaderCrash(60)
	benchmarkPicture(b, func() *Picture { return Cluster(w) })
}

func BenchmarkReplay(b *testing.B) {
	w := leaderCrash(60)
	benchmarkPicture(b, func() *Picture { return Replay(w) })
}

func BenchmarkHighWatermark(b *testing.B) {
	w := leaderCrash(60)
	benchmarkPicture(b, func() *Picture { return HighWatermark(w) })
}

func BenchmarkISRSize(b *testing.B) {
	w := leaderCrash(60)
	benchmarkPicture(b, func() *Picture { return ISRSize(w) })
}

// What a protocol picture of a lesson costs: laid out and written as SVG.
func BenchmarkSVG(b *testing.B) {
	w, widget := below(), widget()
	for name, draw := range map[string]func() *Picture{
		"Cluster": func() *Picture { return Cluster(w) }, "Log": func() *Picture { return Log(w, "orders", 0) }, "Messages": func() *Picture { return Messages(w) },
		"Segments": func() *Picture { return Segments(w, "orders", 0) }, "Quorum": func() *Picture { return Quorum(w) }, "Batches": func() *Picture { return Batches(w) },
		"Replay": func() *Picture { return Replay(w) }, "Page": func() *Picture { return Page(w) }, "Widget": func() *Picture { return Widget(widget) },
		"Assignment": func() *Picture { return Assignment(grouped()) }, "Transaction": func() *Picture { return Transaction(grouped()) },
	} {
		b.Run(name, func(b *testing.B) {
			cpu := newCPU()
			for b.Loop() {
				if draw().SVG() == "" {
					b.Fatal("nothing was drawn")
				}
			}
			cpu.report(b)
		})
	}
}

// millionEvents is a history of a million changes as a steady producer and a reader make them, with a broker that
// crashes and returns a hundred times.
var millionEvents = sync.OnceValue(func() *world {
	w := newWorld(3)
	w.at(1).topic("orders", []int{1, 2, 3}, []int{2, 3, 1})
	changes := make([]view.Change, 0, 1_000_100)
	w.trace.Changes = append(changes, w.trace.Changes...)
	w.cluster.Producers = []view.Producer{{ID: "checkout", Acks: "all"}}
	w.cluster.Consumers = []view.Consumer{{ID: "warehouse"}}
	for n := int64(0); len(w.trace.Changes) < 1_000_000; n++ {
		w.at(2 + n)
		p := int(n % 2)
		leader, followers := 1+p, []int{2 + p, 1 + (2+p)%3}
		end := n / 2
		record := []view.Record{{Offset: end, Key: fmt.Sprint("user-", n%40), Value: "v"}}
		client := func(kind view.Kind, id string, a, b, c int64) {
			w.add(view.Change{Kind: kind, Broker: -1, Partition: p, Client: id, A: a, B: b, C: c})
		}
		client(view.Sent, "checkout", 1, 0, 0)
		for _, broker := range append([]int{leader}, followers...) {
			w.add(view.Change{Kind: view.Appended, Broker: broker, Partition: p, A: end, B: end + 1, Records: record})
		}
		w.add(view.Change{Kind: view.HighWatermark, Broker: leader, Partition: p, A: end + 1, B: end})
		client(view.Acked, "checkout", end, 1, 2000+n%700)
		for _, broker := range followers {
			w.add(view.Change{Kind: view.HighWatermark, Broker: broker, Partition: p, A: end + 1, B: end})
		}
		client(view.Consumed, "warehouse", end, end+1, 0)
		if n%1100 == 500 {
			w.add(view.Change{Kind: view.BrokerState, Broker: 3, Partition: -1, Text: []string{"CRASHED", "RUNNING"}[n/1100%2]})
		}
	}
	return w
})

// BenchmarkMillionEvents is what a picture of a million changes costs before it is drawn: the history is thinned
// to what can be seen. cpu-ms/op is the time of one core; beside other work the clock shows more.
func BenchmarkMillionEvents(b *testing.B) {
	w := millionEvents()
	for _, picture := range []struct {
		name string
		draw func() *Picture
	}{
		{"Replay", func() *Picture { return Replay(w) }}, {"HighWatermark", func() *Picture { return HighWatermark(w) }},
		{"ISRSize", func() *Picture { return ISRSize(w) }}, {"Lag", func() *Picture { return Lag(w) }},
		{"Throughput", func() *Picture { return Throughput(w) }}, {"Latency", func() *Picture { return Latency(w) }},
		{"Page", func() *Picture { return Page(w) }},
	} {
		b.Run(picture.name, func(b *testing.B) {
			bytes, cpu := 0, newCPU()
			for b.Loop() {
				bytes = len(picture.draw().Envelope().Spec)
			}
			cpu.report(b)
			b.ReportMetric(float64(bytes)/1024, "spec-KB")
		})
	}
}

// BenchmarkRasterise is the share of the PNG in BenchmarkCluster.
func BenchmarkRasterise(b *testing.B) {
	text := Cluster(leaderCrash(34)).SVG()
	for b.Loop() {
		if _, err := svg.PNG(text, pngScale); err != nil {
			b.Fatal(err)
		}
	}
}
