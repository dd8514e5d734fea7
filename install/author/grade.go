package author

import (
	"regexp"
	"strings"
)

var (
	listing   = regexp.MustCompile("(?s)```.*?```")
	inCode    = regexp.MustCompile("`[^`]*`")
	target    = regexp.MustCompile(`\]\([^)]*\)`)
	tableLine = regexp.MustCompile(`(?m)^\|.*$`)
	sentence  = regexp.MustCompile(`[.!?:](\s|$)|\n\n`)
	word      = regexp.MustCompile(`[A-Za-z]+(?:'[a-z]+)?`)
	vowels    = regexp.MustCompile(`[aeiouy]+`)
)

// Grade is how many years of school a text asks for (Flesch-Kincaid): long sentences and long words make it
// high. Names in code do not count.
func Grade(markdown string) float64 {
	text := listing.ReplaceAllString(markdown, "\n\n")
	text = tableLine.ReplaceAllString(text, "")
	text = target.ReplaceAllString(inCode.ReplaceAllString(text, "it"), "]")
	sentences, words, syllables := 0, 0, 0
	for _, s := range sentence.Split(text, -1) {
		ws := word.FindAllString(s, -1)
		if len(ws) == 0 {
			continue
		}
		sentences++
		words += len(ws)
		for _, w := range ws {
			syllables += syllablesOf(w)
		}
	}
	if words == 0 {
		return 0
	}
	return 0.39*float64(words)/float64(sentences) + 11.8*float64(syllables)/float64(words) - 15.59
}

// syllablesOf counts groups of vowels, without a silent e at the end.
func syllablesOf(w string) int {
	w = strings.ToLower(w)
	n := len(vowels.FindAllString(w, -1))
	if strings.HasSuffix(w, "e") && !strings.HasSuffix(w, "le") && n > 1 {
		n--
	}
	return max(n, 1)
}

func (s *static) grade() {
	if g := Grade(s.text()); g > mostGrade {
		s.problem(0, "the text asks for %.1f years of school (Flesch-Kincaid): want at most %.0f; shorter sentences help", g, mostGrade)
	}
}
