package connect

import (
	"encoding/json"
	"fmt"
	"strings"
)

// What GET /connectors/NAME/status answers (K-12). Kafka: ConnectorStateInfo.

// ConnectorState is a connector with its tasks.
type ConnectorState struct {
	Name      string     `json:"name"`
	Connector ItemState  `json:"connector"`
	Tasks     []TaskInfo `json:"tasks"`
	Type      string     `json:"type"` // source or sink
}

// ItemState is where something runs.
type ItemState struct {
	State    string `json:"state"` // RUNNING, PAUSED, STOPPED, FAILED or UNASSIGNED
	WorkerID string `json:"worker_id"`
}

// TaskInfo is one task.
type TaskInfo struct {
	ID       int    `json:"id"`
	State    string `json:"state"`
	WorkerID string `json:"worker_id"`
	Trace    string `json:"trace,omitempty"` // why it FAILED
}

// ConnectorStatus is what GET /connectors/NAME/status answers.
func (k *Connect) ConnectorStatus(name string) *ConnectorState {
	x := k.needs("ConnectorStatus", name)
	out := &ConnectorState{Name: name, Type: "sink", Tasks: []TaskInfo{}}
	if x.conf.source {
		out.Type = "source"
	}
	for _, i := range x.items() {
		s := k.itemStatus(i)
		if !i.isTask() {
			out.Connector = ItemState{s.State, workerID(s.Worker)}
			continue
		}
		t := TaskInfo{ID: i.Task, State: s.State, WorkerID: workerID(s.Worker)}
		if s.Why != "" {
			t.Trace = "org.apache.kafka.connect.errors.ConnectException: " + s.Why
		}
		out.Tasks = append(out.Tasks, t)
	}
	return out
}

// workerID is how REST names a worker.
func workerID(worker string) string {
	if worker == "" {
		return ""
	}
	return fmt.Sprintf("%s:8083", worker)
}

// String is the answer as JSON.
func (s *ConnectorState) String() string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(s); err != nil {
		panic(err) // texts and numbers
	}
	return strings.TrimSuffix(b.String(), "\n")
}
