package lesson

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"kafkalab/kafkasim/lesson/master"
)

// blank is what a notebook holds where an answer goes.
const blank = "?"

// words is an answer or a fact as text: yes and no for bools, milliseconds for durations, the number for
// numbers.
func words(x any) string {
	switch x := x.(type) {
	case nil:
		return blank
	case bool:
		if x {
			return "yes"
		}
		return "no"
	case time.Duration:
		return strconv.FormatFloat(float64(x)/float64(time.Millisecond), 'f', -1, 64)
	}
	text := strings.Join(strings.Fields(fmt.Sprint(x)), " ")
	if text == "" {
		return "none"
	}
	return text
}

// choice is the choice that an answer means, or nil.
func choice(q *master.Question, answer string) *master.Choice {
	i := slices.IndexFunc(q.Choices, func(c master.Choice) bool { return master.Same(c.Is, answer) })
	if i < 0 {
		return nil
	}
	return &q.Choices[i]
}

// fits says why an answer is none, and "" when it is one.
func fits(q *master.Question, answer string) string {
	if q.Number {
		number := strings.TrimSpace(strings.TrimSuffix(answer, q.Unit))
		if _, err := strconv.ParseFloat(number, 64); err != nil {
			return fmt.Sprintf("%q is no number", answer)
		}
		return ""
	}
	if choice(q, answer) == nil {
		var all []string
		for _, c := range q.Choices {
			all = append(all, c.Is)
		}
		return fmt.Sprintf("%q is none of the answers: %s", answer, strings.Join(all, ", "))
	}
	return ""
}

// withUnit is a number as people write it.
func withUnit(q *master.Question, text string) string {
	if q.Number && q.Unit != "" && !strings.HasSuffix(text, q.Unit) {
		return text + " " + q.Unit
	}
	return text
}

// verdict is what is said when an answer meets the fact: first the mistake that was made, then why it is so.
func verdict(q *master.Question, answer, fact string) string {
	if q.Holds(answer, fact) {
		return q.Because
	}
	if c := choice(q, strings.TrimSpace(strings.TrimSuffix(answer, q.Unit))); c != nil && c.Why != "" {
		return c.Why + "\n\n" + q.Because
	}
	return q.Because
}
