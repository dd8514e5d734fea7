package kafkasim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/partlog"
)

// script is what the user did, as Go statements.
type script struct {
	base  string // the expression that makes the cluster
	lines []line
}

// line is one statement: a text, a run of sends, or a stretch of time. at is when it began.
type line struct {
	at    int64
	text  string
	sends *sendRun
	steps int64 // > 0: Steps(steps)
	run   int64 // > 0: RunFor(run µs)
}

// add puts a line behind the others. Stretches of time of one kind grow together.
func (s *script) add(l line) {
	if n := len(s.lines); n > 0 {
		last := &s.lines[n-1]
		if l.steps > 0 && last.steps > 0 {
			last.steps += l.steps
			return
		}
		if l.run > 0 && last.run > 0 {
			last.run += l.run
			return
		}
	}
	s.lines = append(s.lines, l)
}

func (s *script) fork() script {
	f := script{base: s.base, lines: slices.Clone(s.lines)}
	if n := len(f.lines); n > 0 && f.lines[n-1].sends != nil {
		f.lines[n-1].sends = f.lines[n-1].sends.fork()
	}
	return f
}

// until is the script that leads to a time before the present: what was done before it, and the rest of
// the way.
func (s *script) until(t int64) script {
	f := script{base: s.base}
	for _, l := range s.lines {
		if l.at >= t {
			break
		}
		f.lines = append(f.lines, l)
	}
	if n := len(f.lines); n > 0 && (f.lines[n-1].steps > 0 || f.lines[n-1].run > 0) {
		f.lines[n-1] = line{at: f.lines[n-1].at, run: t - f.lines[n-1].at}
	}
	return f.fork()
}

// Script is what led to the present as the text of a cell that can be run: it makes the world anew, with
// c for the cluster, and repeats every command at its time.
func (c *Cluster) Script() Script {
	var b strings.Builder
	fmt.Fprintf(&b, "c := %s\n", c.history.script.base)
	present := newSent(c.s)
	for _, l := range c.history.script.lines {
		switch {
		case l.steps > 0:
			fmt.Fprintf(&b, "c.Steps(%d)\n", l.steps)
		case l.run > 0:
			fmt.Fprintf(&b, "c.RunFor(%s)\n", goDuration(l.run))
		case l.sends != nil:
			present.write(&b, l.sends, c.producerName(l.sends.producer))
		default:
			b.WriteString(l.text)
			b.WriteByte('\n')
		}
	}
	return Script(b.String())
}

// Script is Go source.
type Script string

// String is the source.
func (s Script) String() string { return string(s) }

// write turns a run of sends into statements.
func (x *sent) write(b *strings.Builder, r *sendRun, producer string) {
	for cmd := range x.commands(r) {
		key, value := "", strconv.Quote(cmd.Record.Value)
		if r.flags&partlog.NullKey != 0 {
			key = "nil"
		} else {
			key = strconv.Quote(cmd.Record.Key)
		}
		if r.flags&partlog.NullValue != 0 {
			value = "nil"
		}
		if r.partition < 0 {
			fmt.Fprintf(b, "c.Producer(%q).Send(%q, %s, %s)\n", producer, r.topic, key, value)
			continue
		}
		fmt.Fprintf(b, "c.Producer(%q).SendRecord(kafkasim.Record{Topic: %q, Partition: %d, Key: %s, Value: %s})\n", producer, r.topic, r.partition, key, value)
	}
}

// goDuration writes µs as Go code.
func goDuration(us int64) string {
	switch {
	case us%1000000 == 0 && us != 0:
		return strconv.FormatInt(us/1000000, 10) + " * time.Second"
	case us%1000 == 0:
		return strconv.FormatInt(us/1000, 10) + " * time.Millisecond"
	}
	return strconv.FormatInt(us, 10) + " * time.Microsecond"
}

// code writes properties as Go code, sorted by name.
func (c Config) code() string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(c)) {
		v := fmt.Sprintf("%#v", c[k])
		if d, ok := c[k].(time.Duration); ok {
			v = goDuration(d.Microseconds())
		}
		parts = append(parts, fmt.Sprintf("%q: %s", k, v))
	}
	return "kafkasim.Config{" + strings.Join(parts, ", ") + "}"
}

// code writes a world as Go code that makes it.
func (w World) code() string { return "kafkasim.New(" + w.literal() + ")" }

// literal writes a world as Go code.
func (w World) literal() string {
	parts := []string{fmt.Sprintf("Brokers: %d", w.Brokers)}
	if w.LogDirs > 1 {
		parts = append(parts, fmt.Sprintf("LogDirs: %d", w.LogDirs))
	}
	if w.Controllers > 1 {
		parts = append(parts, fmt.Sprintf("Controllers: %d", w.Controllers))
	}
	if len(w.Racks) > 0 {
		parts = append(parts, fmt.Sprintf("Racks: %#v", w.Racks))
	}
	if w.Seed != 0 {
		parts = append(parts, fmt.Sprintf("Seed: %d", w.Seed))
	}
	if w.Tick != time.Millisecond {
		parts = append(parts, "Tick: "+goDuration(w.Tick.Microseconds()))
	}
	if w.Latency != time.Millisecond {
		parts = append(parts, "Latency: "+goDuration(w.Latency.Microseconds()))
	}
	if w.version() != config.DefaultVersion {
		parts = append(parts, fmt.Sprintf("Kafka: %q", w.Kafka))
	}
	if len(w.Switches) > 0 {
		parts = append(parts, fmt.Sprintf("Switches: %#v", w.Switches))
	}
	if len(w.Config) > 0 {
		parts = append(parts, "Config: "+w.Config.code())
	}
	return "kafkasim.World{" + strings.Join(parts, ", ") + "}"
}
