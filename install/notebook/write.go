package notebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bytes is the notebook as nbformat writes it: keys sorted, one space of indentation, text split into
// lines, a newline at the end.
func (nb *Notebook) Bytes() ([]byte, error) {
	top := with(nb.Extra, map[string]any{
		"nbformat": Major, "nbformat_minor": max(nb.Minor, Minor), "metadata": orEmpty(nb.Metadata),
	})
	seen := map[string]bool{}
	cells := make([]any, 0, len(nb.Cells))
	for i, c := range nb.Cells {
		if !goodID.MatchString(c.ID) || seen[c.ID] {
			return nil, fmt.Errorf("cell %d: id %q is not 1 to 64 letters, digits, - and _, used once", i+1, c.ID)
		}
		seen[c.ID] = true
		v, err := c.json()
		if err != nil {
			return nil, fmt.Errorf("cell %d (id %s): %w", i+1, c.ID, err)
		}
		cells = append(cells, v)
	}
	top["cells"] = cells
	var w writer
	w.value(top, 0)
	w.WriteByte('\n')
	return w.Bytes(), w.err
}

func (c *Cell) json() (map[string]any, error) {
	m := with(c.Extra, map[string]any{
		"cell_type": c.Type, "id": c.ID, "metadata": orEmpty(c.Metadata), "source": splitLines(c.Source),
	})
	if c.Attachments != nil {
		files := map[string]any{}
		for name, bundle := range c.Attachments {
			files[name] = splitBundle(bundle)
		}
		m["attachments"] = files
	}
	switch c.Type {
	case Markdown, Raw:
		return m, nil
	case Code:
	default:
		return nil, fmt.Errorf("type is %q; want code, markdown or raw", c.Type)
	}
	outputs := make([]any, 0, len(c.Outputs))
	for i, o := range c.Outputs {
		v, err := o.json()
		if err != nil {
			return nil, fmt.Errorf("output %d: %w", i+1, err)
		}
		outputs = append(outputs, v)
	}
	m["outputs"], m["execution_count"] = outputs, orNull(c.ExecutionCount)
	return m, nil
}

func (o *Output) json() (map[string]any, error) {
	m := with(o.Extra, map[string]any{"output_type": o.Type})
	switch o.Type {
	case Stream:
		m["name"], m["text"] = o.Name, splitLines(o.Text)
	case ExecuteResult, DisplayData:
		m["data"], m["metadata"] = splitBundle(o.Data), orEmpty(o.Metadata)
		if o.Type == ExecuteResult {
			m["execution_count"] = orNull(o.ExecutionCount)
		}
	case Error:
		m["ename"], m["evalue"] = o.EName, o.EValue
		m["traceback"] = o.Traceback
	default:
		return nil, fmt.Errorf("type is %q; want stream, display_data, execute_result or error", o.Type)
	}
	return m, nil
}

func with(extra, named map[string]any) map[string]any {
	m := maps.Clone(extra)
	if m == nil {
		return named
	}
	maps.Copy(m, named)
	return m
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

func orNull(count int) any {
	if count == 0 {
		return nil
	}
	return count
}

// splitBundle splits what nbformat splits: text types, JavaScript and SVG.
func splitBundle(bundle map[string]any) map[string]any {
	m := maps.Clone(orEmpty(bundle))
	for mime, v := range m {
		s, ok := v.(string)
		if ok && (strings.HasPrefix(mime, "text/") || mime == "application/javascript" || mime == "image/svg+xml") {
			m[mime] = splitLines(s)
		}
	}
	return m
}

// splitLines cuts after each line break that Python's str.splitlines knows, for that is what every
// Jupyter does to a notebook that it saves.
func splitLines(s string) []string {
	lines := []string{}
	start := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch r {
		case '\r':
			if i < len(s) && s[i] == '\n' {
				i++
			}
		case '\n', '\v', '\f', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
		default:
			continue
		}
		lines = append(lines, s[start:i])
		start = i
	}
	if start < len(s) {
		lines = append(lines, s[start:])
	}
	return lines
}

// writer writes JSON as Python's json.dumps(indent=1, sort_keys=True, ensure_ascii=False) does.
type writer struct {
	bytes.Buffer
	err error
}

func (w *writer) value(v any, depth int) {
	switch v := v.(type) {
	case nil:
		w.WriteString("null")
	case bool:
		w.WriteString(strconv.FormatBool(v))
	case string:
		w.text(v)
	case json.Number:
		w.WriteString(v.String())
	case int:
		w.WriteString(strconv.Itoa(v))
	case []string:
		w.list(len(v), depth, func(i int) { w.text(v[i]) })
	case []any:
		w.list(len(v), depth, func(i int) { w.value(v[i], depth+1) })
	case map[string]any:
		w.object(v, depth)
	default:
		w.other(v, depth)
	}
}

// other takes what a kernel of this program may put into a bundle: structs, typed maps, byte slices.
func (w *writer) other(v any, depth int) {
	data, err := json.Marshal(v)
	if err != nil {
		w.err = errors.Join(w.err, fmt.Errorf("a value of type %T cannot be written: %w", v, err))
		return
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var plain any
	if err := d.Decode(&plain); err != nil {
		w.err = errors.Join(w.err, err)
		return
	}
	w.value(plain, depth)
}

func (w *writer) list(n, depth int, item func(int)) {
	if n == 0 {
		w.WriteString("[]")
		return
	}
	w.WriteByte('[')
	for i := range n {
		w.newline(i, depth+1)
		item(i)
	}
	w.newline(0, depth)
	w.WriteByte(']')
}

func (w *writer) object(m map[string]any, depth int) {
	if len(m) == 0 {
		w.WriteString("{}")
		return
	}
	w.WriteByte('{')
	for i, key := range slices.Sorted(maps.Keys(m)) {
		w.newline(i, depth+1)
		w.text(key)
		w.WriteString(": ")
		w.value(m[key], depth+1)
	}
	w.newline(0, depth)
	w.WriteByte('}')
}

func (w *writer) newline(i, depth int) {
	if i > 0 {
		w.WriteByte(',')
	}
	w.WriteByte('\n')
	for range depth {
		w.WriteByte(' ')
	}
}

func (w *writer) text(s string) {
	w.WriteByte('"')
	for _, r := range s {
		switch r {
		case '"', '\\':
			w.WriteByte('\\')
			w.WriteRune(r)
		case '\n':
			w.WriteString(`\n`)
		case '\r':
			w.WriteString(`\r`)
		case '\t':
			w.WriteString(`\t`)
		case '\b':
			w.WriteString(`\b`)
		case '\f':
			w.WriteString(`\f`)
		default:
			if r < 0x20 {
				fmt.Fprintf(w, `\u%04x`, r)
			} else {
				w.WriteRune(r)
			}
		}
	}
	w.WriteByte('"')
}
