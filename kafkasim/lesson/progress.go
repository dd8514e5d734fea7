package lesson

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"kafkalab/kafkasim/lesson/master"
)

// Overview is a lesson with how far one has come in it.
type Overview struct {
	lesson *master.Lesson
	state  *state
}

// exercises are the blocks that can be answered.
func exercises(l *master.Lesson) []*master.Block {
	var all []*master.Block
	for i := range l.Blocks {
		if b := &l.Blocks[i]; b.Kind == master.Predict || b.Kind == master.Quiz || b.Kind == master.Task {
			all = append(all, b)
		}
	}
	return all
}

// note is the overview in a few lines.
func (o *Overview) note() *Note {
	var b strings.Builder
	fmt.Fprintf(&b, "**Lesson %s: %s** · about %d minutes\n\n", o.lesson.Number, o.lesson.Title, o.lesson.Minutes)
	for _, k := range []master.Kind{master.Predict, master.Task, master.Quiz} {
		n, tried, good := 0, 0, 0
		for _, x := range exercises(o.lesson) {
			if x.Kind != k {
				continue
			}
			n++
			switch o.state.entry(k, x.ID).Outcome {
			case Correct:
				tried++
				good++
			case Incorrect:
				tried++
			}
		}
		if n > 0 {
			fmt.Fprintf(&b, "- %ss: %d of %d tried, %d correct\n", kindWord(k), tried, n, good)
		}
	}
	b.WriteString("\nYour answers are kept beside this notebook, in `" + stateFile(o.lesson.Number) + "`.")
	return note("%s%s", b.String(), also(o.state.note))
}

// MIMEBundle is the overview as Markdown.
func (o *Overview) MIMEBundle() map[string]any { return o.note().MIMEBundle() }

// String is the overview as plain text.
func (o *Overview) String() string { return o.note().String() }

// Progress lists the exercises of the open lesson with how they stand.
func Progress() *Note {
	here.mu.Lock()
	defer here.mu.Unlock()
	l := here.open("lesson.Progress()")
	s := current(l.Number)
	var b strings.Builder
	fmt.Fprintf(&b, "**Lesson %s: %s**\n\n| exercise | kind | outcome | attempts | hints |\n|---|---|---|---|---|\n", l.Number, l.Title)
	for _, x := range exercises(l) {
		e := s.entry(x.Kind, x.ID)
		hints := fmt.Sprint(e.Hints)
		if e.Solution {
			hints = "solution"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %s |\n", x.ID, e.Kind, e.Outcome, e.Attempts, hints)
	}
	return note("%s%s", b.String(), also(s.note))
}

// Reset forgets the answers of these exercises, or of the whole lesson when none is named.
func Reset(ids ...string) *Note {
	here.mu.Lock()
	defer here.mu.Unlock()
	l := here.open("lesson.Reset()")
	s := current(l.Number)
	if len(ids) == 0 {
		s.Entries = nil
		s.write()
		return note("Lesson %s begins afresh.%s", l.Number, also(s.note))
	}
	for _, id := range ids {
		known := false
		for _, x := range exercises(l) {
			if x.ID == id {
				*s.entry(x.Kind, id) = entry{ID: id, Kind: kindWord(x.Kind), Outcome: NotAttempted}
				known = true
			}
		}
		if !known {
			misuse(fmt.Sprintf("lesson.Reset(%q)", id), "lesson %s has no exercise %q; lesson.Progress() lists them", l.Number, id)
		}
	}
	s.write()
	return note("Forgotten: %s.%s", strings.Join(ids, ", "), also(s.note))
}

// results is what an instructor gets of one lesson: answers and outcomes, nothing about the person.
type results struct {
	Format  int
	Lesson  string
	Title   string
	Entries []entry
}

// Export writes the answers to the open lesson into a file beside the notebook, for an instructor: JSON with
// every exercise's answer, outcome, attempts and hints, and nothing about the person or the time.
func Export() *Note {
	here.mu.Lock()
	defer here.mu.Unlock()
	l := here.open("lesson.Export()")
	s := current(l.Number)
	r := results{Format: 1, Lesson: l.Number, Title: l.Title}
	for _, x := range exercises(l) {
		r.Entries = append(r.Entries, *s.entry(x.Kind, x.ID))
	}
	data, err := json.MarshalIndent(r, "", " ")
	name := "kafkalab-results-" + l.Number + ".json"
	if err == nil {
		err = os.WriteFile(name, append(data, '\n'), 0o644)
	}
	if err != nil {
		misuse("lesson.Export()", "the file cannot be written: %v", err)
	}
	return note("Written to `%s`: %d exercises, without your name.", name, len(r.Entries))
}
