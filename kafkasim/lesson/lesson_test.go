package lesson

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"kafkalab/kafkasim"
)

const testLesson = `---
number: "90"
file: 90-test
title: A test
minutes: 5
about: testing
---
` + "```predict offset" + `
ask: Which offset?
expect: 1
because: It is the next.
choices:
  - {is: 1, text: the next, why: Nearly.}
  - {is: 2, why: That is one too many.}
` + "```" + `
` + "```predict wait" + `
ask: How long?
expect: 10
number: true
tolerance: 2
unit: ms
because: Two ways.
choices:
  - {is: 5, why: One way only.}
` + "```" + `
` + "```quiz hw" + `
ask: Lost?
right: "no"
because: Everybody has it.
choices:
  - {is: "yes", why: Look again.}
  - {is: "no"}
` + "```" + `
` + "```task do-it" + `
ask: Do it.
hints: [Think., Try 7.]
because: Seven.
` + "```" + `
` + "```starter do-it" + `
0
` + "```" + `
` + "```solution do-it" + `
7
` + "```" + `
`

// begin opens the test lesson in a folder of its own.
func begin(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	Use(fstest.MapFS{"90.md": {Data: []byte(testLesson)}, glossaryFile: {Data: []byte("- term: high watermark\n  also: [HW]\n  says: How far it goes.\n")}})
	checkers["90"] = map[string]checker{"do-it": func(work any) finding {
		switch work {
		case 0:
			return untried("Nothing is here.")
		case 7:
			return solved("Seven it is.")
		}
		return wrong("%v is not it.", work)
	}}
	t.Cleanup(func() { delete(checkers, "90") })
	Begin("90")
}

func expect(t *testing.T, n *Note, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(n.String(), w) {
			t.Errorf("%q\nwant in it %q", n, w)
		}
	}
}

// The learner is told of the very mistake that was made, and the answer is locked when the run has shown it.
func TestPredictThenRun(t *testing.T) {
	begin(t)
	expect(t, Predict("offset", "?"), "Not attempted", "Which offset?", "1: the next", `lesson.Predict("offset", "1")`)
	expect(t, Predict("offset", 7), `"7" is none of the answers: 1, 2`)
	expect(t, Predict("offset", 1), "Locked in: 1")
	expect(t, Predict("offset", " 2 "), "Locked in: 2")
	expect(t, Reveal("offset", int64(1), "the table"), "the table", "Incorrect. You predicted 2; the run shows 1.", "one too many", "It is the next.")
	expect(t, Predict("offset", 1), "shown the answer already", "prediction was 2", "lesson.Reset")
	expect(t, Predict("offset", 2), "Your prediction was 2")
	expect(t, Reset("offset"), "Forgotten")
	Predict("offset", 1)
	expect(t, Reveal("offset", 1), "✓ Correct: 1. It is the next.")
}

func TestARunWithoutAPredictionIsNotAttempted(t *testing.T) {
	begin(t)
	expect(t, Reveal("offset", 1), "Not attempted", "shows 1", "no prediction")
	expect(t, Reveal("offset", 5), "none of the answers foresees")
	expect(t, Progress(), "| offset | prediction | not attempted |")
}

func TestNumbersWithToleranceAndKnownMistakes(t *testing.T) {
	begin(t)
	expect(t, Predict("wait", "soon"), `"soon" is no number`)
	Predict("wait", "5 ms")
	expect(t, Reveal("wait", 10), "You predicted 5 ms; the run shows 10 ms", "One way only.", "Two ways.")
	Reset("wait")
	Predict("wait", 11.5)
	expect(t, Reveal("wait", 10), "Correct: 10 ms")
}

