package simtest

import (
	"fmt"
	"strings"

	"kafkalab/kafkasim"
)

// worldVerb makes clusters and topics.
func (e *Env) worldVerb(name string, a Args) (string, bool, error) {
	switch name {
	case "cluster": // cluster brokers=3 seed=1 latency=1ms kafka=0.10 switch.strict.min.isr=off replica.lag.time.max.ms=10000
		w, err := takeRules(&a)
		if err != nil {
			return "", true, err
		}
		if w.Brokers, err = a.takeNumber("brokers", 3); err != nil {
			return "", true, err
		}
		if w.Controllers, err = a.takeNumber("controllers", 1); err != nil {
			return "", true, err
		}
		if w.LogDirs, err = a.takeNumber("log-dirs", 1); err != nil {
			return "", true, err
		}
		seed, err := a.takeNumber("seed", 1)
		if err != nil {
			return "", true, err
		}
		w.Seed = uint64(seed)
		if racks, ok := a.take("racks"); ok { // racks=a,b,c
			w.Racks = strings.Split(racks, ",")
		}
		if w.Latency, err = a.takeTime("latency", 0); err != nil {
			return "", true, err
		}
		if w.Tick, err = a.takeTime("tick", 0); err != nil {
			return "", true, err
		}
		w.Config = a.config()
		e.C, e.Deliveries = kafkasim.New(w), nil
		e.C.Watch(true)
	case "page": // page
		e.C = kafkasim.Page()
		e.C.Watch(true)
	case "widget": // widget acks=all min.insync.replicas=2
		e.C = kafkasim.Widget(a.config())
		e.C.Watch(true)
	case "topic": // topic orders partitions=3 replication-factor=2 min.insync.replicas=1
		partitions, err := a.takeNumber("partitions", 1)
		if err != nil {
			return "", true, err
		}
		rf, err := a.takeNumber("replication-factor", 1)
		if err != nil {
			return "", true, err
		}
		if t := e.C.CreateTopic(a.word(1), partitions, rf, a.config()); t.Error != "" {
			return t.String(), true, nil
		}
	default:
		return "", false, nil
	}
	return "", true, nil
}

// takeRules takes kafka=0.10 and switch.strict.min.isr=off from a line.
func takeRules(a *Args) (kafkasim.World, error) {
	w := kafkasim.World{}
	w.Kafka, _ = a.take("kafka")
	for i := 0; i < len(a.pairs); {
		name, ok := strings.CutPrefix(a.pairs[i][0], "switch.")
		if !ok {
			i++
			continue
		}
		value, _ := a.take(a.pairs[i][0])
		if value != "on" && value != "off" {
			return w, fmt.Errorf("switch.%s=%s: want on or off", name, value)
		}
		if w.Switches == nil {
			w.Switches = map[string]bool{}
		}
		w.Switches[name] = value == "on"
	}
	return w, nil
}
