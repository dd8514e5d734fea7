package kerneltest

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"kafkalab/kernel"
	"kafkalab/kernel/wire"
)

// Samples are cells of one language, named as the class variables of jupyter_kernel_test 0.7. Every one
// of them must be filled: a sample left out is a rule untested.
type Samples struct {
	LanguageName, FileExtension string
	HelloWorld                  string // prints "hello, world" to stdout
	Stderr                      string // prints to stderr
	Completions                 []CompletionSample
	Complete                    []string
	Incomplete                  []string
	Invalid                     []string
	PageSomething               string
	GenerateError               string
	Results                     []ResultSample
	Displays                    []DisplaySample
	HistoryPattern              string // matches exactly one of Results' codes
	Inspect                     string
	ClearOutput                 string
}

// CompletionSample is a text with the cursor at its end and the matches it must have, as a set.
type CompletionSample struct {
	Text    string
	Matches []string
}

// ResultSample is a cell and its execute_result of a type (text/plain if empty).
type ResultSample struct{ Code, Result, MIME string }

// DisplaySample is a cell that displays a type.
type DisplaySample struct{ Code, MIME string }

// Conformance states the rules of jupyter_kernel_test 0.7 in Go, over a kernel in memory.
func Conformance(t *testing.T, newLanguage func() kernel.Language, s Samples) {
	run := func(name string, rule func(t *testing.T, c *Client, s Samples)) {
		t.Run(name, func(t *testing.T) { rule(t, Start(t, newLanguage(), kernel.Options{}), s) })
	}
	run("kernel_info", kernelInfoRule)
	run("execute_stdout", stdoutRule)
	run("execute_stderr", stderrRule)
	run("completion", completionRule)
	run("is_complete", isCompleteRule)
	run("pager", pagerRule)
	run("error", errorRule)
	run("execute_result", resultRule)
	run("display_data", displayRule)
	run("history", historyRule)
	run("inspect", inspectRule)
	run("clear_output", clearRule)
	run("timing", timingRule)
}

func kernelInfoRule(t *testing.T, c *Client, s Samples) {
	ex := c.Request("kernel_info_request", map[string]any{})
	if got := ex.Reply("language_info", "name"); got != s.LanguageName {
		t.Errorf("language name %v, want %s", got, s.LanguageName)
	}
	if got := ex.Reply("language_info", "file_extension"); got != s.FileExtension || !strings.HasPrefix(s.FileExtension, ".") {
		t.Errorf("file extension %v, want %s", got, s.FileExtension)
	}
}

// ok runs a cell that must go well.
func ok(t *testing.T, c *Client, code string) *Exchange {
	t.Helper()
	ex := c.Execute(code)
	if ex.Status() != "ok" {
		t.Fatalf("%s\nstatus %s: %v: %v", code, ex.Status(), ex.Reply("ename"), ex.Reply("evalue"))
	}
	for _, content := range ex.Of("execute_input") {
		if Field(content, "code") != code {
			t.Errorf("execute_input has code %v, want %s", Field(content, "code"), code)
		}
	}
	return ex
}

func stdoutRule(t *testing.T, c *Client, s Samples) {
	if got := ok(t, c, s.HelloWorld).Text("stdout"); !strings.Contains(got, "hello, world") {
		t.Errorf("stdout %q, want hello, world in it", got)
	}
}

func stderrRule(t *testing.T, c *Client, s Samples) {
	if ok(t, c, s.Stderr).Text("stderr") == "" {
		t.Error("nothing on stderr")
	}
}

func completionRule(t *testing.T, c *Client, s Samples) {
	for _, sample := range s.Completions {
		n := len([]rune(sample.Text))
		ex := c.Request("complete_request", map[string]any{"code": sample.Text, "cursor_pos": n})
		var reply struct{ Matches []string }
		if err := json.Unmarshal(ex.ReplyMessage().Content, &reply); err != nil {
			t.Fatal(err)
		}
		sort.Strings(reply.Matches)
		want := slices.Sorted(slices.Values(sample.Matches))
		if sample.Matches != nil && !slices.Equal(reply.Matches, want) {
			t.Errorf("%q completes to %q, want %q", sample.Text, reply.Matches, want)
		}
		types, _ := ex.Reply("metadata", "_jupyter_types_experimental").([]any)
		if len(types) != len(reply.Matches) {
			t.Errorf("%q: %d types for %d matches", sample.Text, len(types), len(reply.Matches))
		}
	}
}

func isCompleteRule(t *testing.T, c *Client, s Samples) {
	for status, codes := range map[string][]string{"complete": s.Complete, "incomplete": s.Incomplete, "invalid": s.Invalid} {
		if len(codes) == 0 {
			t.Errorf("no samples of %s code", status)
		}
		for _, code := range codes {
			if got := c.Request("is_complete_request", map[string]any{"code": code}).Status(); got != status {
				t.Errorf("%q is %s, want %s", code, got, status)
			}
		}
	}
}

func pagerRule(t *testing.T, c *Client, s Samples) {
	payload, _ := ok(t, c, s.PageSomething).Reply("payload").([]any)
	if len(payload) != 1 {
		t.Fatalf("%d payloads, want 1", len(payload))
	}
	page, _ := payload[0].(map[string]any)
	data, _ := page["data"].(map[string]any)
	if page["source"] != "page" || data["text/plain"] == nil {
		t.Errorf("payload %v is no page with text/plain", page)
	}
}

