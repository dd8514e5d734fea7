package charts

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// whole is the scene of a board written down at once, without any frame before.
func whole(b *board, topics []string) *scene {
	copied := *b
	copied.partitions = slices.Clone(b.partitions)
	for i := range copied.partitions {
		copied.partitions[i].logs = slices.Clone(b.partitions[i].logs)
	}
	r := newRecorder("", &copied, topics)
	r.frame(&copied, 0, nil)
	return sceneAt(r.spec, 0)
}

// same compares what a reader sees in two scenes.
func same(t interface{ Fatalf(string, ...any) }, when string, got, want *scene) {
	if !slices.Equal(got.brokers, want.brokers) {
		t.Fatalf("%s: brokers %v, want %v", when, got.brokers, want.brokers)
	}
	if fmt.Sprint(got.partitions) != fmt.Sprint(want.partitions) {
		t.Fatalf("%s: partitions %v, want %v", when, got.partitions, want.partitions)
	}
	for i := range got.logs {
		g, w := &got.logs[i], &want.logs[i]
		from := got.partitions[got.spec.Replicas[i].Partition].From
		if g.Role != w.Role || g.Start != w.Start || g.End != w.End || g.HW != w.HW {
			t.Fatalf("%s: log %d is %+v, want %+v", when, i, g.LogDelta, w.LogDelta)
		}
		if a, b := g.visible(from, got.spec.Cells), w.visible(from, got.spec.Cells); !slices.Equal(a, b) {
			t.Fatalf("%s: log %d shows %v, want %v", when, i, a, b)
		}
		if !slices.Equal(g.Gone, w.Gone) {
			t.Fatalf("%s: log %d lost %v, want %v", when, i, g.Gone, w.Gone)
		}
	}
	if !slices.Equal(got.clients, want.clients) {
		t.Fatalf("%s: clients %v, want %v", when, got.clients, want.clients)
	}
}

// TestFramesSayTheSameAsWholePictures: a reader who applies the deltas sees at every moment what a
// picture of that moment alone would show.
func TestFramesSayTheSameAsWholePictures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := randomWorld(t)
		trace := w.Trace()
		b := newBoard(trace)
		b.keys = keysOf(trace)
		r := newRecorder("", b, []string{"orders"})
		var reader, short *scene // the second keeps only what it shows
		for _, g := range moments(trace) {
			for i := g.from; i < g.to; i++ {
				b.apply(&trace.Changes[i])
			}
			want := whole(b, []string{"orders"})
			r.frame(b, trace.Changes[g.to-1].At, nil)
			if reader == nil {
				reader, short = newScene(r.spec), newScene(r.spec)
				short.forgets = true
			}
			reader.apply(&r.spec.Frames[len(r.spec.Frames)-1])
			same(t, fmt.Sprintf("frame %d", len(r.spec.Frames)-1), reader, want)
			short.apply(&r.spec.Frames[len(r.spec.Frames)-1])
			same(t, fmt.Sprintf("frame %d, without what was before", len(r.spec.Frames)-1), short, want)
		}
	})
}

// randomWorld lets things happen in any order, also in ones that Kafka does not know.
func randomWorld(t *rapid.T) *world {
	w := newWorld(3)
	w.at(1).topic("orders", []int{1, 2, 3}, []int{2, 3})
	epoch := 0
	for tick := int64(2); tick < 40; tick++ {
		w.at(tick)
		i := rapid.IntRange(0, 1).Draw(t, "partition")
		broker := rapid.IntRange(2, 3).Draw(t, "broker")
		r := w.replica(i, broker)
		switch rapid.IntRange(0, 7).Draw(t, "verb") {
		case 0, 1, 2:
			keys := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b", "c"}), 1, 9).Draw(t, "keys")
			w.append(i, broker, epoch, keys...)
		case 3:
			w.hw(i, broker, rapid.Int64Range(0, r.LogEndOffset).Draw(t, "hw"))
		case 4:
			w.truncate(i, broker, rapid.Int64Range(0, r.LogEndOffset).Draw(t, "to"))
		case 5:
			epoch++
			w.lead(i, broker, epoch, broker)
		case 6:
			if r.LogEndOffset > 0 {
				w.send("p", i, 1)
				w.ack("p", i, rapid.Int64Range(0, r.LogEndOffset-1).Draw(t, "acked"), 1, epoch)
			}
		case 7:
			if other := w.replica(i, 5-broker); other.LogEndOffset > r.LogEndOffset {
				w.copyUpTo(i, broker, 5-broker, other.LogEndOffset)
			}
		}
	}
	return w
}

