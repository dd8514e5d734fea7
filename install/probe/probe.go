// Package probe starts a kernel the way Jupyter starts it and talks to it over its real sockets, to find
// out whether an installation works.
package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"

	"kafkalab/kernel/wire"
)

// Kernel is a running kernel process with a frontend's sockets connected to it.
type Kernel struct {
	Started time.Duration // from starting the process to the first kernel_info_reply
	Info    Info

	process *exec.Cmd
	ended   chan struct{}
	stderr  bytes.Buffer
	folder  string
	session *wire.Session
	signer  *wire.Signer
	shell   zmq4.Socket
	iopub   zmq4.Socket
	control zmq4.Socket
	cancel  context.CancelFunc
	heard   chan heard
	listens chan struct{} // closed when the kernel has taken note of the subscription
}

// Info is what kernel_info_reply says, as far as a person wants to know it.
type Info struct {
	Implementation  string `json:"implementation"`
	Version         string `json:"implementation_version"`
	ProtocolVersion string `json:"protocol_version"`
	Language        struct {
		Name string `json:"name"`
	} `json:"language_info"`
}

// Answer is what a cell showed.
type Answer struct {
	Text   string                     // what it printed, and its result as text
	Bundle map[string]json.RawMessage // the last bundle that it displayed or returned
}

type heard struct {
	channel wire.Channel
	message wire.Message
}

// Start starts the kernel with a kernelspec's argv, in which {connection_file} stands for the file, and
// waits until it answers.
func Start(ctx context.Context, argv []string) (*Kernel, error) { return start(ctx, argv, givenPorts) }

// StartRegistered starts the kernel by the start handshake of protocol 5.6: the kernel chooses its ports
// and registers them.
func StartRegistered(ctx context.Context, argv []string) (*Kernel, error) {
	return start(ctx, argv, chosenPorts)
}

func start(ctx context.Context, argv []string, way func() (*opening, error)) (*Kernel, error) {
	folder, err := os.MkdirTemp("", "kafkalab-probe-")
	if err != nil {
		return nil, err
	}
	k := &Kernel{folder: folder, session: wire.NewSession("probe"), heard: make(chan heard, 256), listens: make(chan struct{}), ended: make(chan struct{})}
	if err := k.start(ctx, argv, way); err != nil {
		k.Stop()
		return nil, k.explain(err)
	}
	return k, nil
}

func (k *Kernel) start(ctx context.Context, argv []string, way func() (*opening, error)) error {
	o, err := way()
	if err != nil {
		return err
	}
	defer o.close()
	file := filepath.Join(k.folder, "kernel connection.json")
	text, err := wire.Marshal(o.file)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	if k.signer, err = wire.NewSigner(wire.SignatureScheme, o.key); err != nil {
		return err
	}
	args := make([]string, len(argv))
	for i, a := range argv {
		args[i] = strings.ReplaceAll(a, "{connection_file}", file)
	}
	begun := time.Now()
	k.process = exec.Command(args[0], args[1:]...)
	k.process.Dir = k.folder
	k.process.Stderr = &k.stderr
	k.process.Env = append(os.Environ(), "KAFKALAB_HISTORY=off")
	if err := k.process.Start(); err != nil {
		return err
	}
	go func() { k.process.Wait(); close(k.ended) }()
	connection, err := o.connection(ctx, k)
	if err != nil {
		return err
	}
	sockets, cancel := context.WithCancel(context.Background())
	k.cancel = cancel
	if err := k.connect(ctx, sockets, connection); err != nil {
		return err
	}
	reply, err := k.ask(ctx, k.shell, "kernel_info_request", map[string]any{})
	if err != nil {
		return err
	}
	k.Started = time.Since(begun)
	select { // what is published before would be lost
	case <-k.listens:
	case <-k.ended:
		return errors.New("the process ended")
	case <-ctx.Done():
		return errors.New("it did not take the subscription of its iopub socket in time")
	}
	return json.Unmarshal(reply.Content, &k.Info)
}

func (k *Kernel) connect(ctx, sockets context.Context, c wire.Connection) error {
	identity := zmq4.WithID(zmq4.SocketIdentity(k.session.ID))
	// A kernel binds its ports some time after its process starts.
	retry := []zmq4.Option{identity, zmq4.WithDialerRetry(10 * time.Millisecond), zmq4.WithDialerMaxRetries(-1), zmq4.WithAutomaticReconnect(false)}
	k.shell = zmq4.NewDealer(sockets, retry...)
	k.control = zmq4.NewDealer(sockets, retry...)
	k.iopub = zmq4.NewSub(sockets, retry...)
	for _, s := range []struct {
		socket  zmq4.Socket
		channel wire.Channel
	}{{k.shell, wire.Shell}, {k.control, wire.Control}, {k.iopub, wire.IOPub}} {
		_, address := c.Address(s.channel)
		if err := k.dial(ctx, s.socket, "tcp://"+address); err != nil {
			return fmt.Errorf("the kernel's %s socket: %w", s.channel, err)
		}
		if s.channel == wire.IOPub {
			if err := s.socket.SetOption(zmq4.OptionSubscribe, ""); err != nil {
				return err
			}
		}
		go k.listen(s.socket, s.channel)
	}
	return nil
}

