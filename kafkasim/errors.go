package kafkasim

import (
	"fmt"

	"kafkalab/kafkasim/config"
)

// UsageError is a mistake of whoever called this package: a name that does not exist, a value that cannot
// be. It is what the package panics with. What Kafka answers is never a UsageError.
type UsageError struct {
	Where string // the call or the thing, as the caller wrote it: CreateTopic("orders")
	What  string // what is wrong, and what would have been right
}

// Error is the whole sentence.
func (e *UsageError) Error() string { return "kafkasim: " + e.Where + ": " + e.What }

// UserMessage is the sentence for people; whoever shows it needs no stack beside it.
func (e *UsageError) UserMessage() string { return e.Error() }

// misuse panics with a UsageError.
func misuse(where, format string, args ...any) {
	panic(&UsageError{Where: where, What: fmt.Sprintf(format, args...)})
}

// mustParse panics when properties were wrong.
func mustParse(where string, p *config.Problem) {
	if p != nil {
		misuse(where, "%s", p.Text)
	}
}

// meant is ` - did you mean "x"?` when a candidate is near to name, else a list of what there is.
func meant(name string, candidates []string, none string) string {
	if near := config.Nearest(name, candidates); near != "" {
		return fmt.Sprintf(" - did you mean %q?", near)
	}
	if len(candidates) == 0 {
		return "; " + none
	}
	return "; there " + isAre(len(candidates)) + " " + quotedList(candidates)
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
