package lesson

import (
	"fmt"

	"kafkalab/kafkasim/lesson/master"
)

// Predict gives an answer to a question before its run. "?" or nothing shows the question. An answer may be
// changed until the run has shown the fact; from then on it is locked (Reset opens it again).
func Predict(id string, answer ...any) *Note {
	here.mu.Lock()
	defer here.mu.Unlock()
	where := fmt.Sprintf("lesson.Predict(%q)", id)
	b := here.find(where, master.Predict, id)
	given := one(where, answer)
	s := current(here.now.Number)
	e := s.entry(master.Predict, id)
	switch {
	case e.Fact != "" && (given == blank || master.Same(given, e.Answer)):
		return note("Your prediction was **%s**.", locked(b.Question, e))
	case e.Fact != "":
		return note("The run has shown the answer already. Your prediction was **%s**; `lesson.Reset(%q)` lets you begin again.", locked(b.Question, e), id)
	case given == blank:
		return note("%s", question(b.Question, "lesson.Predict", id))
	}
	if wrong := fits(b.Question, given); wrong != "" {
		return note("%s.\n\n%s", wrong, question(b.Question, "lesson.Predict", id))
	}
	if !master.Same(e.Answer, given) {
		e.Answer = given
		e.Attempts++
		s.write()
	}
	return note("Locked in: **%s**. Now run the next cell.%s", withUnit(b.Question, given), also(s.note))
}

// locked is the prediction that was made, in words.
func locked(q *master.Question, e *entry) string {
	if e.Answer == "" {
		return "not made"
	}
	return withUnit(q, e.Answer)
}

// Reveal decides a prediction by what a run found. fact is the run's finding: a number, a bool (yes or no), a
// duration (in ms) or words. What else is given is shown first.
func Reveal(id string, fact any, shown ...any) *Note {
	here.mu.Lock()
	defer here.mu.Unlock()
	where := fmt.Sprintf("lesson.Reveal(%q)", id)
	b := here.find(where, master.Predict, id)
	q, found := b.Question, words(fact)
	text := ""
	for _, x := range shown {
		text += fence(x)
	}
	if !q.Number && choice(q, found) == nil {
		return note("%sThe run shows **%s**, which none of the answers foresees. Did something change in the cells before?", text, found)
	}
	s := current(here.now.Number)
	e := s.entry(master.Predict, id)
	said := withUnit(q, found)
	e.Fact = found
	if e.Answer == "" {
		e.Outcome = NotAttempted
		s.write()
		return note("%s**Not attempted.** The run shows **%s**, and you made no prediction. %s%s", text, said, q.Because, also(s.note))
	}
	e.Outcome = Incorrect
	opening := fmt.Sprintf("✗ **Incorrect.** You predicted **%s**; the run shows **%s**.", withUnit(q, e.Answer), said)
	if q.Holds(e.Answer, found) {
		e.Outcome = Correct
		opening = fmt.Sprintf("✓ **Correct:** %s.", said)
	}
	s.write()
	return note("%s%s %s%s", text, opening, verdict(q, e.Answer, found), also(s.note))
}

// Quiz answers a question of the recap. "?" or nothing shows the question.
func Quiz(id string, answer ...any) *Note {
	here.mu.Lock()
	defer here.mu.Unlock()
	where := fmt.Sprintf("lesson.Quiz(%q)", id)
	b := here.find(where, master.Quiz, id)
	q, given := b.Question, one(where, answer)
	if given == blank {
		return note("%s", question(q, "lesson.Quiz", id))
	}
	if wrong := fits(q, given); wrong != "" {
		return note("%s.\n\n%s", wrong, question(q, "lesson.Quiz", id))
	}
	s := current(here.now.Number)
	e := s.entry(master.Quiz, id)
	e.Answer, e.Outcome = given, Incorrect
	e.Attempts++
	said := fmt.Sprintf("✗ **Incorrect.** %s", choiceWhy(q, given))
	if master.Same(given, q.Right) {
		e.Outcome = Correct
		said = "✓ **Correct.** " + q.Because
	}
	s.write()
	return note("%s%s", said, also(s.note))
}

func choiceWhy(q *master.Question, given string) string {
	if c := choice(q, given); c != nil {
		return c.Why
	}
	return ""
}

// one is the answer that was given, if any.
func one(where string, answer []any) string {
	if len(answer) > 1 {
		misuse(where, "%d answers: want one", len(answer))
	}
	if len(answer) == 0 {
		return blank
	}
	return words(answer[0])
}
