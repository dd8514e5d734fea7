package kernel

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// shell is the parent shell or a subshell (JEP 91): a place that serves its shell messages in order,
// with an execution count and a history session of its own. A subshell keeps two orders, one of its
// cells and one of its comm messages, so that a slider answers while a cell runs.
//
// Cells of different shells share one language session and run one at a time, the longest waiting first:
// a subshell's cell waits for the parent's. Everything else, comm messages above all, never waits for
// cells of another shell.
type shell struct {
	id          string // "" for the parent
	cells, talk *lane
	count       atomic.Int64 // execution count of the last stored cell
	failed      failure
	deleted     atomic.Bool

	once    sync.Once
	session int
}

// inHistory is the shell's session of the history. It begins when it is first needed: a kernel that only
// answers comms leaves no trace.
func (sh *shell) inHistory(h History) int {
	sh.once.Do(func() { sh.session = h.Begin() })
	return sh.session
}

// maxSubshells bounds what a frontend that forgets its subshells costs.
const maxSubshells = 1024

// shells are the parent and the subshells by id.
type shells struct {
	parent *shell
	turn   sync.Mutex // held while a cell is served: one at a time, whatever the shell

	mu    sync.Mutex
	byID  map[string]*shell
	order []string // of creation
}

func newShell(id string) *shell {
	return &shell{id: id, cells: newLane(), talk: newLane()}
}

func newShells() *shells {
	parent := newShell("")
	return &shells{parent: parent, byID: map[string]*shell{"": parent}}
}

// find returns a shell, nil if there is none of that id.
func (s *shells) find(id string) *shell {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[id]
}

// all lists the shells, the parent first.
func (s *shells) all() []*shell {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []*shell{s.parent}
	for _, id := range s.order {
		list = append(list, s.byID[id])
	}
	return list
}

// run starts a shell's lanes.
func (k *Kernel) run(sh *shell) {
	go sh.cells.run(k.serveCell)
	go sh.talk.run(k.serve)
}

// serveCell serves what stands in line with the cells, when its turn has come.
func (k *Kernel) serveCell(r *request) {
	k.shells.turn.Lock()
	defer k.shells.turn.Unlock()
	k.serve(r)
}

// createSubshell answers create_subshell_request.
func (k *Kernel) createSubshell(*request) any {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails since Go 1.24
	sh := newShell(hex.EncodeToString(id[:]))
	k.shells.mu.Lock()
	if len(k.shells.order) >= maxSubshells {
		k.shells.mu.Unlock()
		return errorReply("TooManySubshells", fmt.Sprintf("there are %d subshells already; delete some", maxSubshells))
	}
	k.shells.byID[sh.id] = sh
	k.shells.order = append(k.shells.order, sh.id)
	k.shells.mu.Unlock()
	k.run(sh)
	return map[string]any{"status": "ok", "subshell_id": sh.id}
}

// deleteSubshell answers delete_subshell_request. What waits in the subshell is answered as aborted; its
// running cell is interrupted.
func (k *Kernel) deleteSubshell(r *request) any {
	var q struct {
		ID *string `json:"subshell_id"`
	}
	if err := r.read(&q); err != nil {
		return badRequest(err)
	}
	if q.ID == nil || *q.ID == "" {
		return badRequest(errors.New("content of delete_subshell_request: subshell_id is missing (the parent shell cannot be deleted)"))
	}
	k.shells.mu.Lock()
	sh := k.shells.byID[*q.ID]
	delete(k.shells.byID, *q.ID)
	k.shells.order = slices.DeleteFunc(k.shells.order, func(id string) bool { return id == *q.ID })
	k.shells.mu.Unlock()
	if sh == nil {
		return unknownSubshell(*q.ID)
	}
	sh.deleted.Store(true)
	sh.cells.shut()
	sh.talk.shut()
	if cell := k.cell.Load(); cell != nil && cell.req.shell == sh {
		k.interrupt(cell)
	}
	return map[string]any{"status": "ok"}
}

// listSubshells answers list_subshell_request; the parent has no id and is not listed.
func (k *Kernel) listSubshells(*request) any {
	k.shells.mu.Lock()
	defer k.shells.mu.Unlock()
	return map[string]any{"status": "ok", "subshell_id": append([]string{}, k.shells.order...)}
}

func unknownSubshell(id string) map[string]any {
	return errorReply("UnknownSubshell", fmt.Sprintf("there is no subshell %q", id))
}

// lost answers what is addressed to a subshell that is not there. A request gets a reply; other messages
// get busy and idle only, which is all that a frontend waits for.
func (k *Kernel) lost(r *request) any {
	if !isRequest(r.msg.Header.MsgType) {
		return nil
	}
	return unknownSubshell(r.msg.Header.SubshellID)
}
