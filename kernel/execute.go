package kernel

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"kafkalab/kernel/wire"
)

// executeRequest is the content of execute_request with the message spec's defaults.
type executeRequest struct {
	Code            *string           `json:"code"`
	Silent          bool              `json:"silent"`
	StoreHistory    *bool             `json:"store_history"`
	UserExpressions map[string]string `json:"user_expressions"`
	AllowStdin      bool              `json:"allow_stdin"`
	StopOnError     *bool             `json:"stop_on_error"`
}

func (q *executeRequest) stored() bool {
	return !q.Silent && (q.StoreHistory == nil || *q.StoreHistory) && strings.TrimSpace(*q.Code) != ""
}

func (q *executeRequest) stops() bool {
	return !q.Silent && (q.StopOnError == nil || *q.StopOnError)
}

// execute runs one cell (message spec, "Execute").
func (k *Kernel) execute(r *request) any {
	r.metadata = map[string]any{"started": wire.FormatDate(time.Now())}
	switch {
	case k.stopping.Load():
		return aborted(r, "the kernel is shutting down")
	case r.shell.deleted.Load():
		return aborted(r, "the subshell was deleted")
	case r.shell.failed.aborts(r):
		return aborted(r, "a cell before this one failed")
	}
	var q executeRequest
	if err := r.read(&q); err != nil {
		return badRequest(err)
	}
	if q.Code == nil {
		return badRequest(errors.New("content of execute_request: code is missing"))
	}
	count := int(r.shell.count.Load())
	if q.stored() {
		count = int(r.shell.count.Add(1))
	}
	if !q.Silent {
		k.iopub.message("execute_input", r.parent, map[string]any{"code": *q.Code, "execution_count": count})
	}
	out := newCellOutput(k, r, &q)
	outcome := k.runCell(out, Cell{
		Code: *q.Code, Count: count, ID: cellID(r), Silent: q.Silent, AllowStdin: q.AllowStdin, Comms: k.comms,
	})
	out.finish()
	return k.executed(r, &q, out, outcome, count)
}

// runCell calls the language. A panic that it lets through ends the cell, not the kernel.
func (k *Kernel) runCell(out *cellOutput, cell Cell) (outcome Outcome) {
	k.setCell(out)
	defer k.setCell(nil)
	defer func() {
		if p := recover(); p != nil {
			outcome = Outcome{Failure: &Failure{
				Name:      "KernelPanic",
				Value:     fmt.Sprintf("the kernel failed while it ran this cell: %v", p),
				Traceback: strings.Split(string(debug.Stack()), "\n"),
			}}
		}
	}()
	return k.lang.Execute(cell, out)
}

// executed publishes what became of the cell and makes the reply. What the cell showed was flushed
// before, so results and errors come after it.
func (k *Kernel) executed(r *request, q *executeRequest, out *cellOutput, o Outcome, count int) map[string]any {
	if q.stored() {
		k.remember(r.shell.inHistory(k.opts.History), *q.Code, o.Result, count)
	}
	if f := o.Failure; f != nil {
		return k.failedCell(r, q, out, f, count)
	}
	if o.Result != nil && !q.Silent {
		content := bundleContent(*o.Result)
		content["execution_count"] = count
		k.iopub.message("execute_result", r.parent, content)
	}
	return map[string]any{
		"status":           "ok",
		"execution_count":  count,
		"payload":          out.payloads(),
		"user_expressions": k.evaluate(q.UserExpressions),
	}
}

func (k *Kernel) failedCell(r *request, q *executeRequest, out *cellOutput, f *Failure, count int) map[string]any {
	if q.stops() {
		r.shell.failed.now()
	}
	reply := errorReply(f.Name, f.Value, f.Traceback...)
	if !q.Silent {
		k.iopub.message("error", r.parent, map[string]any{
			"ename": reply["ename"], "evalue": reply["evalue"], "traceback": reply["traceback"],
		})
	}
	reply["execution_count"] = count
	reply["payload"] = out.payloads()
	reply["user_expressions"] = map[string]any{}
	return reply
}

// evaluate computes the user_expressions of a cell that went well, each by itself: one that fails
// takes nothing away from the others.
func (k *Kernel) evaluate(expressions map[string]string) map[string]any {
	values := map[string]any{}
	for name, expression := range expressions {
		values[name] = k.evaluateOne(expression)
	}
	return values
}

func (k *Kernel) evaluateOne(expression string) (value map[string]any) {
	defer func() {
		if p := recover(); p != nil {
			value = errorReply("KernelPanic", fmt.Sprint(p))
		}
	}()
	bundle, failure := k.lang.Evaluate(expression)
	if failure != nil {
		return errorReply(failure.Name, failure.Value, failure.Traceback...)
	}
	value = bundleContent(bundle)
	value["status"] = "ok"
	return value
}

// aborted answers a cell that was not run.
func aborted(r *request, why string) map[string]any {
	reply := errorReply("Aborted", why)
	reply["status"] = "aborted"
	reply["execution_count"] = r.shell.count.Load()
	reply["payload"] = []any{}
	reply["user_expressions"] = map[string]any{}
	return reply
}

func (k *Kernel) remember(session int, code string, result *Bundle, count int) {
	entry := HistoryEntry{Session: session, Line: count, Input: code}
	if result != nil {
		if text, ok := result.Data["text/plain"].(string); ok {
			entry.Output = &text
		}
	}
	if err := k.opts.History.Add(entry); err != nil {
		k.iopub.message("stream", nil, map[string]any{"name": "stderr", "text": "history is not kept: " + err.Error() + "\n"})
	}
}

func cellID(r *request) string {
	var metadata struct {
		CellID string `json:"cellId"`
	}
	_ = unmarshalOptional(r.msg.Metadata, &metadata) // metadata of another shape names no cell
	return metadata.CellID
}

// failure is the last cell that failed with stop_on_error: it takes the cells down that were sent
// before anyone could know.
type failure struct {
	mu sync.Mutex
	at time.Time
}

// A frontend sends "run all" as one burst. The first cell may fail while the rest is still on its way,
// so a cell that arrives within grace after the failure is aborted too if its own date says that it
// was sent before.
const grace = 500 * time.Millisecond

func (f *failure) now() {
	f.mu.Lock()
	f.at = time.Now()
	f.mu.Unlock()
}

func (f *failure) aborts(r *request) bool {
	f.mu.Lock()
	at := f.at
	f.mu.Unlock()
	if at.IsZero() {
		return false
	}
	if !r.arrived.After(at) {
		return true
	}
	date := r.msg.Header.Date
	sent, ok := wire.ParseDate(date)
	return ok && r.arrived.Sub(at) < grace && !sent.Add(resolution(date)).After(at)
}

// resolution is what a date may have cut off: browsers write milliseconds, Python microseconds.
func resolution(date string) time.Duration {
	_, fraction, _ := strings.Cut(date, ".")
	digits := len(fraction) - len(strings.TrimLeft(fraction, "0123456789"))
	return max(time.Duration(math.Pow10(9-digits)), 1)
}