func errorRule(t *testing.T, c *Client, s Samples) {
	ex := c.Execute(s.GenerateError)
	if ex.Status() != "error" {
		t.Errorf("status %s, want error", ex.Status())
	}
	if got := outputs(ex); !slices.Equal(got, []string{"error"}) {
		t.Errorf("outputs %v, want exactly one error", got)
	}
}

// outputs are the types of what a cell showed.
func outputs(ex *Exchange) (types []string) {
	for _, m := range ex.IOPub() {
		if m.Header.MsgType != "status" && m.Header.MsgType != "execute_input" {
			types = append(types, m.Header.MsgType)
		}
	}
	return types
}

func resultRule(t *testing.T, c *Client, s Samples) {
	for _, sample := range s.Results {
		mime := sample.MIME
		if mime == "" {
			mime = "text/plain"
		}
		results := ok(t, c, sample.Code).Of("execute_result")
		if len(results) != 1 {
			t.Errorf("%s: %d results, want 1", sample.Code, len(results))
			continue
		}
		if got := Field(results[0], "data", mime); got == nil || sample.Result != "" && got != sample.Result {
			t.Errorf("%s: %s is %v, want %s", sample.Code, mime, got, sample.Result)
		}
	}
}

func displayRule(t *testing.T, c *Client, s Samples) {
	for _, sample := range s.Displays {
		displays := ok(t, c, sample.Code).Of("display_data")
		if !slices.ContainsFunc(displays, func(d json.RawMessage) bool { return Field(d, "data", sample.MIME) != nil }) {
			t.Errorf("%s displays no %s", sample.Code, sample.MIME)
		}
	}
}

func historyRule(t *testing.T, c *Client, s Samples) {
	codes := make([]string, len(s.Results))
	for i, r := range s.Results {
		codes[i] = r.Code
	}
	ask := func(access string, more map[string]any) []any {
		for _, code := range codes {
			ok(t, c, code)
		}
		content := map[string]any{"output": false, "raw": true, "hist_access_type": access}
		for name, value := range more {
			content[name] = value
		}
		history, _ := c.Request("history_request", content).Reply("history").([]any)
		return history
	}
	tail := ask("tail", map[string]any{"n": len(codes)})
	if len(tail) != len(codes) {
		t.Fatalf("tail gives %d entries, want %d", len(tail), len(codes))
	}
	for i, entry := range tail {
		if triple := entry.([]any); len(triple) != 3 || triple[2] != codes[i] {
			t.Errorf("tail entry %d is %v, want %s", i, entry, codes[i])
		}
	}
	withOutput := ask("tail", map[string]any{"n": len(codes), "output": true})[0].([]any)[2]
	if pair, isPair := withOutput.([]any); !isPair || len(pair) != 2 {
		t.Errorf("tail with output has %v, want a pair", withOutput)
	}
	first := tail[0].([]any)
	line := first[1].(float64)
	got := ask("range", map[string]any{"session": first[0], "start": line, "stop": line + 1})
	if len(got) != 1 || fmt.Sprint(got[0]) != fmt.Sprint(first) {
		t.Errorf("range of one line gives %v, want %v", got, first)
	}
	search := map[string]any{"pattern": s.HistoryPattern}
	if n := len(ask("search", search)); n < 1 {
		t.Error("search finds nothing")
	}
	search["unique"] = true
	if n := len(ask("search", search)); n != 1 {
		t.Errorf("unique search finds %d, want 1", n)
	}
	if n := len(ask("search", map[string]any{"pattern": s.HistoryPattern, "n": 3})); n != 3 {
		t.Errorf("search with n=3 finds %d", n)
	}
}

func inspectRule(t *testing.T, c *Client, s Samples) {
	ex := c.Request("inspect_request", map[string]any{"code": s.Inspect, "cursor_pos": len([]rune(s.Inspect)), "detail_level": 0})
	data, _ := ex.Reply("data").(map[string]any)
	if ex.Status() != "ok" || ex.Reply("found") != true || len(data) == 0 {
		t.Errorf("inspect %q: %v", s.Inspect, string(ex.ReplyMessage().Content))
	}
}

func clearRule(t *testing.T, c *Client, s Samples) {
	if len(ok(t, c, s.ClearOutput).Of("clear_output")) == 0 {
		t.Error("no clear_output")
	}
}

// timingRule: once the reply is there, the suite waits 0.1 s for each further message and no more.
func timingRule(t *testing.T, c *Client, s Samples) {
	ex := c.AskExecute(s.HelloWorld)
	c.Until("the reply", func() bool { return ex.reply != nil })
	start := time.Now()
	ex.Wait()
	if late := time.Since(start); late > 100*time.Millisecond {
		t.Errorf("idle came %v after the reply, want within 100 ms", late)
	}
	last := ex.IOPub()[len(ex.IOPub())-1]
	if last.Header.MsgType != "status" || last.Channel != wire.IOPub {
		t.Errorf("the last message is %s, want status idle", last.Header.MsgType)
	}
}
