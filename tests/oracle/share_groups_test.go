package oracle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
)

// Steps about share groups: a share consumer of the Java client, step by step (q1), and members by raw heartbeats (q2).

func init() {
	join, end := operations["join"], operations["close"]
	operations["join"] = func(r *replay, op Operation, saw json.RawMessage) error {
		if strings.HasPrefix(r.rec.Scenario, "q2-") {
			return r.joinShareGroup(op, saw)
		}
		return join(r, op, saw)
	}
	operations["close"] = func(r *replay, op Operation, saw json.RawMessage) error {
		if strings.HasPrefix(r.rec.Scenario, "q1-") {
			return r.closeSharer()
		}
		return end(r, op, saw)
	}
	operations["poll"] = (*replay).pollShares
	operations["pollWithoutAck"] = (*replay).pollWithoutAck
	operations["acknowledge"] = (*replay).acknowledge
	operations["shareStartOffset"] = (*replay).shareStartOffset
	operations["waitLockTimeoutThenAck"] = (*replay).ackTooLate
}

// sharer is the share consumer that steps speak of; one with another name is made.
func (r *replay) sharer(op Operation) *machine.ShareConsumer {
	name := op.str("consumer")
	if list := r.Share.Consumers; len(list) > 0 && (name == "" || list[len(list)-1].Name == name) {
		return &list[len(list)-1]
	}
	r.Apply(machine.AlterShareGroup{Group: theGroup, Props: config.ShareGroup{AutoOffsetReset: config.ResetEarliest}})
	props, problem := config.ParseShareConsumer(map[string]any{"group.id": theGroup, "share.acknowledgement.mode": "explicit"})
	if problem != nil {
		r.t.Fatal(problem.Text)
	}
	id := r.Apply(machine.NewShareConsumer{Name: name, Props: props}).ID
	r.Apply(machine.ShareSubscribe{Consumer: id, Topics: []string{r.topic}})
	return &r.Share.Consumers[id]
}

// pollShares polls until there are records, as the recorder did.
func (r *replay) pollShares(op Operation, saw json.RawMessage) error {
	c := r.sharer(op)
	for range 100 {
		r.Apply(machine.StartSharePoll{Consumer: c.Index, Timeout: 500 * millis})
		r.await(1000*millis, func() bool { return !r.Share.Consumers[c.Index].Poll.Running })
		if len(r.Share.Consumers[c.Index].Poll.Rows) > 0 {
			break
		}
	}
	got := []string{}
	for _, row := range r.Share.Consumers[c.Index].Poll.Rows {
		got = append(got, fmt.Sprintf("%d:%s deliveryCount=%d", row.Offset, row.Records.At(int(row.Place)).Value, row.Count))
	}
	return same(saw, got)
}

func same(saw json.RawMessage, got []string) error {
	var want []string
	if err := json.Unmarshal(saw, &want); err != nil || !slices.Equal(got, want) {
		return fmt.Errorf("%q, with Kafka %s", got, saw)
	}
	return nil
}

// pollWithoutAck is a poll although records are not acknowledged: the client refuses it (H-11).
func (r *replay) pollWithoutAck(op Operation, saw json.RawMessage) error {
	if c := r.sharer(op); c.Unacknowledged() == 0 {
		return fmt.Errorf("nothing is unacknowledged, with Kafka %s", saw)
	}
	return nil
}

// acknowledge is acknowledgements by offset, "all" or "others", and a commitSync.
func (r *replay) acknowledge(op Operation, saw json.RawMessage) error {
	types := map[string]machine.AckType{"ACCEPT": machine.AckAccept, "RELEASE": machine.AckRelease, "REJECT": machine.AckReject}
	c := r.sharer(op)
	for _, row := range slices.Clone(c.Held) {
		word := op.str(fmt.Sprint(row.Offset))
		if word == "" {
			word = op.str("all") + op.str("others")
		}
		r.Apply(machine.ShareAcknowledge{Consumer: c.Index, Topic: row.TP.Topic, Partition: row.TP.Partition, Offset: row.Offset, Type: types[word]})
	}
	return r.commitShares(c, saw)
}

