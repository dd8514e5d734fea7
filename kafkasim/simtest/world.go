package simtest

import "kafkalab/kafkasim"

// worldVerb makes clusters and topics.
func (e *Env) worldVerb(name string, a Args) (string, bool, error) {
	switch name {
	case "cluster": // cluster brokers=3 seed=1 latency=1ms replica.lag.time.max.ms=10000
		w := kafkasim.World{}
		var err error
		if w.Brokers, err = a.takeNumber("brokers", 3); err != nil {
			return "", true, err
		}
		seed, err := a.takeNumber("seed", 1)
		if err != nil {
			return "", true, err
		}
		w.Seed = uint64(seed)
		if w.Latency, err = a.takeTime("latency", 0); err != nil {
			return "", true, err
		}
		if w.Tick, err = a.takeTime("tick", 0); err != nil {
			return "", true, err
		}
		w.Config = a.config()
		e.C = kafkasim.New(w)
	case "page": // page
		e.C = kafkasim.Page()
	case "widget": // widget acks=all min.insync.replicas=2
		e.C = kafkasim.Widget(a.config())
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
