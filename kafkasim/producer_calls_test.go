package kafkasim

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"kafkalab/kafkasim/machine"
)

// producerCalls is a sequence of a producer's calls as testdata/producer-calls-4.3.1.tsv has it.
type producerCalls struct {
	c         *Cluster
	config    Config
	producers map[string]*Producer
}

func newProducerCalls() *producerCalls {
	c := New(World{Brokers: 1, Seed: 1, Config: Config{"transaction.state.log.replication.factor": 1, "transaction.state.log.min.isr": 1, "offsets.topic.replication.factor": 1}})
	c.CreateTopic("t", 1, 1, nil)
	c.NewProducer("warm", nil).Send("t", nil, "v")
	c.RunFor(time.Second)
	s := &producerCalls{c: c, config: Config{"transactional.id": "before"}, producers: map[string]*Producer{}}
	for _, call := range []string{"init", "begin", "offsets", "commit"} { // other sequences were run before
		s.do("0:" + call)
	}
	return &producerCalls{c, Config{"transactional.id": "ID", "linger.ms": 0, "max.block.ms": 8000}, map[string]*Producer{}}
}

// do makes one call, and says what it threw: OK, or the exception with its words; of a send() that failed later the class.
func (s *producerCalls) do(word string) (got string) {
	defer func() {
		var u *UsageError
		if err, ok := recover().(error); ok && errors.As(err, &u) {
			_, got, _ = strings.Cut(u.UserMessage(), "Kafka's ") // what Kafka throws at run time is a caller's mistake
			got = strings.Replace(got, " says", "", 1)
		}
	}()
	who, call, second := strings.Cut(word, ":")
	if !second {
		who, call = "1", word
	}
	p := s.producers[who]
	if p == nil {
		p = s.c.NewProducer("p"+who, s.config)
		s.producers[who] = p
	}
	o := s.call(p, call)
	s.c.RunFor(120 * time.Millisecond)
	if o == "" {
		return "OK"
	}
	return regexp.MustCompile(`producerId=\d+, epoch=\d+`).ReplaceAllString(o, "producerId=N, epoch=N")
}

// call returns the exception.
func (s *producerCalls) call(p *Producer, call string) string {
	switch call {
	case "init":
		return p.InitTransactions().Message
	case "begin": // Begin would call InitTransactions by itself
		return p.transact("Begin", "beginTransaction", machine.BeginTransaction{Producer: p.i}).Message
	case "commit":
		return p.Commit().Message
	case "abort":
		return p.Abort().Message
	case "flush":
		p.Flush()
	case "close":
		p.Close()
	case "pause":
		s.c.Broker(1).Pause()
	case "resume":
		s.c.Broker(1).Resume()
	case "wait2", "wait13":
		s.c.RunFor(map[string]time.Duration{"wait2": 2, "wait13": 13}[call] * time.Second)
	case "send", "send-only":
		d := p.Send("t", nil, "v")
		if call == "send" {
			s.c.RunUntil(func(*Cluster) bool { return d.Status() != "pending" }, 20*time.Second)
			if d.Message() != "" {
				return d.Message()
			}
			return sendThrew[d.Failure()]
		}
	case "offsets":
		return s.offsets(p, machine.SendOffsets{Group: "g", Generation: -1})
	case "offsets-of-nobody":
		return s.offsets(p, machine.SendOffsets{Group: "g", Member: "m", Generation: 7})
	default:
		panic(call)
	}
	return ""
}

// offsets sends an offset for a group, as a member that it does not have if need be.
func (s *producerCalls) offsets(p *Producer, m machine.SendOffsets) string {
	p.needsTransactions("SendOffsets")
	m.Producer, m.Offsets = p.i, []machine.CommitPart{{Topic: "t", Offset: 1, LeaderEpoch: -1}}
	return p.transactAs("", "SendOffsets", "sendOffsetsToTransaction", m).Message
}

// sendThrew are the classes for what a delivery failed with.
var sendThrew = map[string]string{
	"": "", "IllegalStateException": "IllegalStateException", "INVALID_PRODUCER_EPOCH": "InvalidProducerEpochException",
	"PRODUCER_FENCED": "ProducerFencedException", "UNKNOWN_MEMBER_ID": "CommitFailedException",
}

// T-14, T-16, T-30, T-35, T-51, T-52, T-55, T-62: whatever a producer calls in whatever state, it throws what Kafka's threw.
func TestProducerCallsThrowAsKafkas(t *testing.T) {
	raw, err := os.ReadFile("testdata/producer-calls-4.3.1.tsv")
	if err != nil {
		t.Fatal(err)
	}
	sequences := 0
	for _, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		sequences++
		words, results, _ := strings.Cut(line, "\t=>\t")
		want := strings.Split(results, " | ")
		s := newProducerCalls()
		n := 0
		for _, word := range strings.Fields(words) {
			if name, value, ok := strings.Cut(word, "="); ok {
				s.config[name] = value
				if value == "" {
					delete(s.config, name)
				}
				continue
			}
			got := s.do(word)
			kafka := want[n]
			n++
			if strings.HasSuffix(word, "send") && !strings.Contains(got, ": ") { // of an exception with a cause we have the cause
				kafka = strings.TrimPrefix(kafka, "KafkaException: Cannot execute transactional method because we are in an error state <- ")
				kafka, _, _ = strings.Cut(kafka, ":")
			}
			if got != kafka && kafka != "-" {
				t.Errorf("%s\n call %d, %s: %s, with Kafka %s", words, n, word, got, kafka)
				break
			}
		}
	}
	if sequences < 90 {
		t.Errorf("%d sequences", sequences)
	}
}
