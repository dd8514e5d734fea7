package charts

import (
	"testing"

	"kafkalab/charts/svg"
)

// The cost of one displayed picture, from the source to the bytes of the PNG.

func benchmarkPicture(b *testing.B, draw func() *Picture) {
	if _, err := draw().PNG(); err != nil { // compiles ECharts, parses fonts
		b.Fatal(err)
	}
	for b.Loop() {
		p := draw()
		if _, err := p.PNG(); err != nil {
			b.Fatal(err)
		}
	}
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
			for b.Loop() {
				if draw().SVG() == "" {
					b.Fatal("nothing was drawn")
				}
			}
		})
	}
}

// BenchmarkLongReplay folds 100,000 moments.
func BenchmarkLongReplay(b *testing.B) {
	w := longStory(100_000)
	for b.Loop() {
		Replay(w)
	}
}

func BenchmarkLongHighWatermark(b *testing.B) {
	w := longStory(100_000)
	for b.Loop() {
		HighWatermark(w)
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
