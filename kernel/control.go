package kernel

import (
	"slices"
	"time"
)

// interruptRequest answers interrupt_request. The running cell ends with an error reply of its own,
// which also stops the cells queued behind it.
func (k *Kernel) interruptRequest(*request) any {
	k.Interrupt()
	return map[string]any{"status": "ok"}
}

// lastCell is how long a shutdown waits for the running cell to see the interrupt.
const lastCell = time.Second

// shutdown answers shutdown_request: cells end first, so that their replies come before the last word;
// then the reply, its broadcast on iopub, idle, and Done.
func (k *Kernel) shutdown(r *request) any {
	var q struct {
		Restart bool `json:"restart"`
	}
	if err := r.read(&q); err != nil {
		return badRequest(err)
	}
	k.stopCells()
	k.restart.Store(q.Restart)
	content := map[string]any{"status": "ok", "restart": q.Restart}
	r.last = func() { k.iopub.message("shutdown_reply", r.parent, content) }
	r.after = k.finish
	return content
}

// stopCells interrupts the running cell, lets the queued ones be answered as aborted, and waits a
// moment for that.
func (k *Kernel) stopCells() {
	k.stopping.Store(true)
	const poll = time.Millisecond
	for waited := time.Duration(0); !k.cellsIdle() && waited < lastCell; waited += poll {
		if waited%(100*poll) == 0 {
			k.Interrupt()
		}
		time.Sleep(poll)
	}
}

func (k *Kernel) cellsIdle() bool {
	return !slices.ContainsFunc(k.shells.all(), func(sh *shell) bool { return !sh.cells.idle() })
}

// Close ends the kernel without a request: the transport was told to stop.
func (k *Kernel) Close() {
	k.stopCells()
	k.finish()
}

func (k *Kernel) finish() {
	k.close.Do(func() {
		k.iopub.flush()
		for _, l := range k.lanes() {
			l.shut()
		}
		close(k.done)
		k.lang.Close()
	})
}
