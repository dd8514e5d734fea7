// Package master reads lessons as their authors write them: one Markdown file each, from which the learner's
// notebook, the solved one and the page are made.
//
// A file begins with front matter (YAML between two lines of ---) and goes on as Markdown. Fenced blocks that
// carry one of the words below are cells or exercises; a line +++ ends a text cell where no block does.
//
//	```go ID                a cell, to be run as it is
//	```predict ID           a question that a run decides (YAML)
//	```quiz ID              a question of the recap (YAML)
//	```task ID              a task with code (YAML: ask, hints)
//	```starter ID           the code that the learner begins with
//	```solution ID          code that solves it
package master

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Lesson is one lesson as its author wrote it.
type Lesson struct {
	Number  string `yaml:"number"` // "01" to "14", or a letter and digits for case files and the like
	File    string `yaml:"file"`   // name of the notebook, without its ending
	Title   string `yaml:"title"`
	Minutes int    `yaml:"minutes"` // how long it takes, at most
	About   string `yaml:"about"`   // one line for the map
	Seen    string `yaml:"seen"`    // what one will have seen, for the map
	Covers  Covers `yaml:"covers"`
	Blocks  []Block
}

// Covers lists what of the curriculum the lesson reaches, by the ids of notebooks/README.md.
type Covers struct {
	Subjects  []string `yaml:"subjects"`  // S01 …
	Questions []string `yaml:"questions"` // Q01 …
}

// Kind is the kind of a block.
type Kind uint8

// The kinds of block.
const (
	Text Kind = iota
	Go
	Predict
	Quiz
	Task
)

// Block is one piece of a lesson, in order.
type Block struct {
	Kind     Kind
	ID       string // unique in the lesson; of a Text that of the block behind it with "-text"
	Line     int    // in the file, from 1
	Text     string // Text: Markdown; Go: code
	Question *Question
	Task     *TaskText
}

// Question is what a Predict or Quiz block asks.
type Question struct {
	Ask       string   `yaml:"ask"`
	Number    bool     `yaml:"number"`    // the answer is a number; Choices, if any, are known mistakes and not offered
	Choices   []Choice `yaml:"choices"`   // what can be answered
	Tolerance float64  `yaml:"tolerance"` // of a number: how far off is still right
	Unit      string   `yaml:"unit"`      // of a number, such as ms
	Because   string   `yaml:"because"`   // said when the answer is known, whoever was right
	Right     string   `yaml:"right"`     // Quiz only: a prediction is decided by its run
	Expect    string   `yaml:"expect"`    // Predict: what its author saw the run show; the check compares, no learner's cell does
	Run       string   `yaml:"run"`       // Predict: the cell before the question that decides it, when it is not behind it
}

// Choice is one answer that can be given.
type Choice struct {
	Is   string `yaml:"is"`   // what one writes, and what the run's fact must be
	Text string `yaml:"text"` // what it says, when Is does not say it all
	Why  string `yaml:"why"`  // said to whoever chose it and was wrong
}

// TaskText is a task's words and code; what checks it is Go, in package lesson.
type TaskText struct {
	Ask      string   `yaml:"ask"`
	Hints    []string `yaml:"hints"` // from the gentlest to the plainest
	Because  string   `yaml:"because"`
	Starter  string
	Solution string
}

// Error is a mistake in a lesson's file.
type Error struct {
	File string
	Line int
	What string // what is wrong, and what would have been right
}

// Error is the mistake with its place.
func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.What) }

// Parse reads a lesson. name is the file's, for errors, which are of type *Error.
func Parse(name string, data []byte) (*Lesson, error) {
	p := &parser{name: name, lines: strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")}
	p.frontMatter()
	p.body()
	if p.err == nil {
		p.complete()
	}
	if p.err != nil {
		return nil, p.err
	}
	return &p.lesson, nil
}

// Find is the block with this id and kind, or nil.
func (l *Lesson) Find(kind Kind, id string) *Block {
	for i := range l.Blocks {
		if b := &l.Blocks[i]; b.Kind == kind && b.ID == id {
			return b
		}
	}
	return nil
}

// unmarshal reads YAML into x and refuses keys that x has not.
func unmarshal(text string, x any) error {
	d := yaml.NewDecoder(strings.NewReader(text))
	d.KnownFields(true)
	err := d.Decode(x)
	if errors.Is(err, io.EOF) {
		return nil // nothing is there: what is missing is said where it is missed
	}
	return err
}

// All reads every lesson at the top of files, by number. A number or a notebook that two lessons claim is an
// error.
func All(files fs.FS) ([]*Lesson, error) {
	names, err := fs.Glob(files, "*.md")
	if err != nil {
		return nil, err
	}
	var all []*Lesson
	for _, name := range names {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		l, err := Parse(name, data)
		if err != nil {
			return nil, err
		}
		for _, o := range all {
			if o.Number == l.Number || o.File == l.File {
				return nil, &Error{name, 2, fmt.Sprintf("number %s or file %s is taken by %q", l.Number, l.File, o.Title)}
			}
		}
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b *Lesson) int { return strings.Compare(a.File, b.File) })
	return all, nil
}

// Answers lists what can be answered, as Markdown.
func (q *Question) Answers() string {
	if q.Number {
		if q.Unit != "" {
			return "The answer is a number, in " + q.Unit + ".\n\n"
		}
		return "The answer is a number.\n\n"
	}
	var b strings.Builder
	for _, c := range q.Choices {
		if c.Text == "" {
			fmt.Fprintf(&b, "- `%s`\n", c.Is)
		} else {
			fmt.Fprintf(&b, "- `%s`: %s\n", c.Is, strings.TrimSpace(c.Text))
		}
	}
	return b.String() + "\n"
}
