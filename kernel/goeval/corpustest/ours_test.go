package corpustest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

var (
	record  = flag.String("record", "", "compile programs and record what they print: new, all, or a part of a name")
	corpora = flag.String("corpus", "", "collections to run besides ours: yaegi, go")
	only    = flag.String("only", "", "run only programs whose name contains this")
)

const ours = "../testdata/corpus"

// program is one file of our corpus.
type program struct {
	name, path, note string
	source           string
	recorded         bool
	want             outcome
}

// flagged finds a line "key: reason" in the note above the program.
func (p *program) flagged(key string) bool {
	return strings.HasPrefix(p.note, key+":") || strings.Contains(p.note, "\n"+key+":")
}

func readOurs(t testing.TB) []*program {
	files, err := filepath.Glob(filepath.Join(ours, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	var all []*program
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		if !strings.Contains(name, *only) {
			continue
		}
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		p := &program{name: name, path: path, note: string(a.Comment)}
		for _, f := range a.Files {
			switch text := string(f.Data); f.Name {
			case "prog.go":
				p.source = text
			case "stdout":
				p.want.Stdout, p.recorded = text, true
			case "stderr":
				p.want.Stderr = text
			case "end":
				p.want.End = strings.TrimSuffix(text, "\n")
			}
		}
		all = append(all, p)
	}
	return all
}

// TestOurs runs every program of our corpus as one cell and taken apart. None may be wrong, and at most
// one in twenty may be refused.
func TestOurs(t *testing.T) {
	if *record != "" {
		recordOurs(t, readOurs(t))
	}
	var mu sync.Mutex
	count := map[string]map[verdict]int{"whole": {}, "split": {}}
	why := map[string][]string{}
	t.Run("programs", func(t *testing.T) {
		for _, p := range readOurs(t) {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				if !p.recorded {
					t.Fatalf("%s has no recorded output: run with -record new", p.path)
				}
				runs := map[string][]string{"whole": {p.source}}
				if !p.flagged("nosplit") {
					runs["split"] = split(p.source)
				}
				for how, cells := range runs {
					got := runCells(cells, ourLimit)
					v := judge(crlf(got), p.want)
					mu.Lock()
					count[how][v]++
					if v == refused {
						why[got.End] = append(why[got.End], p.name)
					}
					mu.Unlock()
					if v == wrong || v == loud {
						t.Errorf("%s (%s):\n%s\ngot:\n%s\nend: %s\nwant:\n%s\nend: %s", how, v, strings.Join(cells, "\n// ---- next cell\n"), shown(got), got.End, shown(p.want), p.want.End)
					}
				}
			})
		}
	})
	for how, c := range count {
		t.Logf("%s: equal %d, refused %d, loud %d, silently wrong %d", how, c[equal], c[refused], c[loud], c[wrong])
		if total := c[equal] + c[refused]; *only == "" && c[refused]*20 > total {
			t.Errorf("%s: %d of %d programs are refused", how, c[refused], total)
		}
	}
	for end, names := range why {
		t.Logf("refused %s: %s", strings.Join(names, " "), end)
	}
}

// crlf undoes what txtar cannot keep: a last line without its newline.
func crlf(o outcome) outcome {
	for _, s := range []*string{&o.Stdout, &o.Stderr} {
		if *s != "" && !strings.HasSuffix(*s, "\n") {
			*s += "\n"
		}
	}
	return o
}

const ourLimit = 20 * time.Second

func shown(o outcome) string {
	s := o.Stdout
	if o.Stderr != "" {
		s += "-- stderr --\n" + o.Stderr
	}
	if len(s) > 4000 {
		s = s[:4000] + "…"
	}
	return s
}

func TestMain(m *testing.M) {
	if os.Getenv("CORPUS_CHILD") != "" {
		child()
		return
	}
	flag.Parse()
	os.Exit(m.Run())
}