// TestFoldingTheTraceGivesTheView: at every moment of the story the folded trace shows what the view of
// that moment shows.
func TestFoldingTheTraceGivesTheView(t *testing.T) {
	for until := int64(10); until <= 60; until++ {
		w := leaderCrash(until)
		trace := w.Trace()
		folded := overMoments(newBoard(trace), trace, func(*board, int64) {})
		folded.keys = keysOf(trace)
		folded.acksOf(w.View())
		for i := range folded.partitions {
			for k := range folded.partitions[i].logs {
				folded.partitions[i].logs[k].gone = nil
			}
		}
		viewed := boardOf(w.View(), trace)
		slices.SortFunc(viewed.clients, func(a, b boardClient) int { return strings.Compare(a.id, b.id) })
		same(t, fmt.Sprintf("tick %d", until), whole(folded, []string{"orders"}), whole(viewed, []string{"orders"}))
	}
}

func TestReplayTellsWhatHappened(t *testing.T) {
	p := Replay(leaderCrash(60))
	_, spec, err := ParseEnvelope(compact(t, p))
	if err != nil {
		t.Fatal(err)
	}
	replay := spec.(*ReplaySpec)
	var told []string
	for _, f := range replay.Frames {
		for _, text := range f.Words {
			told = append(told, fmt.Sprintf("%g %s", f.T, text))
		}
	}
	for _, want := range []string{
		`10 You: CreateTopic("orders").`,
		"10 orders-0 is created on brokers 1 and 2: leader broker 1.",
		"13 Broker 1 appends offsets 0 to 2 of orders-0.",
		"14 checkout learns: offsets 0 to 2 of orders-0 acknowledged, after 2 ms.",
		"15 Broker 2 copies offsets 0 to 2 of orders-0.",
		"17 Broker 1 moves the high watermark of orders-0 from 0 to 3.",
		"22 reader reads offsets 0 and 1 of orders-0.",
		"23 Broker 1 crashes.",
		"31 Controller, orders-0: no leader; the ISR is 2.",
		"33 Controller, orders-0: broker 2 is leader in epoch 1.",
		"33 Lost: offsets 3 and 4 of orders-0, acknowledged, in no leader's log any more.",
		"47 Broker 1 cuts its log of orders-0 back from 5 to 3: offsets 3 and 4 are gone.",
		"49 Controller, orders-0: the ISR is 2 and 1.",
	} {
		if !slices.Contains(told, want) {
			t.Errorf("%q is not told; it tells\n%s", want, strings.Join(told, "\n"))
		}
	}
	at47 := slices.IndexFunc(replay.Frames, func(f Frame) bool { return f.T == 47 })
	if gone := replay.Frames[at47].Logs[0].Gone; !reflect.DeepEqual(gone, []Cell{{3, 1, 0, 2}, {4, -1, 0, 2}}) {
		t.Errorf("frame of the truncation shows ghosts %v", gone)
	}
}

