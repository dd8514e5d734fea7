package lab

import (
	"context"
	"fmt"
	"log"
	"runtime/debug"

	"kafkalab/charts/assets"
	"kafkalab/install/kernelspec"
	"kafkalab/kernel"
	"kafkalab/kernel/zmq"
)

// Serve is the kernel that Jupyter starts: it serves the sockets of a connection file until it is shut
// down.
func Serve(connectionFile, version string) error {
	stderr, err := ownStderr()
	if err != nil {
		return fmt.Errorf("the kernel cannot start: %w", err)
	}
	// What the runtime writes when the process dies must reach Jupyter's log, not the output of a cell that
	// nobody delivers any more.
	if err := debug.SetCrashOutput(stderr, debug.CrashOptions{}); err != nil {
		return fmt.Errorf("the kernel cannot start: %w", err)
	}
	language, err := NewLanguage(Options{Capture: true, Log: stderr, Warm: true})
	if err != nil {
		return fmt.Errorf("the kernel cannot start: %w", err)
	}
	defer language.Close() // gives the descriptors back, so that what went wrong can be said
	k := kernel.New(language, kernel.Options{Implementation: kernelspec.DefaultName, ImplementationVersion: version})
	k.Comms().Register(assets.ExportTarget, serveExport)
	return zmq.Serve(context.Background(), connectionFile, k, zmq.Options{Log: log.New(stderr, "kafkalab kernel: ", 0)})
}
