package partlog

import (
	"encoding/hex"
	"testing"
)

// P-101 to P-106: the bytes of a batch are as many as Size says, and their checksum is CRC-32C.
func TestEncode(t *testing.T) {
	batch := func(value string) Batch {
		b := Batch{BaseOffset: 7, LeaderEpoch: 3, ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1}
		b.Records.Append(&Record{Key: "user-1", Value: value, Timestamp: 1000}, nil)
		b.Records.Append(&Record{Key: "user-2", Timestamp: 1300, Flags: NullValue}, []Header{{"trace", "1"}})
		b.Records.Append(&Record{Value: "x", Timestamp: 900, Flags: NullKey}, nil)
		b.Size = BatchSize(&b.Records)
		return b
	}
	b := batch("hello")
	got := b.Encode()
	if len(got) != int(b.Size) {
		t.Errorf("%d bytes, Size says %d", len(got), b.Size)
	}
	const want = "0000000000000007" + "00000062" + "00000003" + "02"
	if head := hex.EncodeToString(got[:17]); head != want {
		t.Errorf("begins with %s, want %s", head, want)
	}
	moved := b
	moved.BaseOffset, moved.LeaderEpoch = 99, 4
	if moved.CRC() != b.CRC() {
		t.Error("the checksum covers what the broker stamps")
	}
	other := batch("hellp")
	if other.CRC() == b.CRC() {
		t.Error("the checksum does not cover the records")
	}
}
