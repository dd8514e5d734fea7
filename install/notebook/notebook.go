// Package notebook reads and writes Jupyter notebooks (nbformat 4) and turns a run notebook into one
// offline HTML page whose charts still step.
//
// A notebook is read into the model below without losing a field that the model does not name, and it
// is written the way nbformat writes it (keys sorted, one space of indentation, text as lists of lines),
// so that reading and writing a file that Jupyter saved changes no byte.
package notebook

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// The version of nbformat that is written: cells have ids since 4.5.
const (
	Major = 4
	Minor = 5
)

// The types of cells and outputs, in nbformat's words.
const (
	Code     = "code"
	Markdown = "markdown"
	Raw      = "raw"

	Stream        = "stream"
	DisplayData   = "display_data"
	ExecuteResult = "execute_result"
	Error         = "error"
)

// Notebook is one notebook. Extra fields hold what this model does not name; they are written back.
type Notebook struct {
	Cells    []*Cell
	Metadata map[string]any // kernelspec, language_info and whatever front ends keep there
	Minor    int            // nbformat_minor: Minor or, when a newer Jupyter wrote the file, more
	Extra    map[string]any
}

// Cell is one cell. Source is the whole text, joined.
type Cell struct {
	Type           string // Code, Markdown or Raw
	ID             string // 1 to 64 of a-z A-Z 0-9 - _, unique in the notebook
	Source         string
	Metadata       map[string]any
	ExecutionCount int                       // Code only; 0 when it has not run
	Outputs        []Output                  // Code only
	Attachments    map[string]map[string]any // file name to MIME bundle
	Extra          map[string]any
}

// Output is one output of a code cell. Which fields count depends on Type, as in nbformat.
type Output struct {
	Type           string
	Name           string         // Stream: "stdout" or "stderr"
	Text           string         // Stream
	Data           map[string]any // DisplayData, ExecuteResult: the MIME bundle; texts joined
	Metadata       map[string]any // DisplayData, ExecuteResult
	ExecutionCount int            // ExecuteResult; 0 for null
	EName, EValue  string         // Error
	Traceback      []string       // Error
	Extra          map[string]any
}

// New returns a notebook without cells for the kernel of that name.
func New(kernel, displayName, language string) *Notebook {
	return &Notebook{Minor: Minor, Metadata: map[string]any{
		"kernelspec":    map[string]any{"name": kernel, "display_name": displayName, "language": language},
		"language_info": map[string]any{"name": language},
	}}
}

// Language is the language that the cells are written in, in lower case as the kernel names it, or "".
func (nb *Notebook) Language() string {
	for _, at := range [][2]string{{"language_info", "name"}, {"kernelspec", "language"}} {
		if m, ok := nb.Metadata[at[0]].(map[string]any); ok {
			if name, ok := m[at[1]].(string); ok && name != "" {
				return name
			}
		}
	}
	return ""
}

// Kernel is the name of the kernelspec that the notebook asks for, or "".
func (nb *Notebook) Kernel() string {
	m, _ := nb.Metadata["kernelspec"].(map[string]any)
	name, _ := m["name"].(string)
	return name
}

// ClearOutputs removes every output, execution count and trace of a run, as a notebook is kept in git.
func (nb *Notebook) ClearOutputs() {
	for _, c := range nb.Cells {
		c.ClearOutputs()
	}
	delete(nb.Metadata, "widgets") // the state of widgets is an output too
}

// ClearOutputs removes the outputs, the execution count and the timing of the last run.
func (c *Cell) ClearOutputs() {
	if c.Type != Code {
		return
	}
	c.Outputs, c.ExecutionCount = nil, 0
	for _, key := range []string{"execution", "collapsed", "scrolled"} {
		delete(c.Metadata, key)
	}
}

// Read reads a notebook file. Every error names the file and, where it can, the line or the cell.
func Read(path string) (*Notebook, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%s: there is no such notebook file: %w", path, os.ErrNotExist)
		}
		return nil, fmt.Errorf("%s: cannot be read: %w", path, err)
	}
	return Parse(path, data)
}

// Write writes the notebook to a file, which is whole or untouched: the bytes go to a file beside it
// that then takes its name.
func (nb *Notebook) Write(path string) error {
	data, err := nb.Bytes()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := writeWhole(path, data); err != nil {
		return fmt.Errorf("%s: cannot be written: %w", path, err)
	}
	return nil
}

func writeWhole(path string, data []byte) error {
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a link to a notebook stays a link
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".kafkalab-*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already when all went well
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
