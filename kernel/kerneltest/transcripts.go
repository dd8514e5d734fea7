package kerneltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"kafkalab/kernel"
	"kafkalab/kernel/wire"
)

// Transcripts holds conversations with Echo against the golden files of a folder, each with a client of
// its own, word for word. `go test -rewrite` records them anew.
func Transcripts(t *testing.T, folder string, start func(t *testing.T) (*Client, *kernel.Kernel)) {
	datadriven.Walk(t, folder, func(t *testing.T, path string) {
		c, k := start(t)
		c.Answer = func(prompt string, _ bool) string { return "to " + prompt }
		k.Comms().Register("echo", sayBack)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			ask := func(ch wire.Channel) string {
				return transcript(d, c.Ask(ch, d.CmdArgs[0].Key, json.RawMessage(d.Input)).Wait())
			}
			switch d.Cmd {
			case "execute":
				return transcript(d, c.Request("execute_request", execution(d)))
			case "ask":
				return ask(wire.Shell)
			case "control":
				return ask(wire.Control)
			}
			d.Fatalf(t, "unknown command %q", d.Cmd)
			return ""
		})
	})
}

// Untold lists the message types of the protocol that no transcript in a folder has: a kernel's, and the
// requests.
func Untold(folder string, requests []string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	if err != nil {
		return nil, err
	}
	var all []byte
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		all = append(all, text...)
	}
	var untold []string
	miss := func(pattern, msgType string) {
		if !regexp.MustCompile(fmt.Sprintf(pattern, msgType)).Match(all) {
			untold = append(untold, msgType)
		}
	}
	for msgType := range schemas {
		miss(`(?m)^(?:shell|control|iopub|stdin) +%s `, msgType)
	}
	for _, msgType := range requests {
		if msgType == "execute_request" {
			msgType = "execute_request|^execute"
		}
		miss(`(?m)^(?:ask|control) (?:%s)\b`, msgType)
	}
	slices.Sort(untold)
	return untold, nil
}

// sayBack is a comm target that says back what it hears, and closes when it hears "bye".
func sayBack(c *kernel.Comm, opened kernel.CommMessage) error {
	c.OnMessage = func(m kernel.CommMessage) {
		if bytes.Contains(m.Data, []byte(`"bye"`)) {
			_ = c.Close(m.Data) // the other side may have closed it first
			return
		}
		_ = c.Send(map[string]any{"heard": m.Data}, m.Buffers...)
	}
	return c.Send(map[string]any{"opened": opened.Data})
}

func execution(d *datadriven.TestData) map[string]any {
	content := Execution(d.Input)
	for _, arg := range d.CmdArgs {
		switch arg.Key {
		case "silent", "store_history", "stop_on_error", "allow_stdin":
			content[arg.Key] = arg.Vals[0] == "true"
		case "expr":
			expressions := map[string]any{}
			for i, e := range strings.Split(arg.Vals[0], "|") {
				expressions[string(rune('a'+i))] = e
			}
			content["user_expressions"] = expressions
		}
	}
	return content
}

// What differs from run to run: random ids, ports, and what a machine measures of itself.
var (
	randomID = regexp.MustCompile(`"[0-9a-f]{32}"`)
	anyPort  = regexp.MustCompile(`("\w+_port":)\d+`)
	measured = regexp.MustCompile(`usage_reply .*`)
)

func transcript(d *datadriven.TestData, ex *Exchange) string {
	text := randomID.ReplaceAllString(ex.Transcript(), `"ID"`)
	text = anyPort.ReplaceAllString(text, "${1}PORT")
	text = measured.ReplaceAllString(text, "usage_reply …")
	for _, arg := range d.CmdArgs {
		if arg.Key == "trace" { // a Go stack differs from run to run
			before, _, _ := strings.Cut(text, `"traceback":[`)
			return before + "\n"
		}
	}
	return text
}
