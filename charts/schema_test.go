package charts

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// compact is a chart as it travels.
func compact(t *testing.T, p *Picture) []byte {
	t.Helper()
	data, err := json.Marshal(p.MIMEBundle()[MIMEChart])
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestEveryChartKeepsToTheSchema(t *testing.T) {
	for name, p := range pictures() {
		if e, _, err := ParseEnvelope(compact(t, p)); err != nil || e != p.Envelope() {
			t.Errorf("%s: %v", name, err)
		}
	}
	samples, _ := filepath.Glob("testdata/specs/*.json")
	if len(samples) < 5 {
		t.Errorf("%d samples", len(samples))
	}
	for _, path := range samples {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := ParseEnvelope(data); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestWhatTheSchemaDoesNotKnowIsRefused spoils good charts in one place each.
func TestWhatTheSchemaDoesNotKnowIsRefused(t *testing.T) {
	all := pictures()
	for _, c := range []struct{ chart, old, new, want string }{
		{"cluster", `"v":1`, `"v":2`, "version 2"},
		{"cluster", `"kind":"cluster"`, `"kind":"pie"`, "unknown kind"},
		{"cluster", `"kind":"cluster"`, `"kind":"curve"`, "no field"},
		{"replay", `"kind":"replay"`, `"kind":"cluster"`, "25 frames; a cluster has one"},
		{"cluster", `"id":"cluster-sample"`, `"id":"<b>"`, `id "<b>"`},
		{"cluster", `"v":1`, `"v":1,"url":"http://x"`, `unknown field "url"`},
		{"cluster", `"alt":`, `"alt":7,"alt":`, "cannot unmarshal"},
		{"cluster", `"h":`, `"h":-`, "height -"},
		{"cluster", `\"title\":`, `\"formatter\":\"x\",\"title\":`, `unknown field "formatter"`},
		{"cluster", `\"title\":`, `\"Title\":`, `no field "title"`},
		{"cluster", `\"frames\":[`, `\"frames\":null,\"x\":[`, "frames: want a list"},
		{"cluster", `[0,0,0,1]`, `[0,0,0]`, "3 items; want 4"},
		{"cluster", `\"columns\":3`, `\"columns\":null`, "null; want a int"},
		{"cluster", `\"columns\":3`, `\"columns\":0`, "columns 0"},
		{"cluster", `\"state\":\"down\"`, `\"state\":\"melted\"`, `state "melted"`},
		{"cluster", `\"role\":\"offline\"`, `\"role\":\"king\"`, `role "king"`},
		{"cluster", `[0,0,0,1]`, `[0,99,0,1]`, "cell [0 99 0 1]"},
		{"cluster", `[0,0,0,1]`, `[0,0,0,7]`, "cell [0 0 0 7]"},
		{"cluster", `{\"p\":0,\"b\":0,\"row\":0}`, `{\"p\":5,\"b\":0,\"row\":0}`, "replica's partition 5; there are 3"},
		{"replay", `\"marks\":[[0,`, `\"marks\":[[9,`, "mark's partition 9"},
		{"replay", `\"t\":10,`, `\"t\":1000,`, "earlier than the one before"},
		{"lag", `\"colour\":5`, `\"colour\":6`, "colour 6; there are 6"},
		{"lag", `\"line\":\"solid\"`, `\"line\":\"wavy\"`, `line "wavy"`},
		{"lag", `\"points\":[[10,`, `\"points\":[[100,`, "not ordered"},
		{"lag", `\"tone\":\"alarm\"`, `\"tone\":\"pink\"`, `tone "pink"`},
		{"lag", `\"panel\":1`, `\"panel\":9`, "panel 9"},
	} {
		good := string(compact(t, all[c.chart]))
		bad := strings.Replace(good, c.old, c.new, 1)
		if bad == good {
			t.Errorf("%s has no %s", c.chart, c.old)
			continue
		}
		if _, _, err := ParseEnvelope([]byte(bad)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %s: %v, want %q", c.chart, c.new, err, c.want)
		}
	}
}

func FuzzParseEnvelope(f *testing.F) {
	samples, _ := filepath.Glob("testdata/specs/*.json")
	for _, path := range samples {
		data, _ := os.ReadFile(path)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, spec, err := ParseEnvelope(data)
		if replay, ok := spec.(*ReplaySpec); ok && err == nil {
			sceneAt(replay, len(replay.Frames)-1) // what passes the check can be drawn
		}
	})
}
