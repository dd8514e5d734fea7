package codec

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// sample makes bytes of a kind, the same that testdata/java.tsv was made of.
func sample(kind string, n int) []byte {
	x := uint64(88172645463325252)
	next := func() uint64 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		return x
	}
	words := strings.Fields("order paid shipped alice bob the and kafka broker")
	var b []byte
	for i := 0; len(b) < n; i++ {
		switch kind {
		case "same":
			b = append(b, 'x')
		case "random":
			b = append(b, byte(next()>>32))
		case "json":
			v := next()
			b = fmt.Appendf(b, `{"user":"user-%d","page":"/item/%d","n":%d}`, v>>33%1000, v>>20%77, i)
		case "words":
			b = append(append(b, words[next()>>33%uint64(len(words))]...), ' ')
		}
	}
	return b[:n]
}

// vector is what Kafka 4.3.1 made of a sample.
type vector struct {
	kind   string
	bytes  int
	codec  Codec
	level  int8
	name   string
	length int
	crc    string
}

func vectors(t *testing.T) (list []vector) {
	f, err := os.Open("testdata/java.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		c := strings.Split(lines.Text(), "\t")
		v := vector{kind: c[0], name: c[2], crc: c[4]}
		v.bytes, _ = strconv.Atoi(c[1])
		v.length, _ = strconv.Atoi(c[3])
		name, level, given := strings.Cut(c[2], " ")
		v.codec, _ = Parse(name)
		v.level = DefaultLevel
		if given {
			n, _ := strconv.Atoi(level)
			v.level = v.codec.Level(int64(n))
		}
		list = append(list, v)
	}
	return list
}

// P-100: gzip, snappy, and lz4 at its default level, are Kafka's bytes; the others are near.
func TestBytesAreKafkas(t *testing.T) {
	same, all := map[string]int{}, map[string]int{}
	size, want := map[string]int{}, map[string]int{}
	for _, v := range vectors(t) {
		out := v.codec.Append(nil, sample(v.kind, v.bytes), v.level)
		all[v.name]++
		size[v.name] += len(out)
		want[v.name] += v.length
		if len(out) == v.length && fmt.Sprintf("%08x", crc32.ChecksumIEEE(out)) == v.crc {
			same[v.name]++
		} else if v.codec == Gzip || v.codec == Snappy || v.name == "lz4" {
			t.Errorf("%s of %d bytes, %s: %d bytes, Kafka has %d", v.kind, v.bytes, v.name, len(out), v.length)
		}
	}
	for name, n := range all {
		t.Logf("%-8s %2d of %2d alike, %d bytes in all, Kafka %d", name, same[name], n, size[name], want[name])
	}
}

// unpacked reads what a codec has written, with other people's readers.
func unpacked(t *testing.T, c Codec, b []byte) []byte {
	t.Helper()
	var r io.Reader
	var err error
	switch c {
	case Gzip:
		r, err = gzip.NewReader(bytes.NewReader(b))
	case LZ4:
		r = lz4.NewReader(bytes.NewReader(b))
	case Zstd:
		r, err = zstd.NewReader(bytes.NewReader(b))
	case Snappy:
		var out []byte
		for b = b[len(snappyHeader):]; len(b) > 0; {
			n := binary.BigEndian.Uint32(b)
			block, err := snappy.Decode(nil, b[4:4+n])
			if err != nil {
				t.Fatal(err)
			}
			out, b = append(out, block...), b[4+n:]
		}
		return out
	}
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What is compressed can be read again, whatever it is.
func TestCompressedIsReadable(t *testing.T) {
	for seed := range uint64(60) {
		x := seed*0x9e3779b97f4a7c15 + 1
		next := func() uint64 {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			return x
		}
		n := int(next() % 80_000)
		b := make([]byte, 0, n)
		for len(b) < n { // runs of repeated and of new bytes
			x := next()
			if run := int(x >> 8 % 40); x%3 == 0 && len(b) > 300 {
				from := len(b) - 1 - int(x>>16%300)
				for k := range run {
					b = append(b, b[from+k])
				}
			} else {
				b = append(b, byte(x>>40)&byte(0x0f|seed))
			}
		}
		for _, c := range []Codec{Gzip, Snappy, LZ4, Zstd} {
			for _, level := range []int8{DefaultLevel, 1, 9} {
				if got := unpacked(t, c, c.Append(nil, b, level)); !bytes.Equal(got, b) {
					t.Fatalf("%s at level %d of %d bytes, seed %d: read as %d bytes", c, level, len(b), seed, len(got))
				}
			}
		}
	}
}
