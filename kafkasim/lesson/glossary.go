package lesson

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"kafkalab/kafkasim/lesson/master"
)

// glossaryFile lies beside the authors' lessons.
const glossaryFile = "glossary.yaml"

// Glossary explains a term, such as "high watermark", with where to read more. Without a term it lists all.
func Glossary(term ...string) *Note {
	here.mu.Lock()
	defer here.mu.Unlock()
	where := "lesson.Glossary()"
	terms := here.terms(where)
	if len(term) == 0 {
		var names []string
		for _, t := range terms {
			names = append(names, t.Term)
		}
		return note("%s", strings.Join(names, " · "))
	}
	for _, t := range terms {
		if t.Means(term[0]) {
			return note("%s", t.Markdown())
		}
	}
	var near []string
	for _, t := range terms {
		if strings.Contains(strings.ToLower(t.Term+" "+t.Says), strings.ToLower(term[0])) {
			near = append(near, t.Term)
		}
	}
	if len(near) == 0 {
		misuse(fmt.Sprintf("lesson.Glossary(%q)", term[0]), "the glossary has no such term; lesson.Glossary() lists them all")
	}
	return note("The glossary has no term `%s`; it comes up in: %s", term[0], strings.Join(near, " · "))
}

// terms reads the glossary.
func (c *course) terms(where string) []master.Term {
	if c.files == nil {
		misuse(where, "this program has no course")
	}
	data, err := fs.ReadFile(c.files, glossaryFile)
	if err != nil {
		misuse(where, "the glossary cannot be read: %v", err)
	}
	terms, err := master.ParseGlossary(glossaryFile, data)
	if err != nil {
		misuse(where, "%v", err)
	}
	slices.SortFunc(terms, func(a, b master.Term) int {
		return strings.Compare(strings.ToLower(a.Term), strings.ToLower(b.Term))
	})
	return terms
}