// dial waits for the port, but no longer than the process lives.
func (k *Kernel) dial(ctx context.Context, s zmq4.Socket, address string) error {
	done := make(chan error, 1)
	go func() { done <- s.Dial(address) }()
	select {
	case err := <-done:
		return err
	case <-k.ended:
		return errors.New("the process ended before it opened it")
	case <-ctx.Done():
		return errors.New("it did not open in time")
	}
}

func (k *Kernel) listen(s zmq4.Socket, ch wire.Channel) {
	var welcome sync.Once
	for {
		frames, err := s.Recv()
		if err != nil {
			return
		}
		m, err := k.signer.Decode(frames.Frames)
		switch {
		case err != nil:
		case m.Header.MsgType == "iopub_welcome":
			welcome.Do(func() { close(k.listens) })
		default:
			k.heard <- heard{ch, m}
		}
	}
}

func (k *Kernel) send(s zmq4.Socket, msgType string, content any) (id string, err error) {
	raw, err := wire.Marshal(content)
	if err != nil {
		return "", err
	}
	m := wire.Message{Header: k.session.Header(msgType), Content: raw}
	frames, err := k.signer.Encode(&m)
	if err != nil {
		return "", err
	}
	return m.Header.MsgID, s.SendMulti(zmq4.NewMsgFrom(frames...))
}

// ask sends a request and waits for its reply.
func (k *Kernel) ask(ctx context.Context, s zmq4.Socket, msgType string, content any) (wire.Message, error) {
	id, err := k.send(s, msgType, content)
	if err != nil {
		return wire.Message{}, err
	}
	for {
		h, err := k.next(ctx)
		if err != nil {
			return wire.Message{}, fmt.Errorf("no reply to %s: %w", msgType, err)
		}
		if h.channel != wire.IOPub && h.message.ParentHeader().MsgID == id {
			return h.message, nil
		}
	}
}

func (k *Kernel) next(ctx context.Context) (heard, error) {
	select {
	case h := <-k.heard:
		return h, nil
	case <-k.ended:
		return heard{}, errors.New("the process ended")
	case <-ctx.Done():
		return heard{}, errors.New("it took too long")
	}
}

// Execute runs one cell and waits for its reply and its idle.
func (k *Kernel) Execute(ctx context.Context, code string) (Answer, error) {
	var a Answer
	id, err := k.send(k.shell, "execute_request", map[string]any{"code": code, "silent": false, "store_history": true, "allow_stdin": false})
	if err != nil {
		return a, err
	}
	var failed error
	for idle, replied := false, false; !idle || !replied; {
		h, err := k.next(ctx)
		if err != nil {
			return a, fmt.Errorf("the cell did not end: %w", err)
		}
		if h.message.ParentHeader().MsgID != id {
			continue
		}
		var c struct {
			State  string                     `json:"execution_state"`
			Text   string                     `json:"text"`
			Data   map[string]json.RawMessage `json:"data"`
			EName  string                     `json:"ename"`
			EValue string                     `json:"evalue"`
		}
		if err := json.Unmarshal(h.message.Content, &c); err != nil {
			return a, err
		}
		switch h.message.Header.MsgType {
		case "status":
			idle = c.State == "idle"
		case "execute_reply":
			replied = true
			if c.EName != "" {
				failed = fmt.Errorf("%s: %s", c.EName, c.EValue)
			}
		case "stream":
			a.Text += c.Text
		case "execute_result", "display_data":
			a.Bundle = c.Data
			var text string
			if json.Unmarshal(c.Data["text/plain"], &text) == nil {
				a.Text += text
			}
		}
	}
	return a, failed
}

// Interrupt asks the kernel to stop the running cell, and does not wait for the answer: Execute sees what
// comes of it.
func (k *Kernel) Interrupt() error {
	_, err := k.send(k.control, "interrupt_request", map[string]any{})
	return err
}

// PID is the number of the kernel's process.
func (k *Kernel) PID() int { return k.process.Process.Pid }

// stopGrace is how long a kernel may take to end when asked.
const stopGrace = 3 * time.Second

// Stop ends the kernel: by request, and by force if it does not heed it.
func (k *Kernel) Stop() {
	if k.process != nil && k.process.Process != nil {
		if k.control != nil {
			k.send(k.control, "shutdown_request", map[string]any{"restart": false})
		}
		select {
		case <-k.ended:
		case <-time.After(stopGrace):
			k.process.Process.Kill()
			<-k.ended
		}
	}
	if k.cancel != nil {
		k.cancel()
	}
	for _, s := range []zmq4.Socket{k.shell, k.iopub, k.control} {
		if s != nil {
			s.Close()
		}
	}
	os.RemoveAll(k.folder)
}

// explain adds what the process wrote before it went.
func (k *Kernel) explain(err error) error {
	if text := strings.TrimSpace(k.stderr.String()); text != "" {
		lines := strings.Split(text, "\n")
		return fmt.Errorf("%w; it wrote: %s", err, lines[len(lines)-1])
	}
	return err
}
