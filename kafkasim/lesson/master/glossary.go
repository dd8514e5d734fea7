package master

import (
	"fmt"
	"slices"
	"strings"
)

// Term is an entry of the glossary.
type Term struct {
	Term  string   `yaml:"term"`
	Also  []string `yaml:"also"` // other names: LEO for log end offset
	Says  string   `yaml:"says"` // Markdown, a few sentences
	Links []Link   `yaml:"links"`
}

// Link leads to where one can read more.
type Link struct {
	Title string `yaml:"title"`
	URL   string `yaml:"url"`
}

// Means tells whether a word is this term or another name for it.
func (t *Term) Means(word string) bool {
	same := func(name string) bool { return strings.EqualFold(strings.TrimSpace(word), name) }
	return same(t.Term) || slices.ContainsFunc(t.Also, same)
}

// Markdown is the entry as it is shown.
func (t *Term) Markdown() string {
	name := "**" + t.Term + "**"
	if len(t.Also) > 0 {
		name += " (" + strings.Join(t.Also, ", ") + ")"
	}
	text := name + ": " + strings.TrimSpace(t.Says)
	for _, l := range t.Links {
		text += fmt.Sprintf("\n- [%s](%s)", l.Title, l.URL)
	}
	return text
}

// ParseGlossary reads the glossary; a term that is there twice, under any name, is an error.
func ParseGlossary(name string, data []byte) ([]Term, error) {
	var terms []Term
	if err := unmarshal(string(data), &terms); err != nil {
		return nil, &Error{name, 1, err.Error()}
	}
	for i := range terms {
		t := &terms[i]
		if t.Term == "" || t.Says == "" {
			return nil, &Error{name, 1, fmt.Sprintf("entry %d: term and says must be there", i+1)}
		}
		for j := range terms[:i] {
			if o := &terms[j]; o.Means(t.Term) || slices.ContainsFunc(t.Also, o.Means) {
				return nil, &Error{name, 1, fmt.Sprintf("%q and %q are one term", t.Term, o.Term)}
			}
		}
	}
	return terms, nil
}
