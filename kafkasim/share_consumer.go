package kafkasim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/partlog"
)

// ShareConsumer is a handle on one share consumer: a member of a share group, whose members share not partitions but
// records (KIP-932). Each record goes to one of them, is locked for it, and is accepted, released or rejected.
type ShareConsumer struct {
	c *Cluster
	i int32
}

// NewShareConsumer makes a share consumer with Kafka's defaults and the given properties; "group.id" is needed.
// Share groups are there from Kafka 4.1 on. What a consumer would say by auto.offset.reset and isolation.level is the
// group's to say: ShareGroup(id).Alter.
func (c *Cluster) NewShareConsumer(id string, conf Config) *ShareConsumer {
	c.newName("NewShareConsumer", id)
	where := fmt.Sprintf("share consumer %q", id)
	v := c.world.version()
	if v < config.V4_1 {
		misuse(where, "Kafka %s has no share groups; they came as a preview with 4.1 and for production with 4.2 (KIP-932)", v)
	}
	given := map[string]any{}
	for name, value := range c.defaults.consumer {
		if _, problem := config.ParseShareConsumer(map[string]any{"group.id": "x", name: value}); problem == nil {
			given[name] = value
		}
	}
	for name, value := range conf {
		given[name] = value
	}
	if v < config.V4_3.Before() && given["share.acquire.mode"] == "record_limit" {
		misuse(where, "share.acquire.mode=record_limit: Kafka %s has no such mode; it came with 4.2 (KIP-1206)", v)
	}
	props, problem := config.ParseShareConsumer(given)
	mustParse(where, problem)
	r := c.apply(fmt.Sprintf("c.NewShareConsumer(%q, %s)", id, conf.orNil()), machine.NewShareConsumer{Name: id, Props: props})
	return &ShareConsumer{c: c, i: r.ID}
}

// ShareConsumer is the share consumer with this id.
func (c *Cluster) ShareConsumer(id string) *ShareConsumer {
	i := c.clientIndex(id, machine.ShareConsumerClient)
	if i < 0 {
		misuse(fmt.Sprintf("ShareConsumer(%q)", id), "there is no share consumer %q%s", id,
			meant(id, c.clientNames(machine.ShareConsumerClient), "make it with NewShareConsumer"))
	}
	return &ShareConsumer{c: c, i: i}
}

// ID is the share consumer's id.
func (x *ShareConsumer) ID() string { return x.state().Name }

func (x *ShareConsumer) state() *machine.ShareConsumer { return &x.c.s.Share.Consumers[x.i] }

func (x *ShareConsumer) where(verb string) string {
	return fmt.Sprintf("share consumer %q: %s", x.ID(), verb)
}

func (x *ShareConsumer) needsOpen(verb string) {
	if x.state().Closed {
		misuse(x.where(verb), "this share consumer is closed; make a new one with NewShareConsumer")
	}
}

func (x *ShareConsumer) do(call string, cmd machine.Command) {
	x.c.apply(fmt.Sprintf("c.ShareConsumer(%q).%s", x.ID(), call), cmd)
}

// Subscribe makes the consumer a member of its share group, for these topics. It gets its partitions by heartbeats, as
// time passes: with the first heartbeat none, because their state must be made first (H-20). Without topics it leaves.
func (x *ShareConsumer) Subscribe(topics ...string) *ShareConsumer {
	x.needsOpen("Subscribe")
	for i, t := range topics {
		x.c.topicIndex(x.where("Subscribe"), t)
		if slices.Contains(topics[:i], t) {
			misuse(x.where("Subscribe"), "topic %q is named twice", t)
		}
	}
	x.do(fmt.Sprintf("Subscribe(%s)", quotes(topics)), machine.ShareSubscribe{Consumer: x.i, Topics: slices.Clone(topics)})
	return x
}

// ShareRecord is a record as a member of a share group gets it.
type ShareRecord struct {
	Polled
	DeliveryCount int // how often it has been delivered, this time included
}

