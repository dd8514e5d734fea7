package kernel

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"kafkalab/kernel/wire"
)

// cellOutput is the Output of one cell. It outlives the cell: what a goroutine prints later still
// carries the parent header of the cell that started it, and frontends put it there.
type cellOutput struct {
	k          *Kernel
	req        *request
	silent     bool
	allowStdin bool
	stop       chan struct{} // closed when the cell is interrupted
	once       sync.Once

	mu      sync.Mutex
	payload []any
	shown   int // bytes of streams
	hidden  int // bytes of streams that were left out
}

func newCellOutput(k *Kernel, r *request, q *executeRequest) *cellOutput {
	return &cellOutput{k: k, req: r, silent: q.Silent, allowStdin: q.AllowStdin, stop: make(chan struct{})}
}

func (o *cellOutput) interrupt() { o.once.Do(func() { close(o.stop) }) }

// Stream hands text to the publisher piece by piece. A cell that prints faster than a Jupyter server
// passes on is slowed down here, and one that prints without end is cut short with a notice.
func (o *cellOutput) Stream(name, text string) {
	if o.silent {
		return
	}
	for len(text) > 0 {
		piece := text[:min(len(text), o.k.opts.Limits.StreamBytes)]
		text = text[len(piece):]
		o.k.iopub.pace.wait(o.stop)
		if piece, notice := o.allow(piece); piece != "" || notice != "" {
			o.k.iopub.stream(o, name, piece)
			o.k.iopub.stream(o, "stderr", notice)
		}
	}
}

// allow cuts a piece where the cell's allowance ends, and says so the first time.
func (o *cellOutput) allow(piece string) (allowed, notice string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	room := o.k.opts.Limits.CellBytes - o.shown
	if len(piece) <= room {
		o.shown += len(piece)
		return piece, ""
	}
	if o.hidden == 0 {
		notice = fmt.Sprintf("\n[this cell has printed %d bytes; what follows is not shown]\n", o.k.opts.Limits.CellBytes)
	}
	o.shown += room
	o.hidden += len(piece) - room
	return piece[:room], notice
}

// finish ends the cell's part of the output and tells how much was left out.
func (o *cellOutput) finish() {
	o.mu.Lock()
	hidden := o.hidden
	o.mu.Unlock()
	if hidden > 0 {
		o.k.iopub.stream(o, "stderr", fmt.Sprintf("[%d bytes were not shown]\n", hidden))
	}
	o.k.iopub.flush()
}

// Display publishes display_data.
func (o *cellOutput) Display(b Bundle, displayID string) { o.show("display_data", b, displayID) }

// UpdateDisplay publishes update_display_data; without an id there is nothing to update, and it says so.
func (o *cellOutput) UpdateDisplay(b Bundle, displayID string) {
	if displayID == "" {
		o.Stream("stderr", "UpdateDisplay needs the id of a display\n")
		return
	}
	o.show("update_display_data", b, displayID)
}

func (o *cellOutput) show(msgType string, b Bundle, displayID string) {
	if o.silent {
		return
	}
	o.k.iopub.pace.wait(o.stop)
	content := bundleContent(b)
	transient := map[string]any{}
	if displayID != "" {
		transient["display_id"] = displayID
	}
	content["transient"] = transient
	o.k.iopub.message(msgType, o.req.parent, content)
}

// ClearOutput publishes clear_output.
func (o *cellOutput) ClearOutput(wait bool) {
	if o.silent {
		return
	}
	o.k.iopub.pace.wait(o.stop)
	o.k.iopub.message("clear_output", o.req.parent, map[string]any{"wait": wait})
}

// Page adds a payload that opens the pager; it travels in the execute_reply.
func (o *cellOutput) Page(b Bundle) {
	content := bundleContent(b)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.payload = append(o.payload, map[string]any{"source": "page", "data": content["data"], "start": 0})
}

// NextInput adds a payload that writes a cell. The last one counts, as frontends would have it.
func (o *cellOutput) NextInput(text string, replace bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	const source = "set_next_input"
	o.payload = slices.DeleteFunc(o.payload, func(p any) bool { return p.(map[string]any)["source"] == source })
	o.payload = append(o.payload, map[string]any{"source": source, "text": text, "replace": replace})
}

func (o *cellOutput) payloads() []any {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]any{}, o.payload...)
}

// Input asks over the stdin channel; what was printed so far is shown before the question.
func (o *cellOutput) Input(prompt string, password bool) (string, error) {
	if !o.allowStdin {
		return "", ErrNoStdin
	}
	o.k.iopub.flush()
	return o.k.ask(o, prompt, password)
}

// bundleContent is the data and metadata of a bundle as messages carry them. A value that JSON cannot
// hold costs its own entry only.
func bundleContent(b Bundle) map[string]any {
	data := map[string]any{}
	for mime, value := range b.Data {
		if raw, err := wire.Marshal(value); err == nil {
			data[mime] = raw
		} else if _, ok := b.Data["text/plain"]; !ok || mime == "text/plain" {
			data["text/plain"] = fmt.Sprintf("%s cannot be shown: %v", mime, err)
		}
	}
	metadata := json.RawMessage("{}")
	if raw, err := wire.Marshal(b.Metadata); err == nil && len(b.Metadata) > 0 {
		metadata = raw
	}
	return map[string]any{"data": data, "metadata": metadata}
}

func unmarshalOptional(raw json.RawMessage, v any) error {
	if len(raw) == 0 {
		return nil
	}
	return json.Unmarshal(raw, v)
}

// Limits bound what a kernel sends. Jupyter's server drops what exceeds 1,000 messages or 1 MB of
// streams a second, counted over 3 seconds (jupyter_server, iopub_msg_rate_limit and
// iopub_data_rate_limit): a cell is slowed down to stay below, so that nothing is lost.
type Limits struct {
	Unpaced     bool          // never slow a cell down: there is no server
	Flush       time.Duration // how long printed text is gathered; 25 ms if 0
	StreamBytes int           // how much of it at most; 64 KiB if 0
	CellBytes   int           // what one cell may print in all; 16 MiB if 0
}

func (l *Limits) fill() {
	if l.Flush == 0 {
		l.Flush = 25 * time.Millisecond
	}
	if l.StreamBytes == 0 {
		l.StreamBytes = 64 << 10
	}
	if l.CellBytes == 0 {
		l.CellBytes = 16 << 20
	}
}
