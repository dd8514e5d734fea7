package master

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// CurriculumFile is what the course shall reach, beside the lessons.
const CurriculumFile = "curriculum.yaml"

// Curriculum names what a learner shall have seen and which questions shall be answered, by id.
type Curriculum struct {
	Subjects  map[string]string `yaml:"subjects"`
	Questions map[string]string `yaml:"questions"`
}

// ReadCurriculum reads the curriculum of a course.
func ReadCurriculum(files fs.FS) (*Curriculum, error) {
	data, err := fs.ReadFile(files, CurriculumFile)
	if err != nil {
		return nil, err
	}
	c := &Curriculum{}
	if err := unmarshal(string(data), c); err != nil {
		return nil, &Error{CurriculumFile, 1, err.Error()}
	}
	return c, nil
}

// Reached says which lessons cover an id, by their numbers.
func Reached(lessons []*Lesson, id string) []string {
	var in []string
	for _, l := range lessons {
		if slices.Contains(l.Covers.Subjects, id) || slices.Contains(l.Covers.Questions, id) {
			in = append(in, l.Number)
		}
	}
	return in
}

// Missing lists what no lesson covers, and what a lesson covers that is not in the curriculum.
func (c *Curriculum) Missing(lessons []*Lesson) []string {
	var out []string
	for _, ids := range []map[string]string{c.Subjects, c.Questions} {
		for _, id := range slices.Sorted(maps.Keys(ids)) {
			if len(Reached(lessons, id)) == 0 {
				out = append(out, fmt.Sprintf("%s (%s) is in no lesson", id, ids[id]))
			}
		}
	}
	for _, l := range lessons {
		for _, id := range append(slices.Clone(l.Covers.Subjects), l.Covers.Questions...) {
			if c.Subjects[id] == "" && c.Questions[id] == "" {
				out = append(out, fmt.Sprintf("lesson %s covers %s, which the curriculum has not", l.Number, id))
			}
		}
	}
	return out
}

// Map is the table of lessons, as Markdown.
func Map(lessons []*Lesson) string {
	var b strings.Builder
	b.WriteString("| notebook | what it is about | you will have seen | minutes |\n|---|---|---|---|\n")
	for _, l := range lessons {
		fmt.Fprintf(&b, "| [%s %s](%s.ipynb) | %s | %s | %d |\n", l.Number, l.Title, l.File, l.About, l.Seen, l.Minutes)
	}
	return b.String()
}

// Coverage is the table of what is reached where, as Markdown.
func (c *Curriculum) Coverage(lessons []*Lesson) string {
	var b strings.Builder
	for _, part := range []struct {
		head string
		ids  map[string]string
	}{{"subject", c.Subjects}, {"question", c.Questions}} {
		fmt.Fprintf(&b, "| | %s | in |\n|---|---|---|\n", part.head)
		for _, id := range slices.Sorted(maps.Keys(part.ids)) {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", id, part.ids[id], strings.Join(Reached(lessons, id), ", "))
		}
		b.WriteString("\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
