package kafkasim_test

import (
	"slices"
	"testing"

	"kafkalab/kafkasim"
	"kafkalab/kafkasim/view"
)

// A held message, a cut link and a slow disk are no changes of a broker's state: a chart knows of them by
// the commands alone. A crash shows itself.
func TestTraceTellsInterventions(t *testing.T) {
	c := kafkasim.Page()
	c.Hold("Fetch 2->1")
	c.Ticks(6)
	c.Release()
	c.Cut(1, 2)
	c.Heal()
	c.Broker(1).Crash()
	want := []string{
		`hold back "Fetch 2->1"`,
		"release what is held",
		"cut broker 1 and broker 2 off from each other",
		"let messages pass between broker 1 and broker 2 again",
	}
	if got := commandsOf(c); !slices.Equal(got, want) {
		t.Errorf("the trace tells of the commands %q, want %q", got, want)
	}
	if past := commandsOf(c.At(c.Now() / 2)); len(past) != 0 {
		t.Errorf("the past tells of commands that come later: %q", past)
	}
	if fork := commandsOf(c.Fork()); !slices.Equal(fork, want) {
		t.Errorf("a fork's trace tells of %q, want %q", fork, want)
	}
}

// What is dropped is named, though it is gone afterwards.
func TestTraceNamesDroppedMessage(t *testing.T) {
	c := kafkasim.Page()
	m := c.InFlight()[0]
	c.Drop(m.Number)
	want := []string{"drop " + m.From + " -> " + m.To + " " + m.Text}
	if got := commandsOf(c); !slices.Equal(got, want) {
		t.Errorf("the trace tells of %q, want %q", got, want)
	}
}

func commandsOf(c *kafkasim.Cluster) []string {
	var words []string
	for _, x := range c.Trace().Changes {
		if x.Kind == view.Command {
			words = append(words, x.Text)
		}
	}
	return words
}