// commitShares is commitSync: what each partition's acknowledgements came to.
func (r *replay) commitShares(c *machine.ShareConsumer, saw json.RawMessage) error {
	before, id := len(c.Results), c.Index
	r.Apply(machine.ShareCommit{Consumer: id})
	r.await(20_000*millis, func() bool { return !r.Share.Consumers[id].Flush })
	got := []string{}
	for _, o := range r.Share.Consumers[id].Results[before:] {
		got = append(got, map[machine.Code]string{machine.NONE: "OK", machine.INVALID_RECORD_STATE: "InvalidRecordStateException"}[o.Code])
	}
	return same(saw, got)
}

// ackTooLate acknowledges after the locks have ended (H-10).
func (r *replay) ackTooLate(op Operation, saw json.RawMessage) error {
	c := r.sharer(op)
	r.run((op.num("lockMs", 0) + 500) * millis)
	for _, row := range slices.Clone(c.Held) {
		r.Apply(machine.ShareAcknowledge{Consumer: c.Index, Topic: row.TP.Topic, Partition: row.TP.Partition, Offset: row.Offset, Type: machine.AckAccept})
	}
	return r.commitShares(c, saw)
}

// shareStartOffset is what ListShareGroupOffsets says: the start that is written.
func (r *replay) shareStartOffset(op Operation, saw json.RawMessage) error {
	y := r.ShareState(theGroup, r.tp(op))
	if y == nil {
		return fmt.Errorf("no state is written")
	}
	return expects(saw, map[string]any{"startOffset": y.Start})
}

func (r *replay) closeSharer() error {
	id := int32(len(r.Share.Consumers) - 1)
	r.Apply(machine.CloseShareConsumer{Consumer: id})
	if !r.await(30_000*millis, func() bool { return r.Share.Consumers[id].Closed }) {
		return fmt.Errorf("the consumer does not close")
	}
	return nil
}

// joinShareGroup is a member that joins by a raw heartbeat; then the members go on with heartbeats for 0.8 s, and the group
// is described. The state topic, which the first group needs, is there after a second.
func (r *replay) joinShareGroup(op Operation, saw json.RawMessage) error {
	topic, group := op.str("topic"), op.str("topic")
	if _, there := r.topics[topic]; !there {
		list := make([][]machine.NodeID, op.num("partitions", 1))
		for i := range list {
			list[i] = []machine.NodeID{1, 2, 3}
		}
		r.topics[topic] = r.Apply(machine.CreateTopic{Name: topic, Props: r.World.Broker.Topic, Assignment: list}).ID
		r.run(1000 * millis)
	}
	at := r.coordinatorOf(group)
	beat := func(member string, epoch int32, topics []string) (machine.ShareGroupHeartbeatResponse, error) {
		a, ok := r.call(at, machine.ShareGroupHeartbeatRequest{Group: group, Member: member, Epoch: epoch, Topics: topics}).(machine.ShareGroupHeartbeatResponse)
		if !ok || a.Error != machine.NONE {
			return a, fmt.Errorf("%s: %+v", member, a)
		}
		return a, nil
	}
	joined, err := beat(op.str("member"), 0, []string{topic})
	if err != nil {
		return err
	}
	for range 4 {
		r.run(200 * millis)
		g, _ := r.ShareGroup(group)
		for _, m := range slices.Clone(g.Members) {
			if _, err := beat(m.ID, m.Epoch, nil); err != nil {
				return err
			}
		}
	}
	g, _ := r.ShareGroup(group)
	got := map[string]any{"state": g.State(), "groupEpoch": g.Epoch, "assignmentEpoch": g.AssignmentEpoch,
		"joinAnswer": map[string]any{"error": joined.Error.String(), "memberEpoch": joined.Epoch}}
	var want map[string]json.RawMessage
	var parts map[string][]int32
	_ = json.Unmarshal(saw, &want)
	_ = json.Unmarshal(want["assignment"], &parts)
	for _, m := range g.Members { // how many: which ones follows from the hash of a random topic id (H-17)
		if list, has := parts[m.ID]; has && len(list) != len(m.Parts) {
			return fmt.Errorf("%s has %v, with Kafka %v", m.ID, m.Parts, list)
		}
	}
	delete(want, "assignment")
	rest, _ := json.Marshal(want)
	return expects(rest, got)
}
