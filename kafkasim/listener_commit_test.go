package kafkasim

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// What people do in onPartitionsRevoked: commit what they have processed. The positions are those of the partitions that
// go, with every assignor and with the consumer protocol (A-50, A-41, A-91, C-65); nobody processes twice.
func TestCommitInsideOnRevoked(t *testing.T) {
	for _, conf := range []Config{
		{"partition.assignment.strategy": "range"}, {"partition.assignment.strategy": "cooperative-sticky"}, {"group.protocol": "consumer"},
	} {
		c := groupWorld()
		c.CreateTopic("orders", 4, 3, nil)
		p := c.NewProducer("p", nil)
		for i := range 40 {
			p.SendRecord(Record{Topic: "orders", Partition: i % 4, Value: fmt.Sprint("v", i)})
		}
		c.RunFor(2 * time.Second)
		more := Config{"group.id": "g", "auto.offset.reset": "earliest", "enable.auto.commit": false}
		for k, v := range conf {
			more[k] = v
		}
		a := c.NewConsumer("a", more).Subscribe("orders")
		var told [][]TopicPartition
		var commits []*Committed
		a.OnRevoked(func(tps []TopicPartition) {
			told = append(told, tps)
			commits = append(commits, a.Commit())
		})
		for n := 0; n < 40; {
			n += len(a.Poll(time.Second).Records)
		}
		a.Work(Work{})
		b := c.NewConsumer("b", more).Subscribe("orders").Work(Work{})
		c.RunFor(40 * time.Second)
		if len(commits) != 1 {
			t.Fatalf("%v: %d calls of onPartitionsRevoked: %v", conf, len(commits), told)
		}
		if commits[0].Error != "" || commits[0].Waiting {
			t.Errorf("%v: %v", conf, commits[0])
		}
		for _, tp := range told[0] {
			if !strings.Contains(commits[0].String(), fmt.Sprintf("%s-%d at 10", tp.Topic, tp.Partition)) {
				t.Errorf("%v: %v is given up and not committed: %v", conf, tp, commits[0])
			}
		}
		if n := b.Processed().Count; n != 0 {
			t.Errorf("%v: b processes %d records again", conf, n)
		}
		if lag := c.Group("g").Lag(); lag.Total != 0 || conf["partition.assignment.strategy"] == "range" && lag.Unknown != 0 {
			t.Errorf("%v:\n%v", conf, lag)
		}
	}
}

// In onPartitionsLost the partitions are others' already: a commit fails as in Kafka.
func TestCommitInsideOnLost(t *testing.T) {
	c := groupWorld()
	c.CreateTopic("orders", 2, 3, nil)
	p := c.NewProducer("p", nil)
	for i := range 10 {
		p.SendRecord(Record{Topic: "orders", Partition: i % 2, Value: "v"})
	}
	c.RunFor(2 * time.Second)
	a := c.NewConsumer("a", Config{"group.id": "g", "auto.offset.reset": "earliest", "enable.auto.commit": false, "max.poll.interval.ms": 5000}).Subscribe("orders")
	var commit *Committed
	a.OnLost(func([]TopicPartition) { commit = a.Commit() })
	for n := 0; n < 10; {
		n += len(a.Poll(time.Second).Records)
	}
	c.RunFor(10 * time.Second)
	for range 100 {
		if a.Poll(100 * time.Millisecond); commit != nil {
			break
		}
	}
	if commit == nil || commit.Error != "CommitFailedException" {
		t.Errorf("in onPartitionsLost: %v", commit)
	}
}

// The script of a world in which listeners did things in the middle of RunFor, Poll, Steps and RunUntil leads to the same
// state without them: what they did stands there at its places.
func TestScriptOfListeners(t *testing.T) {
	var scripts, want []string
	for _, protocol := range []string{"classic", "consumer"} {
		c := groupWorld()
		c.CreateTopic("orders", 4, 3, nil)
		p := c.NewProducer("p", nil)
		for i := range 40 {
			p.SendRecord(Record{Topic: "orders", Partition: i % 4, Value: fmt.Sprint("v", i)})
		}
		more := Config{"group.id": "g", "auto.offset.reset": "earliest", "enable.auto.commit": false, "group.protocol": protocol}
		a := c.NewConsumer("a", more).Subscribe("orders")
		note := func(what string) func([]TopicPartition) {
			return func(tps []TopicPartition) { p.Send("orders", what, fmt.Sprint(tps)) }
		}
		a.OnAssigned(note("assigned")).OnRevoked(func(tps []TopicPartition) { a.Commit(); note("revoked")(tps) })
		for range 10 {
			a.Poll(time.Second) // the assignment comes in the middle of one
		}
		b := c.NewConsumer("b", more).Subscribe("orders").Work(Work{})
		b.OnAssigned(func([]TopicPartition) { c.RunFor(3 * time.Millisecond) })
		a.Work(Work{})
		c.RunFor(10 * time.Second)
		c.RunUntil(func(*Cluster) bool { return len(b.Processed().Runs) > 0 }, time.Minute)
		c.Step()
		b.Close()
		c.Steps(400)
		c.RunFor(20 * time.Second)
		text := fmt.Sprint(c.Script())
		if n := strings.Count(text, "c.Meanwhile("); n < 4 {
			t.Errorf("%s: listeners were called %d times:\n%s", protocol, n, text)
		}
		past := c.At(c.Now() - 12*time.Second)
		scripts = append(scripts, text, past.Script().String())
		want = append(want, fmt.Sprintf("%016x %v %v", c.Hash(), c.Now(), text), fmt.Sprintf("%016x %v %v", past.Hash(), past.Now(), past.Script()))
	}
	src := "package main\n\nimport (\n\t\"fmt\"\n\t\"time\"\n\n\t\"kafkalab/kafkasim\"\n)\n\nvar _ = time.Second\n\nfunc main() {\n"
	for _, s := range scripts {
		src += "func() {\n" + s + "fmt.Printf(\"%016x %v %v\\x00\", c.Hash(), c.Now(), c.Script())\n}()\n"
	}
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/main.go", []byte(src+"}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := goRun(dir + "/main.go")
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, src)
	}
	for i, got := range strings.Split(strings.TrimSuffix(out, "\x00"), "\x00") {
		if got != want[i] {
			t.Errorf("script %d:\n%s\ncomes to\n%s", i, want[i], got)
		}
	}
}
