package goeval

import (
	"sort"
	"strings"
	"unicode/utf8"

	"kafkalab/kernel"
)

// lastMagic is the magic on the last line of the text, if there is one.
func (e *Engine) lastMagic(text string) (piece, bool) {
	pieces := e.cutMagics(text)
	if len(pieces) == 0 {
		return piece{}, false
	}
	p := pieces[len(pieces)-1]
	return p, p.name != "" && p.to == len(text)
}

// completeMagic proposes magics and their arguments. Go that is timed is completed as Go.
func (e *Engine) completeMagic(head string, end int) (kernel.Completion, bool) {
	p, ok := e.lastMagic(head)
	if !ok {
		pieces := e.cutMagics(head)
		inBody := len(pieces) > 0 && strings.HasPrefix(pieces[0].name, "%%") && pieces[0].name != "%%time"
		return kernel.Completion{Start: end, End: end, Matches: []kernel.Match{}}, inBody
	}
	prefix := head[p.argAt:]
	var ms []kernel.Match
	if p.argAt == len(head) && !strings.HasSuffix(head, " ") || p.name == "!" {
		prefix, ms = p.name, matchMagics(p.name)
		if p.name == "!" && p.arg != "" {
			ms = nil
		}
	} else if p.name == "%time" {
		return kernel.Completion{}, false
	} else if m := magicSpecs[p.name]; m != nil && m.arg != nil {
		prefix = prefix[strings.LastIndexAny(prefix, " \t")+1:]
		ms = m.arg(e, prefix)
	}
	sort.SliceStable(ms, func(i, j int) bool { return ms[i].Text < ms[j].Text })
	if ms == nil {
		ms, prefix = []kernel.Match{}, ""
	}
	return kernel.Completion{Start: end - utf8.RuneCountInString(prefix), End: end, Matches: ms}, true
}

// matchMagics lists the magics that begin with what is written; % finds those with %%, too.
func matchMagics(prefix string) (ms []kernel.Match) {
	for _, m := range allMagics() {
		if m.name != "!" && (strings.HasPrefix(m.name, prefix) || strings.HasPrefix(m.name, "%"+prefix)) {
			ms = append(ms, kernel.Match{Text: m.name, Kind: "magic", Signature: m.args})
		}
	}
	return ms
}

// magicNames completes the argument of %help.
func magicNames(_ *Engine, prefix string) []kernel.Match {
	if prefix == "" {
		prefix = "%"
	}
	return matchMagics(prefix)
}

// inspectMagic tells about the magic at the cursor.
func (e *Engine) inspectMagic(code string, offset int) (kernel.Bundle, bool) {
	for _, p := range e.cutMagics(code) {
		if m := magicSpecs[p.name]; m != nil && offset >= p.from && offset <= p.from+len(p.name) {
			return *helpFor([]*magicSpec{m}), true
		}
	}
	return kernel.Bundle{}, false
}
