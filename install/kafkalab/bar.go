package main

import (
	"fmt"
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// bar shows how far something long is: one line updated in place on a terminal, a line for each new step
// elsewhere (a log must not fill with half-drawn bars).
type bar struct {
	to   io.Writer
	live *progressbar.ProgressBar
	last string
}

const barSteps = 1000

func newBar(to io.Writer) *bar {
	b := &bar{to: to}
	if isTerminal(to) {
		b.live = progressbar.NewOptions(barSteps,
			progressbar.OptionSetWriter(to),
			progressbar.OptionSetWidth(30),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionClearOnFinish(),
		)
	}
	return b
}

// show moves the bar to done, a fraction from 0 to 1, and says what is being done.
func (b *bar) show(done float64, what string) {
	if b.live != nil {
		b.live.Describe(what)
		b.live.Set(min(barSteps-1, int(done*barSteps)))
		return
	}
	if what != b.last {
		fmt.Fprintf(b.to, "  %3.0f %% %s\n", done*100, what)
		b.last = what
	}
}

// end takes the bar away.
func (b *bar) end() {
	if b.live != nil {
		b.live.Clear()
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
