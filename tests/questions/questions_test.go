// Package questions holds questions that people ask about Kafka (Q…), each with a cell that a learner could run and what
// the cell says. The answer stands in words above the cell; what the cell says is the kernel's word.
package questions

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"kafkalab/install/headless"
	"kafkalab/install/lab"
	"kafkalab/install/notebook"
)

// TestQuestions runs every cell of testdata in a kernel of its own: `go test ./tests/questions -rewrite` records what they
// say; commit it only when it is the answer.
func TestQuestions(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no questions: %v", err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			datadriven.RunTest(t, f, func(t *testing.T, d *datadriven.TestData) string {
				if d.Cmd != "cell" {
					d.Fatalf(t, "there is no block %q: want cell", d.Cmd)
				}
				return run(t, d.Input)
			})
		})
	}
}

// run is what a cell shows.
func run(t *testing.T, code string) string {
	language, err := lab.NewLanguage(lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	report, err := headless.Run(context.Background(), language, []headless.Cell{{Source: code, IsCode: true}}, headless.Options{})
	if err != nil {
		t.Errorf("%v", err)
	}
	var out strings.Builder
	for _, o := range report.Cells[0].Outputs {
		if o.Type == notebook.Stream {
			out.WriteString(o.Text)
		} else {
			t.Errorf("a cell shows %s; want printed words", o.Type)
		}
	}
	return out.String()
}

// Every question that scenarios have is there, once, with its answer in words and a cell.
func TestEveryQuestionIsAsked(t *testing.T) {
	for file, want := range map[string][]string{
		"producers": {"Q22", "Q23", "Q25", "Q26", "Q27", "Q29", "Q30", "Q31", "Q33", "Q34", "Q36"},
		"groups":    {"Q37", "Q39", "Q40", "Q42", "Q43", "Q45", "Q46", "Q48", "Q49", "Q51", "Q53", "Q54"},
	} {
		text, err := os.ReadFile("testdata/" + file + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		var asked []string
		for _, block := range strings.Split(string(text), "\n# Q")[1:] {
			block = "Q" + block
			asked = append(asked, strings.Split(regexp.MustCompile(`^Q\d+(, Q\d+)*`).FindString(block), ", ")...)
			words, cell, _ := strings.Cut(block, "\ncell\n")
			if len(strings.Split(words, "\n")) < 2 || !strings.Contains(cell, "kafkasim.New(") || !strings.Contains(cell, "\n----\n") {
				t.Errorf("no answer in words, or no cell with a cluster, below %.40q", block)
			}
		}
		if !slices.Equal(asked, want) {
			t.Errorf("%s: asked are %v, want %v", file, asked, want)
		}
	}
}
