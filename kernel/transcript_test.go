package kernel_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"kafkalab/kernel"
	"kafkalab/kernel/kerneltest"
	"kafkalab/kernel/wire"
)

// The conversations in testdata, word for word. `go test -rewrite` records them anew.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata/transcripts", func(t *testing.T, path string) {
		c := kerneltest.Start(t, &kerneltest.Echo{}, kernel.Options{})
		c.K.SetPorts(map[string]any{"shell_port": 1})
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "execute":
				return transcript(d, c.Request("execute_request", execution(d)))
			case "ask":
				return transcript(d, c.Ask(wire.Shell, d.CmdArgs[0].Key, json.RawMessage(d.Input)).Wait())
			case "control":
				return transcript(d, c.Ask(wire.Control, d.CmdArgs[0].Key, json.RawMessage(d.Input)).Wait())
			}
			d.Fatalf(t, "unknown command %q", d.Cmd)
			return ""
		})
	})
}

func execution(d *datadriven.TestData) map[string]any {
	content := kerneltest.Execution(d.Input)
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

// randomID is what differs from run to run.
var randomID = regexp.MustCompile(`"[0-9a-f]{32}"`)

func transcript(d *datadriven.TestData, ex *kerneltest.Exchange) string {
	text := randomID.ReplaceAllString(ex.Transcript(), `"ID"`)
	for _, arg := range d.CmdArgs {
		if arg.Key == "trace" { // a Go stack differs from run to run
			before, _, _ := strings.Cut(text, `"traceback":[`)
			return before + "\n"
		}
	}
	return text
}
