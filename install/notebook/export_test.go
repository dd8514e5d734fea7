package notebook

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"kafkalab/charts/assets"
)

// A picture of one pixel.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

func sampleChart(t *testing.T, name string) map[string]any {
	t.Helper()
	data, err := os.ReadFile("../../charts/testdata/specs/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func display(data map[string]any) Output { return Output{Type: DisplayData, Data: data} }

func exported(t *testing.T, options ExportOptions, cells ...*Cell) string {
	t.Helper()
	nb := New("kafkalab", "Go (Kafka Lab)", "go")
	nb.Cells = cells
	page, err := Export(nb, options)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

func prosePage(t *testing.T, text string) string {
	t.Helper()
	page := exported(t, ExportOptions{}, &Cell{Type: Markdown, ID: "m", Source: text})
	_, page, _ = strings.Cut(page, "<main>")
	page, _, _ = strings.Cut(page, "</main>")
	return page
}

func outPage(t *testing.T, outputs ...Output) string {
	t.Helper()
	page := exported(t, ExportOptions{}, &Cell{Type: Code, ID: "c", ExecutionCount: 1, Outputs: outputs})
	_, page, _ = strings.Cut(page, `<div class="out">`)
	page, _, _ = strings.Cut(page, "</main>")
	return page
}

var scriptElement = regexp.MustCompile(`(?s)<script>(.*?)</script>`)

// The policy names exactly the page's own scripts, and nothing in the page is loaded from anywhere.
func TestThePageNeedsNoNetwork(t *testing.T) {
	curve, replay := sampleChart(t, "curve-lag"), sampleChart(t, "replay")
	page := exported(t, ExportOptions{},
		&Cell{Type: Markdown, ID: "m", Source: "# Lesson\n\n![x](https://example.org/x.png) [link](https://example.org/) <img src=https://example.org/y.png>"},
		&Cell{Type: Code, ID: "c", Source: "charts.Lag(c)", Outputs: []Output{
			display(map[string]any{chartMIME: curve, pngMIME: pixel, "text/plain": "lag"}),
			display(map[string]any{chartMIME: curve, pngMIME: pixel}),
			display(map[string]any{chartMIME: replay, pngMIME: pixel}),
		}})
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)
	if policy == nil || !strings.HasPrefix(policy[1], "default-src 'none'; script-src 'sha256-") || strings.Contains(policy[1], "unsafe-eval") {
		t.Fatalf("policy: %v", policy)
	}
	scripts := scriptElement.FindAllStringSubmatch(page, -1)
	if len(scripts) != 2 {
		t.Errorf("%d scripts; want the drawing and the page's own", len(scripts))
	}
	scripts = append(scripts, []string{"", unpacked(t, page)}) // the page unpacks ECharts, once, and runs it
	for _, s := range scripts {
		sum := sha256.Sum256([]byte(s[1]))
		if !strings.Contains(policy[1], "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") {
			t.Errorf("the policy does not allow the script that begins %.60q", s[1])
		}
	}
	for _, loads := range []string{`src="http`, "<img src=http", "url(", "@import", "<link", "<iframe", "<object", "<base"} {
		if strings.Contains(page, loads) {
			t.Errorf("the page holds %q", loads)
		}
	}
	if !strings.Contains(page, `<a href="https://example.org/">link</a>`) {
		t.Error("a link that the reader may follow is gone")
	}
	if !strings.Contains(page, "<title>Lesson</title>") {
		t.Error("the title is not the first heading")
	}
	if !strings.Contains(page, "Apache License") {
		t.Error("ECharts travels without its licence")
	}
}

// unpacked is the ECharts of a page.
func unpacked(t *testing.T, page string) string {
	t.Helper()
	found := regexp.MustCompile(`<script type="application/gzip" id="echarts">([^<]*)</script>`).FindAllStringSubmatch(page, -1)
	if len(found) != 1 {
		t.Fatalf("ECharts travels %d times", len(found))
	}
	packed, err := base64.StdEncoding.DecodeString(found[0][1])
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil || string(text) != assets.ECharts() && string(text) != assets.EChartsFull() {
		t.Errorf("what is unpacked is not ECharts: %d bytes, %v", len(text), err)
	}
	return string(text)
}

// The contents link to the headings, code is folded by choice, the footer says what the simulator leaves out.
func TestContentsFoldedCodeAndLimits(t *testing.T) {
	cells := []*Cell{{Type: Markdown, ID: "a", Source: "# Title\n\ntext\n"}, {Type: Markdown, ID: "b", Source: "## One <b>&\n\n### Part\n\n## Two\n"}, {Type: Code, ID: "c", Source: "x := 1"}}
	page := exported(t, ExportOptions{FoldCode: true, Limits: "no <moon>"}, cells...)
	for _, want := range []string{`<nav class="toc" aria-label="Contents">`, `<a href="#two">Two</a>`, `<li class="l3"><a href="#part">Part</a></li>`, "no &lt;moon&gt;", `<details class="row code"><summary>`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Index(page, "<h1") > strings.Index(page, "<nav") {
		t.Error("the contents stand before the title")
	}
	for _, id := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !strings.Contains(page, `id="`+id[1]+`"`) {
			t.Errorf("the contents lead to %s, which is nowhere", id[1])
		}
	}
	if short := exported(t, ExportOptions{}, cells[0], cells[2]); strings.Contains(short, "<nav") || strings.Contains(short, "Not modelled") || !strings.Contains(short, `<details class="row code" open>`) {
		t.Error("a short page has contents, or limits that nobody gave")
	}
}

// A chart's still picture is drawn anew as SVG, which is smaller than its PNG.
func TestStillPicturesAreSVG(t *testing.T) {
	png := strings.Repeat(pixel, 400)
	page := exported(t, ExportOptions{}, &Cell{Type: Code, ID: "c", Outputs: []Output{display(map[string]any{chartMIME: sampleChart(t, "drawing"), pngMIME: png}), display(map[string]any{chartMIME: map[string]any{"v": 9}, pngMIME: pixel})}})
	if strings.Count(page, "data:image/svg+xml;base64,") != 1 || strings.Contains(page, png) || !strings.Contains(page, pixel) {
		t.Error("want the drawn chart as SVG, and the one that nobody can draw as its PNG")
	}
}

func TestEChartsTravelsOnlyWithACurve(t *testing.T) {
	still := exported(t, ExportOptions{}, &Cell{Type: Markdown, ID: "m", Source: "no charts"})
	if scriptElement.MatchString(still) || !strings.Contains(still, "script-src 'none'") {
		t.Error("a page without charts holds a script")
	}
	pictures := exported(t, ExportOptions{}, &Cell{Type: Code, ID: "c", Outputs: []Output{display(map[string]any{chartMIME: sampleChart(t, "cluster")})}})
	if n := len(scriptElement.FindAllString(pictures, -1)); n != 2 || len(pictures) > 150_000 || strings.Contains(pictures, "id=\"echarts\"") {
		t.Errorf("a page with one protocol picture has %d scripts, %d bytes", n, len(pictures))
	}
}

// The full build travels, instead of the small one, when a learner's own chart needs it; a chart with functions of its
// own is shown as its picture, and says why.
func TestTheFullEChartsTravelsOnlyWhenItIsNeeded(t *testing.T) {
	own := func(more string) *Cell {
		chart := map[string]any{"v": 1, "id": "own", "h": 300, "alt": "a pie", "option": "{}"}
		if more != "" {
			chart[more] = true
		}
		return &Cell{Type: Code, ID: "own" + more, Outputs: []Output{display(map[string]any{foreignMIME: chart, pngMIME: pixel})}}
	}
	curve := &Cell{Type: Code, ID: "c", Outputs: []Output{display(map[string]any{chartMIME: sampleChart(t, "curve-lag")})}}
	if unpacked(t, exported(t, ExportOptions{}, own(""), curve)) != assets.ECharts() {
		t.Error("a chart that the small build draws brings another one")
	}
	if unpacked(t, exported(t, ExportOptions{}, own("full"), curve)) != assets.EChartsFull() {
		t.Error("a chart that needs the full build does not get it")
	}
	page := exported(t, ExportOptions{}, own("functions"))
	if strings.Contains(page, `id="echarts"`) || !strings.Contains(page, pixel) || !strings.Contains(page, "JavaScript functions along, which a page does not run") {
		t.Error("a chart with functions: want its picture and a sentence, and nothing that runs")
	}
}

// Whatever a notebook holds, it comes out as text: in prose, code, outputs, charts and titles.
func TestNothingOfTheNotebookRuns(t *testing.T) {
	const attack = `</script><script>alert(1)</script><!--<img src=x onerror=alert(2)>`
	chart := sampleChart(t, "curve-lag")
	chart["spec"], chart["alt"], chart["kind"] = attack, attack, attack
	page := exported(t, ExportOptions{Title: attack},
		&Cell{Type: Markdown, ID: "m", Source: attack + "\n\n# " + attack + "\n\n[a](javascript:alert(3)) <a href=javascript:alert(4)>x</a> <svg onload=alert(5)>\n\n![" + attack + "](" + "x" + ")\n\n```" + attack + "\n" + attack + "\n```\n"},
		&Cell{Type: Raw, ID: "r", Source: attack},
		&Cell{Type: Code, ID: "c", Source: attack, Outputs: []Output{
			{Type: Stream, Name: attack, Text: attack + "\x1b[31m" + attack},
			{Type: Error, EName: attack, EValue: attack},
			{Type: Error, Traceback: []string{attack}},
			display(map[string]any{"text/html": attack + `<details open ontoggle=alert(6)></details></main>`}),
			display(map[string]any{"text/markdown": attack}), display(map[string]any{"text/plain": attack}),
			display(map[string]any{pngMIME: `x" onerror="alert(7)`, "text/plain": attack}),
			{Type: DisplayData, Data: map[string]any{pngMIME: pixel, "text/plain": `" onload="alert(8)`}, Metadata: map[string]any{pngMIME: map[string]any{"width": `1" onload="x`}}},
			display(map[string]any{"application/json": map[string]any{attack: attack}}),
			display(map[string]any{"image/svg+xml": "<svg xmlns='http://www.w3.org/2000/svg'>" + attack + "</svg>"}),
			display(map[string]any{chartMIME: chart, pngMIME: pixel, "text/plain": attack}),
		}})
	for _, s := range scriptElement.FindAllStringSubmatch(page, -1) {
		if strings.Contains(s[1], "alert(") {
			t.Errorf("a script of the notebook's: %.100q", s[1])
		}
	}
	outside := regexp.MustCompile(`(?s)<script.*?</script>`).ReplaceAllString(page, "")
	if at := strings.Index(outside, "<script"); at >= 0 {
		t.Errorf("a script is left: %.100q", outside[at:])
	}
	for _, tag := range regexp.MustCompile(`<[a-zA-Z/][^>]*>`).FindAllString(outside, -1) {
		if regexp.MustCompile(`(?i)\son[a-z]+\s*=|javascript:`).MatchString(regexp.MustCompile(`"[^"]*"`).ReplaceAllString(tag, `""`)) || strings.Contains(tag, `href="javascript`) {
			t.Errorf("a handler: %s", tag)
		}
	}
	if n := strings.Count(page, "</main>"); n != 1 {
		t.Errorf("main is closed %d times", n)
	}
}

func TestProse(t *testing.T) {
	cases := []struct{ given, want string }{
		{"| a | b |\n|---|---|\n| 1 | 2 |\n", "<td>1</td>"},
		{"## One thing\n\n## One thing\n", `<h2 id="one-thing-1">`},
		{"line<br>break H<sub>2</sub>O <KBD class='x' onclick=\"y\">k</KBD>", "line<br>break H<sub>2</sub>O <kbd>k</kbd>"},
		{"<details>\n<summary>More</summary>\n\nhidden *text*\n\n</details>\n", "<summary>More</summary>"},
		{"<details>\n\nnever closed", "</details>"},
		{"stray </details></section></div>", "stray &lt;/section&gt;"},
		{"<div>\n<script>alert(1)</script>\n<p style='x'>kept</p></div>", "<p>kept</p></div>"},
		{"```go\nfunc f() {}\n```\n", `<span class="k-kd">func</span>`},
		{"~~old~~ and https://kafka.apache.org/", `<a href="https://kafka.apache.org/">`},
		{"1 < 2 & 3 > 2", "1 &lt; 2 &amp; 3 &gt; 2"},
	}
	for _, c := range cases {
		if got := prosePage(t, c.given); !strings.Contains(got, c.want) {
			t.Errorf("%q:\ngot  %s\nwant %s", c.given, got, c.want)
		}
	}
}

func TestPicturesComeAlong(t *testing.T) {
	png, _ := base64.StdEncoding.DecodeString(pixel)
	files := fstest.MapFS{"images/a b.png": {Data: png}, "notes.txt": {Data: []byte("text")}, "big.png": {Data: append(png, make([]byte, maxImage)...)}}
	cell := &Cell{Type: Markdown, ID: "m", Attachments: map[string]map[string]any{"p q.png": {pngMIME: pixel}},
		Source: "![one](attachment:p%20q.png)\n![two](images/a%20b.png)\n![three](notes.txt)\n![four](../secret.png)\n![five](big.png)\n![six](/etc/passwd)\n![seven](data:image/png;base64," + pixel + ")\n![eight](data:text/html;base64,PHNjcmlwdD4=)"}
	page := exported(t, ExportOptions{Files: files}, cell)
	for _, alt := range []string{"one", "two", "seven"} {
		if !strings.Contains(page, `<img alt="`+alt+`" src="data:image/png;base64,iVBOR`) {
			t.Errorf("picture %s is not in the page", alt)
		}
	}
	for _, alt := range []string{"three", "four", "five", "six", "eight"} {
		if !strings.Contains(page, "[picture: "+alt+"]") {
			t.Errorf("picture %s is not named as left out", alt)
		}
	}
}

func TestExportFileTakesPicturesFromItsFolderOnly(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "course")
	os.Mkdir(folder, 0o755)
	png, _ := base64.StdEncoding.DecodeString(pixel)
	os.WriteFile(filepath.Join(dir, "secret.png"), png, 0o644)
	os.WriteFile(filepath.Join(folder, "in.png"), png, 0o644)
	os.Symlink("../secret.png", filepath.Join(folder, "out.png"))
	nb := New("kafkalab", "Go (Kafka Lab)", "go")
	nb.Cells = []*Cell{{Type: Markdown, ID: "m", Source: "# A title\n\n![in](in.png) ![out](out.png)"}}
	path := filepath.Join(folder, "n.ipynb")
	if err := nb.Write(path); err != nil {
		t.Fatal(err)
	}
	page, err := ExportFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<title>A title</title>", `<img alt="in" src="data:image/png;base64,`, "[picture: out]"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if _, err := ExportFile(filepath.Join(folder, "none.ipynb")); err == nil || !strings.Contains(err.Error(), "there is no such notebook file") {
		t.Errorf("a missing file: %v", err)
	}
}

func TestOutputs(t *testing.T) {
	cases := []struct {
		name  string
		given Output
		want  string
	}{
		{"colours", Output{Type: Stream, Name: "stdout", Text: "\x1b[1;31mbad\x1b[0m ok \x1b[38;5;208mo\x1b[38;2;1;2;3mrgb\x1b[39m\x1b[2K\x1b]0;title\x07."},
			`<span class="a-b a-f1">bad</span> ok <span style="color:#ff8700;">o</span><span style="color:#010203;">rgb</span>.`},
		{"a progress line", Output{Type: Stream, Name: "stdout", Text: "10%\r50%\r100%\ndone"}, "<pre>100%\ndone</pre>"},
		{"overwriting in part", Output{Type: Stream, Text: "abcdef\rXY"}, "<pre>XYcdef</pre>"},
		{"backspaces", Output{Type: Stream, Text: "abc\b\bX"}, "<pre>aX</pre>"},
		{"stderr", Output{Type: Stream, Name: "stderr", Text: "x"}, `<pre class="stderr">x</pre>`},
		{"NUL", Output{Type: Stream, Text: "a\x00b"}, "a\uFFFDb"},
		{"an error", Output{Type: Error, EName: "E", EValue: "v", Traceback: []string{"cell 1", "\x1b[31mline\x1b[0m"}}, "cell 1\n<span class=\"a-f1\">line</span>"},
		{"an error without a traceback", Output{Type: Error, EName: "E", EValue: "v"}, "E: v"},
		{"a table", display(map[string]any{"text/html": `<table class="x"><tr><td style="y">1</td></tr></table>`, "text/plain": "no"}), "<table><tr><td>1</td></tr></table>"},
		{"a picture before its html", display(map[string]any{"text/html": "<b>x</b>", pngMIME: pixel}), "data:image/png;base64,iVBOR"},
		{"svg without scripts", display(map[string]any{"image/svg+xml": "<svg/>"}), "data:image/svg+xml;base64,PHN2Zy8+"},
		{"json", display(map[string]any{"application/json": map[string]any{"b": 1, "a": "<"}}), "{\n &#34;a&#34;: &#34;&lt;&#34;,\n &#34;b&#34;: 1\n}"},
		{"a type that no page shows", display(map[string]any{"application/x": 1}), "no form that a page without the network can show"},
		{"sizes", Output{Type: DisplayData, Data: map[string]any{pngMIME: pixel, "text/plain": "alt"}, Metadata: map[string]any{pngMIME: map[string]any{"width": 820, "height": 300.0}}},
			`<img alt="alt" width="820" height="300" src="data:`},
	}
	for _, c := range cases {
		if got := outPage(t, c.given); !strings.Contains(got, c.want) {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestHiddenCodeAndOutputsStayHidden(t *testing.T) {
	hide := func(what string) map[string]any { return map[string]any{"jupyter": map[string]any{what: true}} }
	page := exported(t, ExportOptions{},
		&Cell{Type: Code, ID: "a", Source: "secret()", Metadata: hide("source_hidden")},
		&Cell{Type: Code, ID: "b", Source: "x", Metadata: hide("outputs_hidden"), Outputs: []Output{{Type: Stream, Text: "unseen"}}})
	if !strings.Contains(page, "<details class=\"row code\"><summary>") || strings.Contains(page, "unseen") {
		t.Error("hidden parts are shown")
	}
}

func FuzzSanitize(f *testing.F) {
	for _, s := range []string{"<b>x</i></b>", "<B><B>", "<a href='x>'>", "<script><!--</script>-->", "<svg/onload=alert(1)>", "<details><p>", "a<b", "<\x00b>"} {
		f.Add(s)
	}
	tag := regexp.MustCompile(`<[^>]*>?`)
	clean := regexp.MustCompile(`^</?[a-z0-9]+>$`)
	f.Fuzz(func(t *testing.T, s string) {
		open := 0
		for _, m := range tag.FindAllString(sanitize(s), -1) {
			name := strings.Trim(m, "</>")
			if !clean.MatchString(m) || !allowed[name] {
				t.Fatalf("%q came out with %q", s, m)
			}
			switch {
			case empty[name]:
			case m[1] == '/':
				open--
			default:
				open++
			}
			if open < 0 {
				t.Fatalf("%q closes what it did not open", s)
			}
		}
		if open != 0 {
			t.Fatalf("%q leaves %d tags open", s, open)
		}
	})
}
