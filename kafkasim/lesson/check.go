package lesson

import (
	"fmt"

	"kafkalab/kafkasim/lesson/master"
)

// finding is what a task's check has found.
type finding struct {
	outcome Outcome
	says    string // about this very piece of work
	steps   int    // what it took, where fewer are better; 0 where nobody counts
}

// checker decides a task by running what the learner made.
type checker func(work any) finding

// checked is the checker of tasks that want work of one type; want is that type as a learner would write it.
func checked[T any](want string, check func(T) finding) checker {
	return func(work any) finding {
		w, ok := work.(T)
		if !ok {
			return wrong("The check wants %s, and was given a %T.", want, work)
		}
		return check(w)
	}
}

// checkers are the checks of all tasks, by lesson and id.
var checkers = map[string]map[string]checker{}

// solved, wrong and untried are the three things a check can find.
func solved(format string, args ...any) finding {
	return finding{outcome: Correct, says: fmt.Sprintf(format, args...)}
}

func wrong(format string, args ...any) finding {
	return finding{outcome: Incorrect, says: fmt.Sprintf(format, args...)}
}

func untried(format string, args ...any) finding {
	return finding{outcome: NotAttempted, says: fmt.Sprintf(format, args...)}
}

// Check runs a task's hidden checks on what was made for it: a function, a Config, a cluster, whatever the task
// asks for. They use other seeds and other faults than the lesson shows.
func Check(id string, work any) *Note {
	where := fmt.Sprintf("lesson.Check(%q)", id)
	b, number := openTask(where, id)
	check := checkers[number][id]
	if check == nil {
		misuse(where, "nothing checks this task")
	}
	f := untried("Nothing is here yet.")
	if work != nil {
		f = check(work) // without the lock: the learner's code may call this package
	}
	here.mu.Lock()
	defer here.mu.Unlock()
	s := current(number)
	e := s.entry(master.Task, id)
	if f.outcome != NotAttempted {
		e.Attempts++
	}
	if e.Outcome != Correct {
		e.Outcome = f.outcome
	}
	f.says += e.best(f)
	s.write()
	switch f.outcome {
	case Correct:
		return note("✓ **Correct.** %s\n\n%s%s", f.says, b.Task.Because, also(s.note))
	case Incorrect:
		return note("✗ **Incorrect.** %s%s%s", f.says, moreHints(id, b.Task, e), also(s.note))
	}
	return note("**Not attempted.** %s\n\n%s", f.says, b.Task.Ask)
}

// best keeps the fewest steps so far and says so.
func (e *entry) best(f finding) string {
	if f.outcome != Correct || f.steps == 0 {
		return ""
	}
	if e.Best == 0 || f.steps < e.Best {
		e.Best = f.steps
	}
	return fmt.Sprintf(" Steps: %d; your best so far: %d.", f.steps, e.Best)
}

// openTask is a task of the open lesson, and the lesson's number.
func openTask(where, id string) (*master.Block, string) {
	here.mu.Lock()
	defer here.mu.Unlock()
	return here.find(where, master.Task, id), here.now.Number
}

func moreHints(id string, t *master.TaskText, e *entry) string {
	if e.Hints < len(t.Hints) {
		return fmt.Sprintf("\n\n`lesson.Hint(%q)` helps on.", id)
	}
	return fmt.Sprintf("\n\n`lesson.Solution(%q)` shows one way.", id)
}

// Hint shows the next hint of a task, or the n-th, from 1.
func Hint(id string, n ...int) *Note {
	here.mu.Lock()
	defer here.mu.Unlock()
	where := fmt.Sprintf("lesson.Hint(%q)", id)
	b := here.find(where, master.Task, id)
	s := current(here.now.Number)
	e := s.entry(master.Task, id)
	at := min(e.Hints, len(b.Task.Hints)-1)
	if len(n) > 0 {
		at = n[0] - 1
	}
	if at < 0 || at >= len(b.Task.Hints) || len(n) > 1 {
		misuse(where, "there is no hint %v; this task has %d, from 1", n, len(b.Task.Hints))
	}
	e.Hints = max(e.Hints, at+1)
	s.write()
	return note("**Hint %d of %d.** %s%s", at+1, len(b.Task.Hints), b.Task.Hints[at], also(s.note))
}

// Solution shows code that solves a task. That it was shown is kept.
func Solution(id string) *Note {
	here.mu.Lock()
	defer here.mu.Unlock()
	b := here.find(fmt.Sprintf("lesson.Solution(%q)", id), master.Task, id)
	s := current(here.now.Number)
	s.entry(master.Task, id).Solution = true
	s.write()
	return note("```go\n%s\n```\n\n%s%s", b.Task.Solution, b.Task.Because, also(s.note))
}
