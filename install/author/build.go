// Package author is for those who write the course: it makes notebooks from a lesson's file (package master) and
// checks that every lesson works.
package author

import (
	"fmt"
	"strings"

	"kafkalab/install/kernelspec"
	"kafkalab/install/notebook"
	"kafkalab/kafkasim/lesson/master"
)

// Answers are what a solved notebook holds where the learner's has a question mark: the answer of each
// prediction and quiz question by id.
type Answers map[string]string

// Learner is the notebook that a learner gets: no answers, and every task as it starts.
func Learner(l *master.Lesson) *notebook.Notebook { return build(l, nil, false) }

// Solved is the notebook with these answers and with every task's solution.
func Solved(l *master.Lesson, answers Answers) *notebook.Notebook { return build(l, answers, true) }

// build turns blocks into cells, in order.
func build(l *master.Lesson, answers Answers, solve bool) *notebook.Notebook {
	nb := notebook.New(kernelspec.DefaultName, kernelspec.DefaultDisplayName, "go")
	nb.Metadata["language_info"] = map[string]any{"name": "go", "file_extension": ".go", "mimetype": "text/x-go"}
	for i := range l.Blocks {
		b := &l.Blocks[i]
		switch b.Kind {
		case master.Text:
			nb.Cells = append(nb.Cells, cell(notebook.Markdown, b.ID, b.Text))
		case master.Go:
			nb.Cells = append(nb.Cells, cell(notebook.Code, b.ID, b.Text))
		case master.Predict:
			nb.Cells = append(nb.Cells, asked("Predict", b), call("Predict", b, answers))
		case master.Quiz:
			nb.Cells = append(nb.Cells, asked("Recap", b), call("Quiz", b, answers))
		case master.Task:
			code := b.Task.Starter
			if solve {
				code = b.Task.Solution
			}
			nb.Cells = append(nb.Cells, cell(notebook.Markdown, b.ID+"-task", "**Task.** "+strings.TrimSpace(b.Task.Ask)),
				cell(notebook.Code, b.ID, code))
		}
	}
	return nb
}

// asked is a question as text.
func asked(word string, b *master.Block) *notebook.Cell {
	text := fmt.Sprintf("**%s.** %s\n\n%s", word, strings.TrimSpace(b.Question.Ask), b.Question.Answers())
	return cell(notebook.Markdown, b.ID+"-question", strings.TrimSpace(text))
}

// call is the cell where the answer goes.
func call(verb string, b *master.Block, answers Answers) *notebook.Cell {
	answer, ok := answers[b.ID]
	if !ok {
		answer = "?"
	}
	return cell(notebook.Code, b.ID, fmt.Sprintf("lesson.%s(%q, %q)", verb, b.ID, answer))
}

func cell(kind, id, source string) *notebook.Cell {
	return &notebook.Cell{Type: kind, ID: id, Source: source, Metadata: map[string]any{}}
}
