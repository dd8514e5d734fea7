package kafkasim

import (
	"slices"
	"strings"
	"testing"
	"time"

	"kafkalab/kafkasim/view"
)

// A record's way can be read off the wire: the request, the copies, the answer, each with its times; what was
// dropped, held or came to a dead process says so.
func TestFlightsTellEveryMessage(t *testing.T) {
	c := Page()
	p := c.NewProducer("checkout", Config{"acks": "all"})
	from := c.Now()
	p.Send("orders", "user-1", "1")
	c.RunFor(20 * time.Millisecond)
	w := c.Flights(from.Microseconds(), c.Now().Microseconds())
	find := func(words ...string) *view.Flight {
		for i := range w.Flights {
			f := &w.Flights[i]
			line := f.From + " -> " + f.To + " " + f.Text
			if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
				return f
			}
		}
		t.Fatalf("no flight with %q in %d", words, len(w.Flights))
		return nil
	}
	request, answer := find("checkout -> broker 1", "Produce "), find("broker 1 -> checkout", "ProduceResponse")
	if request.Fate != view.FateDelivered || request.Ended-request.Sent != 1000 || answer.Sent < request.Ended {
		t.Errorf("a hop takes 1 ms, and the answer comes after it:\n%+v\n%+v", request, answer)
	}
	if request.API != "Produce" || request.Housekeeping {
		t.Errorf("%+v", request)
	}

	p.Send("orders", "user-1", "2")
	p.Flush()
	at := c.Now()
	p.Send("orders", "user-4", "3")
	c.RunUntil(func(c *Cluster) bool { return len(c.InFlight().Matching("Produce checkout->1")) > 0 }, time.Second)
	dropped := c.Drop(c.InFlight().Matching("Produce checkout->1")[0].Number)
	c.Hold("Fetch 2->1")
	c.RunFor(5 * time.Millisecond)
	c.Broker(1).Crash()
	c.Broker(3).Pause()
	c.RunFor(3 * time.Millisecond)
	w = c.Flights(at.Microseconds(), c.Now().Microseconds())
	if i := slices.IndexFunc(w.Flights, func(f view.Flight) bool { return f.Number == dropped.Number }); i < 0 || w.Flights[i].Fate != view.FateDropped {
		t.Errorf("the dropped message is not told so: %+v", w.Flights)
	}
	if !slices.ContainsFunc(w.Flights, func(f view.Flight) bool { return f.Fate == view.FateHeld }) {
		t.Error("no flight is held")
	}
	if !slices.ContainsFunc(w.Flights, func(f view.Flight) bool { return f.Fate == view.FateDead && f.To == "broker 1" }) {
		t.Error("no flight came to the dead broker")
	}
}

// Looking at the wire leaves the cluster as it is, and everything on the wire now is told.
func TestFlightsAgreeWithInFlight(t *testing.T) {
	c := New(World{Brokers: 3, Seed: 4})
	c.CreateTopic("orders", 3, 3, nil)
	c.NewProducer("p", nil).Every(3*time.Millisecond, "orders", "a", "b")
	c.RunFor(300 * time.Millisecond)
	hash := c.Hash()
	w := c.Flights(c.Now().Microseconds(), c.Now().Microseconds())
	if c.Hash() != hash {
		t.Error("looking has changed the cluster")
	}
	for _, m := range c.InFlight() {
		if !slices.ContainsFunc(w.Flights, func(f view.Flight) bool {
			return f.Number == m.Number && f.Ended == m.Arrives.Microseconds() && f.Text == m.Text && f.Fate == view.FateInFlight
		}) {
			t.Errorf("%s is not among %d flights", m, len(w.Flights))
		}
	}
}

// A view tells the batches of a producer, the segments of a log and the records of the metadata log.
func TestViewsTellWhatLiesBelow(t *testing.T) {
	c := Page()
	p := c.NewProducer("checkout", Config{"linger.ms": 100})
	for _, key := range []string{"user-1", "user-4", "user-2"} {
		p.Send("orders", key, "x")
	}
	c.RunFor(3 * time.Millisecond) // metadata
	batches := c.View().Producers[0].Batches
	if len(batches) != 2 || batches[0].Partition != 0 || len(batches[0].Records) != 2 || batches[0].State != view.BatchFilling || batches[1].Partition != 2 {
		t.Errorf("the accumulator is told as %+v", batches)
	}
	p.Send("orders", "user-1", "x")
	if batches = c.View().Producers[0].Batches; batches[0].State == view.BatchFilling {
		t.Errorf("a batch of three is full: %+v", batches[0])
	}
	c.RunFor(200 * time.Millisecond)
	segments := c.Partition("orders", 0).Logs[0].Segments
	if len(segments) != 1 || !segments[0].Active || segments[0].Records != 3 || segments[0].NextOffset != 3 {
		t.Errorf("the segments are told as %+v", segments)
	}
	metadata := c.Controllers()[0].Records
	if n := len(metadata); n == 0 || metadata[n-1].Offset != c.Controllers()[0].LogEndOffset-1 || metadata[n-1].Kind == "NoOpRecord" {
		t.Errorf("the metadata log is told as %+v", metadata)
	}
	if first := c.Trace().Controllers; len(first) != 1 || !first[0].Active {
		t.Errorf("the trace begins with the controllers %+v", first)
	}
}
