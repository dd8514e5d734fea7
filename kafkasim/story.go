package kafkasim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/partlog"
	"kafkalab/kafkasim/view"
)

// Story is the life of one record, from send() on.
type Story struct {
	Chapters []Chapter
	title    string
}

// Chapter is one thing that happened to a record.
type Chapter struct {
	At   time.Duration
	Who  string // a producer, a broker, a consumer
	What string
}

// String is a line for each chapter.
func (s *Story) String() string {
	width := 0
	for _, c := range s.Chapters {
		width = max(width, len(c.Who))
	}
	out := []string{s.title}
	for _, c := range s.Chapters {
		out = append(out, fmt.Sprintf("%-12s %-*s  %s", clock(c.At.Microseconds()), width, c.Who, c.What))
	}
	return strings.Join(out, "\n")
}

// teller collects a story.
type teller struct {
	*Cluster
	d        *Delivery
	producer string
	lives    []machine.BatchLife
	chapters []Chapter
	places   []place // where the record was appended
}

// place is an offset at which a leader appended the record; a batch that was sent twice may be at two.
type place struct {
	offset    int64
	partition int32
	leader    int16
}

func (t *teller) tell(at int64, who, format string, args ...any) {
	t.chapters = append(t.chapters, Chapter{duration(at), who, fmt.Sprintf(format, args...)})
}

// Story tells what has become of the record so far: how it was put into a batch, how often that was sent and what went
// wrong, when each replica got it, when it was committed, read and acknowledged, and whether it was cut off again.
func (d *Delivery) Story() *Story {
	s := d.state()
	t := &teller{Cluster: d.c, d: d, producer: d.c.producerName(d.producer), lives: d.c.s.BatchLives(d.producer, d.number)}
	t.tell(s.SentAt, t.producer, "send()")
	switch d.c.s.BlockedFor(d.producer, d.number) {
	case machine.WaitMetadata:
		t.tell(d.c.s.Now, t.producer, "send() is still blocked: the topic or partition is not in the metadata")
	case machine.WaitMemory:
		t.tell(d.c.s.Now, t.producer, "send() is still blocked: buffer.memory is used up")
	}
	for i := range t.lives {
		t.batch(&t.lives[i], s.SentAt)
	}
	t.brokers()
	slices.SortStableFunc(t.chapters, func(a, b Chapter) int { return int(a.At - b.At) })
	return &Story{Chapters: t.chapters, title: fmt.Sprintf("%s, record %d: %s", t.producer, d.number, d)}
}

// batch tells what the producer did with a batch.
func (t *teller) batch(l *machine.BatchLife, sent int64) {
	where := t.s.PartitionName(l.TP)
	if l.TP.Topic < 0 {
		t.tell(l.Decided, t.producer, "send() fails: %s", because(l.Error.String(), t.d.Message()))
		return
	}
	verb := "joins"
	if l.Index == 0 {
		verb = "opens"
	}
	if l.Serial == t.lives[0].Serial {
		t.tell(max(sent, l.Created), t.producer, "%s batch %d for %s, as record %d of %d", verb, l.Serial, where, l.Index+1, l.Count)
	}
	for i, try := range l.Tries {
		t.tell(try.Sent, t.producer, "batch %d is sent, attempt %d", l.Serial, i+1)
		what := "it will be sent again"
		switch {
		case l.Split > 0 && i == len(l.Tries)-1:
			what = "it is cut into smaller ones" // P-67
		case l.Status == machine.DeliveryFailed && try.Ended == l.Decided:
			what = "given up"
		}
		t.tell(try.Ended, t.producer, "attempt %d fails: %s; %s", i+1, try.Error, what)
	}
	if l.Attempts > int32(len(l.Tries)) {
		t.tell(l.LastSent, t.producer, "batch %d is sent, attempt %d", l.Serial, l.Attempts)
	}
	switch l.Status {
	case machine.DeliveryAcked:
		if l.BaseOffset < 0 {
			t.tell(l.Decided, t.producer, "done, nobody was asked (acks=0)")
			return
		}
		t.tell(l.Decided, t.producer, "acknowledged at offset %d, %s after send()", l.BaseOffset+int64(l.Index), inMs(l.Decided-sent))
	case machine.DeliveryFailed:
		t.tell(l.Decided, t.producer, "fails: %s, %s after send()", l.Error, inMs(l.Decided-sent))
	}
}

// brokers tells what the trace has of the record.
func (t *teller) brokers() {
	log := t.traced()
	for i := log.until(t.d.state().SentAt - 1); i < log.len(); i++ {
		n := log.get(i)
		switch n.kind {
		case view.Appended:
			t.appended(n)
		case view.HighWatermark, view.Truncated, view.Consumed, view.Lost:
			for _, p := range t.places {
				if p.partition == n.partition {
					t.later(n, p)
				}
			}
		}
	}
}

// appended tells of an append, if it is the record's batch: the first at an offset is the leader's.
func (t *teller) appended(n *note) {
	offset := int64(-1)
	each := func(base int64, r *partlog.Records) {
		for i := range t.lives {
			if l := &t.lives[i]; machine.SameRecords(&l.Records, r) {
				offset = base + int64(l.Index)
			}
		}
	}
	if n.records.Count > 0 {
		each(n.a, &n.records)
	} else if n.extra != nil {
		for i := range n.extra.batches {
			each(n.extra.batches[i].BaseOffset, &n.extra.batches[i].Records)
		}
	}
	if offset < 0 {
		return
	}
	who := fmt.Sprintf("broker %d", n.broker)
	if slices.ContainsFunc(t.places, func(p place) bool { return p.offset == offset && p.partition == n.partition && p.leader != n.broker }) {
		t.tell(n.at, who, "has copied it")
		return
	}
	again := ""
	if len(t.places) > 0 {
		again = " again"
	}
	t.tell(n.at, who, "appends it%s to %s at offset %d, in leader epoch %d", again, t.ordinalName(int(n.partition)), offset, n.c)
	t.places = append(t.places, place{offset, n.partition, n.broker})
}

// later tells what became of a record in a log.
func (t *teller) later(n *note, p place) {
	who := fmt.Sprintf("broker %d", n.broker)
	switch n.kind {
	case view.HighWatermark:
		if n.broker == p.leader && n.b <= p.offset && n.a > p.offset {
			t.tell(n.at, who, "its high watermark passes offset %d: committed", p.offset)
		}
	case view.Truncated:
		if n.a <= p.offset && p.offset < n.b {
			t.tell(n.at, who, "cuts its log back to offset %d: it is gone there", n.a)
		}
	case view.Consumed:
		if n.a <= p.offset && p.offset < n.b {
			t.tell(n.at, t.traced().clientName(n), "reads it at offset %d", p.offset)
		}
	case view.Lost:
		if n.a <= p.offset && p.offset < n.a+n.b {
			t.tell(n.at, t.ordinalName(int(n.partition)), "it is in no leader's log any more: acknowledged and lost")
		}
	}
}
