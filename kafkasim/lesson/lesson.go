// Package lesson is what the course's cells call: predictions that are made before a run shows the answer,
// tasks that are checked by runs under other seeds and faults, a quiz, hints, solutions and the way so far.
//
// What a lesson asks comes from its author's file (package master), which travels in the program and not in the
// notebook: a notebook holds no answer. A prediction is decided by what its run found (Reveal), a task by a
// function of this package (files tasks_*.go). What the learner has answered is kept in a folder beside the
// notebook, one file for each lesson, so that closing and opening goes on where one was.
package lesson

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"kafkalab/kafkasim"
	"kafkalab/kafkasim/lesson/master"
)

// course is what this process knows of the course, and which lesson is open.
type course struct {
	mu      sync.Mutex
	files   fs.FS
	lessons []*master.Lesson
	err     error
	now     *master.Lesson
}

var here course

// Use gives the package the authors' files: every *.md at the top of files is a lesson. It is called once, by
// whoever starts the kernel.
func Use(files fs.FS) {
	here.mu.Lock()
	defer here.mu.Unlock()
	here.files, here.lessons, here.err, here.now = files, nil, nil, nil
}

// load reads the lessons when the first one is asked for: a kernel that opens none pays nothing.
func (c *course) load() error {
	if c.lessons != nil || c.err != nil || c.files == nil {
		return c.err
	}
	c.lessons, c.err = master.All(c.files)
	return c.err
}

// Begin opens a lesson by its number, such as "06", and shows how far one has come in it. Every other call
// means the lesson that was begun last.
func Begin(number string) *Overview {
	here.mu.Lock()
	defer here.mu.Unlock()
	where := fmt.Sprintf("lesson.Begin(%q)", number)
	if err := here.load(); err != nil {
		misuse(where, "the course cannot be read: %v", err)
	}
	i := slices.IndexFunc(here.lessons, func(l *master.Lesson) bool { return l.Number == number })
	if i < 0 {
		var numbers []string
		for _, l := range here.lessons {
			numbers = append(numbers, l.Number)
		}
		misuse(where, "there is no lesson %q; there are %s", number, strings.Join(numbers, ", "))
	}
	here.now = here.lessons[i]
	return &Overview{lesson: here.now, state: readState(here.now.Number)}
}

// open is the lesson that was begun; the caller holds the lock.
func (c *course) open(where string) *master.Lesson {
	if c.now == nil {
		misuse(where, "no lesson is open; run the lesson's first cell, which calls lesson.Begin")
	}
	return c.now
}

// find is a block of the open lesson.
func (c *course) find(where string, kind master.Kind, id string) *master.Block {
	l := c.open(where)
	if b := l.Find(kind, id); b != nil {
		return b
	}
	var there []string
	for _, b := range l.Blocks {
		if b.Kind == kind {
			there = append(there, b.ID)
		}
	}
	misuse(where, "lesson %s has no %s %q; it has %s", l.Number, kindWord(kind), id, orNone(there))
	return nil
}

func kindWord(k master.Kind) string {
	switch k {
	case master.Predict:
		return "prediction"
	case master.Quiz:
		return "quiz question"
	}
	return "task"
}

func orNone(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}

// misuse panics with the error for a caller's mistakes, which cells show as a sentence.
func misuse(where, format string, args ...any) {
	panic(&kafkasim.UsageError{Where: where, What: fmt.Sprintf(format, args...)})
}

// stateFile is where the answers of a lesson are kept, beside the notebook.
func stateFile(number string) string { return path.Join(stateDir, number+".json") }
