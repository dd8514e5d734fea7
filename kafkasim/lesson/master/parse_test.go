package master

import (
	"strings"
	"testing"
)

const small = `---
number: "06"
file: 06-when-a-leader-fails
title: When a leader fails
minutes: 20
about: crash a leader
covers:
  subjects: [S25]
---
# A title

Some text.

` + "```text" + `
a listing
` + "```" + `
+++
More.

` + "```go world" + `
c := kafkasim.Page()
` + "```" + `

` + "```predict next-offset" + `
ask: Which offset?
expect: 1
because: It is the next free one.
choices:
  - is: 1
    why: no
  - is: 2
    text: two
    why: never
` + "```" + `

` + "```task lucky" + `
ask: Do it.
hints: [Think., Look.]
` + "```" + `

` + "```starter lucky" + `
x := 1
` + "```" + `

` + "```solution lucky" + `
x := 2
` + "```" + `
`

func TestParse(t *testing.T) {
	l, err := Parse("06.md", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, b := range l.Blocks {
		ids = append(ids, b.ID)
	}
	if got, want := strings.Join(ids, " "), "text-1 world-text world next-offset lucky"; got != want {
		t.Errorf("blocks %q, want %q", got, want)
	}
	if q := l.Find(Predict, "next-offset").Question; len(q.Choices) != 2 || q.Choices[0].Is != "1" || q.Choices[1].Text != "two" {
		t.Errorf("question %+v", q)
	}
	if task := l.Find(Task, "lucky").Task; task.Starter != "x := 1" || task.Solution != "x := 2" || len(task.Hints) != 2 {
		t.Errorf("task %+v", task)
	}
	if !strings.Contains(l.Blocks[0].Text, "a listing") || l.Number != "06" || l.Covers.Subjects[0] != "S25" {
		t.Errorf("lesson %+v", l)
	}
}

func TestMistakesAreNamedWithTheirPlace(t *testing.T) {
	for _, x := range []struct{ from, to, want string }{
		{"---\nnumber", "number", "06.md:1: a lesson begins with its front matter"},
		{"minutes: 20", "minutes: 90", "06.md:2: front matter: minutes 90: want 1 to 25"},
		{"minutes: 20", "minuts: 20", "field minuts not found"},
		{"```go world", "```go", `a block needs an id`},
		{"```go world", "```go lucky", "the id is there already"},
		{"  - is: 2\n    text: two\n    why: never\n", "", "one choice is none"},
		{"    why: never", "", "is and why must be there"},
		{"because: It is the next free one.", "right: 1\nbecause: x", "decided by its run"},
		{"```task lucky", "```task other", "there is no task lucky"},
		{"hints: [Think., Look.]", "", "must be there"},
		{"x := 2\n```", "x := 2", "does not end"},
	} {
		_, err := Parse("06.md", []byte(strings.Replace(small, x.from, x.to, 1)))
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%q for %q: %v, want %q", x.to, x.from, err, x.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(small)
	f.Fuzz(func(t *testing.T, text string) {
		if l, err := Parse("x.md", []byte(text)); (l == nil) == (err == nil) {
			t.Fatal("neither a lesson nor an error, or both")
		}
	})
}
