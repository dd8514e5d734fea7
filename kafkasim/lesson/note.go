package lesson

import (
	"fmt"
	"strings"

	"kafkalab/kafkasim/lesson/master"
)

// Note is what an exercise says: Markdown in a notebook, the same as plain text elsewhere.
type Note struct{ markdown string }

func note(format string, args ...any) *Note {
	return &Note{strings.TrimSpace(fmt.Sprintf(format, args...))}
}

// MIMEBundle is the note as Markdown.
func (n *Note) MIMEBundle() map[string]any {
	return map[string]any{"text/markdown": n.markdown, "text/plain": n.String()}
}

// String is the note as plain text.
func (n *Note) String() string {
	plain := strings.NewReplacer("**", "", "`", "", "```text\n", "", "```\n", "")
	return strings.TrimSpace(plain.Replace(n.markdown))
}

// question is a question with what can be answered, and how.
func question(q *master.Question, verb, id string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**Not attempted.** %s\n\n", strings.TrimSpace(q.Ask))
	b.WriteString(q.Answers())
	fmt.Fprintf(&b, "Put your answer where the `?` is: `%s(%q, %s)`", verb, id, example(q))
	return b.String()
}

// example is an answer as one would write it; not a hint, so it is always the first.
func example(q *master.Question) string {
	if q.Number {
		return "10"
	}
	return fmt.Sprintf("%q", q.Choices[0].Is)
}

// fence is a value as it prints, between fences.
func fence(x any) string {
	return "```text\n" + strings.TrimRight(fmt.Sprint(x), "\n") + "\n```\n\n"
}

// also puts a remark behind what was said.
func also(remark string) string {
	if remark == "" {
		return ""
	}
	return "\n\n_" + remark + "_"
}
