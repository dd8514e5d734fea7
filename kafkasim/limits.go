package kafkasim

import (
	_ "embed"
	"strings"
)

//go:embed FIDELITY.md
var fidelity string

// NotModelled says in a few sentences what of Kafka is not in the simulator, and what is simplified everywhere:
// the paragraphs of FIDELITY.md.
func NotModelled() string {
	var out []string
	for line := range strings.Lines(fidelity) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "What is not there at all: ") || strings.HasPrefix(line, "What is simplified everywhere: ") {
			out = append(out, strings.TrimSuffix(strings.ReplaceAll(line, "`", ""), " Where only a part is there, the rule's line says which."))
		}
	}
	return strings.Join(out, " ")
}
