package headless

import (
	"context"

	"kafkalab/install/notebook"
	"kafkalab/kernel"
)

// RunNotebook runs the cells of a notebook (see Run) and puts what they showed, and the language, into it. Cells with
// the tag skip-execution are left out, and those with raises-exception may fail (nbclient's tags).
func RunNotebook(ctx context.Context, lang kernel.Language, nb *notebook.Notebook, o Options) error {
	cells := make([]Cell, len(nb.Cells))
	for i, c := range nb.Cells {
		cells[i] = Cell{
			ID: c.ID, Source: c.Source, IsCode: c.Type == notebook.Code,
			Skip:    Tagged(c, "skip-execution"),
			MayFail: Tagged(c, "raises-exception"),
		}
	}
	report, err := Run(ctx, lang, cells, o)
	nb.Metadata["language_info"] = report.LanguageInfo
	for i, r := range report.Cells {
		if r.Ran {
			nb.Cells[i].Outputs, nb.Cells[i].ExecutionCount = r.Outputs, r.Count
		}
	}
	return err
}
