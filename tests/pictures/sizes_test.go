package pictures

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"kafkalab/charts"
	"kafkalab/kafkasim"
)

// A replay of three partitions on three brokers over a hundred ticks, with a crash in its middle, has at most 40 KB; a long story
// of a group is thinned to 64 KB, of a crowded cluster too, and says so.
func TestReplaysStaySmall(t *testing.T) {
	small := kafkasim.New(kafkasim.World{Brokers: 3, Seed: 1})
	small.CreateTopic("orders", 3, 3, nil)
	small.NewProducer("checkout", kafkasim.Config{"acks": "all"}).Every(3*time.Millisecond, "orders", "a", "b", "c", "d", "e")
	small.Ticks(40)
	small.Broker(1).Crash()
	small.Ticks(30)
	small.Broker(1).Start()
	small.Ticks(30)

	group := kafkasim.New(kafkasim.World{Brokers: 3, Seed: 7})
	group.CreateTopic("orders", 3, 3, nil)
	group.NewProducer("checkout", nil).Every(50*time.Millisecond, "orders", "a", "b", "c", "d", "e")
	for i := range 4 {
		reader := group.NewConsumer(fmt.Sprintf("c%d", i+1), kafkasim.Config{"group.id": "shop", "auto.offset.reset": "earliest"})
		reader.Subscribe("orders").Work(kafkasim.Work{PerRecord: time.Millisecond, Commit: "after"})
		group.RunFor(4 * time.Second)
	}

	for _, story := range []struct {
		name  string
		world *kafkasim.Cluster
		most  int
		thin  bool
	}{{"3x3 logs, 100 ticks", small, 40 << 10, false}, {"a group's 16 s", group, 64 << 10, true}, {"a crowded cluster", crowded(), 64 << 10, true}} {
		e := charts.Replay(story.world).Envelope()
		if len(e.Spec) > story.most {
			t.Errorf("%s: %d bytes, want at most %d", story.name, len(e.Spec), story.most)
		}
		_, spec, err := charts.ParseEnvelope(travelling(t, e))
		if err != nil {
			t.Fatal(err)
		}
		frames, title := len(spec.(*charts.ReplaySpec).Frames), spec.(*charts.ReplaySpec).Title
		if frames < 40 || strings.Contains(title, " moments in ") != story.thin {
			t.Errorf("%s: %d frames, %q", story.name, frames, title)
		}
		t.Logf("%s: %d bytes, %d frames, %q", story.name, len(e.Spec), frames, title)
	}
}

func travelling(t *testing.T, e charts.Envelope) []byte {
	t.Helper()
	data, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
