package notebook

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// escapes matches what terminals understand: colours and styles (kept, in group 1) and all else (dropped).
var escapes = regexp.MustCompile(`\x1b\[([0-9;]*)m|\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\^_]`)

// style is the state of a terminal's pen. Colours are -1 for the default, 0 to 7 for the eight named ones,
// and "#rrggbb" for the rest.
type style struct {
	bold, italic, underline bool
	fore, back              string
}

func (s style) span() string {
	var classes []string
	var css strings.Builder
	for _, c := range []struct {
		on   bool
		name string
	}{{s.bold, "a-b"}, {s.italic, "a-i"}, {s.underline, "a-u"}} {
		if c.on {
			classes = append(classes, c.name)
		}
	}
	for _, c := range []struct{ colour, class, property string }{{s.fore, "a-f", "color"}, {s.back, "a-g", "background"}} {
		switch {
		case strings.HasPrefix(c.colour, "#"):
			fmt.Fprintf(&css, "%s:%s;", c.property, c.colour)
		case c.colour != "":
			classes = append(classes, c.class+c.colour)
		}
	}
	span := "<span"
	if len(classes) > 0 {
		span += ` class="` + strings.Join(classes, " ") + `"`
	}
	if css.Len() > 0 {
		span += ` style="` + css.String() + `"`
	}
	return span + ">"
}

// ansiHTML turns terminal output into HTML: colours as spans, lines rewritten by carriage returns and
// backspaces as a terminal would leave them.
func ansiHTML(s string) string {
	s = rewrite(s)
	var b strings.Builder
	var pen style
	put := func(text string) {
		if text == "" {
			return
		}
		if pen == (style{}) {
			b.WriteString(escapeText(text))
			return
		}
		b.WriteString(pen.span() + escapeText(text) + "</span>")
	}
	at := 0
	for _, m := range escapes.FindAllStringSubmatchIndex(s, -1) {
		put(s[at:m[0]])
		if m[2] >= 0 {
			pen.set(s[m[2]:m[3]])
		}
		at = m[1]
	}
	put(s[at:])
	return b.String()
}

// set applies one SGR sequence.
func (s *style) set(parameters string) {
	codes := strings.Split(parameters, ";")
	for i := 0; i < len(codes); i++ {
		n, _ := strconv.Atoi(codes[i]) // an empty parameter means 0
		switch {
		case n == 0:
			*s = style{}
		case n == 1:
			s.bold = true
		case n == 3:
			s.italic = true
		case n == 4:
			s.underline = true
		case n == 22:
			s.bold = false
		case n == 23:
			s.italic = false
		case n == 24:
			s.underline = false
		case n >= 30 && n <= 37, n >= 90 && n <= 97:
			s.fore = strconv.Itoa(n % 10)
		case n == 39:
			s.fore = ""
		case n >= 40 && n <= 47, n >= 100 && n <= 107:
			s.back = strconv.Itoa(n % 10)
		case n == 49:
			s.back = ""
		case n == 38 || n == 48:
			colour, used := extended(codes[i+1:])
			i += used
			if n == 38 {
				s.fore = colour
			} else {
				s.back = colour
			}
		}
	}
}

// extended reads 5;n and 2;r;g;b.
func extended(codes []string) (colour string, used int) {
	number := func(i int) int {
		if i >= len(codes) {
			return 0
		}
		n, _ := strconv.Atoi(codes[i])
		return max(0, min(n, 255))
	}
	switch number(0) {
	case 2:
		return fmt.Sprintf("#%02x%02x%02x", number(1), number(2), number(3)), 4
	case 5:
		n := number(1)
		switch {
		case n < 16:
			return strconv.Itoa(n % 8), 2
		case n < 232:
			level := func(v int) int { return [...]int{0, 95, 135, 175, 215, 255}[v] }
			n -= 16
			return fmt.Sprintf("#%02x%02x%02x", level(n/36), level(n/6%6), level(n%6)), 2
		}
		grey := 8 + 10*(n-232)
		return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey), 2
	}
	return "", 1
}

// rewrite applies carriage returns (what follows overwrites the line) and backspaces.
func rewrite(s string) string {
	if !strings.ContainsAny(s, "\r\b") {
		return s
	}
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, line := range lines {
		var shown []rune
		for _, part := range strings.Split(line, "\r") {
			if part == "" {
				continue
			}
			var over []rune
			for _, r := range part {
				if r == '\b' {
					over = over[:max(len(over)-1, 0)]
				} else {
					over = append(over, r)
				}
			}
			if len(over) < len(shown) && !strings.ContainsRune(line, '\x1b') {
				over = append(over, shown[len(over):]...)
			}
			shown = over
		}
		lines[i] = string(shown)
	}
	return strings.Join(lines, "\n")
}
