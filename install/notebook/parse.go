package notebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// MaxBytes is the largest notebook that Parse takes.
const MaxBytes = 256 << 20

// Parse reads a notebook from its bytes; name stands in its errors. Notebooks of nbformat 4.0 to 4.4 get
// cell ids on the way (the same ones each time); older formats are refused.
func Parse(name string, data []byte) (*Notebook, error) {
	top, err := parseObject(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	nb, err := notebookOf(fields{m: top})
	if err != nil {
		return nil, fmt.Errorf("%s: not a notebook: %w", name, err)
	}
	nb.repairIDs()
	return nb, nil
}

func parseObject(data []byte) (map[string]any, error) {
	switch data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")); {
	case len(data) > MaxBytes:
		return nil, fmt.Errorf("the file has %d bytes; a notebook may have %d", len(data), MaxBytes)
	case len(bytes.TrimSpace(data)) == 0:
		return nil, errors.New("the file is empty; a notebook is a JSON object with cells")
	case !utf8.Valid(data):
		return nil, fmt.Errorf("%s: not UTF-8 text", place(data, firstInvalid(data)))
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var top any
	if err := d.Decode(&top); err != nil {
		return nil, syntaxError(data, err)
	}
	if end := int(d.InputOffset()); len(bytes.TrimSpace(data[end:])) > 0 {
		more := len(data) - len(bytes.TrimLeft(data[end:], " \t\r\n"))
		return nil, fmt.Errorf("%s: there is more after the end of the notebook's JSON", place(data, more))
	}
	object, ok := top.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("not a notebook: the file holds %s, a notebook is an object with cells", kind(top))
	}
	return object, nil
}

func firstInvalid(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return len(data)
}

// syntaxError says where the JSON breaks, which encoding/json knows only as a byte offset.
func syntaxError(data []byte, err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: the JSON stops in the middle; the file was cut off", place(data, len(data)))
	case errors.As(err, &syntax):
		at := max(int(syntax.Offset)-1, 0)
		if strings.Contains(syntax.Error(), "unexpected end") {
			return fmt.Errorf("%s: the JSON stops in the middle; the file was cut off", place(data, len(data)))
		}
		hint := ""
		if bytes.Contains(data, []byte("\n<<<<<<< ")) {
			hint = " (it holds git's marks of a merge conflict: <<<<<<<)"
		}
		return fmt.Errorf("%s: not JSON: %v%s", place(data, at), syntax, hint)
	}
	return err
}

// place turns a byte offset into "line 3, column 5", columns counted in characters.
func place(data []byte, at int) string {
	at = min(at, len(data))
	before := data[:at]
	start := bytes.LastIndexByte(before, '\n') + 1
	return fmt.Sprintf("line %d, column %d", bytes.Count(before, []byte{'\n'})+1, utf8.RuneCount(before[start:])+1)
}

func notebookOf(f fields) (*Notebook, error) {
	major, minor := f.integer("nbformat"), f.integer("nbformat_minor")
	if f.err == nil && major != Major {
		if _, old := f.m["worksheets"]; old || major < Major {
			return nil, fmt.Errorf("it is of nbformat %d, an old format; open and save it in Jupyter to get nbformat %d", major, Major)
		}
		return nil, fmt.Errorf("it is of nbformat %d.%d; this program knows nbformat %d", major, minor, Major)
	}
	nb := &Notebook{Metadata: f.object("metadata"), Minor: max(minor, Minor)}
	cells := f.list("cells")
	if f.err != nil {
		return nil, f.err
	}
	// What nbformat itself never keeps in a file.
	for _, transient := range []string{"orig_nbformat", "orig_nbformat_minor", "signature"} {
		delete(nb.Metadata, transient)
	}
	for i, v := range cells {
		c, err := cellOf(v)
		if err != nil {
			return nil, fmt.Errorf("cell %d%s: %w", i+1, idOf(v), err)
		}
		nb.Cells = append(nb.Cells, c)
	}
	nb.Extra = f.rest("nbformat", "nbformat_minor", "metadata", "cells")
	return nb, nil
}

func idOf(v any) string {
	if m, ok := v.(map[string]any); ok {
		if id, ok := m["id"].(string); ok && goodID.MatchString(id) {
			return " (id " + id + ")"
		}
	}
	return ""
}

func cellOf(v any) (*Cell, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("it is %s; want an object", kind(v))
	}
	f := fields{m: m}
	c := &Cell{Type: f.text("cell_type"), Source: f.lines("source"), Metadata: f.object("metadata")}
	delete(c.Metadata, "trusted") // trust is the reader's to give
	known := []string{"cell_type", "source", "metadata", "id", "attachments"}
	if f.has("id") {
		c.ID = f.text("id")
	}
	if f.has("attachments") {
		c.Attachments = map[string]map[string]any{}
		for name, bundle := range f.object("attachments") {
			b, ok := bundle.(map[string]any)
			if !ok {
				return nil, fmt.Errorf("attachment %q is %s; want an object", name, kind(bundle))
			}
			c.Attachments[name] = joinBundle(b)
		}
	}
	if f.err != nil {
		return nil, f.err
	}
	switch c.Type {
	case Markdown, Raw:
	case Code:
		known = append(known, "execution_count", "outputs")
		c.ExecutionCount = f.count("execution_count")
		for i, o := range f.list("outputs") {
			out, err := outputOf(o)
			if err != nil {
				return nil, fmt.Errorf("output %d: %w", i+1, err)
			}
			c.Outputs = append(c.Outputs, out)
		}
	default:
		return nil, fmt.Errorf("cell_type is %q; want code, markdown or raw", c.Type)
	}
	c.Extra = f.rest(known...)
	return c, f.err
}

func outputOf(v any) (Output, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return Output{}, fmt.Errorf("it is %s; want an object", kind(v))
	}
	f := fields{m: m}
	o := Output{Type: f.text("output_type")}
	known := []string{"output_type"}
	switch o.Type {
	case Stream:
		o.Name, o.Text = f.text("name"), f.lines("text")
		known = append(known, "name", "text")
	case DisplayData, ExecuteResult:
		o.Data, o.Metadata = joinBundle(f.object("data")), f.object("metadata")
		known = append(known, "data", "metadata")
		if o.Type == ExecuteResult {
			o.ExecutionCount = f.count("execution_count")
			known = append(known, "execution_count")
		}
	case Error:
		o.EName, o.EValue = f.text("ename"), f.text("evalue")
		for i, line := range f.list("traceback") {
			s, ok := line.(string)
			if !ok {
				return o, fmt.Errorf("line %d of the traceback is %s; want text", i+1, kind(line))
			}
			o.Traceback = append(o.Traceback, s)
		}
		known = append(known, "ename", "evalue", "traceback")
	default:
		if f.err == nil {
			f.err = fmt.Errorf("output_type is %q; want stream, display_data, execute_result or error", o.Type)
		}
	}
	o.Extra = f.rest(known...)
	return o, f.err
}

// joinBundle joins the texts that a file keeps as lists of lines. Values of JSON types stay as they are:
// there a list is a list.
func joinBundle(bundle map[string]any) map[string]any {
	for mime, v := range bundle {
		if list, ok := v.([]any); ok && !isJSON(mime) {
			if s, ok := joined(list); ok {
				bundle[mime] = s
			}
		}
	}
	return bundle
}

func isJSON(mime string) bool {
	return mime == "application/json" || strings.HasPrefix(mime, "application/") && strings.HasSuffix(mime, "+json")
}

var goodID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
