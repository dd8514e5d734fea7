package machine

import "testing"

// Two requests of a producer are on one connection. Delaying the first delays the second, and hurrying the second
// hurries the first; a third, which is sent meanwhile, waits behind both, and another connection does not.
func TestDelayAndDeliverKeepAConnectionsOrder(t *testing.T) {
	for _, hurry := range []bool{false, true} {
		b := newBench(t, 1)
		tp := b.topic("orders", 1, []NodeID{1})
		b.run(10 * ms)
		send := func(conn uint32, value string) uint64 {
			b.send(FirstProbe, 1, conn, b.correlation+100, b.produceRequest(tp, 1, value))
			return b.Seq
		}
		first, second := send(7, "first"), send(7, "second")
		other := send(8, "other")
		b.Apply(DelayMessage{first, 50 * ms})
		third := send(7, "third")
		if hurry {
			b.Apply(DeliverMessage{second})
		}
		var order []uint64
		at := map[uint64]int64{}
		start := b.Now
		for b.Now < start+100*ms {
			e, _ := b.Step()
			if _, ok := e.Payload.(ProduceRequest); ok {
				order, at[e.Seq] = append(order, e.Seq), e.At-start
			}
		}
		want := []uint64{other, first, second, third}
		if hurry {
			want = []uint64{first, second, other, third}
		}
		for i := range want {
			if len(order) != len(want) || order[i] != want[i] {
				t.Fatalf("hurry %v: arrived %v, want %v", hurry, order, want)
			}
		}
		if at[third] != 51*ms || at[other] != 1*ms || !hurry && at[second] != 51*ms || hurry && at[second] != 0 {
			t.Errorf("hurry %v: arrived at %v", hurry, at)
		}
	}
}
