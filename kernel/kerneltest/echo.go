package kerneltest

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"kafkalab/kernel"
)

// Echo is a language for testing what is around a language. A cell is a list of commands, one a line:
//
//	print TEXT          to stdout, with a newline      eprint TEXT     to stderr
//	raw TEXT            to stdout, without one
//	result TEXT         the cell's result              display ID TEXT a display ("-": no id)
//	update ID TEXT      update a display               clear [wait]    clear_output
//	page TEXT           the pager                      ask PROMPT      input, printed back
//	next TEXT           a new cell                     replace TEXT    the cell's new text
//	password PROMPT     input of a password            sleep DURATION
//	later DURATION TEXT print from a goroutine that outlives the cell
//	flood N TEXT        print TEXT N times             loop            until interrupted
//	fail NAME TEXT      the cell fails                 panic TEXT      the language itself fails
//	open TARGET TEXT    open a comm with a buffer
//
// Everything else fails with SyntaxError. Echo keeps no state but Closed.
type Echo struct {
	stop   atomic.Bool
	Closed atomic.Bool
}

// Info implements kernel.Language.
func (e *Echo) Info() kernel.LanguageInfo {
	return kernel.LanguageInfo{
		Name: "echo", Version: "1", MIMEType: "text/x-echo", FileExtension: ".echo",
		PygmentsLexer: "text", CodeMirrorMode: "null", NBConvertExporter: "script", Banner: "Echo",
		HelpLinks: []kernel.HelpLink{{Text: "Jupyter", URL: "https://jupyter.org"}},
	}
}

// Execute implements kernel.Language.
func (e *Echo) Execute(cell kernel.Cell, out kernel.Output) (outcome kernel.Outcome) {
	e.stop.Store(false)
	for i, line := range strings.Split(cell.Code, "\n") {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if word == "result" {
			outcome.Result = plain(rest)
			continue
		}
		if target, text, _ := strings.Cut(rest, " "); word == "open" {
			if _, err := cell.Comms.Open(target, map[string]any{"text": text}, nil, []byte(text)); err != nil {
				return kernel.Outcome{Failure: &kernel.Failure{Name: "CommError", Value: err.Error()}}
			}
			continue
		}
		if f := e.run(word, rest, out); f != nil {
			f.Traceback = []string{fmt.Sprintf("cell %d, line %d: %s", cell.Count, i+1, line)}
			return kernel.Outcome{Failure: f}
		}
	}
	return outcome
}

func plain(text string) *kernel.Bundle {
	return &kernel.Bundle{Data: map[string]any{"text/plain": text}}
}

func (e *Echo) run(word, rest string, out kernel.Output) *kernel.Failure {
	first, second, _ := strings.Cut(rest, " ")
	id := strings.TrimPrefix(first, "-")
	switch word {
	case "":
	case "print":
		out.Stream("stdout", rest+"\n")
	case "raw":
		out.Stream("stdout", rest)
	case "eprint":
		out.Stream("stderr", rest+"\n")
	case "display":
		out.Display(*plain(second), id)
	case "update":
		out.UpdateDisplay(*plain(second), id)
	case "clear":
		out.ClearOutput(rest == "wait")
	case "page":
		out.Page(*plain(rest))
	case "next", "replace":
		out.NextInput(rest, word == "replace")
	case "ask", "password":
		return e.ask(rest, word == "password", out)
	case "fail":
		return &kernel.Failure{Name: first, Value: second}
	case "panic":
		panic(rest)
	default:
		return e.timed(word, first, second, out)
	}
	return nil
}

func (e *Echo) ask(prompt string, password bool, out kernel.Output) *kernel.Failure {
	line, err := out.Input(prompt, password)
	if err != nil {
		return &kernel.Failure{Name: "InputError", Value: err.Error()}
	}
	out.Stream("stdout", line+"\n")
	return nil
}

// timed runs the commands that take a while.
func (e *Echo) timed(word, first, second string, out kernel.Output) *kernel.Failure {
	duration, _ := time.ParseDuration(first) // 0 for the commands without one
	switch word {
	case "later":
		go func() {
			time.Sleep(duration)
			out.Stream("stdout", second+"\n")
		}()
	case "flood":
		var n int
		if _, err := fmt.Sscan(first, &n); err != nil {
			return &kernel.Failure{Name: "SyntaxError", Value: err.Error()}
		}
		for ; n > 0 && !e.stop.Load(); n-- {
			out.Stream("stdout", second+"\n")
		}
		return e.interrupted()
	case "sleep", "loop":
		for end := time.Now().Add(duration); word == "loop" || time.Now().Before(end); time.Sleep(time.Millisecond) {
			if f := e.interrupted(); f != nil {
				return f
			}
		}
	default:
		return &kernel.Failure{Name: "SyntaxError", Value: fmt.Sprintf("unknown command %q", word)}
	}
	return nil
}

func (e *Echo) interrupted() *kernel.Failure {
	if e.stop.Load() {
		return &kernel.Failure{Name: "KeyboardInterrupt", Value: "interrupted"}
	}
	return nil
}

// Evaluate implements kernel.Language: "result TEXT" has a value, everything else fails.
func (e *Echo) Evaluate(expression string) (kernel.Bundle, *kernel.Failure) {
	if text, ok := strings.CutPrefix(expression, "result "); ok {
		return *plain(text), nil
	}
	return kernel.Bundle{}, &kernel.Failure{Name: "SyntaxError", Value: "not an expression: " + expression}
}

var commands = []string{"print", "eprint", "raw", "result", "display", "update", "clear", "page", "ask",
	"password", "sleep", "later", "flood", "loop", "fail", "panic"}

// Complete implements kernel.Language: commands that begin as the word before the cursor.
func (e *Echo) Complete(code string, cursor int) kernel.Completion {
	before := []rune(code)[:cursor]
	start := cursor
	for start > 0 && before[start-1] >= 'a' && before[start-1] <= 'z' {
		start--
	}
	c := kernel.Completion{Start: start, End: cursor}
	for _, command := range commands {
		if strings.HasPrefix(command, string(before[start:])) {
			c.Matches = append(c.Matches, kernel.Match{Text: command, Kind: "function", Signature: command + " …"})
		}
	}
	return c
}

// Inspect implements kernel.Language: knows the commands.
func (e *Echo) Inspect(code string, _, detail int) (kernel.Bundle, bool) {
	for _, command := range commands {
		if strings.TrimSpace(code) == command {
			return *plain(fmt.Sprintf("command %s, detail %d", command, detail)), true
		}
	}
	return kernel.Bundle{}, false
}

// IsComplete implements kernel.Language: a trailing backslash asks for more, "!" is invalid.
func (e *Echo) IsComplete(code string) kernel.Completeness {
	switch {
	case strings.HasSuffix(code, `\`):
		return kernel.Completeness{Status: "incomplete", Indent: "  "}
	case strings.HasSuffix(code, "!"):
		return kernel.Completeness{Status: "invalid"}
	}
	return kernel.Completeness{Status: "complete"}
}

// Interrupt implements kernel.Language.
func (e *Echo) Interrupt() { e.stop.Store(true) }

// Close implements kernel.Language.
func (e *Echo) Close() { e.Closed.Store(true) }

var _ kernel.Language = (*Echo)(nil)
