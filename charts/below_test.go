package charts

import "kafkalab/kafkasim/view"

// below adds to a hand-made world what lies below the logs: controllers, segments, a producer's batches, and
// messages of every fate.
func below() *world {
	w := leaderCrash(60)
	w.trace.Controllers = []view.Controller{
		{ID: 3001, State: "Leader", Alive: true, Active: true, Epoch: 1, Leader: 3001, Voted: -1},
		{ID: 3002, State: "Follower", Alive: true, Epoch: 1, Leader: 3001, Voted: 3001}, {ID: 3003, State: "Follower", Alive: true, Epoch: 1, Leader: 3001, Voted: 3001}}
	records := []view.MetadataRecord{{Offset: 0, Epoch: 1, Kind: "LeaderChangeMessage"}, {Offset: 1, Epoch: 1, Kind: "RegisterBrokerRecord"},
		{Offset: 2, Epoch: 1, Kind: "TopicRecord"}, {Offset: 3, Epoch: 1, Kind: "PartitionRecord"}, {Offset: 4, Epoch: 2, Kind: "LeaderChangeMessage"}}
	w.cluster.Controllers = []view.Controller{
		{ID: 3001, State: "NOT_RUNNING", Epoch: 1, Leader: -1, Voted: -1, LogEndOffset: 4, HighWatermark: 4, Records: records[:4]},
		{ID: 3002, State: "Leader", Alive: true, Active: true, Epoch: 2, Leader: 3002, Voted: 3002, LogEndOffset: 5, HighWatermark: 4, Records: records},
		{ID: 3003, State: "Follower", Alive: true, Epoch: 2, Leader: 3002, Voted: 3002, LogEndOffset: 4, HighWatermark: 3, Records: records[:4]}}
	w.at(62)
	for _, c := range []view.Change{{A: 3001, B: 1, Text: "CRASHED"}, {A: 3002, B: 2, C: -1, Text: "Candidate"}, {A: 3003, B: 2, C: 3002, Text: "Follower"}, {A: 3002, B: 2, Text: "Leader"}, {A: 3002, B: 2, Text: "ACTIVE"}} {
		c.Kind, c.Broker, c.Partition = view.ControllerState, -1, -1
		w.add(c)
		w.now += 500
	}
	for i := range w.partition(0).Logs {
		w.partition(0).Logs[i].Segments = []view.Segment{{BaseOffset: 0, NextOffset: 3, Records: 3, Bytes: 240, MaxTimestamp: 20}, {BaseOffset: 3, NextOffset: 4, Records: 1, Bytes: 80, MaxTimestamp: 36, Active: true}}
	}
	p := w.producer("checkout", "1")
	p.Limits = view.ProducerLimits{BatchSize: 16384, LingerMs: 5, MaxInFlight: 5, BufferMemory: 32 << 20, BufferUsed: 400}
	batch := func(state view.BatchState, partition, broker int, keys ...string) {
		b := view.ProducerBatch{Topic: "orders", Partition: partition, State: state, Broker: broker, Bytes: 90, Limit: 16384, Created: w.now - 1500, Sequence: -1}
		for _, k := range keys {
			b.Records = append(b.Records, view.Record{Key: k, Value: "v", NullKey: k == ""})
		}
		p.Batches = append(p.Batches, b)
	}
	batch(view.BatchRetry, 0, -1, "user-1")
	batch(view.BatchFilling, 0, -1, "user-1", "user-4")
	batch(view.BatchReady, 1, -1, "user-3", "", "user-3")
	batch(view.BatchInFlight, 2, 3, "user-2")
	w.cluster.InFlight = []view.Message{{Number: 9, Arrives: w.now + 500, From: "checkout", To: "broker 3", Text: "Produce orders-2 [user-2=v] acks=1"}, {Number: 7, From: "broker 2", To: "broker 1", Text: "FetchResponse orders-0", Held: true}}
	w.cluster.Cuts = []view.Cut{{From: "broker 1", To: "broker 3", BothWays: true, Waiting: 2}}
	return w
}

// Flights tells messages of every fate.
func (w *world) Flights(from, to int64) *view.Wire {
	all := []view.Flight{
		{Number: 1, Sent: 19_000, Ended: 20_000, From: "checkout", To: "broker 1", API: "Produce", Text: "Produce orders-0 [user-4=x] acks=1", Fate: view.FateDelivered},
		{Number: 2, Sent: 20_000, Ended: 21_000, From: "broker 1", To: "checkout", API: "ProduceResponse", Text: "ProduceResponse orders-0 offset 3", Fate: view.FateDelivered},
		{Number: 3, Sent: 22_000, Ended: 23_500, From: "broker 2", To: "broker 1", API: "Fetch", Text: "Fetch orders-0 from 3", Fate: view.FateDead},
		{Number: 4, Sent: 24_000, Ended: 24_500, From: "checkout", To: "broker 1", API: "Produce", Text: "Produce orders-0", Fate: view.FateDropped},
		{Number: 5, Sent: 33_000, Ended: -1, From: "controller", To: "broker 2", API: "MetadataFetchResponse", Text: "MetadataFetchResponse [orders-0 leader=2]", Fate: view.FateHeld},
		{Number: 6, Sent: 34_000, Ended: 36_000, From: "broker 2", To: "controller", API: "BrokerHeartbeat", Text: "BrokerHeartbeat", Fate: view.FateDelivered, Housekeeping: true},
		{Number: 8, Sent: 36_000, Ended: 36_500, From: "broker 2", To: "checkout", API: "ProduceResponse", Text: "ProduceResponse orders-0 NOT_LEADER_OR_FOLLOWER", Fate: view.FateDelivered},
		{Number: 9, Sent: 60_000, Ended: w.now + 500, From: "checkout", To: "broker 3", API: "Produce", Text: "Produce orders-2", Fate: view.FateInFlight},
	}
	wire := &view.Wire{From: from, To: to}
	for _, f := range all {
		if f.Sent <= to && (f.Ended < 0 || f.Ended >= from) {
			wire.Flights = append(wire.Flights, f)
		}
	}
	return wire
}
