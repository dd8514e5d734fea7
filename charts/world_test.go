package charts

import (
	"fmt"
	"slices"

	"kafkalab/kafkasim/view"
)

// world is a hand-made cluster for tests: its verbs write a trace and keep a view beside it. It knows no
// rule of Kafka; a test says what happens.
type world struct {
	cluster view.Cluster
	trace   view.Trace
	now     int64 // µs
}

func (w *world) View() *view.Cluster { v := w.cluster; v.Now = w.now; return &v }
func (w *world) Trace() *view.Trace  { t := w.trace; t.To = w.now; return &t }

func newWorld(brokers int) *world {
	w := &world{cluster: view.Cluster{Tick: 1000}, trace: view.Trace{Tick: 1000}}
	for id := 1; id <= brokers; id++ {
		w.cluster.Brokers = append(w.cluster.Brokers, view.Broker{ID: id, State: "RUNNING", Alive: true})
		w.trace.Brokers = append(w.trace.Brokers, id)
		w.add(view.Change{Kind: view.BrokerState, Broker: id, Partition: -1, Text: "RUNNING"})
		w.add(view.Change{Kind: view.BrokerFenced, Broker: id, Partition: -1, A: 0})
	}
	return w
}

func (w *world) add(c view.Change) {
	c.At = w.now
	w.trace.Changes = append(w.trace.Changes, c)
}

// at moves the clock to a tick of 1 ms.
func (w *world) at(tick int64) *world { w.now = tick * 1000; return w }

func (w *world) command(text string) {
	w.add(view.Change{Kind: view.Command, Broker: -1, Partition: -1, Text: text})
}

// topic creates a topic; each partition's replicas, leader first.
func (w *world) topic(name string, assignment ...[]int) {
	w.command(fmt.Sprintf("CreateTopic(%q)", name))
	t := view.Topic{Name: name}
	for id, replicas := range assignment {
		p := view.Partition{Topic: name, ID: id, Leader: -1, Replicas: replicas, MinISR: min(2, len(replicas))}
		for _, b := range replicas {
			p.Logs = append(p.Logs, view.Replica{Broker: b, Role: "offline", Epochs: nil})
		}
		t.Partitions = append(t.Partitions, p)
		w.trace.Partitions = append(w.trace.Partitions, view.PartitionName{Topic: name, ID: id, Replicas: replicas})
	}
	w.cluster.Topics = append(w.cluster.Topics, t)
	for i := len(w.trace.Partitions) - len(assignment); i < len(w.trace.Partitions); i++ {
		w.lead(i, assignment[i-len(w.trace.Partitions)+len(assignment)][0], 0, w.trace.Partitions[i].Replicas...)
	}
}

func (w *world) partition(i int) *view.Partition {
	name := w.trace.Partitions[i]
	for t := range w.cluster.Topics {
		if w.cluster.Topics[t].Name == name.Topic {
			return &w.cluster.Topics[t].Partitions[name.ID]
		}
	}
	panic("no such partition")
}

func (w *world) replica(i, broker int) *view.Replica {
	p := w.partition(i)
	at := slices.IndexFunc(p.Logs, func(r view.Replica) bool { return r.Broker == broker })
	return &p.Logs[at]
}

// record sets the controller's record.
func (w *world) record(i, leader, epoch int, isr ...int) {
	p := w.partition(i)
	p.Leader, p.LeaderEpoch, p.ISR = leader, epoch, isr
	for k := range p.Logs {
		p.Logs[k].InISR = slices.Contains(isr, p.Logs[k].Broker)
	}
	w.add(view.Change{Kind: view.PartitionState, Broker: -1, Partition: i, A: int64(leader), B: int64(epoch), List: isr})
}

// lead makes a broker the leader, and the other live brokers its followers.
func (w *world) lead(i, leader, epoch int, isr ...int) {
	w.record(i, leader, epoch, isr...)
	p := w.partition(i)
	for k := range p.Logs {
		r := &p.Logs[k]
		if !w.cluster.Brokers[r.Broker-1].Alive {
			continue
		}
		r.LeaderEpoch = epoch
		if r.Broker == leader {
			r.Role = "leader"
			w.add(view.Change{Kind: view.BecameLeader, Broker: leader, Partition: i, A: int64(epoch), B: r.LogEndOffset})
		} else {
			w.follow(i, r.Broker, leader, epoch)
		}
	}
}

