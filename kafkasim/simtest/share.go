package simtest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"kafkalab/kafkasim"
)

// shareVerb lets share consumers act, and administrators change share groups.
func (e *Env) shareVerb(name string, a Args) (string, bool, error) {
	switch name {
	case "share-consumer": // share-consumer w1 group.id=work share.acknowledgement.mode=explicit
		e.C.NewShareConsumer(a.word(1), a.config())
		return "", true, nil
	case "alter-share-group": // alter-share-group work share.auto.offset.reset=earliest
		e.C.ShareGroup(a.word(1)).Alter(a.config())
		return "", true, nil
	case "reset-share-offsets": // reset-share-offsets work jobs --to-earliest
		return e.C.ShareGroup(a.word(1)).ResetOffsets(a.word(2), a.word(3)).Execute().String(), true, nil
	case "delete-share-offsets": // delete-share-offsets work jobs
		return e.C.ShareGroup(a.word(1)).DeleteOffsets(a.word(2)).String(), true, nil
	case "delete-group": // delete-group work
		return e.C.DeleteGroup(a.word(1)).String(), true, nil
	case "share-subscribe", "share-poll", "share-accept", "share-release", "share-reject", "share-renew", "share-commit", "share-work", "share-stop-work", "share-close", "share-crash":
		out, err := e.sharer(name, a)
		return out, true, err
	}
	return "", false, nil
}

// sharer is a verb of one share consumer.
func (e *Env) sharer(name string, a Args) (string, error) {
	x := e.C.ShareConsumer(a.word(1))
	switch name {
	case "share-subscribe": // share-subscribe w1 jobs
		x.Subscribe(a.plain[min(2, len(a.plain)):]...)
	case "share-poll": // share-poll w1 1s
		d, err := forTime(a.word(2))
		if err != nil {
			return "", err
		}
		return x.Poll(d).String(), nil
	case "share-accept", "share-release", "share-reject", "share-renew": // share-accept w1 jobs 0 4-6 9: offsets of what the last poll returned
		return "", e.acknowledge(x, strings.TrimPrefix(name, "share-"), a)
	case "share-commit": // share-commit w1
		return x.Commit().String(), nil
	case "share-work": // share-work w1 [per-record=10ms] [release=key1,key2] [reject=key3] [poll=100ms]
		w := kafkasim.ShareWork{}
		var err error
		if w.PerRecord, err = a.takeTime("per-record", 0); err != nil {
			return "", err
		}
		if w.PollTimeout, err = a.takeTime("poll", 100*time.Millisecond); err != nil {
			return "", err
		}
		w.Release, w.Reject = a.takeList("release"), a.takeList("reject")
		x.Work(w)
	case "share-stop-work": // share-stop-work w1
		x.StopWork()
	case "share-close": // share-close w1: sends what is acknowledged, releases the rest, leaves
		x.Close()
	case "share-crash": // share-crash w1
		x.Crash()
	}
	return "", nil
}

func (a *Args) takeList(name string) []string {
	if s, ok := a.take(name); ok && s != "" {
		return strings.Split(s, ",")
	}
	return nil
}

// acknowledge says one thing of several offsets of a partition.
func (e *Env) acknowledge(x *kafkasim.ShareConsumer, as string, a Args) error {
	partition, err := strconv.Atoi(a.word(3))
	if err != nil || len(a.plain) < 5 {
		return fmt.Errorf("want share-%s consumer topic partition offset offset-offset …", as)
	}
	for _, w := range a.plain[4:] {
		from, to, row := strings.Cut(w, "-")
		if !row {
			to = from
		}
		first, err1 := strconv.ParseInt(from, 10, 64)
		last, err2 := strconv.ParseInt(to, 10, 64)
		if err1 != nil || err2 != nil {
			return fmt.Errorf("%q is neither an offset nor a row of them, such as 4-6", w)
		}
		for o := first; o <= last; o++ {
			x.Acknowledge(kafkasim.ShareRecord{Polled: kafkasim.Polled{Topic: a.word(2), Partition: partition, Offset: o}}, as)
		}
	}
	return nil
}

// lookAtShares prints what `show` has of share groups; false for something else.
func lookAtShares(c *kafkasim.Cluster, what string) (string, bool) {
	kind, name, _ := strings.Cut(what, ":")
	switch kind {
	case "share-group":
		return c.ShareGroup(name).String(), true
	case "share-consumer":
		return c.ShareConsumer(name).String(), true
	case "share-processed":
		var out []string
		for _, p := range c.ShareConsumer(name).Processed() {
			out = append(out, fmt.Sprintf("%s-%d offset %d, delivery %d: %s", p.Topic, p.Partition, p.Offset, p.DeliveryCount, p.As))
		}
		return name + ": " + strings.Join(out, "; "), true
	}
	return "", false
}
