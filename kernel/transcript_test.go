package kernel_test

import (
	"slices"
	"testing"

	"kafkalab/kernel"
	"kafkalab/kernel/kerneltest"
)

// The conversations in testdata, in memory; kernel/zmq has them over sockets.
func TestTranscripts(t *testing.T) {
	kerneltest.Transcripts(t, "testdata/transcripts", func(t *testing.T) (*kerneltest.Client, *kernel.Kernel) {
		c := kerneltest.Start(t, &kerneltest.Echo{}, kernel.Options{})
		c.K.SetPorts(map[string]any{"shell_port": 1, "iopub_port": 2, "stdin_port": 3, "control_port": 4, "hb_port": 5})
		return c, c.K
	})
}

// No message type is left out: each that the kernel serves is asked, each that it sends is there. The
// welcome is the transport's, see kernel/zmq.
func TestTranscriptsHaveEveryMessageType(t *testing.T) {
	untold, err := kerneltest.Untold("testdata/transcripts", kernel.RequestTypes())
	if err != nil || !slices.Equal(untold, []string{"iopub_welcome"}) {
		t.Errorf("no transcript has %v (%v)", untold, err)
	}
}
