package author

import (
	"fmt"
	"strings"

	"kafkalab/kafkasim/lesson/master"
)

// Readme puts the tables of a course into its map, between the lines that mark their places; everything else in
// the text stays.
func Readme(text string, lessons []*master.Lesson, c *master.Curriculum) (string, error) {
	for _, part := range []struct{ name, table string }{
		{"lessons", master.Map(lessons)}, {"coverage", c.Coverage(lessons)},
	} {
		begin, end := "<!-- "+part.name+" -->\n", "<!-- /"+part.name+" -->"
		from := strings.Index(text, begin)
		to := strings.Index(text, end)
		if from < 0 || to < from {
			return "", fmt.Errorf("README.md has no place for the table of %s: want a line %s and a line %s", part.name, strings.TrimSpace(begin), end)
		}
		text = text[:from+len(begin)] + "\n" + part.table + "\n" + text[to:]
	}
	return text, nil
}
