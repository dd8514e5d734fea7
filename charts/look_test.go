package charts

import (
	"fmt"
	"os"
	"testing"

	"kafkalab/kafkasim/view"
)

func widget() *world {
	w := newWorld(3)
	w.at(1).topic("events", []int{1, 2, 3})
	w.producer("producer", "all")
	for i := int64(0); i < 26; i++ {
		w.at(2 + i)
		w.send("producer", 0, 1)
		w.append(0, 1, 0, fmt.Sprintf("key-%d", i%7))
		if i > 0 {
			w.copyUpTo(0, 2, 1, i)
		}
		if i > 1 && i < 18 {
			w.copyUpTo(0, 3, 1, i-1)
			w.hw(0, 1, i-1)
			w.ack("producer", 0, i-2, 1, 0)
			w.hw(0, 2, i-2)
		}
		if i == 18 {
			w.command(`Broker(3).Pause()`)
			w.cluster.Brokers[2].Paused = true
			w.add(view.Change{Kind: view.BrokerState, Broker: 3, Partition: -1, Text: "PAUSED"})
		}
		if i == 22 {
			w.record(0, 1, 0, 1, 2)
			w.hw(0, 1, 22)
			w.ack("producer", 0, 16, 6, 0)
			w.hw(0, 2, 17)
		}
	}
	return w.at(30)
}

func TestLook(t *testing.T) {
	big := newWorld(5)
	var assignment [][]int
	for i := range 6 {
		assignment = append(assignment, []int{i%5 + 1, (i+1)%5 + 1, (i+2)%5 + 1})
	}
	big.at(1).topic("payments-europe-west", assignment...)
	for i := range 40 {
		big.at(int64(i+2)).append(i%6, i%6%5+1, 0, fmt.Sprintf("customer-%d", i*7%31))
		big.copyUpTo(i%6, (i%6+1)%5+1, i%6%5+1, big.replica(i%6, i%6%5+1).LogEndOffset)
		if i%3 == 0 {
			big.hw(i%6, i%6%5+1, big.replica(i%6, (i%6+1)%5+1).LogEndOffset)
		}
	}
	big.crash(4)
	big.at(50)
	one := newWorld(1)
	one.at(1).topic("log", []int{1})
	one.at(2).append(0, 1, 0, "a", "b", "a", "c")
	one.at(3).hw(0, 1, 4)
	one.at(5)
	w := widget()
	for name, p := range map[string]*Picture{"widget": Cluster(w), "big": Cluster(big), "wreplay": Replay(w), "whw": HighWatermark(w), "wisr": ISRSize(w), "one": Cluster(one), "bighw": HighWatermark(big)} {
		png, err := p.PNG()
		if err != nil {
			t.Fatal(err)
		}
		os.WriteFile("/tmp/look/"+name+".png", png, 0o644)
	}
}
