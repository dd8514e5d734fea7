package zmq

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/go-zeromq/zmq4"

	"kafkalab/kernel"
	"kafkalab/kernel/wire"
)

// Options of a server. The zero value is right for a kernel.
type Options struct {
	Limits Limits        // DefaultLimits if zero
	Linger time.Duration // how long closing waits for peers to take what is queued; 2 s if 0
	Log    *log.Logger   // os.Stderr if nil
	Ack    time.Duration // how long a registration may stay unanswered; 10 s if 0
	// Runtime is the folder for the connection file of a kernel that chose its ports itself; the folder of
	// the registration file if empty.
	Runtime string
}

func (o *Options) fill() {
	if o.Limits == (Limits{}) {
		o.Limits = DefaultLimits()
	}
	if o.Linger == 0 {
		o.Linger = 2 * time.Second
	}
	if o.Ack == 0 {
		o.Ack = 10 * time.Second
	}
	if o.Log == nil {
		o.Log = log.New(os.Stderr, "kafkalab kernel: ", 0)
	}
}

// Server is the five sockets of a connection file.
type Server struct {
	opts   Options
	info   wire.Connection
	signer *wire.Signer
	seen   *wire.Seen
	counts Counts

	sockets   map[wire.Channel]zmq4.Socket
	listeners map[wire.Channel]*listener
	probe     *probe
	warned    sync.Map // by kind of message, so that a flood is not logged as one
}

// Socket types by channel (message spec, "Introduction").
var kinds = map[wire.Channel]string{
	wire.Shell: "ROUTER", wire.Control: "ROUTER", wire.Stdin: "ROUTER", wire.IOPub: "XPUB", wire.Heartbeat: "REP",
}

// Limits that are tighter because nothing big is ever said there.
const (
	heartbeatBytes = 64 << 10
	subscribeBytes = 4 << 10
)

// Listen binds the sockets. Ports that are 0 are chosen by the system; see Connection.
func Listen(info wire.Connection, opts Options) (*Server, error) {
	opts.fill()
	signer, err := wire.NewSigner(info.SignatureScheme, info.Key)
	if err != nil {
		return nil, err
	}
	s := &Server{
		opts: opts, info: info, signer: signer, seen: wire.NewSeen(1 << 16), probe: newProbe(),
		sockets: map[wire.Channel]zmq4.Socket{}, listeners: map[wire.Channel]*listener{},
	}
	if !info.Loopback() {
		opts.Log.Printf("listening on %s, which other machines may reach: messages are signed, not encrypted", info.IP)
	}
	for _, ch := range wire.Sockets {
		if err := s.bind(ch); err != nil {
			s.shut()
			return nil, fmt.Errorf("zmq: %s socket: %w", ch, err)
		}
	}
	return s, nil
}

func (s *Server) bind(ch wire.Channel) error {
	raw, err := listen(s.info.Address(ch))
	if err != nil {
		return err
	}
	if addr, ok := raw.Addr().(*net.TCPAddr); ok {
		s.info.SetPort(ch, addr.Port)
	}
	limits := s.opts.Limits
	switch ch {
	case wire.Heartbeat:
		limits.InBytes = heartbeatBytes
	case wire.IOPub:
		limits.InBytes = subscribeBytes
	}
	l := newListener(raw, kinds[ch], limits, &s.counts)
	s.listeners[ch] = l
	g, err := registered()
	if err != nil {
		return err
	}
	s.sockets[ch] = open(kinds[ch])
	if err := s.sockets[ch].Listen(g.endpoint(l)); err != nil {
		return err
	}
	if ch == wire.IOPub {
		l.ready <- s.probe
	}
	return nil
}

func open(kind string) zmq4.Socket {
	quiet := zmq4.WithLogger(log.New(io.Discard, "", 0))
	switch kind {
	case "XPUB":
		return zmq4.NewXPub(context.Background(), quiet)
	case "REP":
		return zmq4.NewRep(context.Background(), quiet)
	}
	return zmq4.NewRouter(context.Background(), quiet)
}

// listen opens a TCP or Unix socket. A Unix socket that a dead kernel left behind is in the way, and is
// removed when nobody answers on it.
func listen(network, address string) (net.Listener, error) {
	l, err := net.Listen(network, address)
	if err == nil || network != "unix" {
		return l, err
	}
	if info, statErr := os.Stat(address); statErr != nil || info.Mode().Type() != os.ModeSocket {
		return nil, err
	}
	if conn, dialErr := net.Dial(network, address); dialErr == nil {
		conn.Close()
		return nil, err
	}
	if removeErr := os.Remove(address); removeErr != nil {
		return nil, errors.Join(err, removeErr)
	}
	return net.Listen(network, address)
}

