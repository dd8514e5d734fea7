package goeval

import (
	"bytes"
	"io"
	"log"
	"log/slog"
	"os"
	"reflect"
	"sync"
	"sync/atomic"
)

// streams are the files that cells see as os.Stdout and os.Stderr: pipes whose other end writes to the
// output of the running cell. With Options.Capture they also take the place of the process's own.
type streams struct {
	e        *Engine
	out, err *pipe
	used     atomic.Bool // a cell has mentioned a file or a logger: output must be kept in order
	stdout   *os.File
	stderr   *os.File
	log      *log.Logger
	slog     *slog.Logger
	restore  func()
	started  sync.Once
	startErr error
}

// pipe carries one stream. Marks written into it tell when everything before them has arrived.
type pipe struct {
	name string
	w    *os.File
	r    *os.File
	sync.Mutex
	marks chan struct{}
	// delivery is held from before bytes are taken out of the pipe until they are delivered.
	delivery sync.Mutex
	ended    chan struct{}
}

// mark cannot occur in text by accident.
var mark = []byte("\x00\x01kafkalab-flush\x01\x00")

func (s *streams) start(e *Engine) error {
	s.e = e
	if !e.opts.Capture {
		return nil
	}
	s.used.Store(true)
	return s.open()
}

// open makes the pipes at first use.
func (s *streams) open() error {
	s.started.Do(func() {
		if s.out, s.startErr = s.newPipe("stdout"); s.startErr != nil {
			return
		}
		if s.err, s.startErr = s.newPipe("stderr"); s.startErr != nil {
			return
		}
		s.stdout, s.stderr = s.out.w, s.err.w
		s.log = log.New(errWriter{s.e}, "", log.LstdFlags)
		s.slog = slog.New(slog.NewTextHandler(errWriter{s.e}, nil))
		if s.e.opts.Capture {
			s.restore, s.startErr = takeDescriptors(s.out.w, s.err.w)
			log.SetOutput(s.stderr)
		}
	})
	return s.startErr
}

// errWriter is the running cell's stderr. It does not go through the pipe, so that what is logged keeps its
// place among what is printed.
type errWriter struct{ e *Engine }

func (w errWriter) Write(b []byte) (int, error) {
	w.e.write(w.e.machine.Current(), "stderr", string(b))
	return len(b), nil
}

func (s *streams) newPipe(name string) (*pipe, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p := &pipe{name: name, r: r, w: w, marks: make(chan struct{}, 1), ended: make(chan struct{})}
	go p.pump(s.e)
	return p, nil
}

// pump carries what is written to the running cell's output.
func (p *pipe) pump(e *Engine) {
	defer close(p.ended)
	buf := make([]byte, 64<<10)
	var rest []byte
	for {
		err := p.take(buf, func(b []byte) { rest = p.deliver(e, append(rest, b...)) })
		if err != nil {
			e.fromPipe(p.name, string(rest))
			return
		}
	}
}

// deliver hands on what is in b, marks apart, and returns what may be the beginning of a mark: it waits
// for the rest.
func (p *pipe) deliver(e *Engine, b []byte) (rest []byte) {
	for {
		before, after, found := bytes.Cut(b, mark)
		if !found {
			break
		}
		e.fromPipe(p.name, string(before))
		b = after
		p.marks <- struct{}{}
	}
	hold := partial(b)
	e.fromPipe(p.name, string(b[:len(b)-hold]))
	return append([]byte{}, b[len(b)-hold:]...)
}

// partial is how many bytes at the end of b may begin a mark.
func partial(b []byte) int {
	for n := min(len(mark)-1, len(b)); n > 0; n-- {
		if bytes.HasSuffix(b, mark[:n]) {
			return n
		}
	}
	return 0
}

// sync returns when everything written so far has been delivered.
func (p *pipe) sync() {
	p.Lock()
	defer p.Unlock()
	if p.empty() {
		return
	}
	if _, err := p.w.Write(mark); err == nil {
		<-p.marks
	}
}

func (e *Engine) fromPipe(stream, text string) {
	if text == "" {
		return
	}
	if o, ok := e.machine.Current().Tag.(*outlet); ok && o.out != nil {
		o.stream(stream, text)
	} else if e.opts.Log != nil {
		io.WriteString(e.opts.Log, text)
	}
}

// order lets text in the pipes go first.
func (s *streams) order() {
	if s.used.Load() {
		s.flush()
	}
}

// flush delivers everything that has been written.
func (s *streams) flush() {
	if s.out == nil || s.err == nil {
		return
	}
	s.out.sync()
	s.err.sync()
}

func (s *streams) stop() {
	if s.out == nil {
		return
	}
	s.flush()
	if s.restore != nil {
		s.restore()
	}
	for _, p := range []*pipe{s.out, s.err} {
		p.w.Close()
		<-p.ended
		p.r.Close()
	}
}

// symbol replaces the process's files and loggers.
func (s *streams) symbol(pkg, name string) (reflect.Value, bool) {
	switch pkg {
	case "os":
		if name != "Stdout" && name != "Stderr" {
			return reflect.Value{}, false
		}
	case "log", "log/slog":
	default:
		return reflect.Value{}, false
	}
	s.used.Store(true)
	if s.open() != nil {
		return reflect.Value{}, false
	}
	switch {
	case name == "Stdout":
		return reflect.ValueOf(&s.stdout).Elem(), true
	case name == "Stderr":
		return reflect.ValueOf(&s.stderr).Elem(), true
	}
	return s.logSymbol(pkg, name)
}

// streamOf names the stream that a file of the cell's is; "" for anything else.
func (s *streams) streamOf(w any) string {
	f, ok := w.(*os.File)
	switch {
	case !ok || f == nil || s.out == nil || s.err == nil:
		return ""
	case f == s.out.w:
		return "stdout"
	case f == s.err.w:
		return "stderr"
	}
	return ""
}

func (s *streams) logger() *log.Logger {
	s.open()
	return s.log
}

// logSymbol replaces the functions of log and log/slog that use the default logger by the methods of
// the session's own.
func (s *streams) logSymbol(pkg, name string) (reflect.Value, bool) {
	if pkg == "log" {
		switch name {
		case "Default":
			return reflect.ValueOf(func() *log.Logger { return s.log }), true
		case "Print", "Printf", "Println", "Panic", "Panicf", "Panicln", "SetFlags", "SetPrefix", "SetOutput", "Flags", "Prefix", "Writer", "Output":
			return reflect.ValueOf(s.log).MethodByName(name), true
		}
		return reflect.Value{}, false
	}
	switch name {
	case "Default":
		return reflect.ValueOf(func() *slog.Logger { return s.slog }), true
	case "SetDefault":
		return reflect.ValueOf(func(l *slog.Logger) { *s.slog = *l }), true
	case "Debug", "Info", "Warn", "Error", "DebugContext", "InfoContext", "WarnContext", "ErrorContext", "Log", "LogAttrs", "With":
		return reflect.ValueOf(s.slog).MethodByName(name), true
	}
	return reflect.Value{}, false
}