func (w *world) follow(i, broker, leader, epoch int) {
	r := w.replica(i, broker)
	r.Role, r.LeaderEpoch = "follower", epoch
	w.add(view.Change{Kind: view.BecameFollower, Broker: broker, Partition: i, A: int64(leader), B: int64(epoch)})
}

// append writes records with these keys; "" is a record without a key.
func (w *world) append(i, broker, epoch int, keys ...string) {
	r := w.replica(i, broker)
	var records []view.Record
	for k, key := range keys {
		records = append(records, view.Record{Offset: r.LogEndOffset + int64(k), LeaderEpoch: epoch, Key: key, NullKey: key == ""})
	}
	r.Records = append(r.Records, records...)
	first := r.LogEndOffset
	r.LogEndOffset += int64(len(keys))
	w.add(view.Change{Kind: view.Appended, Broker: broker, Partition: i, A: first, B: r.LogEndOffset, C: int64(epoch), Records: records})
}

// copyUpTo lets a follower copy from another replica up to an offset.
func (w *world) copyUpTo(i, broker, from int, end int64) {
	r, source := w.replica(i, broker), w.replica(i, from)
	records := slices.Clone(source.Records[r.LogEndOffset:end])
	r.Records = append(r.Records, records...)
	first := r.LogEndOffset
	r.LogEndOffset = end
	w.add(view.Change{Kind: view.Appended, Broker: broker, Partition: i, A: first, B: end, Records: records})
}

func (w *world) hw(i, broker int, to int64) {
	r := w.replica(i, broker)
	w.add(view.Change{Kind: view.HighWatermark, Broker: broker, Partition: i, A: to, B: r.HighWatermark})
	r.HighWatermark = to
}

func (w *world) truncate(i, broker int, to int64) {
	r := w.replica(i, broker)
	w.add(view.Change{Kind: view.Truncated, Broker: broker, Partition: i, A: to, B: r.LogEndOffset})
	r.LogEndOffset, r.Records = to, r.Records[:to]
}

func (w *world) crash(broker int) {
	w.command(fmt.Sprintf("Broker(%d).Crash()", broker))
	w.cluster.Brokers[broker-1].Alive = false
	for i := range w.trace.Partitions {
		for k := range w.partition(i).Logs {
			if r := &w.partition(i).Logs[k]; r.Broker == broker {
				r.Role = "offline"
			}
		}
	}
	w.add(view.Change{Kind: view.BrokerState, Broker: broker, Partition: -1, Text: "CRASHED"})
}

func (w *world) start(broker int) {
	w.command(fmt.Sprintf("Broker(%d).Start()", broker))
	w.cluster.Brokers[broker-1].Alive = true
	w.add(view.Change{Kind: view.BrokerState, Broker: broker, Partition: -1, Text: "RUNNING"})
}

func (w *world) producer(id, acks string) *view.Producer {
	for i := range w.cluster.Producers {
		if w.cluster.Producers[i].ID == id {
			return &w.cluster.Producers[i]
		}
	}
	w.cluster.Producers = append(w.cluster.Producers, view.Producer{ID: id, Acks: acks})
	return &w.cluster.Producers[len(w.cluster.Producers)-1]
}

func (w *world) send(id string, i, n int) {
	w.producer(id, "1").Pending += n
	w.add(view.Change{Kind: view.Sent, Broker: -1, Partition: i, Client: id, A: int64(n)})
}

func (w *world) ack(id string, i int, first, n int64, epoch int) {
	p := w.producer(id, "1")
	p.Pending, p.Acked = p.Pending-int(n), p.Acked+int(n)
	w.mark(i, first, n, epoch, view.MarkAcked)
	w.add(view.Change{Kind: view.Acked, Broker: -1, Partition: i, Client: id, A: first, B: n, C: 2000})
}

func (w *world) lose(id string, i int, first, n int64, epoch int) {
	w.producer(id, "1").LostAcks += int(n)
	w.mark(i, first, n, epoch, view.MarkLost)
	w.add(view.Change{Kind: view.Lost, Broker: -1, Partition: i, A: first, B: n})
}

func (w *world) mark(i int, first, n int64, epoch int, mark view.Mark) {
	for k := range w.partition(i).Logs {
		records := w.partition(i).Logs[k].Records
		for j := range records {
			if r := &records[j]; r.Offset >= first && r.Offset < first+n && r.LeaderEpoch == epoch {
				r.Mark = mark
			}
		}
	}
}

