package kafkasim

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kafkalab/kafkasim/machine"
)

// busy is a cluster with all kinds of things behind it.
func busy() *Cluster {
	c := New(World{Brokers: 3, Seed: 4, LogDirs: 2, Config: Config{"replica.lag.time.max.ms": 4 * time.Second}})
	c.CreateTopic("orders", 2, 3, Config{"min.insync.replicas": 2})
	p := c.NewProducer("checkout", Config{"acks": "all", "linger.ms": 5})
	p.Send("orders", "user-1", "order #1")
	p.Send("orders", nil, "a\xffb")
	p.SendRecord(Record{Topic: "orders", Key: "k", Value: nil, Headers: []Header{{"h", "1"}}, Timestamp: 7 * time.Millisecond})
	p.Every(20*time.Millisecond, "orders", "x", "y")
	c.RunFor(time.Second)
	c.Broker(1).LoseDisk(2)
	c.CutOneWay(1, 2)
	c.Hold("Fetch 3->1")
	c.RunFor(5 * time.Second)
	c.Release()
	c.Heal()
	c.AddPartitions("orders", 3)
	c.DeleteRecords("orders", 0, 1)
	c.Reassign("orders", 1, 2, 1)
	c.NewConsumer("reader", Config{"auto.offset.reset": "earliest"}).Assign("orders").Poll(time.Second)
	c.Steps(7)
	return c
}

// A loaded cluster is the saved one: its state, its past, its script, and how it goes on.
func TestSaveAndLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "busy.kafkalab")
	for _, c := range []*Cluster{busy(), Page(), Widget(Config{"acks": 1}), New(World{})} {
		if c.clientIndex("app", machine.ProducerClient) >= 0 {
			c.Ticks(20)
		}
		saved := c.Save(path)
		got := Load(path)
		if got.Hash() != c.Hash() || got.Script() != c.Script() || got.Now() != c.Now() {
			t.Fatalf("%s: hash %x, want %x; script\n%s\nwant\n%s", saved, got.Hash(), c.Hash(), got.Script(), c.Script())
		}
		half := c.Now() / 2
		if got.At(half).Hash() != c.At(half).Hash() || len(got.Trace().Changes) != len(c.Trace().Changes) {
			t.Errorf("%s: the past differs", saved)
		}
		c.RunFor(2 * time.Second)
		got.RunFor(2 * time.Second)
		if got.Hash() != c.Hash() {
			t.Errorf("%s: the loaded cluster goes on differently", saved)
		}
		if got.Save(path); Load(path).Hash() != got.Hash() {
			t.Errorf("%s: a loaded cluster cannot be saved again", saved)
		}
	}
}

// refused loads data that must be refused, and returns the sentence.
func refused(t *testing.T, data []byte) string {
	t.Helper()
	return mistake(t, func() { decode("Load", data) })
}

// resum gives a changed body its right first line.
func resum(format int, body string) []byte {
	return []byte(fmt.Sprintf("%s %d %d %08x\n%s", saveMagic, format, len(body), crc32.ChecksumIEEE([]byte(body)), body))
}

func TestBadFilesAreRefused(t *testing.T) {
	data := busy().encode("Save")
	_, text, _ := strings.Cut(string(data), "\n")
	flipped := append([]byte{}, data...)
	flipped[len(flipped)/2] ^= 1
	edit := func(from, to string) []byte {
		if !strings.Contains(text, from) {
			t.Fatalf("no %s in the file", from)
		}
		return resum(1, strings.Replace(text, from, to, 1))
	}
	for _, x := range []struct {
		data []byte
		want string
	}{
		{nil, "this is not a saved cluster"},
		{[]byte("{}"), "this is not a saved cluster"},
		{[]byte("kafkalab-world one\n"), "this is not a saved cluster"},
		{[]byte("kafkalab-world 1 5\nabcde"), "the file is damaged: its first line is"},
		{data[:len(data)-10], "the file is cut off: "},
		{data[:20], "the file is damaged: its first line is"},
		{flipped, "the file is damaged: its checksum is wrong"},
		{append(append([]byte{}, data...), 'x'), "the file is damaged: its checksum is wrong"},
		{resum(2, text), "the file has format 2, and this version reads formats up to 1: load it with a newer one"},
		{resum(1, "["), "the file is damaged: unexpected end of JSON input"},
		{edit(`"Kind":"CutOneWay"`, `"Kind":"CutOften"`), `the file is damaged: a command of the kind "CutOften", which this version does not know`},
		{edit(`"Brokers":3`, `"Brokers":1000`), "the file is damaged: Brokers: 1000: want 1 to 100"},
		{edit(`"Producer":0`, `"Producer":9`), "the file is damaged: "},
		{edit(`"At":0`, `"At":-5`), "the file is damaged, or was saved by a version with other rules: time goes back"},
		{edit(`order #1`, `order #2`), "the file was saved by a version whose rules differ"},
	} {
		if got := refused(t, x.data); !strings.Contains(got, x.want) {
			t.Errorf("got %s\nwant %s", got, x.want)
		}
	}
	if got := mistake(t, func() { Load(filepath.Join(t.TempDir(), "nothing")) }); !strings.Contains(got, "no such file") {
		t.Error(got)
	}
	if got := mistake(t, func() { New(World{}).Save(filepath.Join(t.TempDir(), "no", "folder")) }); !strings.Contains(got, "no such file") {
		t.Error(got)
	}
}

// Whatever is in a file, Load answers with a cluster or a sentence. Bodies get their right checksum, so that
// what is read is what was made up.
func FuzzLoad(f *testing.F) {
	c := New(World{Brokers: 2, Seed: 1})
	c.CreateTopic("t", 1, 2, nil)
	c.NewProducer("p", nil).Send("t", "k", "v")
	c.RunFor(20 * time.Millisecond)
	data := c.encode("Save")
	_, text, _ := strings.Cut(string(data), "\n")
	f.Add(data, false)
	f.Add([]byte(text), true)
	for _, at := range []int{10, 40, len(text) / 3, len(text) / 2, len(text) - 30} {
		f.Add([]byte(text[:at]+"9"+text[at+1:]), true)
		f.Add([]byte(text[:at]+text[at+1:]), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, body bool) {
		if body {
			var s savedCluster
			if json.Unmarshal(data, &s) == nil && (s.Steps > 100_000 || s.World.Brokers > 10 || len(s.Entries) > 0 && s.Entries[len(s.Entries)-1].Steps > 100_000) {
				t.Skip("long lives are right, and take long")
			}
			data = resum(1, string(data))
		}
		defer func() {
			if r := recover(); r != nil {
				if _, ok := r.(*UsageError); !ok {
					t.Fatalf("panics with %v", r)
				}
			}
		}()
		decode("Load", data)
	})
}

func TestSavedSaysWhatItIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w")
	s := New(World{}).Save(path)
	if info, err := os.Stat(path); err != nil || int(info.Size()) != s.Bytes || !strings.Contains(s.String(), "t=0ms") {
		t.Errorf("%s (%v)", s, err)
	}
}