// String is the record on a line.
func (r ShareRecord) String() string {
	return r.Polled.String() + fmt.Sprintf("  delivery %d", r.DeliveryCount)
}

// ShareRecords is what a poll returned.
type ShareRecords struct {
	Records []ShareRecord
	Error   string        // what poll threw instead, in Kafka's name; "" for nothing
	Took    time.Duration // virtual time that the poll took
}

// String is a table of the records.
func (r *ShareRecords) String() string {
	took := " after " + inMs(r.Took.Microseconds())
	switch {
	case r.Error != "":
		return "poll threw " + r.Error + took
	case len(r.Records) == 0:
		return "no records" + took
	}
	const most = 30
	var table [][]string
	for _, x := range r.Records[:min(most, len(r.Records))] {
		key, value := x.Key, x.Value
		if x.NullKey {
			key = "null"
		}
		if x.NullValue {
			value = "null"
		}
		table = append(table, []string{fmt.Sprintf("%s-%d", x.Topic, x.Partition), fmt.Sprint(x.Offset), key, value, fmt.Sprintf("delivery %d", x.DeliveryCount)})
	}
	out := plural(len(r.Records), "record") + took + "\n" + rows(table)
	if n := len(r.Records) - most; n > 0 {
		out += fmt.Sprintf("\n… and %d more", n)
	}
	return out
}

// Poll lets virtual time run until there are records or the timeout is over. Before, it acknowledges the records of the
// last poll: with share.acknowledgement.mode=implicit it accepts them all, with explicit each must have been acknowledged
// (else IllegalStateException, H-11). With batch_optimized it may return more than max.poll.records (H-12).
func (x *ShareConsumer) Poll(timeout time.Duration) *ShareRecords {
	x.needsOpen("Poll")
	s := x.state()
	switch where := x.where("Poll"); {
	case timeout < 0:
		misuse(where, "%v: want how long to wait at most, such as 100 * time.Millisecond", timeout)
	case len(s.Topics) == 0:
		misuse(where, "Consumer is not subscribed to any topics (IllegalStateException); Subscribe first")
	case s.App.On:
		misuse(where, "an application polls with this consumer (Work); StopWork first, or let time pass")
	case s.Config.Share.Explicit && s.Unacknowledged() > 0:
		return &ShareRecords{Error: fmt.Sprintf("IllegalStateException: All records must be acknowledged in explicit acknowledgement mode (%d are not)", s.Unacknowledged())}
	}
	start := x.c.s.Now
	x.do(fmt.Sprintf("Poll(%s)", goDuration(timeout.Microseconds())), machine.StartSharePoll{Consumer: x.i, Timeout: timeout.Microseconds()})
	x.c.stepUntil(x.c.passing("Poll, ms at most", timeout.Microseconds()), func() bool { return !x.state().Poll.Running })
	out := &ShareRecords{Took: duration(x.c.s.Now - start)}
	p := &x.state().Poll
	if p.Error != machine.NONE {
		out.Error = p.Error.String()
	}
	for i := range p.Rows {
		row := &p.Rows[i]
		r := row.Records.At(int(row.Place))
		out.Records = append(out.Records, ShareRecord{DeliveryCount: int(row.Count), Polled: Polled{
			Topic: x.c.image().Topics[row.TP.Topic].Name, Partition: int(row.TP.Partition), Offset: row.Offset, Key: r.Key, Value: r.Value,
			NullKey: r.Flags&partlog.NullKey != 0, NullValue: r.Flags&partlog.NullValue != 0, Timestamp: time.Duration(r.Timestamp) * time.Millisecond}})
	}
	return out
}

// ackNames are what Acknowledge takes.
var ackNames = []string{"accept", "release", "reject", "renew"}

