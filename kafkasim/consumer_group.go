package kafkasim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/view"
)

// needsGroup refuses what only a consumer with a group can do.
func (x *Consumer) needsGroup(verb string) {
	x.needsOpen(verb)
	if x.state().Config.Member.GroupID == "" {
		misuse(x.where(verb), `the consumer has no group: To use the group management or offset commit APIs, you must provide a valid group.id in the consumer configuration. (InvalidGroupIdException); give NewConsumer a "group.id"`)
	}
}

// Subscribe makes the consumer a member of its group, which shares the partitions of these topics among its members. The
// consumer joins when it polls. Without topics it leaves the group.
func (x *Consumer) Subscribe(topics ...string) *Consumer {
	x.needsGroup("Subscribe")
	s := x.state()
	if s.Group.New.Pattern != "" && len(topics) > 0 {
		misuse(x.where("Subscribe"), "Subscription to topics, partitions and pattern are mutually exclusive (IllegalStateException): this consumer subscribes by a pattern; Subscribe() ends that")
	}
	if !s.Group.On && len(s.Parts) > 0 && len(topics) > 0 {
		misuse(x.where("Subscribe"), "Subscription to topics, partitions and pattern are mutually exclusive (IllegalStateException): this consumer has partitions by Assign")
	}
	var names []string
	for _, t := range topics {
		if strings.TrimSpace(t) == "" {
			misuse(x.where("Subscribe"), "Topic collection to subscribe to cannot contain null or empty topic (IllegalArgumentException)")
		}
		x.c.topicIndex(x.where("Subscribe"), t)
		if slices.Contains(names, t) {
			misuse(x.where("Subscribe"), "topic %q is named twice", t)
		}
		names = append(names, t)
	}
	code := fmt.Sprintf("c.Consumer(%q).Subscribe(%s)", x.ID(), quotes(names))
	x.c.apply(code, machine.Subscribe{Consumer: x.i, Topics: names})
	return x
}

// quotes are texts as arguments of a call.
func quotes(names []string) string {
	var out []string
	for _, n := range names {
		out = append(out, fmt.Sprintf("%q", n))
	}
	return strings.Join(out, ", ")
}

// Committed is what became of a commit.
type Committed struct {
	Offsets []view.Position // what was to be committed: the next offset to read of each partition
	Error   string          // Kafka's error or exception; "" for none
	Took    time.Duration   // virtual time; 0 when it was not waited for
	Waiting bool            // it was not waited for, and has had no answer yet
	number  int32           // the consumer's own
}

// String says what was committed.
func (r *Committed) String() string {
	var parts []string
	for _, p := range r.Offsets {
		parts = append(parts, fmt.Sprintf("%s-%d at %d", p.Topic, p.Partition, p.Offset))
	}
	what := strings.Join(parts, ", ")
	switch {
	case len(parts) == 0:
		return "nothing to commit"
	case r.Error != "":
		return "commit of " + what + " failed: " + r.Error
	case r.Waiting:
		return "commit of " + what + " is on its way"
	}
	return "committed " + what + " after " + inMs(r.Took.Microseconds())
}

// Commit commits the positions of all partitions, and waits for the answer (commitSync): the offsets behind what polls
// have returned, processed or not (C-65).
func (x *Consumer) Commit() *Committed {
	return x.commit("Commit", fmt.Sprintf("c.Consumer(%q).Commit()", x.ID()), machine.Commit{Consumer: x.i})
}

// CommitAsync commits the positions of all partitions without waiting (commitAsync). It is not tried again when it fails
// (C-66). A function is called with the result in a later poll of the consumer, or in its next commit or close, in the order in
// which the commits were answered (OffsetCommitCallback).
func (x *Consumer) CommitAsync(callback ...func(*Committed)) *Committed {
	if len(callback) > 1 || len(callback) == 1 && callback[0] == nil {
		misuse(x.where("CommitAsync"), "want no function or one, a func(*kafkasim.Committed)")
	}
	r := x.commit("CommitAsync", fmt.Sprintf("c.Consumer(%q).CommitAsync()", x.ID()), machine.Commit{Consumer: x.i, Async: true})
	if len(callback) == 1 {
		x.c.callbacks = append(x.c.callbacks, &commitCallback{consumer: x.i, number: r.number, call: callback[0], result: r})
		x.c.callFunctions()
	}
	return r
}

