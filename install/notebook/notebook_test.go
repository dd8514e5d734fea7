package notebook

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// testdata/saved-by-jupyter.ipynb was written by nbformat 5.11 itself: every kind of cell and output, line
// breaks that only Python splits at, control characters, numbers beyond float64, unknown metadata.
const saved = "testdata/saved-by-jupyter.ipynb"

func TestANotebookThatJupyterSavedComesOutByteForByte(t *testing.T) {
	want, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	nb, err := Read(saved)
	if err != nil {
		t.Fatal(err)
	}
	got, err := nb.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("differs:\n%s", firstDifference(string(got), string(want)))
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "got  " + g[i] + "\nwant " + w[i]
		}
	}
	return "one is longer"
}

func TestTheModelSeesWhatIsInTheFile(t *testing.T) {
	nb, err := Read(saved)
	if err != nil {
		t.Fatal(err)
	}
	if len(nb.Cells) != 4 || nb.Kernel() != "kafkalab" || nb.Language() != "go" {
		t.Fatalf("%d cells, kernel %q, language %q", len(nb.Cells), nb.Kernel(), nb.Language())
	}
	code := nb.Cells[2]
	if code.Source != "fmt.Println(\"x < y & z > \\\"q\\\"\")\n" || code.ExecutionCount != 3 || len(code.Outputs) != 4 {
		t.Fatalf("cell 3: %+v", code)
	}
	stream, display, failure := code.Outputs[0], code.Outputs[1], code.Outputs[3]
	if stream.Name != "stdout" || !strings.HasPrefix(stream.Text, "a\nb\rc\tq\x1b[31mred") {
		t.Errorf("stream: %+v", stream)
	}
	if display.Data["text/plain"] != "one\ntwo" || display.Data["image/png"] != "aGVs\nbG8=\n" {
		t.Errorf("display: %+v", display.Data)
	}
	if list, ok := display.Data["application/json"].([]any); !ok || len(list) != 2 {
		t.Errorf("a JSON list was joined: %v", display.Data["application/json"])
	}
	if failure.EName != "E" || len(failure.Traceback) != 2 {
		t.Errorf("error: %+v", failure)
	}
}

func TestFieldsThatTheModelDoesNotNameAreKept(t *testing.T) {
	const given = `{"cells":[{"cell_type":"code","id":"a","metadata":{},"source":"x","execution_count":null,"future":[1,{"z":2}],
		"outputs":[{"output_type":"stream","name":"stdout","text":"t","later":1.50}]}],
		"metadata":{},"nbformat":4,"nbformat_minor":6,"top":"kept"}`
	nb, err := Parse("x.ipynb", []byte(given))
	if err != nil {
		t.Fatal(err)
	}
	out, err := nb.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	json.Unmarshal(out, &a)
	json.Unmarshal([]byte(strings.NewReplacer(`"source":"x"`, `"source":["x"]`, `"text":"t"`, `"text":["t"]`).Replace(given)), &b)
	ja, _ := json.Marshal(a)
	jb, _ := json.Marshal(b)
	if string(ja) != string(jb) || !strings.Contains(string(out), "1.50") {
		t.Errorf("got  %s\nwant %s", ja, jb)
	}
}

func TestClearOutputsLeavesWhatGitKeeps(t *testing.T) {
	nb, err := Read(saved)
	if err != nil {
		t.Fatal(err)
	}
	nb.ClearOutputs()
	out, err := nb.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("x", out)
	if err != nil {
		t.Fatal(err)
	}
	code := again.Cells[2]
	if len(code.Outputs) != 0 || code.ExecutionCount != 0 || len(code.Metadata) != 1 || code.Metadata["tags"] == nil {
		t.Errorf("cell 3 after clearing: %+v", code)
	}
	if len(again.Cells[0].Attachments) != 1 {
		t.Error("an attachment is no output, and it is gone")
	}
}

