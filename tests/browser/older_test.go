package browser

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"kafkalab/charts"
	"kafkalab/charts/assets"
	"kafkalab/install/notebook"
	"kafkalab/tests/testenv"
)

// older holds an earlier extension as it was installed, and charts of its time: it knows curves, clusters and
// replays, but no drawings, no controllers and no loud moments in a replay.
const older = "testdata/older/"

var olderCharts = []string{"cluster", "replay", "high-watermark", "isr-size", "lag", "widget"}

// olderExtension installs the earlier extension for the server. The library beside it is today's.
func (s *server) olderExtension(t *testing.T) {
	t.Helper()
	packed, err := os.ReadFile(older + "remoteEntry.js.gz")
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	script, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	chunk := regexp.MustCompile(`const ECHARTS = "(echarts\.\w+\.js)";`).FindSubmatch(script)
	if chunk == nil {
		t.Fatal("the earlier extension names no library")
	}
	about := `{"name": "` + assets.LabExtensionName + `", "version": "0.0.1", "license": "Apache-2.0", "jupyterlab": {"extension": true, "mimeExtension": true,
		"_build": {"load": "static/remoteEntry.older.js", "extension": "./extension", "mimeExtension": "./mimeExtension"}}}`
	dir := filepath.Join(s.Data, "labextensions", assets.LabExtensionName)
	for name, data := range map[string][]byte{"package.json": []byte(about), "static/remoteEntry.older.js": script, "static/" + string(chunk[1]): []byte(assets.ECharts())} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// olderNotebook is a notebook whose outputs an earlier kernel made.
func olderNotebook(t *testing.T) (nb *notebook.Notebook, expected []any) {
	t.Helper()
	var cells []*notebook.Cell
	for i, name := range olderCharts {
		data, err := os.ReadFile(older + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := charts.ParseEnvelope(data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var envelope map[string]any
		if err := json.Unmarshal(data, &envelope); err != nil {
			t.Fatal(err)
		}
		s := sample{"older " + name, envelope}
		cells = append(cells, &notebook.Cell{Type: notebook.Code, ExecutionCount: i + 1, Source: fmt.Sprintf("# %s", name),
			Outputs: []notebook.Output{{Type: notebook.DisplayData, Data: s.bundle()}}})
		expected = append(expected, s.expected(t))
	}
	return pythonNotebook(cells...), expected
}

// Whoever has an earlier extension sees today's charts: live where it knows all that they hold, as pictures otherwise.
func TestTodaysChartsInAnEarlierExtensionAreNeverBlank(t *testing.T) {
	nb, expected := savedCharts(t)
	s := startLab(t, func(s *server) {
		s.olderExtension(t)
		s.put(t, "saved.ipynb", nb)
	})
	script(t, "lab-older", s.config(map[string]any{"charts": expected, "live": []string{"curve"}, "still": []string{"drawing", "replay"}}))
}

// The oldest JupyterLab that the extension is for: saved outputs without trust, in light and dark, stepped by mouse
// and keyboard; cells that are run; and the outputs of an earlier kernel.
func TestJupyterLab42DrawsChartsToo(t *testing.T) {
	lab(t)
	nb, expected := savedCharts(t)
	before, earlier := olderNotebook(t)
	s := startServer(t, testenv.JupyterLab42(t), func(s *server) {
		s.extension(t)
		s.put(t, "saved.ipynb", nb)
		s.put(t, "live.ipynb", liveCharts(t))
		s.put(t, "earlier.ipynb", before)
	})
	t.Run("saved by somebody else", func(t *testing.T) {
		script(t, "lab-saved", s.config(map[string]any{"charts": expected, "version": "4.2.7"}))
	})
	t.Run("live", func(t *testing.T) { script(t, "lab-live", s.config(map[string]any{"charts": expected})) })
	t.Run("of an earlier kernel", func(t *testing.T) {
		script(t, "lab-older", s.config(map[string]any{"name": "earlier.ipynb", "charts": earlier, "live": []string{"curve", "cluster", "replay"}}))
	})
}