// CommitOffset commits any offset of a partition, and waits: the next one that the group is to read. Nobody asks whether it
// exists or goes back (C-69), nor whether the partition is the consumer's (G-91).
func (x *Consumer) CommitOffset(topic string, partition int, offset int64) *Committed {
	x.needsGroup("CommitOffset")
	tp := x.c.partitionOf(x.where("CommitOffset"), topic, partition)
	if offset < 0 {
		misuse(x.where("CommitOffset"), "Invalid negative offset (IllegalArgumentException): %d; want the next offset to read, 0 or more", offset)
	}
	code := fmt.Sprintf("c.Consumer(%q).CommitOffset(%q, %d, %d)", x.ID(), topic, partition, offset)
	return x.commit("CommitOffset", code, machine.Commit{Consumer: x.i,
		Parts: []machine.CommitPart{{Topic: topic, Partition: tp.Partition, Offset: offset, LeaderEpoch: -1}}})
}

func (x *Consumer) commit(verb, code string, cmd machine.Commit) *Committed {
	x.needsGroup(verb)
	start := x.c.s.Now
	x.callBack()
	n := x.c.apply(code, cmd).ID
	if !cmd.Async {
		x.c.stepUntil(x.c.passing(verb+", ms at most", x.state().Config.Member.DefaultAPITimeoutMs*1000), func() bool { o := x.state().CommitOf(n); return o == nil || o.Done })
	}
	r := &Committed{Took: duration(x.c.s.Now - start), number: n}
	if o := x.state().CommitOf(n); o != nil {
		r.take(o)
	}
	if !cmd.Async {
		x.callBack()
	}
	return r
}

// take reads what became of a commit.
func (r *Committed) take(o *machine.CommitOp) {
	r.Offsets = nil
	for _, p := range o.Parts {
		r.Offsets = append(r.Offsets, view.Position{Topic: p.Topic, Partition: int(p.Partition), Offset: p.Offset})
	}
	r.Waiting = !o.Done
	if o.Done && o.Error != machine.NONE {
		r.Error = o.Error.String()
	}
}

// Crash ends the consumer's process at once: it commits nothing and says goodbye to nobody. Its group learns of it when
// session.timeout.ms have passed.
func (x *Consumer) Crash() *Consumer {
	x.needsOpen("Crash")
	x.c.apply(fmt.Sprintf("c.Consumer(%q).Crash()", x.ID()), machine.CrashConsumer{Consumer: x.i})
	return x
}

// Work is how a simulated application uses a consumer: it polls, processes each record, and commits.
type Work struct {
	// PerRecord is how long it processes a record.
	PerRecord time.Duration
	// Commit is "after" to commit when records are processed (at least once), "before" to commit as soon as they are polled
	// (at most once), or "" to leave it to enable.auto.commit.
	Commit string
	// Every commits after so many records; 0 is once for each poll. Only with Commit "after".
	Every int
	// Async commits without waiting for the answer.
	Async bool
	// PollTimeout is how long a poll waits; 0 is 100 ms.
	PollTimeout time.Duration
}

// code writes the fields that are set.
func (w Work) code() string {
	var parts []string
	if w.PerRecord != 0 {
		parts = append(parts, "PerRecord: "+goDuration(w.PerRecord.Microseconds()))
	}
	if w.Commit != "" {
		parts = append(parts, fmt.Sprintf("Commit: %q", w.Commit))
	}
	if w.Every != 0 {
		parts = append(parts, fmt.Sprintf("Every: %d", w.Every))
	}
	if w.Async {
		parts = append(parts, "Async: true")
	}
	if w.PollTimeout != 0 {
		parts = append(parts, "PollTimeout: "+goDuration(w.PollTimeout.Microseconds()))
	}
	return "kafkasim.Work{" + strings.Join(parts, ", ") + "}"
}

