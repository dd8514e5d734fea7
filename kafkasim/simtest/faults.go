package simtest

import (
	"fmt"

	"kafkalab/kafkasim"
)

// brokerVerb makes brokers fail and return.
func (e *Env) brokerVerb(name string, a Args) (string, bool, error) {
	switch name {
	case "crash", "power-loss", "stop", "start", "pause", "resume", "slow", "lose-disk", "lose-partition", "lose-tail":
	default:
		return "", false, nil
	}
	id, err := a.number(1)
	if err != nil {
		return "", true, err
	}
	if id >= 3001 {
		return "", true, controllerVerb(e.C.Controller(id), name)
	}
	b := e.C.Broker(id)
	switch name {
	case "slow", "lose-disk", "lose-partition", "lose-tail":
		return "", true, diskVerb(b, name, a)
	case "crash": // crash 1: kill -9
		b.Crash()
	case "power-loss": // power-loss 1
		b.PowerLoss()
	case "stop": // stop 1: controlled shutdown
		b.Stop()
	case "start": // start 1
		b.Start()
	case "pause": // pause 1: SIGSTOP
		b.Pause()
	case "resume": // resume 1: SIGCONT
		b.Resume()
	}
	return "", true, nil
}

// controllerVerb makes controllers fail and return: crash 3001.
func controllerVerb(c *kafkasim.Controller, name string) error {
	switch name {
	case "crash":
		c.Crash()
	case "start":
		c.Start()
	case "pause":
		c.Pause()
	case "resume":
		c.Resume()
	default:
		return fmt.Errorf("%s is for brokers; controllers crash, start, pause and resume", name)
	}
	return nil
}

// networkVerb disturbs the network.
func (e *Env) networkVerb(name string, a Args) (string, bool, error) {
	switch name {
	case "cut": // cut 1 2, cut 1 controller, cut checkout 1
		e.C.Cut(node(a.word(1)), node(a.word(2)))
	case "cut-one-way": // cut-one-way 1 2: nothing gets from 1 to 2
		e.C.CutOneWay(node(a.word(1)), node(a.word(2)))
	case "isolate": // isolate 1
		e.C.Isolate(node(a.word(1)))
	case "heal": // heal
		e.C.Heal()
	case "latency": // latency 1 2 5ms
		d, err := forTime(a.word(3))
		if err != nil {
			return "", true, err
		}
		e.C.Latency(node(a.word(1)), node(a.word(2)), d)
	case "hold": // hold "Fetch orders-0"
		return e.C.Hold(a.word(1)).String(), true, nil
	case "release": // release
		e.C.Release()
	case "drop", "deliver", "delay": // drop "Produce orders-0": the first message on the wire whose line has this; delay "EndTxn" 5s
		n, err := e.message(a.word(1))
		if err != nil {
			return "", true, err
		}
		if name == "delay" {
			d, err := forTime(a.word(2))
			if err != nil {
				return "", true, err
			}
			return e.C.Delay(n, d).String(), true, nil
		}
		if name == "drop" {
			return "lost: " + e.C.Drop(n).Text, true, nil
		}
		return e.C.Deliver(n).String(), true, nil
	default:
		return "", false, nil
	}
	return "", true, nil
}

// message finds the first message on the wire whose line contains a text.
func (e *Env) message(text string) (int, error) {
	for _, m := range e.C.InFlight() {
		if contains(m.From+" -> "+m.To+"  "+m.Text, text) {
			return m.Number, nil
		}
	}
	return 0, fmt.Errorf("no message on the wire has %q", text)
}
