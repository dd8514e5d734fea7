package zmq

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"kafkalab/kernel"
	"kafkalab/kernel/wire"
)

// Serve runs k on the sockets of a connection file until a shutdown_request, SIGTERM, the end of ctx or
// the death of the process that started it. SIGINT interrupts the running cell, as interrupt_request
// does: some frontends signal.
func Serve(ctx context.Context, connectionFile string, k *kernel.Kernel, opts Options) error {
	info, err := wire.ReadConnection(connectionFile)
	if err != nil {
		return err
	}
	s, err := Listen(info, opts)
	if err != nil {
		return err
	}
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
