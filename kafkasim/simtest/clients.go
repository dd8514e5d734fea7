package simtest

import (
	"fmt"
	"strings"

	"kafkalab/kafkasim"
)

// clientVerb makes producers act.
func (e *Env) clientVerb(name string, a Args) (string, bool, error) {
	switch name {
	case "producer": // producer checkout acks=all linger.ms=5
		e.C.NewProducer(a.word(1), a.config())
	case "send": // send checkout orders user-1 "order #1" [partition=0] [as=r1]; a key of - is none
		return "", true, e.send(a)
	case "fill": // fill checkout orders 300 value="…": so many records without a key, their number behind the value
		return "", true, e.fill(a)
	case "every": // every checkout 10ms orders user-1 user-2
		d, err := forTime(a.word(2))
		if err != nil {
			return "", true, err
		}
		e.C.Producer(a.word(1)).Every(d, a.word(3), a.plain[min(4, len(a.plain)):]...)
	case "flush": // flush checkout
		return e.C.Producer(a.word(1)).Flush().String(), true, nil
	case "close-producer": // close-producer checkout
		return e.C.Producer(a.word(1)).Close().String(), true, nil
	case "crash-producer": // crash-producer checkout
		e.C.Producer(a.word(1)).Crash()
	default:
		return "", false, nil
	}
	return "", true, nil
}

func (e *Env) send(a Args) error {
	r := kafkasim.Record{Topic: a.word(2), Value: a.word(4)}
	if k := a.word(3); k != "-" {
		r.Key = k
	}
	as, named := a.take("as")
	if p, err := a.takeNumber("partition", -1); err != nil {
		return err
	} else if p >= 0 {
		r.Partition = p
	}
	if !named {
		as = a.word(4)
	}
	e.Deliveries = append(e.Deliveries, Sent{as, e.C.Producer(a.word(1)).SendRecord(r)})
	return nil
}

// decided tells whether every record that the story sent is acknowledged or has failed.
func (e *Env) decided() bool {
	for _, d := range e.Deliveries {
		if d.Delivery.Status() == "pending" {
			return false
		}
	}
	return true
}

// deliveries is a line for each record that the story sent.
func (e *Env) deliveries() string {
	var out []string
	for _, d := range e.Deliveries {
		out = append(out, fmt.Sprintf("%s: %s", d.Name, d.Delivery))
	}
	return strings.Join(out, "\n")
}

// fill sends many records.
func (e *Env) fill(a Args) error {
	value, _ := a.take("value")
	var n int
	if _, err := fmt.Sscan(a.word(3), &n); err != nil || n < 1 {
		return fmt.Errorf("fill %q: want how many records", a.word(3))
	}
	for i := range n {
		e.C.Producer(a.word(1)).Send(a.word(2), nil, fmt.Sprintf("%s %d", value, i+1))
	}
	return nil
}

// story is the life of the record that the story calls so.
func (e *Env) story(c *kafkasim.Cluster, name string) (string, error) {
	for _, d := range e.Deliveries {
		if d.Name == name {
			return d.Delivery.In(c).Story().String(), nil
		}
	}
	return "", fmt.Errorf("no record is called %s", name)
}

// consumerVerb makes consumers act.
func (e *Env) consumerVerb(name string, a Args) (string, bool, error) {
	if name == "consumer" { // consumer c1 auto.offset.reset=earliest
		e.C.NewConsumer(a.word(1), a.config())
		return "", true, nil
	}
	switch name {
	case "assign", "poll", "seek", "seek-to-beginning", "seek-to-end", "pause-partitions", "resume-partitions", "position", "close-consumer":
	default:
		return "", false, nil
	}
	c := e.C.Consumer(a.word(1))
	parts, err := a.numbers(3)
	if err != nil {
		return "", true, err
	}
	switch name {
	case "assign": // assign c1 orders 0 1
		c.Assign(a.word(2), parts...)
	case "poll": // poll c1 100ms
		d, err := forTime(a.word(2))
		if err != nil {
			return "", true, err
		}
		return c.Poll(d).String(), true, nil
	case "seek": // seek c1 orders 0 5
		if len(parts) != 2 {
			return "", true, fmt.Errorf("want seek consumer topic partition offset")
		}
		c.Seek(a.word(2), parts[0], int64(parts[1]))
	case "seek-to-beginning": // seek-to-beginning c1 orders 0
		c.SeekToBeginning(a.word(2), parts...)
	case "seek-to-end": // seek-to-end c1 orders 0
		c.SeekToEnd(a.word(2), parts...)
	case "pause-partitions": // pause-partitions c1 orders 0
		c.Pause(a.word(2), parts...)
	case "resume-partitions": // resume-partitions c1 orders 0
		c.Resume(a.word(2), parts...)
	case "position": // position c1 orders 0
		return fmt.Sprint(c.Position(a.word(2), parts[0])), true, nil
	case "close-consumer": // close-consumer c1
		c.Close()
	}
	return "", true, nil
}
