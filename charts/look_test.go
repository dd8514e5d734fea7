package charts

import (
	"os"
	"testing"
	"time"
)

func TestLook(t *testing.T) {
	w := leaderCrash(60)
	for name, p := range map[string]*Picture{"cluster": Cluster(leaderCrash(34)), "replay": Replay(w)} {
		t0 := time.Now()
		png, err := p.PNG()
		if err != nil {
			t.Fatal(err)
		}
		t.Log(name, time.Since(t0), len(png), len(p.SVG()), len(p.Envelope().Spec))
		t.Log(p)
		os.WriteFile("/tmp/look/"+name+".png", png, 0o644)
	}
}
