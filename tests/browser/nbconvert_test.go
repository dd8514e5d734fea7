package browser

import (
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kafkalab/tests/testenv"
)

// converting is nbconvert as its command line calls it, in one process for all ways: a Python starts in a second.
const converting = `
import sys, pathlib, nbformat
from nbconvert import HTMLExporter, LatexExporter, MarkdownExporter
notebook, out = nbformat.read(sys.argv[1], as_version=4), pathlib.Path(sys.argv[2])
ways = {
    "lab.html": HTMLExporter(template_name="lab"),
    "lab-sanitised.html": HTMLExporter(template_name="lab", sanitize_html=True),
    "classic.html": HTMLExporter(template_name="classic"),
    "classic-sanitised.html": HTMLExporter(template_name="classic", sanitize_html=True),
    "page.md": MarkdownExporter(),
    "page.tex": LatexExporter(),
}
for name, exporter in ways.items():
    text, resources = exporter.from_notebook_node(notebook)
    (out / name).write_text(text, encoding="utf-8")
    for file, data in (resources.get("outputs") or {}).items():
        (out / (name + "." + file)).write_bytes(data)
`

// Wherever nbconvert writes a notebook, each chart is its picture, and nothing of what draws it shows as text.
func TestNbconvertShowsThePictures(t *testing.T) {
	python := testenv.Jupyter(t, "python", "nbconvert")
	nb, expected := savedCharts(t)
	charts := len(expected) + 1 // the learner's own one too
	dir := t.TempDir()
	path := filepath.Join(dir, "saved.ipynb")
	if err := nb.Write(path); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-c", converting, path, dir)
	cmd.Env = testenv.Environ(dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("nbconvert: %v\n%s", err, out)
	}
	picture := stillPNG()
	for name, pattern := range map[string]string{
		"lab.html": `<img[^>]* src="data:image/png;base64,([^"]+)"`, "lab-sanitised.html": `<img[^>]* src="data:image/png;base64,([^"]+)"`,
		"classic.html": `<img[^>]* src="data:image/png;base64,([^"]+)"`, "classic-sanitised.html": `<img[^>]* src="data:image/png;base64,([^"]+)"`,
		"page.md": `!\[[^\]]*\]\(([^)]+\.png)\)`, "page.tex": `\\adjustimage.*\{([^{}]+\.png)\}`,
	} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
			continue
		}
		text := string(data)
		found := regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1)
		if len(found) != charts {
			t.Errorf("%s shows %d pictures of %d charts", name, len(found), charts)
		}
		for i, m := range found {
			given := strings.Join(strings.Fields(m[1]), "")
			if strings.HasSuffix(given, ".png") {
				file, err := os.ReadFile(filepath.Join(dir, name+"."+given))
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				given = base64.StdEncoding.EncodeToString(file)
			}
			if given != picture {
				t.Errorf("%s: picture %d is another one", name, i)
			}
		}
		for _, inner := range []string{"vnd.kafkalab", `"spec"`, "kafkalabCharts"} {
			if strings.Contains(text, inner) {
				t.Errorf("%s shows %s", name, inner)
			}
		}
	}
}
