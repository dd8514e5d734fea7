package kafkasim

import (
	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/partlog"
)

// sendRun is a run of sends by one producer to one topic at one place of the history, kept as small as
// it goes: the two strings of each record and nothing else.
type sendRun struct {
	producer  int32
	topic     string
	partition int32
	flags     uint32
	keys      texts // empty when the flags say that keys are null
	values    texts
}

// texts is a list that does not move as it grows.
type texts struct {
	chunks [][]string // all but the last are full
}

const textChunk = 1024

func (t *texts) add(s string) {
	last := len(t.chunks) - 1
	if last < 0 || len(t.chunks[last]) == textChunk {
		t.chunks = append(t.chunks, nil)
		last++
	}
	t.chunks[last] = append(t.chunks[last], s)
}

func (t *texts) len() int {
	if len(t.chunks) == 0 {
		return 0
	}
	return (len(t.chunks)-1)*textChunk + len(t.chunks[len(t.chunks)-1])
}

func (t *texts) at(i int) string { return t.chunks[i/textChunk][i%textChunk] }

func (t *texts) fork() texts {
	f := texts{chunks: append([][]string(nil), t.chunks...)}
	if last := len(f.chunks) - 1; last >= 0 {
		f.chunks[last] = clip(f.chunks[last])
	}
	return f
}

func (r *sendRun) fork() *sendRun {
	f := *r
	f.keys, f.values = r.keys.fork(), r.values.fork()
	return &f
}

// command is the i-th send of the run.
func (r *sendRun) command(i int) machine.Send {
	rec := partlog.Record{Value: r.values.at(i), Timestamp: machine.NoTimestamp, Flags: r.flags}
	if r.flags&partlog.NullKey == 0 {
		rec.Key = r.keys.at(i)
	}
	return machine.Send{Producer: r.producer, Topic: r.topic, Partition: r.partition, Record: rec}
}

func (r *sendRun) carryOut(s *machine.State) {
	for i := range r.values.len() {
		x := r.command(i)
		s.Send(x.Producer, x.Topic, x.Partition, x.Record, nil)
	}
}

// send hands a record to a producer and remembers it: plain ones join the run before them, those with
// headers or a time of their own are remembered as commands.
func (c *Cluster) send(cmd machine.Send, plain bool, code func() string) int64 {
	n := c.s.Send(cmd.Producer, cmd.Topic, cmd.Partition, cmd.Record, cmd.Headers)
	if plain {
		if c.history.sent(c.s.Now, c.trace.len(), cmd) {
			c.trace.floor = c.trace.len()
		}
	} else {
		c.trace.floor = c.trace.len()
		c.history.command(c.s.Now, c.trace.len(), cmd)
		c.history.line(code(), c.s.Now)
	}
	c.take()
	return n
}

// sent adds a send to the last run, or begins a new one and says so.
func (h *history) sent(at int64, notes int, cmd machine.Send) (fresh bool) {
	var run *sendRun
	if n := len(h.entries); n > 0 {
		e := &h.entries[n-1]
		if r := e.sends; r != nil && e.steps == h.steps && e.at == at && r.producer == cmd.Producer &&
			r.topic == cmd.Topic && r.partition == cmd.Partition && r.flags == cmd.Record.Flags {
			run = r
		}
	}
	if fresh = run == nil; fresh {
		run = &sendRun{producer: cmd.Producer, topic: cmd.Topic, partition: cmd.Partition, flags: cmd.Record.Flags}
		h.entries = append(h.entries, entry{steps: h.steps, at: at, notes: notes, sends: run})
		h.script.add(line{sends: run, at: at})
	}
	if cmd.Record.Flags&partlog.NullKey == 0 {
		run.keys.add(cmd.Record.Key)
	}
	run.values.add(cmd.Record.Value)
	return fresh
}
