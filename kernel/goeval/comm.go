package goeval

import (
	"reflect"

	"kafkalab/kernel"
	"kafkalab/kernel/goeval/internal/exec"
	"kafkalab/kernel/lab"
)

// commPort is a kernel's comm as package lab uses it. Handlers are goroutines of the cell that made the
// comm: they print into its output, a panic is reported, an interrupt with no cell running ends them.
type commPort struct {
	n    notebook
	comm *kernel.Comm
}

// Send implements lab.CommPort.
func (p *commPort) Send(data any, buffers [][]byte) error { return p.comm.Send(data, buffers...) }

// Close implements lab.CommPort.
func (p *commPort) Close(data any) error { return p.comm.Close(data) }

// Do implements lab.CommPort.
func (p *commPort) Do(handler any, args ...any) { p.n.handle(handler, args...) }

// handle calls a handler as a goroutine of the cell and waits for its end. The cell's own run may have
// been interrupted long ago, so the handler has one of its own.
func (n notebook) handle(handler any, args ...any) {
	values := make([]reflect.Value, len(args))
	for i, a := range args {
		values[i] = reflect.ValueOf(a)
	}
	call := &exec.Call{Machine: n.e.machine, Run: exec.NewRun(n.run.Tag)}
	ended := make(chan struct{})
	call.Go(reflect.ValueOf(handler), func() { close(ended) }, values...)
	<-ended
}

// comms is the kernel's registry; a cell that no kernel runs has none.
func (n notebook) comms() *kernel.Comms {
	if o, ok := n.run.Tag.(*outlet); ok && o.comms != nil {
		return o.comms
	}
	panic(usage("there is no frontend to talk to"))
}

// attach makes the cell's side of a comm.
func (n notebook) attach(c *kernel.Comm) *lab.Comm {
	n.e.alarms.never() // a message may wake a goroutine at any time
	comm, deliver, closed := lab.NewComm(c.ID, c.Target, &commPort{n, c})
	c.OnMessage = func(m kernel.CommMessage) { deliver(lab.NewCommMessage(m.Data, m.Buffers)) }
	c.OnClose = func(m kernel.CommMessage) { closed(lab.NewCommMessage(m.Data, m.Buffers)) }
	return comm
}

// OnComm implements lab.Notebook.
func (n notebook) OnComm(target string, f func(c *lab.Comm, opened lab.CommMessage)) {
	if target == "" {
		panic(usage("OnComm: a target needs a name"))
	}
	if f == nil {
		n.comms().Register(target, nil)
		return
	}
	n.e.alarms.never()
	n.comms().Register(target, func(c *kernel.Comm, opened kernel.CommMessage) error {
		comm := n.attach(c)
		n.handle(f, comm, lab.NewCommMessage(opened.Data, opened.Buffers))
		return nil
	})
}

// OpenComm implements lab.Notebook.
func (n notebook) OpenComm(target string, data any, buffers [][]byte) *lab.Comm {
	if target == "" {
		panic(usage("OpenComm: the name of the target in the frontend is missing"))
	}
	var comm *lab.Comm
	_, err := n.comms().Open(target, data, func(c *kernel.Comm) { comm = n.attach(c) }, buffers...)
	if err != nil {
		panic(usage("OpenComm: " + err.Error()))
	}
	return comm
}

func init() {
	intrinsics[labPath+"OnComm"] = labCall(func(n notebook, a []reflect.Value) []reflect.Value {
		n.OnComm(a[0].String(), a[1].Interface().(func(*lab.Comm, lab.CommMessage)))
		return nil
	})
	intrinsics[labPath+"OpenComm"] = labCall(func(n notebook, a []reflect.Value) []reflect.Value {
		buffers, _ := a[2].Interface().([][]byte)
		return []reflect.Value{reflect.ValueOf(n.OpenComm(a[0].String(), a[1].Interface(), buffers))}
	})
}
