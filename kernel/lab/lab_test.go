package lab

import (
	"fmt"
	"slices"
	"testing"
)

type fake struct {
	said []string
	ends []func()
}

func (f *fake) Display(v any, id string) { f.said = append(f.said, fmt.Sprint("display ", v, id)) }
func (f *fake) NewID() string            { return "#1" }
func (f *fake) Update(v any, id string)  { f.said = append(f.said, fmt.Sprint("update ", v, id)) }
func (f *fake) Clear(wait bool)          { f.said = append(f.said, fmt.Sprint("clear ", wait)) }
func (f *fake) OnComm(target string, _ func(*Comm, CommMessage)) {
	f.said = append(f.said, "answers "+target)
}
func (f *fake) OpenComm(target string, data any, buffers [][]byte) *Comm {
	f.said = append(f.said, fmt.Sprint("opens ", target, " ", data, len(buffers)))
	c, _, _ := NewComm("1", target, nil)
	return c
}
func (f *fake) AtEnd(end func()) { f.ends = append(f.ends, end) }
func (f *fake) NextInput(text string, replace bool) {
	f.said = append(f.said, fmt.Sprint("next ", text, " ", replace))
}
func (f *fake) Page(v any) { f.said = append(f.said, fmt.Sprint("page ", v)) }
func (f *fake) Input(prompt string, password bool) string {
	return fmt.Sprint(prompt, password)
}

func TestWords(t *testing.T) {
	f := &fake{}
	Bind(f)
	Display(1)
	h := DisplayID("a")
	h.Update("b")
	ClearOutput(true)
	Page("p")
	NextInput("x")
	ReplaceInput("y")
	OnComm("a target", nil)
	if c := OpenComm("another", 7, []byte("x")); c.ID() != "1" || c.Target() != "another" || c.String() != `a comm with "another"` {
		t.Errorf("opened %v", c)
	}
	want := []string{"display 1", "display a#1", "update b#1", "clear true", "page p", "next x false", "next y true",
		"answers a target", "opens another 7 1"}
	if !slices.Equal(f.said, want) {
		t.Errorf("said %q, want %q", f.said, want)
	}
	if got := Input("? ") + Password("! "); got != "? false! true" {
		t.Errorf("asked %q", got)
	}
}

func TestWithoutSession(t *testing.T) {
	current.Store(nil)
	defer func() {
		if recover() == nil {
			t.Error("Display without a session did not panic")
		}
	}()
	Display(1)
}