func TestQuizAndTask(t *testing.T) {
	begin(t)
	expect(t, Quiz("hw"), "Not attempted", "Lost?")
	expect(t, Quiz("hw", true), "Incorrect. Look again.")
	expect(t, Quiz("hw", "No"), "Correct. Everybody has it.")
	expect(t, Check("do-it", nil), "Not attempted")
	expect(t, Check("do-it", 0), "Not attempted. Nothing is here.")
	expect(t, Check("do-it", 3), "Incorrect. 3 is not it.", `lesson.Hint("do-it")`)
	expect(t, Hint("do-it"), "Hint 1 of 2. Think.")
	expect(t, Hint("do-it"), "Hint 2 of 2. Try 7.")
	expect(t, Check("do-it", 3), `lesson.Solution("do-it")`)
	expect(t, Solution("do-it"), "7", "Seven.")
	expect(t, Check("do-it", 7), "Correct. Seven it is.")
	expect(t, Progress(), "| do-it | task | correct | 3 | solution |")
}

// Closing and opening goes on where one was: what counts is in a file beside the notebook.
func TestAnswersAreKept(t *testing.T) {
	begin(t)
	Predict("offset", 2)
	Use(here.files) // as a new kernel does
	expect(t, Begin("90").note(), "predictions: 0 of 2 tried")
	expect(t, Reveal("offset", 1), "You predicted 2")
	expect(t, Begin("90").note(), "predictions: 1 of 2 tried, 0 correct")
}

func TestADamagedFileIsPutAside(t *testing.T) {
	begin(t)
	Predict("offset", 2)
	if err := os.WriteFile(stateFile("90"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	expect(t, Begin("90").note(), "was damaged; it is kept as kafkalab-progress/90.json.damaged")
	if _, err := os.Stat(stateFile("90") + ".damaged"); err != nil {
		t.Error(err)
	}
}

func TestAFolderThatCannotBeWrittenCostsTheMemoryOnly(t *testing.T) {
	begin(t)
	if err := os.WriteFile(stateDir, nil, 0o644); err != nil { // a file where the folder would be
		t.Fatal(err)
	}
	expect(t, Predict("offset", 2), "Locked in: 2", "cannot be kept")
	expect(t, Reveal("offset", 1), "You predicted 2")
	delete(unwritten, "90")
}

func TestExportNamesNobody(t *testing.T) {
	begin(t)
	Predict("offset", 2)
	Reveal("offset", 1)
	expect(t, Export(), "kafkalab-results-90.json", "4 exercises")
	data, err := os.ReadFile("kafkalab-results-90.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"ID": "offset"`, `"Answer": "2"`, `"Outcome": "incorrect"`, `"Outcome": "not attempted"`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("%s\nhas not %s", data, want)
		}
	}
}

func TestGlossary(t *testing.T) {
	begin(t)
	expect(t, Glossary("hw"), "high watermark (HW): How far it goes.")
	expect(t, Glossary(), "high watermark")
	expect(t, Glossary("far"), "comes up in: high watermark")
}

func TestMistakesAreSentences(t *testing.T) {
	begin(t)
	for want, call := range map[string]func(){
		`there is no lesson "91"; there are 90`:                            func() { Begin("91") },
		`lesson 90 has no prediction "x"; it has offset, wait`:             func() { Predict("x") },
		`lesson 90 has no task "x"; it has do-it`:                          func() { Check("x", 1) },
		`2 answers: want one`:                                              func() { Predict("offset", 1, 2) },
		`there is no hint [3]; this task has 2, from 1`:                    func() { Hint("do-it", 3) },
		`lesson 90 has no exercise "x"; lesson.Progress() lists them`:      func() { Reset("x") },
		`the glossary has no such term; lesson.Glossary() lists them all`:  func() { Glossary("sandwich") },
		`no lesson is open; run the lesson's first cell, which calls less`: func() { Use(here.files); Progress() },
	} {
		func() {
			defer func() {
				err, ok := recover().(*kafkasim.UsageError)
				if !ok || !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %q", err, want)
				}
			}()
			if want[0] == 'n' {
				defer Begin("90")
			}
			call()
		}()
	}
}
