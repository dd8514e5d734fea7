package master

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// parser goes through a file line by line and stops at the first mistake.
type parser struct {
	name   string
	lines  []string
	next   int
	lesson Lesson
	text   []string // the text cell that is being read
	since  int      // its first line
	err    error
}

// goodID are the ids that a notebook allows for cells, short enough to put a word behind.
var goodID = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,40}$`)

func (p *parser) fail(line int, format string, args ...any) {
	if p.err == nil {
		p.err = &Error{p.name, line, fmt.Sprintf(format, args...)}
	}
}

// frontMatter reads what stands between the two lines of ---.
func (p *parser) frontMatter() {
	if p.lines[0] != "---" {
		p.fail(1, "a lesson begins with its front matter: a line ---, then number, file, title, minutes, about, covers")
		return
	}
	end := slices.Index(p.lines[1:], "---") + 1
	if end == 0 {
		p.fail(1, "the front matter does not end: want a second line ---")
		return
	}
	if err := unmarshal(strings.Join(p.lines[1:end], "\n"), &p.lesson); err != nil {
		p.fail(2, "front matter: %v", err)
		return
	}
	p.next = end + 1
	l := &p.lesson
	switch {
	case l.Number == "" || l.File == "" || l.Title == "" || l.About == "":
		p.fail(2, "front matter: number, file, title and about must be there")
	case l.Minutes < 1 || l.Minutes > 25:
		p.fail(2, "front matter: minutes %d: want 1 to 25", l.Minutes)
	}
}

// body reads cells and exercises.
func (p *parser) body() {
	for p.next < len(p.lines) && p.err == nil {
		line := p.lines[p.next]
		p.next++
		kind, id, fence := blockOpening(line)
		switch {
		case fence && isBlock(kind):
			p.endText(id)
			p.block(kind, id, p.next)
		case fence: // a listing inside the text
			p.addText(line)
			for p.next < len(p.lines) {
				inside := p.lines[p.next]
				p.next++
				p.addText(inside)
				if inside == "```" {
					break
				}
			}
		case line == "+++":
			p.endText("")
		default:
			p.addText(line)
		}
	}
	p.endText("end")
}

// blockOpening takes "```predict offset" apart.
func blockOpening(line string) (kind, id string, ok bool) {
	info, ok := strings.CutPrefix(line, "```")
	if !ok || strings.Contains(info, "`") {
		return "", "", false
	}
	words := strings.Fields(info)
	switch len(words) {
	case 0:
		return "", "", true
	case 1:
		return words[0], "", true
	}
	return words[0], words[1], true
}

func isBlock(kind string) bool {
	return slices.Contains([]string{"go", "predict", "quiz", "task", "starter", "solution"}, kind)
}

func (p *parser) addText(line string) {
	if len(p.text) == 0 {
		if line == "" {
			return
		}
		p.since = p.next
	}
	p.text = append(p.text, line)
}

// endText makes a cell of the text so far; it takes its id from the block behind it.
func (p *parser) endText(before string) {
	text := strings.TrimRight(strings.Join(p.text, "\n"), "\n")
	p.text = nil
	if text == "" {
		return
	}
	id := before + "-text"
	if before == "" {
		id = fmt.Sprintf("text-%d", len(p.lesson.Blocks)+1)
	}
	p.lesson.Blocks = append(p.lesson.Blocks, Block{Kind: Text, ID: id, Line: p.since, Text: text})
}

// block reads a fenced block whose opening line is at line.
func (p *parser) block(kind, id string, line int) {
	if !goodID.MatchString(id) {
		p.fail(line, "```%s %q: a block needs an id of small letters, digits and -, such as ```%s first-offset", kind, id, kind)
		return
	}
	start := p.next
	for p.next < len(p.lines) && p.lines[p.next] != "```" {
		p.next++
	}
	if p.next == len(p.lines) {
		p.fail(line, "```%s %s does not end: want a line ```", kind, id)
		return
	}
	text := strings.Join(p.lines[start:p.next], "\n")
	p.next++
	p.add(kind, id, text, line)
}

// add puts a block where it belongs.
func (p *parser) add(kind, id, text string, line int) {
	b := Block{ID: id, Line: line}
	switch kind {
	case "go":
		b.Kind, b.Text = Go, text
	case "predict", "quiz":
		b.Kind, b.Question = Predict, &Question{}
		if kind == "quiz" {
			b.Kind = Quiz
		}
		if err := unmarshal(text, b.Question); err != nil {
			p.fail(line, "%s %s: %v", kind, id, err)
		}
	case "task":
		b.Kind, b.Task = Task, &TaskText{}
		if err := unmarshal(text, b.Task); err != nil {
			p.fail(line, "task %s: %v", id, err)
		}
	case "starter", "solution":
		t := p.lesson.Find(Task, id)
		switch {
		case t == nil:
			p.fail(line, "%s %s: there is no task %s before it", kind, id, id)
		case kind == "starter":
			t.Task.Starter = text
		default:
			t.Task.Solution = text
		}
		return
	}
	if slices.ContainsFunc(p.lesson.Blocks, func(o Block) bool { return o.ID == id }) {
		p.fail(line, "%s %s: the id is there already", kind, id)
	}
	p.lesson.Blocks = append(p.lesson.Blocks, b)
}

// complete looks for what is missing.
func (p *parser) complete() {
	for _, b := range p.lesson.Blocks {
		switch b.Kind {
		case Predict, Quiz:
			p.completeQuestion(b)
		case Task:
			if b.Task.Ask == "" || b.Task.Starter == "" || b.Task.Solution == "" || len(b.Task.Hints) == 0 {
				p.fail(b.Line, "task %s: ask, hints, a starter and a solution must be there", b.ID)
			}
		}
	}
}

func (p *parser) completeQuestion(b Block) {
	q := b.Question
	has := func(is string) bool { return slices.ContainsFunc(q.Choices, func(c Choice) bool { return c.Is == is }) }
	switch {
	case q.Ask == "" || q.Because == "":
		p.fail(b.Line, "%s: ask and because must be there", b.ID)
	case len(q.Choices) < 2 && !q.Number:
		p.fail(b.Line, "%s: one choice is none: give two or more, or number: true", b.ID)
	case b.Kind == Predict && q.Right != "":
		p.fail(b.Line, "%s: a prediction is decided by its run: leave out right", b.ID)
	case b.Kind == Predict && q.Expect == "":
		p.fail(b.Line, "%s: expect: say what the run shows, so that the text behind it cannot drift from it", b.ID)
	case b.Kind == Quiz && !has(q.Right):
		p.fail(b.Line, "%s: right: %q is none of the choices", b.ID, q.Right)
	}
	for i, c := range q.Choices {
		if c.Is == "" || c.Why == "" && c.Is != q.Right {
			p.fail(b.Line, "%s: choice %d: is and why must be there", b.ID, i+1)
		}
	}
}
