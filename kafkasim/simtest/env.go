// Package simtest runs stories: text files in which a cluster is built, acted on and looked at, with what
// was to be seen written below each block. `go test -rewrite` records what is seen; commit it only when
// you understand it.
//
//	do
//	cluster brokers=3 seed=1
//	topic orders partitions=1 replication-factor=3 min.insync.replicas=2
//	producer checkout acks=all
//	send checkout orders alice "order #1"
//	----
//	ok
//
//	run until=decided
//	----
//	…
//
// A line of `do` is a verb of package kafkasim in lower case; a block command lets time pass or looks.
package simtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"kafkalab/kafkasim"
)

// Env is what a story acts on.
type Env struct {
	C          *kafkasim.Cluster
	Deliveries []Sent
	kept       map[string]*kafkasim.Cluster // clusters that `fork` and `at` put aside
	looked     int64                        // µs: up to where the blocks `messages` have told
	checked    bool                         // the story has looked at the invariants itself
}

// Sent is a record that a story sent, under a name that it can be asked for by.
type Sent struct {
	Name     string
	Delivery *kafkasim.Delivery
}

// Run runs the story in a file.
func Run(t *testing.T, path string) {
	env := &Env{kept: map[string]*kafkasim.Cluster{}}
	datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
		out, err := env.Block(d.Cmd, words(strings.TrimPrefix(headLine(d), d.Cmd)), d.Input)
		if err != nil {
			return "mistake: " + err.Error() + "\n"
		}
		return strings.TrimRight(out, "\n") + "\n"
	})
	if env.C == nil || env.checked {
		return
	}
	if v := env.C.Check(); !v.OK() {
		t.Errorf("the story breaks what must hold, and does not say so with a block `check`:\n%s", strings.Join(v.Broken, "\n"))
	}
}

// headLine is the command line of a block as it was written.
func headLine(d *datadriven.TestData) string {
	parts := []string{d.Cmd}
	for _, a := range d.CmdArgs {
		parts = append(parts, quoteArg(a))
	}
	return strings.Join(parts, " ")
}

func quoteArg(a datadriven.CmdArg) string {
	if len(a.Vals) == 0 {
		return quoteWord(a.Key)
	}
	return a.Key + "=" + quoteWord(strings.Join(a.Vals, ","))
}

// Block runs one block of a story and returns what is to be seen. A caller's mistake comes back as err.
func (e *Env) Block(cmd string, args Args, input string) (out string, err error) {
	defer func() {
		if r := recover(); r != nil {
			u, ok := r.(*kafkasim.UsageError)
			if !ok {
				panic(r)
			}
			err = u
		}
	}()
	if e.C == nil && cmd != "do" {
		return "", fmt.Errorf("a story begins with a block `do` whose first line is cluster, page or widget")
	}
	switch cmd {
	case "do": // lines with verbs; what they answer is printed, or ok
		return e.do(input)
	case "run": // run for=5ms | ticks=3 | until=decided|settled|leader=2:orders-0 [limit=10s]; prints what changed
		return e.run(args)
	case "watch": // the same, and every event that changed something is printed
		return e.watch(args)
	case "steps": // steps 5: five events, whatever they are
		return e.steps(args)
	case "table": // table ticks=8 topic=log: a row of numbers after each tick
		return e.table(args)
	case "describe": // describe [orders]: kafka-topics.sh --describe
		return e.describe(args)
	case "transactions": // transactions list | describe ID | describe-producers orders-0 | find-hanging: kafka-transactions.sh
		return e.transactions(args)
	case "messages": // messages [InitProducerId EndTxn]: what arrived since the last such block, with the answers
		return e.messages(args), nil
	case "quorum": // quorum: kafka-metadata-quorum.sh describe --status and --replication
		return e.quorum(), nil
	case "dump": // dump orders-0 [2] [short]: kafka-dump-log.sh --print-data-log, of the leader or of a broker
		topic, id, err := partition(args.word(0))
		if err != nil {
			return "", err
		}
		short := slices.Contains(args.plain, "short")
		args.plain = slices.DeleteFunc(args.plain, func(s string) bool { return s == "short" })
		brokers, err := args.numbers(1)
		if err != nil {
			return "", err
		}
		return dumped(e.C.DumpLog(topic, id, brokers...).String(), short), nil
	case "group": // group shop [--members] [--state] [--verbose]: kafka-consumer-groups.sh --describe
		return e.group(args), nil
	case "share-group": // share-group work [--members] [--offsets] [--state] [--verbose]: kafka-share-groups.sh --describe
		return tidy(e.C.ShareGroup(args.word(0)).Describe(args.plain[1:]...).String()), nil
	case "show": // show orders-0 | deliveries | producers | consumers | brokers | inflight | counters | script
		return e.show(args)
	case "check": // check: the invariants; check broken: those that do not hold
		return e.check(args)
	case "at": // at t=5ms orders-0: what `show` would have printed then
		return e.at(args)
	case "replay": // replay kafka=0.10 switch.strict.min.isr=off: goes on with a cluster that did the same under other rules
		return e.replay(args)
	case "fork": // fork keep=before: puts a copy aside; fork use=before: goes on with it
		return e.fork(args)
	}
	return "", fmt.Errorf("there is no block command %q", cmd)
}

// Do runs the lines of a `do` block.
func (e *Env) do(input string) (string, error) {
	var out []string
	for _, line := range strings.Split(input, "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		s, err := e.verb(words(line))
		if err != nil {
			return "", err
		}
		if s != "" {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return "ok", nil
	}
	return strings.Join(out, "\n"), nil
}

// verb runs one line of a `do` block.
func (e *Env) verb(a Args) (string, error) {
	name := a.word(0)
	if e.C == nil && name != "cluster" && name != "page" && name != "widget" {
		return "", fmt.Errorf("the first line of a story is cluster, page or widget, not %q", name)
	}
	for _, group := range []func(string, Args) (string, bool, error){e.worldVerb, e.adminVerb, e.clientVerb, e.transactionVerb, e.groupVerb, e.shareVerb, e.consumerVerb, e.brokerVerb, e.networkVerb} {
		if out, ok, err := group(name, a); ok || err != nil {
			return out, err
		}
	}
	return "", fmt.Errorf("there is no verb %q", name)
}

// forTime reads a duration.
func forTime(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("%q is not a time: want 5ms, 10s, …", s)
	}
	return d, nil
}
