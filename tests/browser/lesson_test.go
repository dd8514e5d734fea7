package browser

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"kafkalab/install/notebook"
	"kafkalab/tests/testenv"
)

const lesson = "06-when-a-leader-fails.ipynb"

// The whole product as a learner meets it: the lesson in JupyterLab, run, stepped, exported, sent to
// somebody else, stopped and restarted.
func TestTheLessonInJupyterLab(t *testing.T) {
	source, err := os.ReadFile("../../notebooks/" + lesson)
	if err != nil {
		t.Fatal(err)
	}
	with := func(data []byte) func(s *server) {
		return func(s *server) {
			s.kernel(t)
			if err := os.WriteFile(filepath.Join(s.Root, lesson), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	s := startLab(t, with(source))
	dir := t.TempDir()
	page, list := filepath.Join(dir, "lesson.html"), filepath.Join(dir, "charts.json")
	script(t, "lab-lesson", s.config(map[string]any{"name": lesson, "page": page, "expected": list}))
	ran, err := os.ReadFile(filepath.Join(s.Root, lesson))
	if err != nil {
		t.Fatal(err)
	}
	var expected []any
	data, err := os.ReadFile(list)
	if err == nil {
		err = json.Unmarshal(data, &expected)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Run("the page from the menu steps offline", func(t *testing.T) {
		script(t, "page", map[string]any{"page": fileURL(page), "charts": expected, "shots": "lesson-page"})
	})
	t.Run("the stop button and a restart", func(t *testing.T) {
		if err := os.WriteFile(filepath.Join(s.Root, "stop.ipynb"), source, 0o644); err != nil {
			t.Fatal(err)
		}
		script(t, "lab-stop", s.config(map[string]any{"name": "stop.ipynb"}))
	})
	t.Run("on a machine that does not trust it", func(t *testing.T) {
		other := startLab(t, with(ran))
		script(t, "lab-untrusted", other.config(map[string]any{"name": lesson, "pictures": len(expected)}))
		script(t, "lab-export", other.config(map[string]any{"name": lesson, "pictures": len(expected)}))
	})
}

// The same lesson without any Jupyter: kafkalab export writes the page.
func TestKafkalabExportsTheLesson(t *testing.T) {
	dir := t.TempDir()
	page, ran := filepath.Join(dir, "page.html"), filepath.Join(dir, "ran.ipynb")
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(kafkalab(t), args...)
		cmd.Env = testenv.Environ(dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("kafkalab %v: %v\n%s", args, err, bytes.TrimSpace(out))
		}
	}
	run("run", "../../notebooks/"+lesson, "-o", ran)
	run("export", ran, "--no-run", "-o", page)
	nb, err := notebook.Read(ran)
	if err != nil {
		t.Fatal(err)
	}
	var expected []any
	for _, c := range nb.Cells {
		for _, o := range c.Outputs {
			if chart, ok := o.Data["application/vnd.kafkalab.chart+json"].(map[string]any); ok {
				expected = append(expected, sample{c.ID, chart}.expected(t))
			}
		}
	}
	if len(expected) < 5 {
		t.Fatalf("the lesson has %d charts", len(expected))
	}
	script(t, "page", map[string]any{"page": fileURL(page), "charts": expected, "shots": "export"})
}
