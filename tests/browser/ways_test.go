package browser

import (
	"fmt"
	"testing"

	"kafkalab/install/notebook"
)

// Everyday use of the kernel in JupyterLab, beside the lesson's.
func TestEverydayWaysInJupyterLab(t *testing.T) {
	nb := notebook.New("kafkalab", "Go (Kafka Lab)", "go")
	for i, source := range []string{"x := 41", "x + 1", `fmt.Println("printed")`, `panic("on purpose")`} {
		nb.Cells = append(nb.Cells, &notebook.Cell{Type: notebook.Code, ID: fmt.Sprint("cell-", i), Source: source})
	}
	s := startLab(t, func(s *server) {
		s.kernel(t)
		s.put(t, "ways.ipynb", nb)
	})
	script(t, "lab-ways", s.config(map[string]any{"name": "ways.ipynb"}))
}