// Acknowledge says what becomes of a record that the last poll returned: "accept" it is processed; "release" it is to be
// tried again, by whoever comes; "reject" nobody can process it; "renew" its lock is to last longer (from Kafka 4.2 on).
// Only with share.acknowledgement.mode=explicit. It is sent with the next Poll, Commit or Close.
func (x *ShareConsumer) Acknowledge(r ShareRecord, as string) *ShareConsumer {
	x.needsOpen("Acknowledge")
	where := x.where("Acknowledge")
	i := slices.Index(ackNames, as)
	switch {
	case i < 0:
		misuse(where, "there is no acknowledgement %q%s; want accept, release, reject or renew", as, meant(as, ackNames, ""))
	case !x.state().Config.Share.Explicit:
		misuse(where, "Implicit acknowledgement of delivery is being used (IllegalStateException); give NewShareConsumer share.acknowledgement.mode=explicit")
	case as == "renew" && x.c.world.version() < config.V4_3.Before():
		misuse(where, "renew: Kafka %s cannot prolong locks; that came with 4.2 (KIP-1222)", x.c.world.version())
	}
	tp := x.c.partitionOf(where, r.Topic, r.Partition)
	if !slices.ContainsFunc(x.state().Held, func(h machine.ShareRow) bool { return h.TP == tp && h.Offset == r.Offset }) {
		misuse(where, "The record cannot be acknowledged (IllegalStateException): offset %d of %s is not of this consumer's last poll", r.Offset, x.c.s.PartitionName(tp))
	}
	x.c.apply(fmt.Sprintf("c.ShareConsumer(%q).Acknowledge(kafkasim.ShareRecord{Polled: kafkasim.Polled{Topic: %q, Partition: %d, Offset: %d}}, %q)", x.ID(), r.Topic, r.Partition, r.Offset, as),
		machine.ShareAcknowledge{Consumer: x.i, Topic: tp.Topic, Partition: tp.Partition, Offset: r.Offset, Type: machine.AckType(i + 1)})
	return x
}

// ShareCommitted is what became of acknowledgements.
type ShareCommitted struct {
	Accepted, Released, Rejected, Renewed int // records whose acknowledgement was taken
	Failed                                int
	Error                                 string        // Kafka's error for those that were not; "" for none
	Took                                  time.Duration // virtual time
}

// String says what was acknowledged.
func (r *ShareCommitted) String() string {
	var parts []string
	for i, n := range []int{r.Accepted, r.Released, r.Rejected, r.Renewed} {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, []string{"accepted", "released", "rejected", "renewed"}[i]))
		}
	}
	if r.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed: %s", r.Failed, r.Error))
	}
	if len(parts) == 0 {
		return "nothing to acknowledge"
	}
	return strings.Join(parts, ", ") + " after " + inMs(r.Took.Microseconds())
}

// Commit sends the acknowledgements that wait, and waits for the answers (commitSync): with implicit acknowledgement it
// accepts everything that the last poll returned. An acknowledgement of a record whose lock has ended fails with
// INVALID_RECORD_STATE (H-10).
func (x *ShareConsumer) Commit() *ShareCommitted {
	x.needsOpen("Commit")
	if x.state().App.On {
		misuse(x.where("Commit"), "an application works with this consumer (Work); StopWork first")
	}
	start, before := x.c.s.Now, len(x.state().Results)
	x.do("Commit()", machine.ShareCommit{Consumer: x.i})
	x.c.stepUntil(x.c.passing("Commit, ms at most", 60_000_000), func() bool {
		return !x.state().Flush || x.c.s.Now-start >= 60_000_000
	})
	r := &ShareCommitted{Took: duration(x.c.s.Now - start)}
	all := x.state().Results
	for _, o := range all[min(before, len(all)):] {
		for _, a := range o.Acks {
			n := int(a.Last - a.First + 1)
			switch {
			case o.Code != machine.NONE:
				r.Failed += n
				r.Error = o.Code.String()
			case a.Type == machine.AckAccept:
				r.Accepted += n
			case a.Type == machine.AckRelease:
				r.Released += n
			case a.Type == machine.AckReject:
				r.Rejected += n
			case a.Type == machine.AckRenew:
				r.Renewed += n
			}
		}
	}
	return r
}