func (w *world) read(id string, i int, from, to int64) {
	at := slices.IndexFunc(w.cluster.Consumers, func(c view.Consumer) bool { return c.ID == id })
	if at < 0 {
		w.cluster.Consumers = append(w.cluster.Consumers, view.Consumer{ID: id})
		at = len(w.cluster.Consumers) - 1
	}
	name := w.trace.Partitions[i]
	c := &w.cluster.Consumers[at]
	k := slices.IndexFunc(c.Positions, func(p view.Position) bool { return p.Topic == name.Topic && p.Partition == name.ID })
	if k < 0 {
		c.Positions = append(c.Positions, view.Position{Topic: name.Topic, Partition: name.ID})
		k = len(c.Positions) - 1
	}
	c.Positions[k].Offset = to
	w.add(view.Change{Kind: view.Consumed, Broker: -1, Partition: i, Client: id, A: from, B: to})
}

// leaderCrash is the story of the page up to a tick: acks=1, the leader crashes with records that no
// follower has, and cuts them off when it returns.
func leaderCrash(until int64) *world {
	w := newWorld(3)
	for _, step := range []struct {
		tick int64
		do   func()
	}{
		{10, func() { w.topic("orders", []int{1, 2}, []int{2, 3}, []int{3, 1}) }},
		{12, func() { w.send("checkout", 0, 3); w.send("checkout", 1, 2) }},
		{13, func() {
			w.append(0, 1, 0, "user-1", "user-4", "user-1")
			w.append(1, 2, 0, "user-3", "user-3")
		}},
		{14, func() { w.ack("checkout", 0, 0, 3, 0); w.ack("checkout", 1, 0, 2, 0) }},
		{15, func() { w.copyUpTo(0, 2, 1, 3); w.copyUpTo(1, 3, 2, 2) }},
		{17, func() { w.hw(0, 1, 3); w.hw(1, 2, 2) }},
		{18, func() { w.hw(0, 2, 3) }},
		{19, func() { w.send("checkout", 0, 2) }},
		{20, func() { w.append(0, 1, 0, "user-4", "") }},
		{21, func() { w.ack("checkout", 0, 3, 2, 0) }},
		{22, func() { w.read("reader", 0, 0, 2); w.read("reader", 1, 0, 1) }},
		{23, func() { w.crash(1) }},
		{31, func() { w.record(0, -1, 0, 2) }},
		{33, func() { w.lead(0, 2, 1, 2); w.lose("checkout", 0, 3, 2, 0); w.record(2, 3, 1, 3) }},
		{35, func() { w.send("checkout", 0, 1) }},
		{36, func() { w.append(0, 2, 1, "user-1"); w.hw(0, 2, 4) }},
		{37, func() { w.ack("checkout", 0, 3, 1, 1) }},
		{45, func() { w.start(1) }},
		{46, func() { w.follow(0, 1, 2, 1); w.follow(2, 1, 3, 1) }},
		{47, func() { w.truncate(0, 1, 3) }},
		{48, func() { w.copyUpTo(0, 1, 2, 4) }},
		{49, func() { w.record(0, 2, 1, 2, 1); w.record(2, 3, 1, 3, 1) }},
		{50, func() { w.hw(0, 1, 4) }},
		{52, func() { w.read("reader", 0, 2, 4) }},
	} {
		if step.tick <= until {
			w.at(step.tick)
			step.do()
		}
	}
	return w.at(until)
}

// widget is the story of one partition on three brokers, followers one and two steps behind; the third
// falls silent and leaves the ISR.
func widget() *world {
	w := newWorld(3)
	w.at(1).topic("events", []int{1, 2, 3})
	w.producer("producer", "all")
	for i := int64(0); i < 26; i++ {
		w.at(2 + i)
		w.send("producer", 0, 1)
		w.append(0, 1, 0, fmt.Sprintf("key-%d", i%7))
		if i > 0 {
			w.copyUpTo(0, 2, 1, i)
		}
		if i > 1 && i < 18 {
			w.copyUpTo(0, 3, 1, i-1)
			w.hw(0, 1, i-1)
			w.ack("producer", 0, i-2, 1, 0)
			w.hw(0, 2, i-2)
		}
		if i == 18 {
			w.command(`Broker(3).Pause()`)
			w.cluster.Brokers[2].Paused = true
			w.add(view.Change{Kind: view.BrokerState, Broker: 3, Partition: -1, Text: "PAUSED"})
		}
		if i == 22 {
			w.record(0, 1, 0, 1, 2)
			w.hw(0, 1, 22)
			w.ack("producer", 0, 16, 6, 0)
			w.hw(0, 2, 17)
		}
	}
	return w.at(30)
}
