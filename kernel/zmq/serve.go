package zmq

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"kafkalab/kernel"
	"kafkalab/kernel/wire"
)

// Serve runs k until a shutdown_request, SIGTERM, the end of ctx or the death of the process that started
// it. The file is a connection file, which names the sockets, or a registration file: then the kernel
// chooses its ports, registers them, and ends if nobody acknowledges. SIGINT interrupts the running cell,
// as interrupt_request does: some frontends signal.
func Serve(ctx context.Context, file string, k *kernel.Kernel, opts Options) error {
	s, forget, err := prepare(ctx, file, opts)
	if err != nil {
		return err
	}
	defer forget()
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	go func() {
		for {
			select {
			case <-interrupts:
				k.Interrupt()
			case <-ctx.Done():
				return
			}
		}
	}()
	if os.Getenv("JPY_PARENT_PID") != "" {
		go watchParent(ctx, cancel)
	}
	return s.Serve(ctx, k)
}

// prepare binds the sockets, and registers them if that is asked for; forget removes what was written.
func prepare(ctx context.Context, file string, opts Options) (s *Server, forget func(), err error) {
	forget = func() {}
	info, registration, err := wire.ReadStart(file)
	if err != nil {
		return nil, forget, err
	}
	if registration == nil {
		s, err = Listen(info, opts)
		return s, forget, err
	}
	opts.fill()
	r, err := reach(ctx, *registration, opts.Ack)
	if err != nil {
		return nil, forget, err
	}
	defer r.Close()
	if info, err = r.connection(); err != nil {
		return nil, forget, err
	}
	if s, err = Listen(info, opts); err != nil {
		return nil, forget, err
	}
	if err := s.register(ctx, r); err != nil {
		s.shut()
		return nil, forget, err
	}
	dir := s.opts.Runtime
	if dir == "" {
		dir = filepath.Dir(file)
	}
	path, err := s.writeConnection(dir, registration.KernelID)
	if err != nil { // the client that started us needs no file
		s.opts.Log.Printf("no connection file for other clients: %v", err)
		return s, forget, nil
	}
	return s, func() { os.Remove(path) }, nil
}

// watchParent ends the kernel when the process that started it is gone: an orphan is given to another
// parent. (Jupyter sets JPY_PARENT_PID for kernels that must not outlive it.)
func watchParent(ctx context.Context, cancel func()) {
	parent := os.Getppid()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if os.Getppid() != parent {
				cancel()
				return
			}
		case <-ctx.Done():
			return
		}
	}
}