// longStory has a moment every tick, and an election among them now and then.
func longStory(ticks int64) *world {
	w := newWorld(3)
	w.at(1).topic("orders", []int{1, 2, 3})
	for tick := int64(2); tick < ticks; tick++ {
		w.at(tick)
		switch tick % 4 {
		case 0:
			w.append(0, 1, 0, fmt.Sprintf("key-%d", tick%5))
		case 1:
			w.copyUpTo(0, 2, 1, w.replica(0, 1).LogEndOffset)
		case 2:
			w.hw(0, 1, w.replica(0, 2).LogEndOffset)
		case 3:
			if tick%100 == 3 {
				w.record(0, 1, int(tick), 1, 2)
			}
		}
	}
	return w
}

func TestALongReplayKeepsItsLoudMoments(t *testing.T) {
	w := longStory(4000)
	p := Replay(w)
	_, spec, err := ParseEnvelope(compact(t, p))
	if err != nil {
		t.Fatal(err)
	}
	frames := spec.(*ReplaySpec).Frames
	if len(frames) > maxFrames || len(frames) < maxFrames/4 {
		t.Errorf("%d frames, want more", len(frames))
	}
	if title := spec.(*ReplaySpec).Title; !strings.HasPrefix(title, "Replay, 3") || !strings.HasSuffix(title, fmt.Sprintf(" moments in %d steps", len(frames))) {
		t.Errorf("the title is %q; want how many moments there were in how many steps", title)
	}
	for tick := int64(103); tick < 4000; tick += 100 {
		if !slices.ContainsFunc(frames, func(f Frame) bool { return f.T == float64(tick) }) {
			t.Errorf("the election at %d ms has no frame of its own", tick)
		}
	}
	if n := len(p.Envelope().Spec); n > maxReplay {
		t.Errorf("the spec of 4000 moments has %d bytes, want at most %d", n, maxReplay)
	}
}

func TestThinNeverExceedsItsLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		loud := rapid.SliceOfN(rapid.SampledFrom([]int{0, 0, 0, 2, 3, 4, 5}), 0, 300).Draw(t, "loud")
		most := rapid.IntRange(1, 60).Draw(t, "most")
		list := make([]group, len(loud))
		for i := range list {
			list[i] = group{from: i, to: i + 1, loud: loud[i]}
		}
		out := thin(list, most)
		if len(out) > most && len(list) > most {
			t.Fatalf("%d groups, want at most %d", len(out), most)
		}
		at := 0
		for _, g := range out {
			if g.from != at || g.to <= g.from {
				t.Fatalf("group %+v does not go on from %d", g, at)
			}
			at = g.to
		}
		if at != len(list) {
			t.Fatalf("the groups end at %d of %d", at, len(list))
		}
	})
}

func TestAnEmptyClusterIsAPictureToo(t *testing.T) {
	w := &world{}
	for name, p := range map[string]*Picture{"cluster": Cluster(w), "replay": Replay(w), "hw": HighWatermark(w), "isr": ISRSize(w)} {
		if _, _, err := ParseEnvelope(compact(t, p)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := p.PNG(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestManyPartitionsAreCut: a picture stays a picture, and says what it leaves out.
func TestManyPartitionsAreCut(t *testing.T) {
	w := newWorld(5)
	var assignment [][]int
	for i := range 30 {
		assignment = append(assignment, []int{i%5 + 1, (i+1)%5 + 1, (i+2)%5 + 1})
	}
	w.at(1).topic("orders", assignment...)
	w.at(2).append(29, 5, 0, "a")
	w.at(3).record(29, 5, 0, 5)
	w.at(9)
	for want, p := range map[string]*Picture{
		"Cluster at 9 ms (12 of 30 partitions)":                          Cluster(w),
		"High watermark (12 of 30 partitions)":                           HighWatermark(w),
		"Replicas in the ISR (the 8 of 30 partitions that changed most)": ISRSize(w),
	} {
		if !strings.Contains(p.Envelope().Spec, want) {
			t.Errorf("the title is not %q", want)
		}
		if _, err := p.PNG(); err != nil {
			t.Error(err)
		}
	}
	if !strings.Contains(ISRSize(w).String(), "orders-29: 3, 1 at 3 ms.") {
		t.Error("the partition that changed is not among those shown")
	}
}