// ShareWork is how an application works on a share group's records: it polls, processes each record for PerRecord, and
// accepts it. Records with keys in Release or Reject fail, and are released or rejected; that needs
// share.acknowledgement.mode=explicit.
type ShareWork struct {
	PerRecord   time.Duration
	Release     []string
	Reject      []string
	PollTimeout time.Duration // 0 for 100 ms
}

// Work starts an application that works by itself whenever time passes. What it has processed is in Processed.
func (x *ShareConsumer) Work(w ShareWork) *ShareConsumer {
	x.needsOpen("Work")
	timeout := w.PollTimeout
	if timeout == 0 {
		timeout = 100 * time.Millisecond
	}
	switch where := x.where("Work"); {
	case w.PerRecord < 0 || timeout < time.Microsecond:
		misuse(where, "PerRecord %v, PollTimeout %v: want nothing below 0", w.PerRecord, w.PollTimeout)
	case len(x.state().Topics) == 0:
		misuse(where, "the consumer has no topics; Subscribe first")
	case len(w.Release)+len(w.Reject) > 0 && !x.state().Config.Share.Explicit:
		misuse(where, "records can be released or rejected only with share.acknowledgement.mode=explicit")
	}
	code := fmt.Sprintf("Work(kafkasim.ShareWork{PerRecord: %s, PollTimeout: %s", goDuration(w.PerRecord.Microseconds()), goDuration(timeout.Microseconds()))
	if len(w.Release) > 0 {
		code += fmt.Sprintf(", Release: []string{%s}", quotes(w.Release))
	}
	if len(w.Reject) > 0 {
		code += fmt.Sprintf(", Reject: []string{%s}", quotes(w.Reject))
	}
	x.do(code+"})", machine.ShareWork{Consumer: x.i, PerRecord: w.PerRecord.Microseconds(), PollTimeout: timeout.Microseconds(),
		Release: slices.Clone(w.Release), Reject: slices.Clone(w.Reject)})
	return x
}

// StopWork stops the application where it is.
func (x *ShareConsumer) StopWork() *ShareConsumer {
	x.needsOpen("StopWork")
	x.do("StopWork()", machine.ShareWork{Consumer: x.i, Stop: true})
	return x
}

// ShareProcessed is a record that an application has processed.
type ShareProcessed struct {
	Topic         string
	Partition     int
	Offset        int64
	DeliveryCount int
	At            time.Duration // when it was done
	As            string        // "accept", "release" or "reject"
}

// Processed are the records that the consumer's application has processed, in order.
func (x *ShareConsumer) Processed() []ShareProcessed {
	var out []ShareProcessed
	for _, d := range x.state().App.Done {
		out = append(out, ShareProcessed{x.c.image().Topics[d.TP.Topic].Name, int(d.TP.Partition), d.Offset, int(d.Count), duration(d.At), d.As.String()})
	}
	return out
}

// Close ends the share consumer: what is acknowledged is sent, what is not is released, and it leaves the group.
func (x *ShareConsumer) Close() *ShareConsumer {
	x.needsOpen("Close")
	x.do("Close()", machine.CloseShareConsumer{Consumer: x.i})
	x.c.stepUntil(x.c.passing("Close, ms at most", 30_000_000), func() bool { return x.state().Closed })
	return x
}

// Crash ends the consumer's process. Its connections are reset, so that the leaders release what it had (H-8).
func (x *ShareConsumer) Crash() *ShareConsumer {
	x.needsOpen("Crash")
	x.do("Crash()", machine.CrashShareConsumer{Consumer: x.i})
	return x
}

// String says what the consumer asks for.
func (x *ShareConsumer) String() string {
	s := x.state()
	name := "share consumer " + s.Name + " of group " + s.Config.Member.GroupID
	switch {
	case s.Closed:
		return name + ": closed"
	case len(s.Assigned) == 0:
		return name + ": no partitions yet"
	}
	var parts []string
	for _, tp := range s.Assigned {
		parts = append(parts, x.c.s.PartitionName(tp))
	}
	return fmt.Sprintf("%s: %s, member epoch %d, %d not acknowledged", name, strings.Join(parts, ", "), s.Epoch, s.Unacknowledged())
}
