package lesson

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"kafkalab/kafkasim/lesson/master"
)

// stateDir is the folder beside the notebook that keeps the answers.
const stateDir = "kafkalab-progress"

// Outcome is how an exercise stands.
type Outcome string

// The three outcomes.
const (
	NotAttempted Outcome = "not attempted"
	Incorrect    Outcome = "incorrect"
	Correct      Outcome = "correct"
)

// entry is what is kept of one exercise.
type entry struct {
	ID       string
	Kind     string  // prediction, quiz question, task
	Answer   string  `json:",omitempty"` // as given; of a task nothing
	Fact     string  `json:",omitempty"` // what the run showed; of a prediction, once it did
	Outcome  Outcome `json:",omitempty"`
	Attempts int     `json:",omitempty"`
	Hints    int     `json:",omitempty"` // how many were shown
	Solution bool    `json:",omitempty"` // it was shown
	Best     int     `json:",omitempty"` // the fewest steps, where they count
}

// state is what is kept of one lesson. There is nothing in it about the person or the time.
type state struct {
	Lesson  string
	Entries []entry
	note    string // what went wrong while reading it
}

// readState reads what is kept of a lesson. A file that cannot be read is put aside, not lost.
func readState(number string) *state {
	s := &state{Lesson: number}
	data, err := os.ReadFile(stateFile(number))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		s.note = "your answers so far cannot be read: " + err.Error()
	case json.Unmarshal(data, s) != nil || s.Lesson != number:
		*s = state{Lesson: number}
		aside := stateFile(number) + ".damaged"
		s.note = "the file of your answers was damaged; it is kept as " + aside
		if err := os.Rename(stateFile(number), aside); err != nil {
			s.note = "the file of your answers is damaged, and cannot be put aside: " + err.Error()
		}
	}
	return s
}

// write keeps the state; the file is whole at any time. What cannot be written is told, and the lesson goes on.
func (s *state) write() {
	data, err := json.MarshalIndent(s, "", " ")
	if err == nil {
		err = os.MkdirAll(stateDir, 0o755)
	}
	if err == nil {
		tmp := stateFile(s.Lesson) + ".tmp"
		if err = os.WriteFile(tmp, append(data, '\n'), 0o644); err == nil {
			err = os.Rename(tmp, filepath.FromSlash(stateFile(s.Lesson)))
		}
	}
	if err != nil {
		s.note = "your answer counts for this session only; it cannot be kept: " + err.Error()
		unwritten[s.Lesson] = s
		return
	}
	delete(unwritten, s.Lesson)
}

// unwritten holds the states that could not be written, so that a read-only folder costs the memory and not the
// lesson.
var unwritten = map[string]*state{}

// current is the state of a lesson now.
func current(number string) *state {
	if s := unwritten[number]; s != nil {
		return s
	}
	return readState(number)
}

// entry finds the entry of an exercise, or makes it.
func (s *state) entry(kind master.Kind, id string) *entry {
	for i := range s.Entries {
		if e := &s.Entries[i]; e.ID == id && e.Kind == kindWord(kind) {
			return e
		}
	}
	s.Entries = append(s.Entries, entry{ID: id, Kind: kindWord(kind), Outcome: NotAttempted})
	return &s.Entries[len(s.Entries)-1]
}
