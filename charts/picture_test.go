package charts

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestTheBundleIsWhatTheDesignSays: three types of data, no more, and the metadata.
func TestTheBundleIsWhatTheDesignSays(t *testing.T) {
	for name, p := range pictures() {
		bundle, metadata := p.MIMEBundle(), p.MIMEMetadata()
		if len(bundle) != 3 || bundle["text/plain"] != p.String() || metadata["vscode_altText"] != p.String() {
			t.Errorf("%s: bundle of %d, text %q", name, len(bundle), bundle["text/plain"])
		}
		data, err := base64.StdEncoding.DecodeString(bundle["image/png"].(string))
		if err != nil {
			t.Fatal(err)
		}
		if dir := os.Getenv("KAFKALAB_LOOK"); dir != "" {
			os.WriteFile(dir+"/"+name+".png", data, 0o644)
		}
		decoded, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		size := metadata["image/png"].(map[string]any)
		if b := decoded.Bounds(); b.Dx() != 2*size["width"].(int) || b.Dy() != 2*size["height"].(int) {
			t.Errorf("%s: PNG of %v for %v", name, b, size)
		}
		looksDrawn(t, name, decoded, len(data))
	}
}

// looksDrawn wants a palette, a white corner, and some colour and some black text.
func looksDrawn(t *testing.T, name string, picture image.Image, size int) {
	t.Helper()
	paletted, ok := picture.(*image.Paletted)
	if !ok {
		t.Errorf("%s: %T, want a palette", name, picture)
		return
	}
	counts := map[string]int{}
	for _, index := range paletted.Pix {
		r, g, b, _ := paletted.Palette[index].RGBA()
		switch {
		case r>>8 > 250 && g>>8 > 250 && b>>8 > 250:
			counts["white"]++
		case max(r, g, b)-min(r, g, b) > 0x6000:
			counts["colour"]++
		case r>>8 < 0x28 && g>>8 < 0x28 && b>>8 < 0x28:
			counts["ink"]++
		}
	}
	if all := len(paletted.Pix); counts["white"] < all/3 || counts["colour"] < 200 || counts["ink"] < 200 {
		t.Errorf("%s: of %d pixels %v", name, all, counts)
	}
	if size > 120_000 {
		t.Errorf("%s: PNG of %d bytes", name, size)
	}
}

func TestIdsAreTheSameInEveryRunAndDifferInOne(t *testing.T) {
	NumberFrom(1)
	w := leaderCrash(60)
	first, second := Cluster(w), Cluster(w)
	NumberFrom(1)
	again := Cluster(leaderCrash(60))
	if first.Envelope() != again.Envelope() {
		t.Errorf("%s, then %s", first.Envelope().ID, again.Envelope().ID)
	}
	if first.Envelope().ID == second.Envelope().ID {
		t.Errorf("two charts have the id %s", first.Envelope().ID)
	}
	if !regexp.MustCompile(`^cluster-[0-9a-f]{8}-1$`).MatchString(first.Envelope().ID) {
		t.Errorf("id %s", first.Envelope().ID)
	}
	if kept := second.WithID("mine"); kept.Envelope().ID != "mine" || kept.SVG() != second.SVG() {
		t.Error("WithID changes more than the id")
	}
}

func TestAlternativeTextsAreSentencesWithNumbers(t *testing.T) {
	w := leaderCrash(60)
	for _, c := range []struct {
		picture *Picture
		want    []string
	}{
		{Cluster(leaderCrash(34)), []string{"Cluster at 34 ms: 3 brokers, broker 1 is down.", "orders-0: leader broker 2 in epoch 1, ISR 2; on broker 1 hw 3 leo 5; on broker 2 hw 3 leo 3.",
			"Producer checkout, acks=1: 7 sent, 7 acknowledged (2 of them lost)."}},
		{Replay(w), []string{"Replay of 25 moments from 0 ms to 52 ms.", "At 33 ms: Lost: offsets 3 and 4 of orders-0"}},
		{HighWatermark(w), []string{"High watermark between 10 ms and 60 ms: orders-0 from 0 to 4, orders-1 from 0 to 2, orders-2 from 0 to 0.",
			"orders-0 without a leader from 23 ms to 33 ms.", "Broker 1 down from 23 ms to 45 ms."}},
		{ISRSize(w), []string{"orders-0: 2, 1 at 31 ms, 2 at 49 ms. orders-1: 2."}},
		{Lag(w), []string{"orders-1: log end 2, high watermark 2, reader at 1 (1 record behind the high watermark)."}},
	} {
		for _, want := range c.want {
			if !strings.Contains(c.picture.String(), want) {
				t.Errorf("%q is not in %q", want, c.picture)
			}
		}
	}
}

// TestTextFromRecordsStaysText: keys and names are a learner's; none of them may become markup.
func TestTextFromRecordsStaysText(t *testing.T) {
	const nasty = `</text><script>alert(1)</script>&"`
	w := newWorld(2)
	w.at(1).topic("a<b>&", []int{1, 2})
	w.at(2).append(0, 1, 0, nasty, "日本\x00")
	w.send(nasty, 0, 2)
	for name, p := range map[string]*Picture{"cluster": Cluster(w), "replay": Replay(w), "hw": HighWatermark(w)} {
		if strings.Contains(p.SVG(), "<script") || strings.Contains(p.SVG(), "a<b>") {
			t.Errorf("%s: markup got into the picture", name)
		}
		if _, err := p.PNG(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, err := ParseEnvelope(compact(t, p)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
