package author

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"kafkalab/kafkasim/lesson/master"
)

// Problem is something that a lesson lacks.
type Problem struct {
	Lesson string // its file
	Line   int    // of the master, 0 for the whole lesson
	What   string
}

// String is the problem with its place.
func (p Problem) String() string {
	if p.Line == 0 {
		return p.Lesson + ": " + p.What
	}
	return fmt.Sprintf("%s:%d: %s", p.Lesson, p.Line, p.What)
}

// What every lesson has.
const (
	leastPredictions = 3
	leastTasks       = 2
	leastQuiz        = 2
	mostGrade        = 9.0 // school years (Flesch-Kincaid) that the text may ask for
)

// parts are the pieces that a lesson's text must have, with the words that show them.
var parts = []struct{ name, words string }{
	{`a recap of the lesson before ("Previously")`, "previously"},
	{`a goal ("Goal")`, "goal"},
	{`lines that say what to watch for ("Watch for")`, "watch for"},
	{`a section "What is simplified here"`, "what is simplified here"},
	{`a section "Read more"`, "read more"},
}

// Static looks at what can be seen without running the lesson. files are those beside the notebooks, for links.
func Static(l *master.Lesson, files fs.FS) []Problem {
	s := static{lesson: l, files: files}
	s.parts()
	s.counts()
	s.reveals()
	s.links()
	s.time()
	s.grade()
	return s.found
}

// IsLesson tells a lesson, which is numbered 01 to 99, from case files and the arena, which need less.
func IsLesson(l *master.Lesson) bool { return regexp.MustCompile(`^\d\d$`).MatchString(l.Number) }

type static struct {
	lesson *master.Lesson
	files  fs.FS
	found  []Problem
}

func (s *static) problem(line int, format string, args ...any) {
	s.found = append(s.found, Problem{s.lesson.File, line, fmt.Sprintf(format, args...)})
}

// text is all that is read, in one piece.
func (s *static) text() string {
	var b strings.Builder
	for _, x := range s.lesson.Blocks {
		b.WriteString(x.Text + "\n\n")
		if x.Question != nil {
			b.WriteString(x.Question.Ask + "\n\n")
		}
		if x.Task != nil {
			b.WriteString(x.Task.Ask + "\n\n")
		}
	}
	return b.String()
}

func (s *static) parts() {
	if !IsLesson(s.lesson) {
		return
	}
	text := strings.ToLower(s.text())
	for _, p := range parts {
		if !strings.Contains(text, p.words) {
			s.problem(0, "has not %s", p.name)
		}
	}
}

func (s *static) counts() {
	n := map[master.Kind]int{}
	for _, b := range s.lesson.Blocks {
		n[b.Kind]++
	}
	if !IsLesson(s.lesson) {
		if n[master.Task]+n[master.Predict] == 0 {
			s.problem(0, "asks nothing")
		}
		return
	}
	if n[master.Predict] < leastPredictions || n[master.Task] < leastTasks || n[master.Quiz] < leastQuiz {
		s.problem(0, "has %d predictions, %d tasks and %d quiz questions: want at least %d, %d and %d",
			n[master.Predict], n[master.Task], n[master.Quiz], leastPredictions, leastTasks, leastQuiz)
	}
}

// reveals looks for the run of each prediction: a cell behind it that calls Reveal with something computed.
func (s *static) reveals() {
	waiting := map[string]int{}
	begun := false
	for _, b := range s.lesson.Blocks {
		if b.Kind == master.Predict {
			waiting[b.ID] = b.Line
		}
		if b.Kind != master.Go {
			continue
		}
		begun = begun || strings.Contains(b.Text, fmt.Sprintf("lesson.Begin(%q)", s.lesson.Number))
		for _, r := range revealsIn(b.Text) {
			if _, ok := waiting[r.id]; !ok {
				s.problem(b.Line, "reveals %q, which was not asked before or is revealed already", r.id)
			}
			delete(waiting, r.id)
			if r.literal {
				s.problem(b.Line, "reveals %q with a literal: the answer must come from the run", r.id)
			}
		}
	}
	for id, line := range waiting {
		s.problem(line, "no run decides the prediction %q: want lesson.Reveal(%q, …) in a cell behind it", id, id)
	}
	if !begun {
		s.problem(0, "does not begin with lesson.Begin(%q)", s.lesson.Number)
	}
}

// reveal is one call of lesson.Reveal.
type reveal struct {
	id      string
	literal bool // what it reveals is written in the lesson
}

// revealsIn finds the calls of Reveal in a cell.
func revealsIn(code string) []reveal {
	f, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc _() {\n"+code+"\n}", 0)
	if err != nil {
		return revealsInDeclarations(code)
	}
	return revealsUnder(f)
}

// revealsInDeclarations is for cells that declare functions, which cannot stand inside one.
func revealsInDeclarations(code string) []reveal {
	var all []reveal
	for _, line := range strings.Split(code, "\n") {
		if f, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc _() {\n"+line+"\n}", 0); err == nil {
			all = append(all, revealsUnder(f)...)
		}
	}
	return all
}

func revealsUnder(f *ast.File) []reveal {
	var all []reveal
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) < 2 {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		id, isText := call.Args[0].(*ast.BasicLit)
		if !ok || sel.Sel.Name != "Reveal" || !isText {
			return true
		}
		_, lit := call.Args[1].(*ast.BasicLit)
		name, isName := call.Args[1].(*ast.Ident)
		lit = lit || isName && slices.Contains([]string{"true", "false", "nil"}, name.Name)
		all = append(all, reveal{strings.Trim(id.Value, `"`), lit})
		return true
	})
	return all
}

var (
	linkIn = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	// known are the sites that a lesson may send a reader to.
	known = regexp.MustCompile(`^https://(kafka\.apache\.org|cwiki\.apache\.org/confluence|issues\.apache\.org/jira|github\.com/apache/kafka|jepsen\.io|raft\.github\.io)/`)
)

// MayLink tells whether lessons and the glossary may send a reader to this address.
func MayLink(url string) bool { return known.MatchString(url) }

func (s *static) links() {
	for _, m := range linkIn.FindAllStringSubmatch(s.text(), -1) {
		to := m[1]
		switch {
		case strings.HasPrefix(to, "http"):
			if !MayLink(to) {
				s.problem(0, "links to %s, which is none of the sites that lessons link to", to)
			}
		case strings.HasPrefix(to, "#"):
		default:
			if _, err := fs.Stat(s.files, strings.SplitN(to, "#", 2)[0]); err != nil {
				s.problem(0, "links to %s, which is not there", to)
			}
		}
	}
}

// time compares the minutes that the lesson says with an estimate: 200 words a minute, 20 seconds to run a
// cell and look, one minute to predict, half a minute a quiz question, two and a half to solve a task.
func (s *static) time() {
	minutes := float64(len(strings.Fields(s.text()))) / 200
	for _, b := range s.lesson.Blocks {
		switch b.Kind {
		case master.Go:
			minutes += 1.0 / 3
		case master.Quiz:
			minutes += 0.5
		case master.Predict:
			minutes++
		case master.Task:
			minutes += 2.5
		}
	}
	if said := float64(s.lesson.Minutes); minutes > 1.3*said || minutes < 0.5*said {
		s.problem(0, "says %d minutes; an estimate by its words, cells and exercises is %.0f", s.lesson.Minutes, minutes)
	}
}
