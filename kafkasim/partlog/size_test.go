package partlog

import (
	"strings"
	"testing"
)

// sized is a record with a key and a value of these lengths; -1 is null.
func sized(key, value int, ts int64) Record {
	r := Record{Timestamp: ts}
	if key < 0 {
		r.Flags |= NullKey
	} else {
		r.Key = strings.Repeat("k", key)
	}
	if value < 0 {
		r.Flags |= NullValue
	} else {
		r.Value = strings.Repeat("v", value)
	}
	return r
}

// P-104: where a zigzag varint grows by a byte.
func TestVarintSizeP104(t *testing.T) {
	for _, c := range []struct {
		v    int64
		want int32
	}{
		{0, 1}, {63, 1}, {-64, 1}, {64, 2}, {-65, 2}, {8191, 2}, {-8192, 2}, {8192, 3},
		{1048575, 3}, {1048576, 4}, {134217727, 4}, {134217728, 5},
	} {
		if got := varintSize(c.v); got != c.want {
			t.Errorf("varintSize(%d) = %d, want %d", c.v, got, c.want)
		}
	}
}

// P-103, P-105: sizes of single records and of batches of one, measured with Kafka's own classes.
func TestRecordSizesP105(t *testing.T) {
	header := []Header{{Key: "abc", Value: "12345"}}
	for _, c := range []struct {
		name          string
		key, value    int
		headers       []Header
		offset        int32
		ts            int64
		record, batch int32
	}{
		{"null, null", -1, -1, nil, 0, 0, 7, 68},
		{"null, 0", -1, 0, nil, 0, 0, 7, 68},
		{"null, 10", -1, 10, nil, 0, 0, 17, 78},
		{"6, 20", 6, 20, nil, 0, 0, 33, 94},
		{"6, 20 at +63, +63", 6, 20, nil, 63, 63, 33, 94},
		{"6, 20 at +64, +64", 6, 20, nil, 64, 64, 35, 96},
		{"6, 100", 6, 100, nil, 0, 0, 115, 176},
		{"6, 1000", 6, 1000, nil, 0, 0, 1015, 1076},
		{"6, 10000", 6, 10000, nil, 0, 0, 10017, 10078},
		{"6, 20 with a header", 6, 20, header, 0, 0, 43, 104},
	} {
		r := sized(c.key, c.value, 0)
		got := RecordSize(FieldsSize(&r, c.headers), c.offset, c.ts)
		if got != c.record || got+BatchOverhead != c.batch {
			t.Errorf("%s: record %d, batch %d; want %d, %d", c.name, got, got+BatchOverhead, c.record, c.batch)
		}
	}
}

// P-106 and oracle p1: bytes on disk of batches that the Java producer wrote.
func TestBatchSizesP106(t *testing.T) {
	for _, c := range []struct {
		n, key, value int
		want          int32
	}{
		{1, 6, 100, 176}, {10, 6, 100, 1211}, {64, 6, 100, 7421}, {65, 6, 100, 7537}, {100, 6, 100, 11597},
		{141, 6, 100, 16353}, {16, 6, 1000, 16301}, {8, 6, 1000, 8181}, {59, 6, 100, 6846},
		{5, -1, 64, 426}, {16, -1, 63, 1197}, {5, -1, 20, 196}, {28, 6, 20, 985}, {22, 6, 20, 787}, {1, 0, 10, 78},
	} {
		var rs []Record
		for range c.n {
			rs = append(rs, sized(c.key, c.value, 5))
		}
		if got := batchSize(rs...); got != c.want {
			t.Errorf("%d records of %d, %d bytes: %d, want %d", c.n, c.key, c.value, got, c.want)
		}
	}
}

// Oracle p1, javaSendTsDelta: the timestamp's distance from the first one takes its bytes.
func TestBatchSizeByTimestampDelta(t *testing.T) {
	for _, c := range []struct {
		delta int64
		want  int32
	}{{0, 127}, {63, 127}, {64, 128}, {8191, 128}, {8192, 129}, {-1, 127}} {
		if got := batchSize(sized(6, 20, 1000), sized(6, 20, 1000+c.delta)); got != c.want {
			t.Errorf("timestamp %+d: %d bytes, want %d", c.delta, got, c.want)
		}
	}
}

// Oracle p1, javaSendHeaders: headers in a batch of one.
func TestBatchSizeWithHeaders(t *testing.T) {
	big := Header{Key: strings.Repeat("h", 10), Value: strings.Repeat("x", 100)}
	for _, c := range []struct {
		headers []Header
		want    int32
	}{
		{[]Header{{"abc", "12345"}}, 104}, {[]Header{{"abc", ""}}, 99}, {[]Header{big, big, big}, 434},
	} {
		r := sized(6, 20, 0)
		var records Records
		records.Append(&r, c.headers)
		if got := BatchSize(&records); got != c.want {
			t.Errorf("%d headers: %d bytes, want %d", len(c.headers), got, c.want)
		}
	}
}

// P-107: the upper bound that the producer allocates and checks by.
func TestBatchSizeBoundP107(t *testing.T) {
	for _, c := range []struct {
		key, value int
		want       int32
	}{{6, 20, 111}, {6, 100, 192}, {-1, 10, 95}} {
		r := sized(c.key, c.value, 0)
		if got := BatchSizeBound(FieldsSize(&r, nil)); got != c.want {
			t.Errorf("%d, %d: bound %d, want %d", c.key, c.value, got, c.want)
		}
	}
}

func batchSize(records ...Record) int32 {
	r := PackRecords(records...)
	return BatchSize(&r)
}
