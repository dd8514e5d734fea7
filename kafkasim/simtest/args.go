package simtest

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"kafkalab/kafkasim"
)

// Args are the words of a line: plain ones in order, and name=value pairs.
type Args struct {
	plain []string
	pairs [][2]string
}

// words splits a line. A word in double quotes may hold anything; name="a b" is a pair.
func words(line string) Args {
	var a Args
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		word, quoted := "", false
		word, line, quoted = nextWord(line)
		if at := strings.IndexByte(word, '='); at > 0 && !quoted {
			name, value := word[:at], word[at+1:]
			if u, err := strconv.Unquote(value); err == nil {
				value = u
			}
			a.pairs = append(a.pairs, [2]string{name, value})
			continue
		}
		a.plain = append(a.plain, word)
	}
	return a
}

// nextWord cuts the first word off a line and says whether it stood in quotes.
func nextWord(line string) (word, rest string, quoted bool) {
	if line[0] == '"' {
		if q, err := strconv.QuotedPrefix(line); err == nil {
			u, _ := strconv.Unquote(q)
			return u, line[len(q):], true
		}
	}
	in := false
	for i, r := range line {
		if r == '"' {
			in = !in
		}
		if unicode.IsSpace(r) && !in {
			return line[:i], line[i:], false
		}
	}
	return line, "", false
}

func quoteWord(s string) string {
	if s == "" || strings.ContainsAny(s, " \"\t") {
		return strconv.Quote(s)
	}
	return s
}

// word is the i-th plain word, "" when there is none.
func (a Args) word(i int) string {
	if i >= len(a.plain) {
		return ""
	}
	return a.plain[i]
}

// number is the i-th plain word as a number.
func (a Args) number(i int) (int, error) {
	n, err := strconv.Atoi(a.word(i))
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", a.word(i))
	}
	return n, nil
}

// numbers are the plain words from the i-th on, as numbers.
func (a Args) numbers(i int) ([]int, error) {
	var out []int
	for ; i < len(a.plain); i++ {
		n, err := a.number(i)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

// take removes a pair and returns its value.
func (a *Args) take(name string) (string, bool) {
	for i, p := range a.pairs {
		if p[0] == name {
			a.pairs = append(a.pairs[:i:i], a.pairs[i+1:]...)
			return p[1], true
		}
	}
	return "", false
}

// takeNumber is take for a number, with a default.
func (a *Args) takeNumber(name string, def int) (int, error) {
	s, ok := a.take(name)
	if !ok {
		return def, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, fmt.Errorf("%s=%s is not a number", name, s)
	}
	return n, nil
}

// takeTime is take for a duration, with a default.
func (a *Args) takeTime(name string, def time.Duration) (time.Duration, error) {
	s, ok := a.take(name)
	if !ok {
		return def, nil
	}
	return forTime(s)
}

// config are the pairs that are left, as properties.
func (a Args) config() kafkasim.Config {
	c := kafkasim.Config{}
	for _, p := range a.pairs {
		c[p[0]] = p[1]
	}
	return c
}

// node is a node's name: a number is a broker.
func node(s string) any {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	return s
}

// partition splits orders-0.
func partition(s string) (string, int, error) {
	at := strings.LastIndexByte(s, '-')
	if at < 0 {
		return "", 0, fmt.Errorf("%q is not a partition: want topic-number", s)
	}
	n, err := strconv.Atoi(s[at+1:])
	if err != nil {
		return "", 0, fmt.Errorf("%q is not a partition: want topic-number", s)
	}
	return s[:at], n, nil
}
