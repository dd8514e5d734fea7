package notebook

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// fields takes the named fields of a JSON object one by one and keeps the first complaint.
type fields struct {
	m   map[string]any
	err error
}

func (f *fields) has(key string) bool { _, ok := f.m[key]; return ok }

func (f *fields) want(key, what string) {
	if f.err != nil {
		return
	}
	if v, ok := f.m[key]; ok {
		f.err = fmt.Errorf("%q is %s; want %s", key, kind(v), what)
	} else {
		f.err = fmt.Errorf("%q is missing; want %s", key, what)
	}
}

func (f *fields) text(key string) string {
	s, ok := f.m[key].(string)
	if !ok {
		f.want(key, "text")
	}
	return s
}

// lines takes text that a file may keep as a list of lines.
func (f *fields) lines(key string) string {
	switch v := f.m[key].(type) {
	case string:
		return v
	case []any:
		if s, ok := joined(v); ok {
			return s
		}
	}
	f.want(key, "text or a list of lines")
	return ""
}

func (f *fields) object(key string) map[string]any {
	m, ok := f.m[key].(map[string]any)
	if !ok {
		f.want(key, "an object")
		return map[string]any{}
	}
	return m
}

func (f *fields) list(key string) []any {
	v, ok := f.m[key].([]any)
	if !ok {
		f.want(key, "a list")
	}
	return v
}

func (f *fields) integer(key string) int {
	if n, ok := f.m[key].(json.Number); ok {
		if i, err := strconv.Atoi(n.String()); err == nil {
			return i
		}
	}
	f.want(key, "a whole number")
	return 0
}

// count takes an execution count, which is null before the cell has run.
func (f *fields) count(key string) int {
	if v, ok := f.m[key]; !ok || v == nil {
		return 0
	}
	n := f.integer(key)
	if n < 0 {
		f.want(key, "null or a number from 0")
	}
	return n
}

// rest is what nobody took.
func (f *fields) rest(known ...string) map[string]any {
	var rest map[string]any
next:
	for key, v := range f.m {
		for _, k := range known {
			if key == k {
				continue next
			}
		}
		if rest == nil {
			rest = map[string]any{}
		}
		rest[key] = v
	}
	return rest
}

func joined(list []any) (string, bool) {
	var b strings.Builder
	for _, v := range list {
		s, ok := v.(string)
		if !ok {
			return "", false
		}
		b.WriteString(s)
	}
	return b.String(), true
}

// kind names a JSON value in words, for complaints.
func kind(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return "text"
	case json.Number:
		return "the number " + v.String()
	case bool:
		return strconv.FormatBool(v)
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("%T", v)
}

// repairIDs gives an id to cells that have none, a bad one, or one that stands twice (someone copied a
// cell by hand). The ids come from the text and its place, so that the same file gets the same ids.
func (nb *Notebook) repairIDs() {
	taken := map[string]bool{}
	for _, c := range nb.Cells {
		if goodID.MatchString(c.ID) && !taken[c.ID] {
			taken[c.ID] = true
			continue
		}
		c.ID = ""
	}
	for i, c := range nb.Cells {
		for try := 0; c.ID == ""; try++ {
			sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %s %s", try, i, c.Type, c.Source))
			if id := hex.EncodeToString(sum[:4]); !taken[id] {
				c.ID, taken[id] = id, true
			}
		}
	}
}
