package notebook

import (
	"html"
	"regexp"
	"slices"
	"strings"
)

// allowed are the tags that may come out of a notebook's own HTML. They come out without attributes, so
// no handler, style, link or id comes with them.
var allowed = func() map[string]bool {
	m := map[string]bool{}
	for _, tag := range strings.Fields(`b i em strong u s del ins mark small sub sup kbd code pre samp var q abbr cite
		p div span br hr blockquote ul ol li dl dt dd h1 h2 h3 h4 h5 h6
		table caption thead tbody tfoot tr td th details summary figure figcaption`) {
		m[tag] = true
	}
	return m
}()

var empty = map[string]bool{"br": true, "hr": true}

// dropped are elements whose text is not for reading.
var dropped = []string{"script", "style", "template", "title", "textarea", "iframe", "noscript", "xmp", "noembed", "noframes", "plaintext"}

var tagShape = regexp.MustCompile(`^<(/?)([a-zA-Z][a-zA-Z0-9-]*)(?:[\s/](?:[^>"']|"[^"]*"|'[^']*')*)?>`)

// sanitizer passes a notebook's HTML through piece by piece: allowed tags without their attributes,
// text escaped, scripts and comments not at all, any other tag as visible text. Its memory of open tags
// spans the pieces of one cell, so that no cell can close or leave open what the page around it uses.
type sanitizer struct{ open []string }

func (s *sanitizer) pass(source string) string {
	var b strings.Builder
	for source != "" {
		at := strings.IndexByte(source, '<')
		if at < 0 {
			at = len(source)
		}
		b.WriteString(escapeText(source[:at]))
		if source = source[at:]; source != "" {
			source = s.markup(&b, source)
		}
	}
	return b.String()
}

// markup takes what begins with '<' and returns what follows it.
func (s *sanitizer) markup(b *strings.Builder, source string) (rest string) {
	if strings.HasPrefix(source, "<!--") {
		if end := strings.Index(source, "-->"); end >= 0 {
			return source[end+3:]
		}
		return ""
	}
	m := tagShape.FindStringSubmatch(source)
	if m == nil {
		b.WriteString("&lt;")
		return source[1:]
	}
	tag := strings.ToLower(m[2])
	rest = source[len(m[0]):]
	switch {
	case slices.Contains(dropped, tag):
		if m[1] == "" {
			return afterElement(rest, tag)
		}
	case !allowed[tag]:
		b.WriteString(escapeText(m[0]))
	case empty[tag]:
		b.WriteString("<" + tag + ">")
	case m[1] == "":
		s.open = append(s.open, tag)
		b.WriteString("<" + tag + ">")
	default:
		s.close(b, tag)
	}
	return rest
}

// close closes a tag that this cell opened, with everything opened since; others it ignores.
func (s *sanitizer) close(b *strings.Builder, tag string) {
	at := len(s.open) - 1
	for at >= 0 && s.open[at] != tag {
		at--
	}
	if at >= 0 {
		s.closeDownTo(b, at)
	}
}

func (s *sanitizer) closeDownTo(b *strings.Builder, at int) {
	for len(s.open) > at {
		b.WriteString("</" + s.open[len(s.open)-1] + ">")
		s.open = s.open[:len(s.open)-1]
	}
}

// end closes what is still open.
func (s *sanitizer) end() string {
	var b strings.Builder
	s.closeDownTo(&b, 0)
	return b.String()
}

func afterElement(source, tag string) string {
	at := strings.Index(strings.ToLower(source), "</"+tag)
	if at < 0 {
		return ""
	}
	if end := strings.IndexByte(source[at:], '>'); end >= 0 {
		return source[at+end+1:]
	}
	return ""
}

// sanitize passes a whole piece of HTML.
func sanitize(source string) string {
	s := &sanitizer{}
	return s.pass(source) + s.end()
}

// escapeText escapes text for element content and for quoted attributes; what HTML forbids becomes U+FFFD.
func escapeText(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case r == '\r':
			return '\n'
		case r < 0x20, r >= 0x7f && r < 0xa0:
			return '\uFFFD'
		}
		return r
	}, strings.ReplaceAll(s, "\r\n", "\n")))
}
