package kernel

import (
	"fmt"
	"unicode/utf8"
)

// complete answers complete_request. The metadata is an object even without matches: JupyterLab reads
// _jupyter_types_experimental from it for its icons.
func (k *Kernel) complete(r *request) any {
	var q struct {
		Code   string `json:"code"`
		Cursor *int   `json:"cursor_pos"`
	}
	if err := r.read(&q); err != nil {
		return badRequest(err)
	}
	c := k.lang.Complete(q.Code, cursorIn(q.Code, q.Cursor))
	matches := make([]string, len(c.Matches))
	types := make([]map[string]any, len(c.Matches))
	for i, m := range c.Matches {
		matches[i] = m.Text
		types[i] = map[string]any{"start": c.Start, "end": c.End, "text": m.Text, "type": m.Kind}
		if m.Signature != "" {
			types[i]["signature"] = m.Signature
		}
	}
	return map[string]any{
		"status":       "ok",
		"matches":      matches,
		"cursor_start": c.Start,
		"cursor_end":   c.End,
		"metadata":     map[string]any{"_jupyter_types_experimental": types},
	}
}

// cursorIn is the cursor within the code, in code points; a missing one is at the end.
func cursorIn(code string, cursor *int) int {
	n := utf8.RuneCountInString(code)
	if cursor == nil {
		return n
	}
	return min(max(*cursor, 0), n)
}

// inspect answers inspect_request.
func (k *Kernel) inspect(r *request) any {
	var q struct {
		Code   string `json:"code"`
		Cursor *int   `json:"cursor_pos"`
		Detail int    `json:"detail_level"`
	}
	if err := r.read(&q); err != nil {
		return badRequest(err)
	}
	bundle, found := k.lang.Inspect(q.Code, cursorIn(q.Code, q.Cursor), min(max(q.Detail, 0), 1))
	if !found {
		bundle = Bundle{}
	}
	content := bundleContent(bundle)
	content["status"] = "ok"
	content["found"] = found
	return content
}

// isComplete answers is_complete_request; the indent belongs to incomplete code only.
func (k *Kernel) isComplete(r *request) any {
	var q struct {
		Code string `json:"code"`
	}
	if err := r.read(&q); err != nil {
		return badRequest(err)
	}
	c := k.lang.IsComplete(q.Code)
	switch c.Status {
	case "complete", "invalid", "unknown":
		return map[string]any{"status": c.Status}
	case "incomplete":
		return map[string]any{"status": c.Status, "indent": c.Indent}
	}
	return map[string]any{"status": "unknown"}
}

// historyRequest is the content of history_request. (raw has no meaning: cells are kept as they came.)
type historyRequest struct {
	Output  bool   `json:"output"`
	Access  string `json:"hist_access_type"`
	Session int    `json:"session"`
	Start   int    `json:"start"`
	Stop    *int   `json:"stop"`
	N       *int   `json:"n"`
	Pattern string `json:"pattern"`
	Unique  bool   `json:"unique"`
}

// pastCells answers history_request.
func (k *Kernel) pastCells(r *request) any {
	var q historyRequest
	if err := r.read(&q); err != nil {
		return badRequest(err)
	}
	entries, err := k.find(r, q)
	if err != nil {
		return errorReply("HistoryError", err.Error())
	}
	tuples := make([]any, len(entries))
	for i, e := range entries {
		if q.Output {
			tuples[i] = []any{e.Session, e.Line, []any{e.Input, e.Output}}
		} else {
			tuples[i] = []any{e.Session, e.Line, e.Input}
		}
	}
	return map[string]any{"status": "ok", "history": tuples}
}

func (k *Kernel) find(r *request, q historyRequest) ([]HistoryEntry, error) {
	h := k.opts.History
	switch q.Access {
	case "range":
		stop := 0
		if q.Stop != nil {
			if stop = *q.Stop; stop <= q.Start {
				return nil, nil // an empty range; 0 would mean "to the end"
			}
		}
		if q.Session <= 0 {
			q.Session += r.shell.inHistory(h) // 0 is the current session, -1 the one before
		}
		return h.Range(q.Session, q.Start, stop)
	case "tail":
		n := 10
		if q.N != nil {
			n = *q.N
		}
		return h.Tail(n)
	case "search":
		n := 0
		if q.N != nil {
			n = *q.N
		}
		if q.Pattern == "" {
			q.Pattern = "*"
		}
		return h.Search(q.Pattern, n, q.Unique)
	}
	return nil, fmt.Errorf("hist_access_type %q; want \"range\", \"tail\" or \"search\"", q.Access)
}
