// Package course runs every lesson as a learner and its author would.
package course

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"kafkalab/install/author"
	"kafkalab/install/headless"
	"kafkalab/install/lab"
	"kafkalab/install/notebook"
	"kafkalab/kafkasim/lesson/master"
)

const folder = "../../notebooks"

func lessons(t *testing.T) []*master.Lesson {
	t.Helper()
	all, err := master.All(os.DirFS(filepath.Join(folder, "masters")))
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("there are no lessons: the test looks in the wrong place")
	}
	return all
}

// run is a kernel of this process with everything that cells have.
func run(ctx context.Context, nb *notebook.Notebook) error {
	language, err := lab.NewLanguage(lab.Options{})
	if err != nil {
		return err
	}
	return headless.RunNotebook(ctx, language, nb, headless.Options{})
}

// Every lesson works as it is handed out and solved; the answers of its predictions come from its runs.
func TestLessons(t *testing.T) {
	files, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	c := author.Checker{Run: run, Files: os.DirFS(files)}
	for _, l := range lessons(t) {
		t.Run(l.File, func(t *testing.T) {
			r, err := c.Check(t.Context(), l)
			if err != nil {
				t.Fatal(err)
			}
			more, err := c.Undecided(t.Context(), l, r.Answers)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range append(r.Problems, more...) {
				t.Error(p)
			}
			t.Logf("solved in %v", r.Took)
		})
	}
}

// A notebook of the course is what its master makes, so that nobody edits the copy.
func TestNotebooksAreMadeFromTheMasters(t *testing.T) {
	for _, l := range lessons(t) {
		want, err := author.Learner(l).Bytes()
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(folder, l.File+".ipynb"))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s.ipynb is not what its master makes (%v): go run ./install/kafkalab course build", l.File, err)
		}
	}
}

// The cheat sheet is made from its examples and the doc comments, has an example for every verb, and each runs.
func TestCheatSheet(t *testing.T) {
	nb, sheet, verbs, err := author.BuildCheatSheet(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sheet.Missing(verbs["kafkasim"]) {
		t.Errorf("%s has no example", name)
	}
	want, err := nb.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(folder, "cheat-sheet.ipynb")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("cheat-sheet.ipynb is not what its examples make (%v): go run ./install/kafkalab course build", err)
	}
	t.Chdir(t.TempDir())
	if err := run(t.Context(), nb); err != nil {
		t.Error(err)
	}
}

// The map of the course has the tables that its masters make.
func TestTheMapIsMadeFromTheMasters(t *testing.T) {
	all := lessons(t)
	c, err := master.ReadCurriculum(os.DirFS(filepath.Join(folder, "masters")))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(folder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range c.Missing(all) {
		t.Error(m)
	}
	want, err := author.Readme(string(got), all, c)
	if err != nil || want != string(got) {
		t.Errorf("README.md is not what the masters make (%v): go run ./install/kafkalab course build", err)
	}
}

// The glossary can be read, and its links lead where lessons may lead.
func TestGlossary(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(folder, "masters", "glossary.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	terms, err := master.ParseGlossary("glossary.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range terms {
		for _, l := range x.Links {
			if !author.MayLink(l.URL) {
				t.Errorf("%s links to %s", x.Term, l.URL)
			}
		}
	}
}

// A check that finds nothing wrong with anything would be none: a lesson is spoilt on purpose in every way.
func TestTheCheckFindsWhatIsWrong(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(folder, "masters", "06.md"))
	if err != nil {
		t.Fatal(err)
	}
	c := author.Checker{Run: run, Files: os.DirFS(folder)}
	for _, x := range []struct{ name, from, to, want string }{
		{"a literal", `lesson.Reveal("third-offset", d3.Offset(),`, `lesson.Reveal("third-offset", 1,`, `reveals "third-offset" with a literal`},
		{"no run", `lesson.Reveal("third-offset", d3.Offset(), d3, c.Partition("orders", 0))`, "d3", `no run decides the prediction "third-offset"`},
		{"a starter that solves", `	"acks":      1,`, `	"acks":      "all",`, `the starter solves task "safe-producer"`},
		{"a solution that does not", `	"acks":      "all",`, `	"acks":      "1",`, `solved, "safe-producer" is not correct`},
		{"a cell that fails", `c.InFlight()`, `c.InFlght()`, "as the learner gets it, cell"},
		{"a link to nothing", `(07-min-insync-replicas.ipynb)`, `(08-nothing.ipynb)`, "links to 08-nothing.ipynb, which is not there"},
		{"a strange link", `https://kafka.apache.org/documentation/#replication`, `https://example.org/`, "none of the sites"},
		{"a missing part", "**Goal:**", "", `has not a goal`},
		{"a wrong time", "minutes: 25", "minutes: 5", "says 5 minutes"},
	} {
		t.Run(x.name, func(t *testing.T) {
			spoilt := bytes.Replace(data, []byte(x.from), []byte(x.to), 1)
			if bytes.Equal(spoilt, data) {
				t.Fatalf("the lesson has not %q", x.from)
			}
			l, err := master.Parse("06.md", spoilt)
			if err != nil {
				t.Fatal(err)
			}
			r, err := c.Check(t.Context(), l)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range r.Problems {
				if bytes.Contains([]byte(p.What), []byte(x.want)) {
					return
				}
			}
			t.Errorf("found %v, want %q", r.Problems, x.want)
		})
	}
}
