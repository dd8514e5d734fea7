package browser

import (
	"fmt"
	"testing"

	"kafkalab/install/notebook"
)

// ways is a notebook with a result, a print and an error.
func ways() *notebook.Notebook {
	nb := notebook.New("kafkalab", "Go (Kafka Lab)", "go")
	for i, source := range []string{"x := 41", "x + 1", `fmt.Println("printed")`, `panic("on purpose")`} {
		nb.Cells = append(nb.Cells, &notebook.Cell{Type: notebook.Code, ID: fmt.Sprint("cell-", i), Source: source})
	}
	return nb
}

// Everyday use of the kernel in JupyterLab, beside the lesson's.
func TestEverydayWaysInJupyterLab(t *testing.T) {
	s := startLab(t, func(s *server) {
		s.kernel(t)
		s.put(t, "ways.ipynb", ways())
	})
	script(t, "lab-ways", s.config(map[string]any{"name": "ways.ipynb"}))
}

func TestEverydayWaysInNotebook7(t *testing.T) {
	s := startServer(t, notebook7(t), func(s *server) {
		s.kernel(t)
		s.put(t, "ways.ipynb", ways())
	})
	script(t, "notebook7-ways", s.config(map[string]any{"name": "ways.ipynb"}))
}
