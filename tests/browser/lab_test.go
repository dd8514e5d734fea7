package browser

import (
	"encoding/json"
	"fmt"
	"testing"

	"kafkalab/install/notebook"
	"kafkalab/tests/testenv"
)

// pythonNotebook is a notebook for the kernel that every JupyterLab brings along: the extension is tested
// here, not our kernel.
func pythonNotebook(cells ...*notebook.Cell) *notebook.Notebook {
	nb := notebook.New("python3", "Python 3 (ipykernel)", "python")
	for i, c := range cells {
		c.ID = fmt.Sprint("cell-", i)
	}
	nb.Cells = cells
	return nb
}

// savedCharts is a notebook as somebody else may send it: with outputs, and without this machine's trust.
func savedCharts(t *testing.T) (nb *notebook.Notebook, expected []any) {
	t.Helper()
	var cells []*notebook.Cell
	for i, s := range samples(t, everySample...) {
		cells = append(cells, &notebook.Cell{Type: notebook.Code, ExecutionCount: i + 1, Source: "# " + s.name,
			Outputs: []notebook.Output{{Type: notebook.DisplayData, Data: s.bundle()}}})
		expected = append(expected, s.expected(t))
	}
	option := `{"title":{"text":"mine"},"xAxis":{"type":"category","data":["a"]},"yAxis":{},"series":[{"type":"bar","data":[3]}]}`
	cells = append(cells, &notebook.Cell{Type: notebook.Code, ExecutionCount: 9, Source: "# a chart of the learner's own", Outputs: []notebook.Output{
		{Type: notebook.DisplayData, Data: map[string]any{"image/png": stillPNG(), "text/plain": "a bar",
			"application/vnd.kafkalab.echarts+json": map[string]any{"v": 1, "id": "own-1", "h": 240, "alt": "a bar", "option": option}}}}})
	return pythonNotebook(cells...), expected
}

// liveCharts is a notebook whose cells display the charts when they are run, the replay frame by frame.
func liveCharts(t *testing.T) *notebook.Notebook {
	t.Helper()
	var cells []*notebook.Cell
	show := func(s sample) *notebook.Cell {
		data, err := json.Marshal(s.bundle())
		if err != nil {
			t.Fatal(err)
		}
		quoted, _ := json.Marshal(string(data))
		return &notebook.Cell{Type: notebook.Code, Source: "import json\nfrom IPython.display import display\nbundle = json.loads(" + string(quoted) + ")\nshown = display(bundle, raw=True, display_id=True)"}
	}
	for _, s := range samples(t, "lag", "replay") {
		cells = append(cells, show(s))
	}
	// The display of the cell above grows: first its frames one by one, then all.
	cells = append(cells, &notebook.Cell{Type: notebook.Code, Source: `import time
chart = bundle["application/vnd.kafkalab.chart+json"]
whole = json.loads(chart["spec"])
for n in range(1, len(whole["frames"]) + 1):
    chart["spec"] = json.dumps({**whole, "frames": whole["frames"][:n]})
    shown.update(bundle, raw=True)
    time.sleep(0.1)
print("grown")`})
	// The kernel's side of the export, as ours answers it.
	cells = append(cells, &notebook.Cell{Type: notebook.Code, Source: `def answer(comm, opened):
    path = opened["content"]["data"]["path"]
    if path.endswith("live.ipynb") and not globals().get("fails"):
        comm.send({"status": "ok", "name": "live.html", "html": "<p>" + path + " " + "x" * 3000000})
    else:
        comm.send({"status": "error", "message": "no page for " + path})
get_ipython().kernel.comm_manager.register_target("kafkalab.export", answer)
print("ready")`})
	return pythonNotebook(cells...)
}

func TestLabDrawsChartsTrustedOrNot(t *testing.T) {
	nb, expected := savedCharts(t)
	s := startLab(t, func(s *server) {
		s.extension(t)
		s.put(t, "saved.ipynb", nb)
		s.put(t, "sent.ipynb", nb)
		s.put(t, "live.ipynb", liveCharts(t))
	})
	t.Run("saved by somebody else", func(t *testing.T) { script(t, "lab-saved", s.config(map[string]any{"charts": expected})) })
	t.Run("live", func(t *testing.T) { script(t, "lab-live", s.config(map[string]any{"charts": expected})) })
	t.Run("for everybody", func(t *testing.T) { script(t, "lab-access", s.config(map[string]any{"charts": expected})) })
	t.Run("Lab's own export", func(t *testing.T) {
		script(t, "lab-export", s.config(map[string]any{"name": "sent.ipynb", "pictures": len(expected) + 1}))
	})
}

// notebook7 is the program of Notebook 7, which takes the same extension and kernel. It is no part of what
// the project installs.
func notebook7(t *testing.T) string {
	t.Helper()
	lab(t)
	return testenv.Jupyter(t, "jupyter-notebook", "notebook", "ipykernel")
}

func TestNotebook7DrawsChartsToo(t *testing.T) {
	program := notebook7(t)
	nb, expected := savedCharts(t)
	s := startServer(t, program, func(s *server) {
		s.extension(t)
		s.put(t, "saved.ipynb", nb)
	})
	script(t, "notebook7", s.config(map[string]any{"charts": expected}))
}

func TestLabWithoutTheExtensionShowsThePictures(t *testing.T) {
	nb, expected := savedCharts(t)
	s := startLab(t, func(s *server) { s.put(t, "saved.ipynb", nb) })
	script(t, "lab-plain", s.config(map[string]any{"charts": expected}))
}
