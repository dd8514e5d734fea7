package author

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kafkalab/install/notebook"
	"kafkalab/kafkasim/lesson/master"
)

// Checker runs lessons. Every run is in a folder of its own, because lessons keep their answers beside them;
// the process's working folder changes while one runs.
type Checker struct {
	// Run runs a notebook in the working folder, in a fresh session, and puts the outputs into it. Its error is
	// the cell that failed.
	Run   func(context.Context, *notebook.Notebook) error
	Files fs.FS // what lies beside the notebooks, for links
}

// Result is what became of a lesson's check.
type Result struct {
	Problems []Problem
	Answers  Answers            // what its runs and its quiz have decided
	Solved   *notebook.Notebook // run, with its outputs; nil when it could not run
	Took     time.Duration      // the run of the solved notebook
}

// Check looks at a lesson and runs it: as the learner gets it, where nothing may fail and nothing is solved;
// and solved, where everything is right. The predictions' answers come from the first run.
func (c *Checker) Check(ctx context.Context, l *master.Lesson) (Result, error) {
	r := Result{Problems: Static(l, c.Files), Answers: Answers{}}
	report := func(format string, args ...any) {
		r.Problems = append(r.Problems, Problem{l.File, 0, fmt.Sprintf(format, args...)})
	}
	starter := Learner(l)
	state, failed, err := c.run(ctx, l, starter)
	if err != nil {
		return r, err
	}
	if failed != nil {
		report("as the learner gets it, %v", failed)
	}
	for _, e := range state {
		switch {
		case e.Outcome == "correct":
			report("the starter solves %s %q", e.Kind, e.ID)
		case e.Kind == "prediction" && e.Fact == "":
			report("the run does not decide the prediction %q", e.ID)
		}
		if e.Fact != "" {
			r.Answers[e.ID] = e.Fact
			if b := l.Find(master.Predict, e.ID); b != nil && !b.Question.Holds(b.Question.Expect, e.Fact) {
				report("%q: the run shows %q, its author expects %q", e.ID, e.Fact, b.Question.Expect)
			}
		}
	}
	for _, b := range l.Blocks {
		if b.Kind == master.Quiz {
			r.Answers[b.ID] = b.Question.Right
		}
	}
	r.Solved = Solved(l, r.Answers)
	start := time.Now()
	state, failed, err = c.run(ctx, l, r.Solved)
	r.Took = time.Since(start)
	if err != nil {
		return r, err
	}
	if failed != nil {
		report("solved, %v", failed)
	}
	for _, b := range l.Blocks {
		if b.Question != nil || b.Task != nil {
			if e := state.find(b.ID); e == nil || e.Outcome != "correct" {
				report("solved, %q is not correct: %s", b.ID, said(r.Solved, b.ID))
			}
		}
	}
	return r, nil
}

// Undecided runs a lesson once for each prediction with the prediction's run taken out, and reports the
// predictions that are found correct all the same: their answer does not come from the run.
func (c *Checker) Undecided(ctx context.Context, l *master.Lesson, answers Answers) ([]Problem, error) {
	var found []Problem
	for i, b := range l.Blocks {
		if b.Kind != master.Predict {
			continue
		}
		state, _, err := c.run(ctx, l, Solved(withoutRun(l, i), answers))
		if err != nil {
			return found, err
		}
		if e := state.find(b.ID); e != nil && e.Outcome == "correct" {
			found = append(found, Problem{l.File, b.Line, fmt.Sprintf("the prediction %q is correct without its run", b.ID)})
		}
	}
	return found, nil
}

// withoutRun is a lesson up to a prediction's Reveal, with the cells between the two taken out, the cell that the
// question names, and of the revealing cell all but the call.
func withoutRun(l *master.Lesson, prediction int) *master.Lesson {
	cut := *l
	cut.Blocks = append([]master.Block(nil), l.Blocks[:prediction+1]...)
	id, run := l.Blocks[prediction].ID, l.Blocks[prediction].Question.Run
	cut.Blocks = slices.DeleteFunc(cut.Blocks, func(b master.Block) bool { return b.Kind == master.Go && b.ID == run })
	for _, b := range l.Blocks[prediction+1:] {
		if b.Kind != master.Go || !strings.Contains(b.Text, fmt.Sprintf("lesson.Reveal(%q", id)) {
			continue
		}
		var keep []string
		for _, line := range strings.Split(b.Text, "\n") {
			if strings.Contains(line, fmt.Sprintf("lesson.Reveal(%q", id)) {
				keep = append(keep, line)
			}
		}
		b.Text = strings.Join(keep, "\n")
		cut.Blocks = append(cut.Blocks, b)
		break
	}
	return &cut
}

// standing is what a lesson keeps of an exercise, as far as the checks need it.
type standing struct{ ID, Kind, Fact, Outcome string }

type standings []standing

func (s standings) find(id string) *standing {
	for i := range s {
		if s[i].ID == id {
			return &s[i]
		}
	}
	return nil
}

// run runs a notebook in a folder of its own and reads what it kept. failed is the cell that failed, if any.
func (c *Checker) run(ctx context.Context, l *master.Lesson, nb *notebook.Notebook) (state standings, failed, err error) {
	dir, err := os.MkdirTemp("", "lesson")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	back, err := os.Getwd()
	if err != nil {
		return nil, nil, err
	}
	if err := os.Chdir(dir); err != nil {
		return nil, nil, err
	}
	defer os.Chdir(back)
	failed = c.Run(ctx, nb)
	data, err := os.ReadFile(filepath.Join(dir, "kafkalab-progress", l.Number+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, failed, nil
	}
	var kept struct{ Entries standings }
	if err == nil {
		err = json.Unmarshal(data, &kept)
	}
	return kept.Entries, failed, err
}

// said is what the cell of an exercise showed.
func said(nb *notebook.Notebook, id string) string {
	for _, c := range nb.Cells {
		if c.ID != id {
			continue
		}
		for _, o := range c.Outputs {
			if text, ok := o.Data["text/plain"].(string); ok {
				return text
			}
		}
	}
	return "its cell shows nothing"
}