// Connection is what the sockets are bound to, with the ports that the system chose.
func (s *Server) Connection() wire.Connection { return s.info }

// Counts tells what was turned away so far.
func (s *Server) Counts() *Counts { return &s.counts }

// Serve runs the kernel until it is shut down by a message or ctx is done, lets the peers take what is
// still queued, and closes the sockets.
func (s *Server) Serve(ctx context.Context, k *kernel.Kernel) error {
	s.listeners[wire.IOPub].welcome = func(topic string) []byte { return s.welcome(k, topic) }
	ports := map[string]any{}
	for _, ch := range wire.Sockets {
		ports[string(ch)+"_port"] = s.info.Port(ch)
		go s.listeners[ch].run()
	}
	if !s.probe.waitSubscribed(time.Now().Add(s.opts.Linger)) {
		s.shut()
		return errors.New("zmq: the iopub socket does not take subscriptions")
	}
	k.SetPorts(ports)
	k.Start(s)
	for _, ch := range []wire.Channel{wire.Shell, wire.Control, wire.Stdin} {
		go s.receive(ch, k)
	}
	go s.beat()
	select {
	case <-k.Done():
	case <-ctx.Done():
		k.Close()
	}
	s.linger()
	s.shut()
	return nil
}

// receive hands the messages of one socket to the kernel until the socket is closed.
func (s *Server) receive(ch wire.Channel, k *kernel.Kernel) {
	for {
		msg, err := s.sockets[ch].Recv()
		if err != nil {
			return // the context is done: single connections' failures do not show here
		}
		m, err := s.signer.Decode(msg.Frames)
		switch {
		case errors.Is(err, wire.ErrBadSignature):
			s.drop(&s.counts.BadSignature, ch, err)
		case err != nil:
			s.drop(&s.counts.BadMessage, ch, err)
		case !s.seen.First(&m):
			s.drop(&s.counts.Replayed, ch, fmt.Errorf("%s %s was there before", m.Header.MsgType, m.Header.MsgID))
		default:
			k.Handle(ch, m)
		}
	}
}

// drop counts a message that is not for us, and logs the first of its kind.
func (s *Server) drop(count *atomic.Int64, ch wire.Channel, why error) {
	count.Add(1)
	if _, again := s.warned.LoadOrStore(count, true); !again {
		s.opts.Log.Printf("dropped a message on %s: %v (further ones are dropped silently)", ch, why)
	}
}

// beat echoes the heartbeat; it never depends on anything that the kernel does.
func (s *Server) beat() {
	hb := s.sockets[wire.Heartbeat]
	for {
		msg, err := hb.Recv()
		if errors.Is(err, context.Canceled) {
			return
		}
		if err != nil {
			continue // a request without its empty delimiter
		}
		if hb.Send(msg) != nil {
			return
		}
	}
}

// Send implements kernel.Sender. It does not block: connections have queues.
func (s *Server) Send(ch wire.Channel, m *wire.Message) {
	frames, err := s.signer.Encode(m)
	if err != nil {
		s.opts.Log.Printf("%s is not sent: %v", m.Header.MsgType, err)
		return
	}
	if err := s.sockets[ch].Send(zmq4.NewMsgFrom(frames...)); err != nil {
		s.opts.Log.Printf("%s is not sent: %v", m.Header.MsgType, err)
	}
}

func (s *Server) welcome(k *kernel.Kernel, topic string) []byte {
	if !utf8.ValidString(topic) {
		return nil // JSON could not name it
	}
	frames, err := s.signer.Encode(k.Welcome(topic))
	if err != nil {
		s.opts.Log.Printf("iopub_welcome is not sent: %v", err)
		return nil
	}
	return appendMessage(nil, frames)
}

// linger waits until every peer has taken what was said to it, for a while.
func (s *Server) linger() {
	deadline := time.Now().Add(s.opts.Linger)
	if s.sockets[wire.IOPub].Send(zmq4.NewMsg(markerTopic)) == nil {
		s.probe.waitDrained(deadline)
	}
	var wg sync.WaitGroup
	for _, l := range s.listeners {
		for _, p := range l.all() {
			wg.Go(func() { p.finish(deadline) })
		}
	}
	wg.Wait()
}

func (s *Server) shut() {
	for _, l := range s.listeners {
		l.Close()
	}
	for _, socket := range s.sockets {
		socket.Close()
	}
	for _, l := range s.listeners {
		for _, p := range l.all() {
			p.Close()
		}
	}
	s.probe.Close()
}
