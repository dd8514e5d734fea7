package zmq

import (
	"testing"

	"kafkalab/kernel"
	"kafkalab/kernel/kerneltest"
)

// The conversations that the kernel has in memory are the same over five sockets.
func TestTranscriptsOverSockets(t *testing.T) {
	kerneltest.Transcripts(t, "../testdata/transcripts", func(t *testing.T) (*kerneltest.Client, *kernel.Kernel) {
		r := start(t)
		return r.frontend(t, "client"), r.k
	})
}
