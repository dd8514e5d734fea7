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

	// What a listener's function does while a verb lets time pass stands before that verb's line (Meanwhile).
	depth  int   // functions that are running, one inside the other
	after  int64 // the place of the innermost: events since the verb began, and one
	origin int64 // events before the verb
	timing bool  // the verb is one whose line comes when it ends
}

// line is one statement: a text, a run of sends, or a stretch of time. at is when it began.
type line struct {
	at    int64
	text  string
	sends *sendRun
	steps int64 // > 0: Steps(steps)
	run   int64 // > 0: RunFor(run µs)
	after int64 // > 0: done by a function, that many events and one after the next verb began
}

// add puts a line behind the others. Stretches of time of one kind grow together.
func (s *script) add(l line) {
	if s.depth > 0 {
		l.after = s.after
		at := len(s.lines)
		if !s.timing && at > 0 {
			at--
		}
		s.lines = slices.Insert(s.lines, at, l)
		return
	}
	if n := len(s.lines); n > 0 && s.lines[n-1].after == 0 {
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
	// The last run of sends may still grow; a function's stand before the verb that it was called in.
	for i := len(f.lines) - 1; i >= 0; i-- {
		if l := &f.lines[i]; l.sends != nil {
			l.sends = l.sends.fork()
		}
		if f.lines[i].after == 0 && i < len(f.lines)-1 {
			break
		}
	}
	return f
}

// until is the script that leads to a time before the present: what was done before it, and the rest of
// the way.
func (s *script) until(t int64) script {
	f := script{base: s.base}
	for _, l := range s.lines {
		if l.at >= t && l.after == 0 {
			break
		}
		if l.at < t {
			f.lines = append(f.lines, l)
		}
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
	lines := c.history.script.lines
	for i := 0; i < len(lines); i++ {
		n := i
		for n < len(lines) && lines[n].after > 0 {
			n++
		}
		if n > i {
			c.writeMeanwhile(&b, lines[i:n], present)
			i = n - 1
			continue
		}
		c.writeLine(&b, &lines[i], present)
	}
	return Script(b.String())
}

func (c *Cluster) writeLine(b *strings.Builder, l *line, present *sent) {
	switch {
	case l.steps > 0:
		fmt.Fprintf(b, "c.Steps(%d)\n", l.steps)
	case l.run > 0:
		fmt.Fprintf(b, "c.RunFor(%s)\n", goDuration(l.run))
	case l.sends != nil:
		present.write(b, l.sends, c.producerName(l.sends.producer))
	default:
		b.WriteString(l.text)
		b.WriteByte('\n')
	}
}

// writeMeanwhile writes what functions did while the verb of the next line let time pass, one function for each place.
func (c *Cluster) writeMeanwhile(b *strings.Builder, lines []line, present *sent) {
	var places []int64
	for i := range lines {
		if !slices.Contains(places, lines[i].after) {
			places = append(places, lines[i].after)
		}
	}
	for _, at := range places {
		fmt.Fprintf(b, "c.Meanwhile(%d, func() {\n", at-1)
		var inner strings.Builder
		for i := range lines {
			if lines[i].after == at {
				c.writeLine(&inner, &lines[i], present)
			}
		}
		for text := range strings.Lines(inner.String()) {
			b.WriteString("\t" + text)
		}
		b.WriteString("})\n")
	}
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