// Work starts an application that polls and processes by itself whenever time passes. What it has processed is in
// Processed.
func (x *Consumer) Work(w Work) *Consumer {
	x.needsOpen("Work")
	modes := map[string]machine.WorkMode{"": machine.CommitNever, "after": machine.CommitAfter, "before": machine.CommitBefore}
	mode, known := modes[w.Commit]
	timeout := w.PollTimeout
	if timeout == 0 {
		timeout = 100 * time.Millisecond
	}
	switch where := x.where("Work"); {
	case !known:
		misuse(where, `Commit %q: want "after", "before" or "" for what enable.auto.commit does`, w.Commit)
	case w.Commit != "" && x.state().Config.Member.GroupID == "":
		misuse(where, `the consumer has no group to commit for; give NewConsumer a "group.id"`)
	case w.PerRecord < 0 || timeout < time.Microsecond || w.Every < 0:
		misuse(where, "PerRecord %v, PollTimeout %v, Every %d: want nothing below 0", w.PerRecord, w.PollTimeout, w.Every)
	case w.Every > 0 && w.Commit != "after":
		misuse(where, `Every %d: only with Commit "after"`, w.Every)
	case !x.state().Group.On && len(x.state().Parts) == 0:
		misuse(where, "the consumer has no partitions; Subscribe or Assign first")
	}
	x.c.apply(fmt.Sprintf("c.Consumer(%q).Work(%s)", x.ID(), w.code()), machine.Work{Consumer: x.i, PerRecord: w.PerRecord.Microseconds(),
		Mode: mode, Every: int32(w.Every), Async: w.Async, PollTimeout: timeout.Microseconds()})
	return x
}

// StopWork stops the application where it is; the consumer stays open and does not poll any more.
func (x *Consumer) StopWork() *Consumer {
	x.needsOpen("StopWork")
	x.c.apply(fmt.Sprintf("c.Consumer(%q).StopWork()", x.ID()), machine.Work{Consumer: x.i, Stop: true})
	return x
}

// Processed are runs of records that the consumer's application has processed, in order.
func (x *Consumer) Processed() *ProcessedRecords {
	r := &ProcessedRecords{Consumer: x.ID()}
	for _, d := range x.state().App.Done {
		r.Runs = append(r.Runs, ProcessedRun{Topic: x.c.image().Topics[d.TP.Topic].Name, Partition: int(d.TP.Partition),
			From: d.From, To: d.To - 1, At: duration(d.At)})
		r.Count += d.To - d.From
	}
	return r
}

// ProcessedRecords is what an application has processed.
type ProcessedRecords struct {
	Consumer string
	Count    int64
	Runs     []ProcessedRun
}

// ProcessedRun is a run of offsets that were processed one after the other.
type ProcessedRun struct {
	Topic     string
	Partition int
	From, To  int64         // offsets, the last one included
	At        time.Duration // when the last was done
}

// String is a row for each run.
func (r *ProcessedRecords) String() string {
	table := [][]string{}
	for _, x := range r.Runs {
		table = append(table, []string{fmt.Sprintf("%s-%d", x.Topic, x.Partition), offsets(x.From, x.To-x.From+1), "by " + clock(x.At.Microseconds())})
	}
	out := r.Consumer + " processed " + plural(r.Count, "record")
	if len(table) > 0 {
		out += "\n" + rows(table)
	}
	return out
}

// Rebalances are the calls of the consumer's rebalance listener so far: what onPartitionsAssigned, onPartitionsRevoked
// and onPartitionsLost were told.
func (x *Consumer) Rebalances() *RebalanceCalls {
	r := &RebalanceCalls{}
	for _, k := range x.state().Group.Calls {
		call := RebalanceCall{At: duration(k.At), Kind: k.Kind.String()}
		for _, p := range k.TPs {
			call.Partitions = append(call.Partitions, TopicPartition{p.Topic, int(p.Partition)})
		}
		r.Calls = append(r.Calls, call)
	}
	return r
}

// RebalanceCalls is a list of calls.
type RebalanceCalls struct{ Calls []RebalanceCall }

// RebalanceCall is one call of a rebalance listener.
type RebalanceCall struct {
	At         time.Duration
	Kind       string // "assigned", "revoked" or "lost"
	Partitions []TopicPartition
}

// String is a row for each call.
func (r *RebalanceCalls) String() string {
	table := [][]string{}
	for _, k := range r.Calls {
		var names []string
		for _, p := range k.Partitions {
			names = append(names, p.String())
		}
		what := strings.Join(names, " ")
		if what == "" {
			what = "nothing"
		}
		table = append(table, []string{clock(k.At.Microseconds()), k.Kind, what})
	}
	if len(table) == 0 {
		return "no calls yet"
	}
	return rows(table)
}
