package goeval

import (
	"sync"
	"time"

	"kafkalab/kernel/goeval/internal/exec"
	"kafkalab/kernel/lab"
)

// meter shows how far long work of a library is. Its bar appears when the work has lasted a while, and one
// cell has one, however often it works long.
type meter struct {
	e   *Engine
	now func() time.Time

	mu    sync.Mutex
	run   *exec.Run
	bar   *lab.Bar
	what  string
	done  int64
	begun time.Time
}

// patience is how long work may last without a bar.
const patience = time.Second

// progress takes what Library.Progress tells.
func (m *meter) progress(what string, done, total int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	run := m.e.machine.Current()
	fresh := run != m.run || what != m.what || done < m.done
	if run != m.run {
		m.run, m.bar = run, nil
	}
	m.what, m.done = what, done
	if fresh {
		m.begun = m.now()
		if m.bar != nil {
			m.bar.Restart(what, total)
		}
	}
	switch {
	case m.bar != nil:
		m.bar.At(done, total)
	case m.now().Sub(m.begun) >= patience && done < total:
		m.bar = lab.NewMeter(notebook{m.e, run}, total, what, m.begun)
		m.bar.Set(int(done))
	}
}
