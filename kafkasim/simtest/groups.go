package simtest

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"kafkalab/kafkasim"
)

// groupVerb lets consumers be members of groups, and applications work.
func (e *Env) groupVerb(name string, a Args) (string, bool, error) {
	switch name {
	case "subscribe", "work", "stop-work", "commit", "commit-async", "commit-offset", "crash-consumer":
	default:
		return "", false, nil
	}
	c := e.C.Consumer(a.word(1))
	switch name {
	case "subscribe": // subscribe c1 orders payments
		c.Subscribe(a.plain[min(2, len(a.plain)):]...)
	case "work": // work c1 [per-record=10ms] [commit=after|before] [every=3] [async=true] [poll=100ms]
		w, err := a.work()
		if err != nil {
			return "", true, err
		}
		c.Work(w)
	case "stop-work": // stop-work c1
		c.StopWork()
	case "commit": // commit c1
		return c.Commit().String(), true, nil
	case "commit-async": // commit-async c1
		return c.CommitAsync().String(), true, nil
	case "commit-offset": // commit-offset c1 orders 0 87
		parts, err := a.numbers(3)
		if err != nil || len(parts) != 2 {
			return "", true, fmt.Errorf("want commit-offset consumer topic partition offset")
		}
		return c.CommitOffset(a.word(2), parts[0], int64(parts[1])).String(), true, nil
	case "crash-consumer": // crash-consumer c1
		c.Crash()
	}
	return "", true, nil
}

// work reads how an application works.
func (a *Args) work() (w kafkasim.Work, err error) {
	if w.PerRecord, err = a.takeTime("per-record", 0); err != nil {
		return w, err
	}
	if w.PollTimeout, err = a.takeTime("poll", 0); err != nil {
		return w, err
	}
	if w.Every, err = a.takeNumber("every", 0); err != nil {
		return w, err
	}
	w.Commit, _ = a.take("commit")
	async, _ := a.take("async")
	w.Async = async == "true"
	return w, nil
}

// randomIDs are the random parts of member ids.
var randomIDs = regexp.MustCompile(`-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)

// group is what kafka-consumer-groups.sh says, without what is random in ids.
func (e *Env) group(a Args) string {
	return tidy(e.C.Group(a.word(0)).Describe(a.plain[1:]...).String())
}

func tidy(out string) string {
	var lines []string
	for _, line := range strings.Split(strings.Trim(out, "\n"), "\n") {
		if line != "" { // a blank line would end the block
			lines = append(lines, strings.TrimRight(randomIDs.ReplaceAllString(line, "-<uuid-36-characters-long-0000000000>"), " "))
		}
	}
	return strings.Join(lines, "\n")
}

// lookAtGroups prints what `show` has of groups; false for something else.
func lookAtGroups(c *kafkasim.Cluster, what string) (string, bool) {
	kind, name, _ := strings.Cut(what, ":")
	switch kind {
	case "groups":
		return strings.Join(c.Groups(), "\n"), true
	case "group":
		return c.Group(name).String(), true
	case "lag":
		return c.Group(name).Lag().String(), true
	case "processed":
		return c.Consumer(name).Processed().String(), true
	case "processing":
		return c.Processing(name).String(), true
	case "rebalances":
		return c.Consumer(name).Rebalances().String(), true
	}
	return "", false
}

// stable tells whether a group is stable with so many members for a moment.
func (e *Env) stable(group string, members int) func() bool {
	since := time.Duration(-1)
	return func() bool {
		g := e.C.Group(group)
		if g.State != "Stable" || len(g.Members) != members {
			since = -1
			return false
		}
		if since < 0 {
			since = e.C.Now()
		}
		return e.C.Now()-since >= 10*time.Millisecond
	}
}
