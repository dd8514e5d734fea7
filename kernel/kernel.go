package kernel

import (
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"kafkalab/kernel/wire"
)

// Sender takes what the kernel says. Send keeps the order of the messages of one channel, does not
// block for long and does not keep m after it returned; it is called from several goroutines.
type Sender interface {
	Send(ch wire.Channel, m *wire.Message)
}

// Options are the parts of a kernel that differ between uses. The zero value is a working kernel.
type Options struct {
	Implementation        string // kernel_info's implementation; "kafkalab" if empty
	ImplementationVersion string // "0" if empty
	Username              string // of the headers; "kernel" if empty
	History               History
	Limits                Limits
}

// Kernel answers Jupyter messages for one Language. Make one with New, give it a way to speak with
// Start, and hand it every message that arrives with Handle.
type Kernel struct {
	lang    Language
	opts    Options
	session *wire.Session
	routes  map[string]route
	iopub   *publisher
	comms   *Comms
	out     Sender

	shells         *shells // see subshell.go
	tools, control *lane   // see lane.go

	status     sync.Mutex                 // held while busy or idle is published; guards running
	running    *request                   // the cell that is being served
	cell       atomic.Pointer[cellOutput] // the cell in the language's hands
	interrupts sync.Mutex                 // held while cell changes or is interrupted
	asker      asker
	ports      atomic.Pointer[map[string]any]
	meters     *meters

	stopping atomic.Bool
	restart  atomic.Bool
	done     chan struct{}
	close    sync.Once
}

// New returns a kernel for lang. Nothing happens before Start.
func New(lang Language, opts Options) *Kernel {
	opts.fill()
	k := &Kernel{
		lang:    lang,
		opts:    opts,
		session: wire.NewSession(opts.Username),
		shells:  newShells(),
		tools:   newLane(),
		control: newLane(),
		meters:  newMeters(),
		done:    make(chan struct{}),
	}
	k.iopub = newPublisher(k.publish, opts.Limits)
	k.comms = newComms(k)
	k.routes = k.table()
	return k
}

func (o *Options) fill() {
	if o.Implementation == "" {
		o.Implementation = "kafkalab"
	}
	if o.ImplementationVersion == "" {
		o.ImplementationVersion = "0"
	}
	if o.Username == "" {
		o.Username = "kernel"
	}
	if o.History == nil {
		o.History = NewMemoryHistory()
	}
	o.Limits.fill()
}

// Start gives the kernel its voice and says `starting`, once.
func (k *Kernel) Start(out Sender) {
	k.out = out
	k.iopub.message("status", nil, map[string]any{"execution_state": "starting"})
	go k.tools.run(k.serve)
	go k.control.run(k.serve)
	k.run(k.shells.parent)
}

// Handle takes one message that arrived on a channel. It returns at once: the answers come through the
// Sender. Messages of one channel must be handed over in the order in which they arrived.
func (k *Kernel) Handle(ch wire.Channel, m wire.Message) {
	if ch == wire.Stdin {
		if m.Header.MsgType == "input_reply" {
			k.asker.answer(&m)
		}
		return
	}
	r := &request{ch: ch, shell: k.shells.parent, msg: m, parent: m.AsParent(), arrived: time.Now()}
	rt, known := k.routes[m.Header.MsgType]
	if !known {
		rt = route{lane: k.tools, serve: k.unknown}
	}
	// Control is the whole kernel's: what comes there belongs to no subshell.
	if id := m.Header.SubshellID; id != "" && ch == wire.Shell {
		if r.shell = k.shells.find(id); r.shell == nil {
			r.shell = k.shells.parent
			rt = route{lane: k.tools, serve: k.lost}
		}
	}
	if ch == wire.Control && rt.lane == k.tools {
		rt.lane = k.control // what comes on control never waits behind the shell
	}
	if rt.choose != nil {
		rt.lane = rt.choose(r)
	}
	r.lane, r.serve = rt.lane, rt.serve
	if r.lane.push(r) || k.stopping.Load() {
		return
	}
	// The subshell was deleted a moment ago.
	r.lane, r.serve, r.shell = k.tools, k.lost, k.shells.parent
	r.lane.push(r)
}

// Interrupt stops the running cell and any question it asks; the session's state is kept.
func (k *Kernel) Interrupt() {
	if cell := k.cell.Load(); cell != nil {
		k.interrupt(cell)
		return
	}
	k.interruptCell(nil) // what earlier cells left behind
	// A cell that is here already and has not begun yet is meant too.
	asked := time.Now()
	for _, again := range [...]time.Duration{0, 50 * time.Millisecond, 200 * time.Millisecond} {
		time.AfterFunc(again, func() {
			if cell := k.cell.Load(); cell != nil && cell.req.arrived.Before(asked) {
				k.interrupt(cell)
			}
		})
	}
}

// interrupt stops one cell.
func (k *Kernel) interrupt(cell *cellOutput) {
	cell.interrupt()
	k.interruptCell(cell)
	// A language that is just about to begin may have missed it.
	for _, again := range [...]time.Duration{50 * time.Millisecond, 200 * time.Millisecond} {
		time.AfterFunc(again, func() { k.interruptCell(cell) })
	}
}

// interruptCell interrupts this cell and never the next one; with nil, what runs beside the cells when
// none runs.
func (k *Kernel) interruptCell(cell *cellOutput) {
	k.interrupts.Lock()
	defer k.interrupts.Unlock()
	if k.cell.Load() == cell {
		k.lang.Interrupt()
	}
}

// setCell says which cell runs.
func (k *Kernel) setCell(cell *cellOutput) {
	k.interrupts.Lock()
	k.cell.Store(cell)
	k.interrupts.Unlock()
}

// Done is closed when the kernel has answered a shutdown_request, or was closed, and has said its last
// word to the Sender.
func (k *Kernel) Done() <-chan struct{} { return k.done }

// Restarting reports, after Done, whether the frontend is going to start the kernel again.
func (k *Kernel) Restarting() bool { return k.restart.Load() }

// Comms is the registry of comm targets.
func (k *Kernel) Comms() *Comms { return k.comms }

// SessionID is the session of every header that this kernel makes.
func (k *Kernel) SessionID() string { return k.session.ID }

// SetPorts tells what to answer to connect_request (deprecated since protocol 5.1, still asked for).
func (k *Kernel) SetPorts(ports map[string]any) { k.ports.Store(&ports) }

// Welcome is the iopub_welcome for a new subscription (JEP 65). The transport sends it to the one
// subscriber, before anything else.
func (k *Kernel) Welcome(subscription string) *wire.Message {
	content, _ := wire.Marshal(map[string]any{"subscription": subscription}) // a string always encodes
	return &wire.Message{
		Identities: [][]byte{[]byte(subscription)},
		Header:     k.session.Header("iopub_welcome"),
		Content:    content,
	}
}

// publish is how the publisher speaks on iopub.
func (k *Kernel) publish(msgType string, parent, content json.RawMessage, buffers [][]byte) {
	k.out.Send(wire.IOPub, &wire.Message{
		Identities: [][]byte{[]byte("kernel." + k.session.ID + "." + msgType)},
		Header:     k.session.Header(msgType),
		Parent:     parent,
		Content:    content,
		Buffers:    buffers,
	})
}
