package kafkasim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"time"
	"unicode/utf8"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/partlog"
)

// Saved clusters.
//
// A file is one line, "kafkalab-world FORMAT BYTES CHECKSUM", and so many bytes of JSON: the world, what was
// done to it and when, and the hash of the state that it comes to. Loading does it all again, so that a
// loaded cluster has its whole past (At, Trace, Script), and the hash tells whether it is the same cluster.

// saveFormat is the format that this version writes, and the newest that it reads.
const saveFormat = 1

const saveMagic = "kafkalab-world"

// savedCluster is the JSON.
type savedCluster struct {
	World              World
	Producer, Consumer Config `json:",omitempty"` // a preset's own properties of clients
	Base               string // how a script makes the world
	Entries            []savedEntry
	Script             []savedLine
	Steps, Now         int64
	Hash               uint64
}

type savedEntry struct {
	Steps, At int64
	Command   *machine.SavedCommand `json:",omitempty"`
	Sends     *savedSends           `json:",omitempty"`
}

type savedLine struct {
	At         int64
	Text       string      `json:",omitempty"`
	Steps, Run int64       `json:",omitempty"`
	After      int64       `json:",omitempty"`
	Sends      *savedSends `json:",omitempty"`
}

type savedSends struct {
	Producer, Partition int32
	Topic               string
	Flags               uint32
	First, Count        int64      // its records' numbers at the producer
	Keys, Values        savedTexts // what they hold; the script refers to it
}

// savedTexts are texts: as strings, or as bytes when they are no valid UTF-8.
type savedTexts struct {
	Strings []string `json:",omitempty"`
	Bytes   [][]byte `json:",omitempty"`
}

func (s *savedTexts) add(text string) {
	switch {
	case s.Bytes != nil:
		s.Bytes = append(s.Bytes, []byte(text))
	case utf8.ValidString(text):
		s.Strings = append(s.Strings, text)
	default:
		s.Bytes = [][]byte{}
		for _, x := range s.Strings {
			s.Bytes = append(s.Bytes, []byte(x))
		}
		s.Strings, s.Bytes = nil, append(s.Bytes, []byte(text))
	}
}

func (s *savedTexts) at(i int) string {
	if s.Bytes != nil {
		return string(s.Bytes[i])
	}
	return s.Strings[i]
}

// saveRun is a run of sends without what was sent.
func saveRun(r *sendRun) *savedSends {
	if r == nil {
		return nil
	}
	return &savedSends{Producer: r.producer, Partition: r.partition, Topic: r.topic, Flags: r.flags, First: r.first, Count: r.count}
}

// saveSends is a run of sends with the records.
func (x *sent) saveSends(r *sendRun) *savedSends {
	s := saveRun(r)
	if s == nil {
		return nil
	}
	for cmd := range x.commands(r) {
		if r.flags&partlog.NullKey == 0 {
			s.Keys.add(cmd.Record.Key)
		}
		s.Values.add(cmd.Record.Value)
	}
	return s
}

func (s *savedSends) run() *sendRun {
	if s == nil {
		return nil
	}
	return &sendRun{producer: s.Producer, partition: s.Partition, topic: s.Topic, flags: s.Flags, first: s.First, count: s.Count}
}

// sendSaved hands a saved run of sends to its producer.
func (c *Cluster) sendSaved(s *savedSends) {
	for i := range int(s.Count) {
		r := partlog.Record{Value: s.Values.at(i), Timestamp: machine.NoTimestamp, Flags: s.Flags}
		if s.Flags&partlog.NullKey == 0 {
			r.Key = s.Keys.at(i)
		}
		c.send(&machine.Send{Producer: s.Producer, Topic: s.Topic, Partition: s.Partition, Record: r}, true, nil)
	}
}

// Save writes the cluster to a file, with its whole past; Load brings it back. A file that is there is
// replaced.
func (c *Cluster) Save(path string) *Saved {
	where := fmt.Sprintf("Save(%q)", path)
	data := c.encode(where)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		misuse(where, "%v", err)
	}
	return &Saved{Path: path, Bytes: len(data), Commands: len(c.history.entries), At: c.Now()}
}

// Saved tells what Save wrote.
type Saved struct {
	Path     string
	Bytes    int
	Commands int           // how many are in it; a run of sends counts as one
	At       time.Duration // virtual time
}

// String is what was written, in a line.
func (s *Saved) String() string {
	return fmt.Sprintf("%s: the cluster at %s and what led to it, %s, %s", s.Path, clock(s.At.Microseconds()), plural(s.Commands, "command"), plural(s.Bytes, "byte"))
}

// Load brings a saved cluster back, to go on as the saved one would have. A file that is damaged, cut off,
// or of a newer format than this one knows is a UsageError that says so.
func Load(path string) *Cluster {
	data, err := os.ReadFile(path)
	where := fmt.Sprintf("Load(%q)", path)
	if err != nil {
		misuse(where, "%v", err)
	}
	return decode(where, data)
}

