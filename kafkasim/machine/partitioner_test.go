package machine

import (
	"encoding/binary"
	"testing"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
)

func bigEndian(size int, v int64) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(v))
	return string(b[8-size:])
}

// P-1, P-2, P-4, P-5: golden hashes and partitions, of Kafka's own tests and classes.
func TestMurmur2P1(t *testing.T) {
	for _, c := range []struct {
		key         string
		hash        int32
		p3, p6, p12 int32
	}{
		{"21", -973932308, 0, 0, 0},
		{"foobar", -790332482, 0, 0, 6},
		{"a-little-bit-long-string", -985981536, 2, 2, 8},
		{"a-little-bit-longer-string", -1486304829, 2, 5, 11},
		{"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971, 2, 5, 5},
		{"abc", 479470107, 0, 3, 3},
		{"", 275646681, 0, 3, 9},
		{"a", -1563381124, 1, 4, 4},
		{"ab", 316155434, 2, 2, 2},
		{"abcd", -1323649548, 2, 2, 8},
		{"user-1", 1404122828, 2, 2, 8},
		{"user-2", -324981792, 2, 2, 8},
		{"user-3", 1141442267, 2, 5, 11},
		{"user-4", 2067937567, 1, 1, 7},
		{"user-5", -345666322, 1, 4, 10},
		{"user-6", -936439275, 2, 5, 5},
		{"user-7", 696778364, 2, 2, 8},
		{"user-8", -1644747527, 0, 3, 9},
		{"user-9", -1013299269, 2, 5, 11},
		{"user-10", -1766607138, 2, 2, 2},
		{"booking-1", 828556902, 0, 0, 6},
		{"booking-2", 1067732664, 0, 0, 0},
		{"booking-3", 1615356839, 2, 5, 11},
		{"booking-21", -125506655, 0, 3, 9},
		{"customer-1", 1939597761, 0, 3, 9},
		{"customer-42", -542987495, 0, 3, 9},
		{"order-1", 1221710326, 1, 4, 10},
		{"order-2", -1055499005, 0, 3, 3},
		{"order-3", -849583649, 0, 3, 3},
		{"order-1001", 297523878, 0, 0, 6},
		{"key1", 28543940, 2, 2, 8},
		{"key2", 1674751211, 2, 5, 11},
		{"key3", -1745673403, 1, 1, 1},
		{"0", 971027396, 2, 2, 8},
		{"1", -1993445489, 0, 3, 3},
		{"42", 417700972, 1, 4, 4},
		{"payment-7", -1858667519, 0, 3, 9},
		{"sensor-07", -628377105, 2, 5, 11},
		{"device-1", 1007784178, 1, 4, 10},
		{"alice", 1951417749, 0, 3, 9},
		{"bob", -2048144690, 0, 0, 6},
		{"carol", 271431602, 2, 2, 2},
		{"dave", 1727131798, 1, 4, 10},
		{"éè", -1525060724, 0, 0, 0},
		{"€", -1352192002, 1, 4, 10},
		{bigEndian(4, 0), 850957120, 1, 4, 4},
		{bigEndian(4, 1), -173113808, 0, 0, 0},
		{bigEndian(4, 42), 1606757304, 0, 0, 0},
		{bigEndian(4, -1), 644171429, 2, 5, 5},
		{bigEndian(8, 0), -522759933, 2, 5, 11},
		{bigEndian(8, 1), 2100486060, 0, 0, 0},
		{bigEndian(8, 42), 506863552, 1, 4, 4},
	} {
		if got := murmur2(c.key); got != c.hash {
			t.Errorf("murmur2(%q) = %d, want %d", c.key, got, c.hash)
		}
		for _, n := range []struct{ count, want int32 }{{3, c.p3}, {6, c.p6}, {12, c.p12}} {
			if got := KeyPartition(c.key, n.count); got != n.want {
				t.Errorf("KeyPartition(%q, %d) = %d, want %d", c.key, n.count, got, n.want)
			}
		}
	}
}

// P-10: the partition on the record comes first, then the table, then the key's hash; P-5, P-21: a null
// key is never hashed, and with partitioner.ignore.keys no key is.
func TestOrderOfDecisionP10(t *testing.T) {
	table := []config.KeyPartition{{Key: "user-1", Partition: 0}, {Key: "user-5", Partition: 2}}
	for _, c := range []struct {
		name   string
		key    string
		null   bool
		table  []config.KeyPartition
		ignore bool
		want   int32
	}{
		{"hash", "user-1", false, nil, false, 2},
		{"table", "user-1", false, table, false, 0},
		{"key outside the table", "user-4", false, table, false, 1},
		{"empty key is hashed", "", false, nil, false, 0},
		{"null key", "", true, table, false, anyPartition},
		{"ignored key", "user-1", false, nil, true, anyPartition},
		{"table before ignored key", "user-5", false, table, true, 2},
	} {
		p := Producer{Config: config.Producer{PartitionTable: c.table, PartitionerIgnoreKey: c.ignore}}
		r := partlog.Record{Key: c.key}
		if c.null {
			r.Flags = partlog.NullKey
		}
		if got := p.choose(&r, 3); got != c.want {
			t.Errorf("%s: partition %d, want %d", c.name, got, c.want)
		}
	}

	f := newFake(t, 1, 3)
	props := producerProps()
	props.PartitionTable = table
	p := f.producer(props)
	f.warm(p)
	f.s.Send(p, "orders", 1, partlog.Record{Key: "user-1"}, nil)
	f.at(200)
	if len(f.log[1]) != 1 || len(f.log[0])+len(f.log[2]) != 0 {
		t.Errorf("the partition on the record did not come first: %v", f.log)
	}
}

// P-13 to P-16 and oracle p2: records without a key stay on one partition for two full batches.
func TestStickyRunsP15(t *testing.T) {
	for _, c := range []struct{ value, records, run int }{{100, 1200, 296}, {1000, 120, 32}, {20, 3000, 1170}, {5000, 40, 6}} {
		f := newFake(t, 1, 50)
		props := producerProps()
		props.LingerMs = 2000
		p := f.producer(props)
		f.warm(p)
		value := string(make([]byte, c.value))
		f.s.Producers[p].Topics[0].Sticky = Sticky{Partition: -1}
		runs, last, n := []int(nil), int32(-1), 0
		for range c.records {
			number := f.send(p, anyPartition, value)
			f.at(f.s.Now / ms)
			part := f.s.Delivery(p, number).TP.Partition
			if part != last && n > 0 {
				runs, n = append(runs, n), 0
			}
			last = part
			n++
		}
		// Two runs in a row on the same partition count as one.
		for _, r := range runs {
			if r%c.run != 0 {
				t.Errorf("values of %d bytes: runs %v, want multiples of %d", c.value, runs, c.run)
				break
			}
		}
		if len(runs) == 0 || runs[0] != c.run {
			t.Errorf("values of %d bytes: runs %v, want %d first", c.value, runs, c.run)
		}
	}
}

// P-17: partitions without a leader are left out; if none has one, any is taken.
func TestStickyAvoidsLeaderlessP17(t *testing.T) {
	f := newFake(t, 1, 3)
	p := f.producer(producerProps())
	f.warm(p)
	pr := &f.s.Producers[p]
	pr.Meta.Topics[0].Parts[1].Leader = NoNode
	var hits [3]int
	for range 300 {
		f.s.switchSticky(pr, 0)
		hits[pr.Topics[0].Sticky.Partition]++
	}
	if hits[1] != 0 || hits[0] < 100 || hits[2] < 100 {
		t.Errorf("drawn %v, want none of partition 1 and about half each of the others", hits)
	}
	pr.Meta.Topics[0].Parts[0].Leader, pr.Meta.Topics[0].Parts[2].Leader = NoNode, NoNode
	hits = [3]int{}
	for range 300 {
		f.s.switchSticky(pr, 0)
		hits[pr.Topics[0].Sticky.Partition]++
	}
	if hits[1] < 50 {
		t.Errorf("without any leader drawn %v, want all three", hits)
	}
}

// P-15: after twice batch.size the partition changes, full batch or not.
func TestStickySwitchesAfterTwoBatchesP15(t *testing.T) {
	f := newFake(t, 1, 3)
	props := producerProps()
	props.BatchSize = 200
	p := f.producer(props)
	f.warm(p)
	f.send(p, anyPartition, string(make([]byte, 500)))
	if st := f.s.Producers[p].Topics[0].Sticky; st.Bytes != 0 || st.Switches != 2 {
		t.Errorf("after a record of 500 bytes: %+v, want the second switch", st)
	}
	f.send(p, anyPartition, "small")
	if st := f.s.Producers[p].Topics[0].Sticky; st.Bytes == 0 || st.Switches != 2 {
		t.Errorf("after a small record: %+v, want no switch", st)
	}
}
