package headless

import (
	"encoding/json"
	"strings"

	"kafkalab/install/notebook"
)

// content is the content of the iopub messages that a notebook keeps something of.
type content struct {
	Name      string                     `json:"name"`            // stream
	Text      string                     `json:"text"`            // stream
	Data      map[string]json.RawMessage `json:"data"`            // display_data, update_display_data, execute_result
	Metadata  json.RawMessage            `json:"metadata"`        // of the data
	Count     int                        `json:"execution_count"` // execute_input, execute_result
	EName     string                     `json:"ename"`           // error
	EValue    string                     `json:"evalue"`          // error
	Traceback []string                   `json:"traceback"`       // error
	Wait      bool                       `json:"wait"`            // clear_output
	Transient struct {
		DisplayID string `json:"display_id"`
	} `json:"transient"`
}

// outputs gathers what the cells of one run show, by the rules of nbclient (client.py: process_message,
// output, clear_output), except that neighbouring streams of one name are joined as JupyterLab joins them.
type outputs struct {
	cells     map[int][]notebook.Output
	displays  map[string][]place
	clearNext bool
}

// place is where a display with an id stands: the cell and the output.
type place struct{ cell, output int }

func newOutputs() *outputs {
	return &outputs{cells: map[int][]notebook.Output{}, displays: map[string][]place{}}
}

// begin forgets a clear_output that waits for an output of the cell before.
func (o *outputs) begin() { o.clearNext = false }

// take handles one message that the running cell caused.
func (o *outputs) take(cell int, msgType string, c content) {
	switch msgType {
	case "update_display_data":
		o.update(c)
	case "clear_output":
		if c.Wait {
			o.clearNext = true
		} else {
			o.clear(cell)
		}
	case "stream":
		o.clearIfAsked(cell)
		if !o.join(cell, c) {
			o.add(cell, notebook.Output{Type: notebook.Stream, Name: c.Name, Text: c.Text})
		}
	case "display_data":
		o.update(c) // an id that was shown before is brought up to date wherever it stands
		o.clearIfAsked(cell)
		if id := c.Transient.DisplayID; id != "" {
			o.displays[id] = append(o.displays[id], place{cell, len(o.cells[cell])})
		}
		o.add(cell, notebook.Output{Type: notebook.DisplayData, Data: c.data(), Metadata: c.metadata()})
	case "execute_result":
		o.clearIfAsked(cell)
		o.add(cell, notebook.Output{Type: notebook.ExecuteResult, Data: c.data(), Metadata: c.metadata(), ExecutionCount: c.Count})
	case "error":
		o.clearIfAsked(cell)
		o.add(cell, notebook.Output{Type: notebook.Error, EName: c.EName, EValue: c.EValue, Traceback: c.Traceback})
	}
}

func (o *outputs) add(cell int, out notebook.Output) { o.cells[cell] = append(o.cells[cell], out) }

// join adds a stream's text to the output before it if that is the same stream.
func (o *outputs) join(cell int, c content) bool {
	n := len(o.cells[cell])
	if n == 0 {
		return false
	}
	last := &o.cells[cell][n-1]
	if last.Type != notebook.Stream || last.Name != c.Name {
		return false
	}
	last.Text += c.Text
	return true
}

func (o *outputs) update(c content) {
	for _, p := range o.displays[c.Transient.DisplayID] {
		shown := &o.cells[p.cell][p.output]
		shown.Data, shown.Metadata = c.data(), c.metadata()
	}
}

func (o *outputs) clearIfAsked(cell int) {
	if o.clearNext {
		o.clearNext = false
		o.clear(cell)
	}
}

// clear empties the cell and forgets where its displays stood.
func (o *outputs) clear(cell int) {
	o.cells[cell] = nil
	for id, places := range o.displays {
		var kept []place
		for _, p := range places {
			if p.cell != cell {
				kept = append(kept, p)
			}
		}
		o.displays[id] = kept
	}
}

// data unpacks the bundle: texts as strings, JSON types as JSON with numbers as they were written.
func (c *content) data() map[string]any {
	data := make(map[string]any, len(c.Data))
	for mime, raw := range c.Data {
		data[mime] = decoded(raw)
	}
	return data
}

func (c *content) metadata() map[string]any {
	m, _ := decoded(c.Metadata).(map[string]any)
	return m
}

// decoded reads JSON that the kernel wrote; what is no JSON counts as nothing.
func decoded(raw json.RawMessage) any {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var v any
	_ = d.Decode(&v)
	return v
}
