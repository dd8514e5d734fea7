package zmq

import (
	"bufio"
	"testing"

	"kafkalab/kernel/wire"
)

// A trivial cell over TCP, from execute_request to idle (ipykernel: 7.2 ms; see also
// BenchmarkTrivialCell in kernel, in memory).
func BenchmarkTrivialCellTCP(b *testing.B) {
	r := start(b)
	c := r.raw(b)
	for b.Loop() {
		c.execute(b, "result 1")
	}
}

// 10,000 printed lines over TCP, to idle (ipykernel: 204 ms).
func BenchmarkTenThousandLinesTCP(b *testing.B) {
	r := start(b)
	c := r.raw(b)
	for b.Loop() {
		c.execute(b, "flood 10000 0123456789012345678901234567890123456789")
	}
}

// rawClient checks nothing, so that the kernel is what is measured.
type rawClient struct {
	r            *running
	shell, iopub *link
	session      *wire.Session
}

func (r *running) raw(b *testing.B) *rawClient {
	c := &rawClient{r: r, session: wire.NewSession("bench")}
	c.shell = r.connect(b, wire.Shell, "DEALER", "bench")
	c.iopub = r.connect(b, wire.IOPub, "SUB", "")
	c.iopub.r = bufio.NewReaderSize(c.iopub.Conn, 1<<16)
	if err := c.iopub.send([]byte{1}); err != nil {
		b.Fatal(err)
	}
	if _, err := c.iopub.recv(); err != nil { // the welcome
		b.Fatal(err)
	}
	return c
}

func (c *rawClient) execute(b *testing.B, code string) {
	content, err := wire.Marshal(map[string]any{"code": code})
	if err != nil {
		b.Fatal(err)
	}
	m := wire.Message{Header: c.session.Header("execute_request"), Content: content}
	frames, err := c.r.signer.Encode(&m)
	if err != nil {
		b.Fatal(err)
	}
	if err := c.shell.send(frames...); err != nil {
		b.Fatal(err)
	}
	if _, err := c.shell.recv(); err != nil {
		b.Fatal(err)
	}
	for {
		frames, err := c.iopub.recv()
		if err != nil {
			b.Fatal(err)
		}
		if content := string(frames[len(frames)-1]); content == `{"execution_state":"idle"}` {
			return
		}
	}
}