// plainConfig is a Config as JSON keeps it: times as numbers in their property's unit.
func plainConfig(c Config) Config {
	out := Config{}
	for name, v := range c {
		if d, ok := v.(time.Duration); ok {
			unit := time.Millisecond
			for _, o := range []config.Owner{config.OwnerBroker, config.OwnerTopic, config.OwnerProducer, config.OwnerConsumer} {
				if row, ok := config.Lookup(o, name); ok && row.Unit == "seconds" {
					unit = time.Second
				}
			}
			v = int64(d / unit)
		}
		out[name] = v
	}
	return out
}

// encode is the file.
func (c *Cluster) encode(where string) []byte {
	s := savedCluster{
		World: c.world, Producer: plainConfig(c.defaults.producer), Consumer: plainConfig(c.defaults.consumer), Base: c.history.script.base,
		Steps: c.history.steps, Now: c.s.Now, Hash: c.Hash(),
	}
	s.World.Config = plainConfig(c.world.Config)
	present := newSent(c.s)
	for i := range c.history.entries {
		e := &c.history.entries[i]
		x := savedEntry{Steps: e.steps, At: e.at, Sends: present.saveSends(e.sends)}
		if e.sends == nil {
			cmd, err := machine.SaveCommand(e.cmd)
			if err != nil {
				misuse(where, "%v", err)
			}
			x.Command = &cmd
		}
		s.Entries = append(s.Entries, x)
	}
	for _, l := range c.history.script.lines {
		s.Script = append(s.Script, savedLine{At: l.at, Text: l.text, Steps: l.steps, Run: l.run, After: l.after, Sends: saveRun(l.sends)})
	}
	body, err := json.Marshal(&s)
	if err != nil {
		misuse(where, "%v", err)
	}
	head := fmt.Sprintf("%s %d %d %08x\n", saveMagic, saveFormat, len(body), crc32.ChecksumIEEE(body))
	return append([]byte(head), body...)
}

// decode reads a file and lives through it.
func decode(where string, data []byte) *Cluster {
	var s savedCluster
	if err := json.Unmarshal(saveBody(where, data), &s); err != nil {
		misuse(where, "the file is damaged: %v", err)
	}
	c := s.replay(where)
	if c.Hash() != s.Hash {
		misuse(where, "the file was saved by a version whose rules differ from this one's: the same commands come to another state")
	}
	return c
}

// saveBody checks the first line against the rest.
func saveBody(where string, data []byte) []byte {
	line, body, ok := bytes.Cut(data, []byte("\n"))
	var magic string
	var format, size int
	var sum uint32
	n, _ := fmt.Sscanf(string(line), "%s %d %d %x", &magic, &format, &size, &sum)
	switch {
	case magic != saveMagic || n < 2:
		misuse(where, "this is not a saved cluster: want a file that Save wrote")
	case format > saveFormat:
		misuse(where, "the file has format %d, and this version reads formats up to %d: load it with a newer one", format, saveFormat)
	case format < 1 || n < 4 || !ok || size < 0:
		misuse(where, "the file is damaged: its first line is %q", line)
	case len(body) < size:
		misuse(where, "the file is cut off: %d of %d bytes are there", len(body), size)
	case len(body) > size || crc32.ChecksumIEEE(body) != sum:
		misuse(where, "the file is damaged: its checksum is wrong")
	}
	return body
}

// replay lives through everything again. What cannot have been saved by Save is a damaged file, whatever it
// runs into.
func (s *savedCluster) replay(where string) *Cluster {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *UsageError:
			misuse(where, "the file is damaged: %s", r.What)
		case error:
			misuse(where, "the file is damaged: %v", r)
		case string:
			misuse(where, "the file is damaged, or was saved by a version with other rules: %s", r)
		default:
			panic(r) // an interrupt
		}
	}()
	w := s.World.filled()
	c := &Cluster{world: w, defaults: clientDefaults{s.Producer, s.Consumer}, s: machine.New(w.machine())}
	c.traced()
	c.history.begin(s.Base, c.s)
	for i := range s.Entries {
		e := &s.Entries[i]
		c.liveTo(e.Steps, e.At)
		switch {
		case e.Sends != nil:
			c.sendSaved(e.Sends)
		case e.Command != nil:
			cmd, err := e.Command.Load()
			if err != nil {
				panic(err)
			}
			c.apply("", cmd)
		}
	}
	c.liveTo(s.Steps, s.Now)
	c.history.script.lines = nil
	for _, l := range s.Script {
		if r := l.Sends; r != nil && (r.First < 0 || r.Count < 0 || r.First+r.Count > c.s.Producers[r.Producer].Sends) {
			panic("the script has records that were never sent")
		}
		c.history.script.lines = append(c.history.script.lines, line{at: l.At, text: l.Text, steps: l.Steps, run: l.Run, after: l.After, sends: l.Sends.run()})
	}
	return c
}

// liveTo goes to a place of a history: after so many events, at a time.
func (c *Cluster) liveTo(steps, at int64) {
	from := c.history.steps
	p := progress{verb: "Load, events", total: steps - from, done: func() int64 { return c.history.steps - from }}
	for c.history.steps < steps {
		interruptible(c.history.steps)
		if _, ok := c.step(); !ok {
			panic("the history is longer than the world lives")
		}
		p.at(c.history.steps)
	}
	p.end()
	if at < c.s.Now {
		panic("time goes back")
	}
	c.s.Now = at
}