func TestBrokenFilesAreNamedWithThePlace(t *testing.T) {
	cell := func(s string) string { return `{"cells":[` + s + `],"metadata":{},"nbformat":4,"nbformat_minor":5}` }
	code := func(outputs string) string {
		return cell(`{"cell_type":"code","id":"c1","metadata":{},"source":"","execution_count":null,"outputs":[` + outputs + `]}`)
	}
	cases := []struct{ given, want string }{
		{"", "x.ipynb: the file is empty; a notebook is a JSON object with cells"},
		{"  \n", "the file is empty"},
		{"[1]", "not a notebook: the file holds a list"},
		{"{\n \"cells\": [\n  oops\n ]}", "x.ipynb: line 3, column 3: not JSON: invalid character 'o' looking for beginning of value"},
		{"{\n<<<<<<< HEAD\n\"a\":1}", "line 2, column 1: not JSON: invalid character '<' looking for beginning of object key string (it holds git's marks of a merge conflict: <<<<<<<)"},
		{"{\n \"cells\": [", "line 2, column 12: the JSON stops in the middle; the file was cut off"},
		{"{} {}", "line 1, column 4: there is more after the end"},
		{"{\"a\": \"\xff\"}", "line 1, column 8: not UTF-8"},
		{"{}", `not a notebook: "nbformat" is missing; want a whole number`},
		{`{"nbformat":3,"nbformat_minor":0,"worksheets":[],"metadata":{}}`, "it is of nbformat 3, an old format; open and save it in Jupyter to get nbformat 4"},
		{`{"nbformat":5,"nbformat_minor":1}`, "it is of nbformat 5.1; this program knows nbformat 4"},
		{`{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":{}}`, `"cells" is an object; want a list`},
		{`{"nbformat":4,"nbformat_minor":5,"metadata":[],"cells":[]}`, `"metadata" is a list; want an object`},
		{`{"nbformat":4.5,"nbformat_minor":5,"metadata":{},"cells":[]}`, `"nbformat" is the number 4.5; want a whole number`},
		{cell("7"), "cell 1: it is the number 7; want an object"},
		{cell(`{"cell_type":"code","id":"c1","metadata":{},"source":7,"outputs":[]}`), `cell 1 (id c1): "source" is the number 7; want text or a list of lines`},
		{cell(`{"cell_type":"code","id":"c1","metadata":{},"source":["a",7],"outputs":[]}`), `cell 1 (id c1): "source" is a list; want text or a list of lines`},
		{cell(`{"cell_type":"heading","id":"c1","metadata":{},"source":""}`), `cell_type is "heading"; want code, markdown or raw`},
		{cell(`{"cell_type":"markdown","id":"c1","source":""}`), `"metadata" is missing; want an object`},
		{cell(`{"cell_type":"code","id":"c1","metadata":{},"source":"","execution_count":"3","outputs":[]}`), `"execution_count" is text; want a whole number`},
		{code(`{"output_type":"stream","name":"stdout"}`), `cell 1 (id c1): output 1: "text" is missing`},
		{code(`{"output_type":"pyout"}`), `output_type is "pyout"; want stream, display_data, execute_result or error`},
		{code(`{"output_type":"display_data","data":[],"metadata":{}}`), `"data" is a list; want an object`},
		{code(`{"output_type":"error","ename":"E","evalue":"v","traceback":[1]}`), "line 1 of the traceback is the number 1; want text"},
		{code(`null`), "output 1: it is null; want an object"},
	}
	for _, c := range cases {
		nb, err := Parse("x.ipynb", []byte(c.given))
		if err == nil {
			t.Errorf("%q was read: %+v", c.given, nb)
		} else if !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "x.ipynb: ") {
			t.Errorf("%q:\ngot  %v\nwant %s", c.given, err, c.want)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none.ipynb")); err == nil || !strings.Contains(err.Error(), "there is no such notebook file") {
		t.Errorf("a missing file: %v", err)
	}
}

func TestCellsWithoutAGoodIDGetTheSameOneEachTime(t *testing.T) {
	const old = `{"cells":[{"cell_type":"markdown","metadata":{},"source":"a"},{"cell_type":"markdown","metadata":{},"source":"a"},
		{"cell_type":"raw","id":"twice","metadata":{},"source":"b"},{"cell_type":"raw","id":"twice","metadata":{},"source":"c"},
		{"cell_type":"raw","id":"b a d","metadata":{},"source":"d"}],"metadata":{},"nbformat":4,"nbformat_minor":2}`
	ids := func() (all []string) {
		nb, err := Parse("x", []byte(old))
		if err != nil {
			t.Fatal(err)
		}
		if nb.Minor != Minor {
			t.Errorf("nbformat_minor is %d", nb.Minor)
		}
		seen := map[string]bool{}
		for _, c := range nb.Cells {
			if !goodID.MatchString(c.ID) || seen[c.ID] {
				t.Errorf("id %q", c.ID)
			}
			seen[c.ID] = true
			all = append(all, c.ID)
		}
		return all
	}
	a, b := ids(), ids()
	if strings.Join(a, " ") != strings.Join(b, " ") || a[2] != "twice" {
		t.Errorf("%v, then %v", a, b)
	}
}

func TestWritingIsWholeOrNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "n.ipynb")
	nb := New("kafkalab", "Go (Kafka Lab)", "go")
	nb.Cells = []*Cell{{Type: Code, ID: "a", Source: "1", Outputs: []Output{{Type: DisplayData, Data: map[string]any{"text/plain": "1", "application/x+json": struct {
		V int `json:"v"`
	}{1}}}}}}
	if err := nb.Write(path); err != nil {
		t.Fatal(err)
	}
	os.Chmod(path, 0o600)
	before, _ := os.ReadFile(path)
	nb.Cells[0].Outputs[0].Data["bad"] = func() {}
	if err := nb.Write(path); err == nil || !strings.Contains(err.Error(), "func()") {
		t.Errorf("a function was written: %v", err)
	}
	delete(nb.Cells[0].Outputs[0].Data, "bad")
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("a failed write changed the file")
	}
	nb.Cells = append(nb.Cells, &Cell{Type: Markdown, ID: "a"})
	if err := nb.Write(path); err == nil || !strings.Contains(err.Error(), `cell 2: id "a"`) {
		t.Errorf("an id that stands twice: %v", err)
	}
	nb.Cells[1].ID = "b"
	if err := nb.Write(path); err != nil {
		t.Fatal(err)
	}
	info, _ := os.Stat(path)
	left, _ := os.ReadDir(dir)
	if info.Mode().Perm() != 0o600 || len(left) != 1 {
		t.Errorf("mode %v, %d files", info.Mode(), len(left))
	}
}

func FuzzParse(f *testing.F) {
	data, err := os.ReadFile(saved)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"cells":[],"metadata":{},"nbformat":4,"nbformat_minor":5}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		nb, err := Parse("x", data)
		if err != nil {
			return
		}
		once, err := nb.Bytes()
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := Parse("x", once)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, once)
		}
		if twice, _ := again.Bytes(); !bytes.Equal(once, twice) {
			t.Errorf("writing twice differs:\n%s", firstDifference(string(once), string(twice)))
		}
	})
}
