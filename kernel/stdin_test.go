package kernel_test

import (
	"encoding/json"
	"testing"

	"kafkalab/kernel"
	"kafkalab/kernel/wire"
)

// Only the answer to the open question, from the frontend that was asked, counts.
func TestStaleAnswersAreDropped(t *testing.T) {
	c := start(t, kernel.Options{})
	say := func(value string, change ...func(*wire.Message)) {
		c.Say(wire.Stdin, "input_reply", map[string]any{"value": value}, change...)
	}
	say("before any question")
	ex := c.AskExecute("ask name?")
	waitFor(t, func() bool { return len(ex.Asked()) == 1 })
	say("of another question", func(m *wire.Message) { m.Parent = json.RawMessage(`{"msg_id":"old"}`) })
	say("from somebody else", func(m *wire.Message) { m.Identities = [][]byte{[]byte("mallory")} })
	say("right") // jupyter_client sends no parent header
	if got := ex.Wait().Text("stdout"); got != "right\n" {
		t.Errorf("the cell read %q", got)
	}
	say("one too many")
	again := c.AskExecute("ask again?")
	waitFor(t, func() bool { return len(again.Asked()) == 1 })
	say("second")
	if got := again.Wait().Text("stdout"); got != "second\n" {
		t.Errorf("the next cell read %q", got)
	}
}

func TestInterruptEndsAQuestion(t *testing.T) {
	c := start(t, kernel.Options{})
	ex := c.AskExecute("ask name?")
	waitFor(t, func() bool { return len(ex.Asked()) == 1 })
	c.Control("interrupt_request", map[string]any{})
	if got := ex.Wait().Reply("evalue"); got != kernel.ErrInterrupted.Error() {
		t.Errorf("the cell ended with %v", got)
	}
}
