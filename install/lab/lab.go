// Package lab is the one place where the kernel meets Kafka: it gives the Go of the cells the simulator and
// the charts, lets an interrupt reach the simulator's loops, and answers the export.
package lab

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"kafkalab/charts"
	"kafkalab/kafkasim"
	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/lesson"
	"kafkalab/kernel"
	"kafkalab/kernel/goeval"
	"kafkalab/notebooks"
)

//go:generate go run kafkalab/kernel/goeval/gensymbols -package lab -docs all -list packages.txt -out symbols.go -exports exports.zip

//go:embed exports.zip
var exports []byte

// Options say what differs between a kernel and a run without Jupyter.
type Options struct {
	// Capture takes the process's file descriptors 1 and 2 for the cells, see goeval.Options.
	Capture bool
	// Log takes what is printed while no cell has run yet.
	Log io.Writer
	// Warm prepares the drawing of curves, beside the first cell that mentions Kafka, so that the first
	// curve does not keep a learner waiting.
	Warm bool
	// Progress shows a bar under a cell whose simulation takes long. Not where outputs are kept and compared:
	// whether it appears depends on the machine's speed.
	Progress bool
	// AllowShell lets cells run shell commands with !command.
	AllowShell bool
}

// warming is the Go of the cells with Options.Warm.
type warming struct {
	kernel.Language
	once sync.Once
}

// Execute implements kernel.Language.
func (w *warming) Execute(cell kernel.Cell, out kernel.Output) kernel.Outcome {
	if strings.Contains(cell.Code, "kafkasim.") || strings.Contains(cell.Code, "charts.") {
		w.once.Do(func() { go charts.Warm() })
	}
	return w.Language.Execute(cell, out)
}

// NewLanguage starts a session of Go cells that know Kafka.
func NewLanguage(o Options) (kernel.Language, error) {
	lesson.Use(notebooks.Masters())
	engine, err := goeval.New(goeval.Options{
		Libraries:  []goeval.Library{library(o)},
		Capture:    o.Capture,
		Log:        o.Log,
		AllowShell: o.AllowShell,
		Banner:     "Kafka Lab: Go with a deterministic Kafka inside. Start with: c := kafkasim.Page()",
	})
	if err != nil {
		return nil, fmt.Errorf("the Go of the cells does not start: %w", err)
	}
	if o.Warm {
		return &warming{Language: engine}, nil
	}
	return engine, nil
}

// library is what cells see beside the standard library.
func library(o Options) goeval.Library {
	l := goeval.Library{
		Symbols: symbols,
		Exports: exports,
		Imports: map[string]string{"kafkasim": "kafkalab/kafkasim", "charts": "kafkalab/charts", "lesson": "kafkalab/kafkasim/lesson",
			"registry": "kafkalab/kafkasim/registry", "connect": "kafkalab/kafkasim/connect"},
		Hints: []goeval.Hint{{
			Func: "kafkalab/kafkasim.Config", Arg: -1, Texts: properties,
		}},
		Poll: func(check func()) {
			kafkasim.SetPoll(func() {
				check()
				charts.Tick()
			})
		},
		Display: charts.SetDisplay,
	}
	if o.Progress {
		l.Progress = kafkasim.SetProgress
	}
	return l
}

// properties proposes every Kafka property that the simulator models. One name may be a producer's and a
// consumer's: both are told.
func properties() []goeval.HintText {
	docs := map[string][]string{}
	for _, owner := range []config.Owner{config.OwnerTopic, config.OwnerProducer, config.OwnerConsumer, config.OwnerBroker} {
		for _, p := range config.All(owner) {
			if p.Modelled {
				docs[p.Name] = append(docs[p.Name], p.Help())
			}
		}
	}
	var all []goeval.HintText
	for name, doc := range docs {
		all = append(all, goeval.HintText{Text: name, Doc: strings.Join(doc, "\n")})
	}
	slices.SortFunc(all, func(a, b goeval.HintText) int { return strings.Compare(a.Text, b.Text) })
	return all
}
