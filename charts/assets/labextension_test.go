package assets

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dop251/goja/parser"
)

func listing(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func state(t *testing.T, dir string, installed, current bool) {
	t.Helper()
	i, c, err := LabExtensionState(dir)
	if err != nil || i != installed || c != current {
		t.Fatalf("state: installed %v current %v, %v; want %v %v", i, c, err, installed, current)
	}
}

func TestLabExtensionIsWrittenReplacedAndRemoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "share", "labextensions")
	state(t, dir, false, false)
	if err := WriteLabExtension(dir); err != nil {
		t.Fatal(err)
	}
	state(t, dir, true, true)
	first := listing(t, dir)

	var pkg struct {
		Name       string
		Jupyterlab struct {
			Extension, MimeExtension bool
			Build                    struct{ Load, Extension, MimeExtension string } `json:"_build"`
		}
	}
	own := filepath.Join(dir, LabExtensionName)
	data, _ := os.ReadFile(filepath.Join(own, "package.json"))
	if err := json.Unmarshal(data, &pkg); err != nil || pkg.Name != LabExtensionName || !pkg.Jupyterlab.Extension || !pkg.Jupyterlab.MimeExtension {
		t.Fatalf("package.json: %v\n%s", err, data)
	}
	entry, err := os.ReadFile(filepath.Join(own, pkg.Jupyterlab.Build.Load))
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^static/remoteEntry\.[0-9a-f]{20}\.js$`).MatchString(pkg.Jupyterlab.Build.Load) {
		t.Errorf("load is %q: a name without a hash is cached for a year", pkg.Jupyterlab.Build.Load)
	}
	for _, module := range []string{pkg.Jupyterlab.Build.Extension, pkg.Jupyterlab.Build.MimeExtension} {
		if !strings.Contains(string(entry), `"`+module+`"`) {
			t.Errorf("the remote entry has no module %s", module)
		}
	}
	for name, want := range map[string]string{`ECHARTS = "(echarts\.[0-9a-f]{20}\.js)"`: ECharts(), `ECHARTS_FULL = "(echarts-full\.[0-9a-f]{20}\.js)"`: EChartsFull()} {
		chunk := regexp.MustCompile(name).FindStringSubmatch(string(entry))
		if chunk == nil {
			t.Fatalf("the remote entry names no chunk like %s", name)
		}
		if have, _ := os.ReadFile(filepath.Join(own, "static", chunk[1])); string(have) != want {
			t.Errorf("%s is not ECharts", chunk[1])
		}
	}

	// An older version leaves a remote entry of another name and other bytes in package.json.
	old := filepath.Join(own, "static", "remoteEntry.00000000000000000000.js")
	os.WriteFile(old, []byte("old"), 0o644)
	os.WriteFile(filepath.Join(own, "package.json"), []byte(`{"name":"`+LabExtensionName+`","version":"0.0.1"}`), 0o644)
	state(t, dir, true, false)
	for range 2 {
		if err := WriteLabExtension(dir); err != nil {
			t.Fatal(err)
		}
	}
	state(t, dir, true, true)
	if got := listing(t, dir); strings.Join(got, " ") != strings.Join(first, " ") {
		t.Errorf("after an update the folder holds %v, after a first install %v", got, first)
	}

	for range 2 {
		if err := RemoveLabExtension(dir); err != nil {
			t.Fatal(err)
		}
	}
	state(t, dir, false, false)
	if left := listing(t, dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestSomebodyElsesExtensionIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	os.MkdirAll(filepath.Join(dir, LabExtensionName), 0o755)
	pkg := filepath.Join(dir, LabExtensionName, "package.json")
	os.WriteFile(pkg, []byte(`{"name":"other"}`), 0o644)
	for name, do := range map[string]func(string) error{"write": WriteLabExtension, "remove": RemoveLabExtension} {
		if err := do(dir); err == nil || !strings.Contains(err.Error(), `"other"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if data, _ := os.ReadFile(pkg); string(data) != `{"name":"other"}` {
		t.Errorf("package.json is now %s", data)
	}
}

// What JupyterLab and the exported page are given parses, and names no place on the network.
func TestScriptsParseAndLoadNothing(t *testing.T) {
	files, entry := labFiles()
	for name, source := range map[string]string{"Script": Script(), entry: string(files["static/"+entry])} {
		if _, err := parser.ParseFile(nil, name, strings.ReplaceAll(source, "import(", "load("), 0); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, url := range regexp.MustCompile(`https?://[^"'\s]*`).FindAllString(source, -1) {
			if url != "http://www.w3.org/2000/svg" {
				t.Errorf("%s names %s", name, url)
			}
		}
		if name == entry { // a trusted notebook's own functions, in one place
			if !strings.Contains(source, Revive()) || strings.Count(source, "new Function") != 1 {
				t.Errorf("%s makes code of texts %d times; want once, by revive", name, strings.Count(source, "new Function"))
			}
			source = strings.ReplaceAll(source, Revive(), "")
		}
		for _, bad := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "</script", "<!--"} {
			if strings.Contains(source, bad) {
				t.Errorf("%s holds %q", name, bad)
			}
		}
	}
}
