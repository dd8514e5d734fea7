package pictures

import (
	"sync"
	"testing"
	"time"

	"kafkalab/charts"
	"kafkalab/kafkasim"
)

// longRun is a simulated cluster whose history has a million changes.
var longRun = sync.OnceValue(func() *kafkasim.Cluster {
	c := kafkasim.New(kafkasim.World{Brokers: 3, Seed: 1})
	c.CreateTopic("orders", 3, 3, nil)
	c.NewProducer("checkout", kafkasim.Config{"acks": "all"}).Every(time.Millisecond, "orders", "a", "b", "c", "d", "e")
	for i := 0; len(c.Trace().Changes) < 1_000_000; i++ {
		c.RunFor(10 * time.Second)
		if i%4 == 3 {
			c.Broker(1 + i%3).Crash()
			c.RunFor(10 * time.Second)
			c.Broker(1 + i%3).Start()
		}
	}
	return c
})

// BenchmarkLongRun draws a real history of a million changes, from the cluster to the spec.
func BenchmarkLongRun(b *testing.B) {
	c := longRun()
	for name, draw := range map[string]func() *charts.Picture{
		"Trace": func() *charts.Picture { c.Trace(); return nil }, "Replay": func() *charts.Picture { return charts.Replay(c) },
		"HighWatermark": func() *charts.Picture { return charts.HighWatermark(c) }, "ISRSize": func() *charts.Picture { return charts.ISRSize(c) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				draw()
			}
		})
	}
}
