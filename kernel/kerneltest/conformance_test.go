package kerneltest

import (
	"encoding/json"
	"strings"
	"testing"

	"kafkalab/kernel"
	"kafkalab/kernel/wire"
)

func TestEchoConforms(t *testing.T) {
	Conformance(t, func() kernel.Language { return &Echo{} }, Samples{
		LanguageName: "echo", FileExtension: ".echo",
		HelloWorld: "print hello, world", Stderr: "eprint oh",
		Completions: []CompletionSample{{"pr", []string{"print"}}, {"é😀 p", []string{"print", "page", "panic", "password"}}, {"zz", []string{}}},
		Complete:    []string{"print a"}, Incomplete: []string{`print a\`}, Invalid: []string{"print!"},
		PageSomething: "page text", GenerateError: "fail Error text",
		Results:        []ResultSample{{Code: "result 1", Result: "1"}, {Code: "print x\nresult 2", Result: "2"}},
		Displays:       []DisplaySample{{"display - text", "text/plain"}},
		HistoryPattern: "result ?", Inspect: "print", ClearOutput: "clear",
	})
}

// Check has to see what is wrong: each of these is one fault in a message that is right otherwise.
func TestCheckSeesFaults(t *testing.T) {
	good := func() wire.Message {
		return wire.Message{
			Identities: [][]byte{[]byte("topic")},
			Header:     wire.NewSession("u").Header("stream"),
			Content:    json.RawMessage(`{"name":"stdout","text":"x"}`),
		}
	}
	m := good()
	if problems := Check(wire.IOPub, &m); problems != nil {
		t.Fatalf("nothing is wrong with it: %v", problems)
	}
	for want, spoil := range map[string]func(*wire.Message){
		"text is missing":            func(m *wire.Message) { m.Content = json.RawMessage(`{"name":"stdout"}`) },
		"name is \"stdin\"":          func(m *wire.Message) { m.Content = json.RawMessage(`{"name":"stdin","text":""}`) },
		"text is float64":            func(m *wire.Message) { m.Content = json.RawMessage(`{"name":"stdout","text":1}`) },
		"content is no JSON object":  func(m *wire.Message) { m.Content = json.RawMessage(`[]`) },
		"protocol version":           func(m *wire.Message) { m.Header.Version = "5.1" },
		"not ISO 8601 with a zone":   func(m *wire.Message) { m.Header.Date = "2026-10-04T12:00:00" },
		"header without session":     func(m *wire.Message) { m.Header.Session = "" },
		"exactly one topic":          func(m *wire.Message) { m.Identities = nil },
		"no message type that a":     func(m *wire.Message) { m.Header.MsgType = "comm_comm_close" },
		"does not belong on":         func(m *wire.Message) { m.Header.MsgType = "execute_reply" },
		"metadata is no JSON object": func(m *wire.Message) { m.Metadata = json.RawMessage(`null1`) },
		"traceback is <nil>": func(m *wire.Message) {
			m.Header.MsgType = "error"
			m.Content = json.RawMessage(`{"ename":"","evalue":"","traceback":null}`)
		},
		"data is map[string]interfac": func(m *wire.Message) {
			m.Header.MsgType = "display_data"
			m.Content = json.RawMessage(`{"data":{"text/html; x=1":""},"metadata":{},"transient":{}}`)
		},
	} {
		m := good()
		spoil(&m)
		if problems := strings.Join(Check(wire.IOPub, &m), "\n"); !strings.Contains(problems, want) {
			t.Errorf("want %q, got %q", want, problems)
		}
	}
	m = good()
	m.Header.MsgType, m.Content = "execute_reply", json.RawMessage(`{"status":"error","ename":"E","evalue":"","traceback":[]}`)
	if problems := Check(wire.Shell, &m); len(problems) != 1 || problems[0] != "execution_count is missing" {
		t.Errorf("an error reply without its count: %v", problems)
	}
}
