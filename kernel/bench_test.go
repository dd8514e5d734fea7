package kernel_test

import (
	"testing"

	"kafkalab/kernel"
	"kafkalab/kernel/kerneltest"
	"kafkalab/kernel/wire"
)

// idler counts idles and checks nothing, so that the kernel is what is measured.
type idler chan struct{}

func (i idler) Send(ch wire.Channel, m *wire.Message) {
	if ch == wire.IOPub && string(m.Content) == `{"execution_state":"idle"}` {
		i <- struct{}{}
	}
}

func benchmarkCell(b *testing.B, code string) {
	idle := make(idler, 1)
	k := kernel.New(&kerneltest.Echo{}, kernel.Options{Limits: kernel.Limits{Unpaced: true}})
	k.Start(idle)
	defer k.Close()
	session := wire.NewSession("bench")
	content, err := wire.Marshal(map[string]any{"code": code, "store_history": false})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		m := wire.Message{Header: session.Header("execute_request"), Content: content}
		m.RawHeader = m.AsParent()
		k.Handle(wire.Shell, m)
		<-idle
	}
}

// A trivial cell in memory, from request to idle.
func BenchmarkTrivialCell(b *testing.B) { benchmarkCell(b, "result 1") }

// 10,000 printed lines in memory.
func BenchmarkTenThousandLines(b *testing.B) {
	benchmarkCell(b, "flood 10000 0123456789012345678901234567890123456789")
}
