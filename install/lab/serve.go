package lab

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime/debug"

	"kafkalab/charts/assets"
	"kafkalab/install/kernelspec"
	"kafkalab/kernel"
	"kafkalab/kernel/zmq"
)

// Serve is the kernel that Jupyter starts: it serves the sockets of a connection file, or registers its own,
// until it is shut down. With allowShell, cells may run shell commands.
func Serve(connectionFile, version string, allowShell bool) error {
	stderr, err := ownStderr()
	if err != nil {
		return fmt.Errorf("the kernel cannot start: %w", err)
	}
	// What the runtime writes when the process dies must reach Jupyter's log, not the output of a cell that
	// nobody delivers any more.
	if err := debug.SetCrashOutput(stderr, debug.CrashOptions{}); err != nil {
		return fmt.Errorf("the kernel cannot start: %w", err)
	}
	language, err := NewLanguage(Options{Capture: true, Log: stderr, Warm: true, Progress: true, AllowShell: allowShell})
	if err != nil {
		return fmt.Errorf("the kernel cannot start: %w", err)
	}
	defer language.Close() // gives the descriptors back, so that what went wrong can be said
	logger := log.New(stderr, "kafkalab kernel: ", 0)
	k := kernel.New(language, kernel.Options{
		Implementation: kernelspec.DefaultName, ImplementationVersion: version, History: history(logger),
	})
	k.Comms().Register(assets.ExportTarget, serveExport)
	runtime, err := kernelspec.Runtime()
	if err != nil {
		runtime = "" // beside the registration file then
	}
	return zmq.Serve(context.Background(), connectionFile, k, zmq.Options{Log: logger, Runtime: runtime})
}

// HistoryVariable names the file that keeps the executed cells; "off" keeps them only as long as the
// kernel runs.
const HistoryVariable = "KAFKALAB_HISTORY"

// history is the history of this person's kernels.
func history(logger *log.Logger) kernel.History {
	switch path := os.Getenv(HistoryVariable); {
	case path == "off":
		return kernel.NewMemoryHistory()
	case path != "":
		return kernel.NewFileHistory(path)
	}
	share, err := kernelspec.Share()
	if err != nil {
		logger.Printf("the history is not kept: %v", err)
		return kernel.NewMemoryHistory()
	}
	return kernel.NewFileHistory(filepath.Join(share, "history.jsonl"))
}
