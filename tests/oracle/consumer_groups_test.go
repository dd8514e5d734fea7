package oracle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kafkalab/kafkasim/machine"
)

// Steps about groups with the consumer protocol, by raw heartbeats (l1, l3).

func init() {
	operations["consumerGroupHeartbeat"] = (*replay).consumerGroupHeartbeat
	operations["describeConsumerGroup"] = (*replay).describeConsumerGroup
	if operations["sleepMs"] == nil {
		operations["sleepMs"] = func(r *replay, op Operation, _ json.RawMessage) error {
			r.run(op.num("ms", 0) * millis)
			return nil
		}
	}
	operations["createPartitions"] = func(r *replay, op Operation, _ json.RawMessage) error {
		r.Apply(machine.AddPartitions{Topic: op.str("topic"), Total: int32(op.num("to", 0))})
		r.run(1000 * millis)
		return nil
	}
}

// the group of the static members' steps at the end of l1 is one of its own.
func (r *replay) consumerGroup(op Operation) string {
	if op.has("instance") {
		r.static = true
	}
	if r.static {
		return "static"
	}
	return theGroup
}

func (r *replay) consumerGroupHeartbeat(op Operation, saw json.RawMessage) error {
	m := machine.ConsumerGroupHeartbeatRequest{Group: r.consumerGroup(op), Member: op.str("member"), Instance: op.str("instance"), Assignor: op.str("assignor"),
		Epoch: int32(op.num("memberEpoch", 0)), HasOwned: op.has("owned")}
	if relative, ok := strings.CutPrefix(strings.Trim(string(op["memberEpoch"]), `"`), "current"); ok {
		d, _ := strconv.Atoi(relative)
		m.Epoch = r.consumerMember(m.Group, m.Member).Epoch + int32(d)
	}
	if op.has("subscribed") {
		m.Full, m.Topics, m.RebalanceTimeoutMs = true, op.strs("subscribed"), 300_000
	}
	for _, p := range strings.Split(op.str("owned"), ",") {
		if topic, number, ok := strings.Cut(p, ":"); ok {
			n, _ := strconv.Atoi(number)
			m.Owned = append(m.Owned, machine.TopicParts{Topic: topic, Partitions: []int32{int32(n)}})
		}
	}
	a, ok := r.call(r.coordinatorOf(m.Group), m).(machine.ConsumerGroupHeartbeatResponse)
	if !ok {
		return fmt.Errorf("no answer to a heartbeat")
	}
	got := map[string]any{"error": a.Error.String(), "memberEpoch": a.Epoch}
	if a.HasAssignment {
		got["assignment"] = partNames(a.Assignment)
	}
	var want map[string]json.RawMessage
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	if _, has := want["assignment"]; has != a.HasAssignment && a.Error == machine.NONE {
		return fmt.Errorf("an answer with an assignment: %v, with Kafka %v", a.HasAssignment, has)
	}
	return expects(saw, got)
}

func (r *replay) consumerMember(group, id string) machine.ConsumerMember {
	g, _ := r.GroupAt(group)
	for _, m := range g.Consumer.Members {
		if m.ID == id {
			return m
		}
	}
	return machine.ConsumerMember{}
}

func partNames(parts []machine.TopicParts) []string {
	out := []string{}
	for _, t := range parts {
		for _, p := range t.Partitions {
			out = append(out, fmt.Sprintf("%s:%d", t.Topic, p))
		}
	}
	slices.Sort(out)
	return out
}

func (r *replay) describeConsumerGroup(op Operation, saw json.RawMessage) error {
	if strings.HasPrefix(r.rec.Scenario, "l3-") {
		r.run(1000 * millis) // a second has passed by the heartbeat after it, as the target there shows
	}
	g, b := r.GroupAt(r.consumerGroup(op))
	if g == nil {
		return fmt.Errorf("there is no group")
	}
	members := []map[string]any{}
	for i := range g.Consumer.Members {
		m := &g.Consumer.Members[i]
		members = append(members, map[string]any{"member": m.ID, "epoch": m.Epoch, "assigned": partNames(b.Named(r.shown(m))), "target": partNames(b.Named(m.Target))})
	}
	return expects(saw, map[string]any{"error": "NONE", "state": g.State.String(), "groupEpoch": g.Consumer.Epoch,
		"assignmentEpoch": g.Consumer.AssignmentEpoch, "assignor": g.Consumer.Assignor, "members": members})
}

// shown is what DescribeConsumerGroups shows of a member: before 4.1 without what it is giving up.
func (r *replay) shown(m *machine.ConsumerMember) []machine.TopicPartition {
	if r.World.Rules.On(machine.RejoinKeepsEpoch) {
		return m.Holds()
	}
	held := []machine.TopicPartition{}
	for _, o := range m.Assigned {
		held = append(held, o.TP)
	}
	return held
}

// joinByHeartbeat lets a member join a group of its own kind and compares the target (l2). Where several topics meet, their
// order is chance with uniform: then it is compared how many each has, and that all are given.
func (r *replay) joinByHeartbeat(op Operation, saw json.RawMessage) error {
	members, topics := []string{op.str("member")}, map[string][]string{op.str("member"): op.strs("topics")}
	if op.has("topic") {
		topics[op.str("member")] = []string{op.str("topic")}
	}
	if op.has("unequal") {
		members = []string{"m1", "m2", "m3"}
		op.into("unequal", &topics)
	}
	group := fmt.Sprint(op.str("assignor"), op.str("topic"), op.strs("topics"), op.has("unequal"))
	for _, m := range members {
		for _, t := range topics[m] {
			if _, there := r.topics[t]; !there {
				n := int(t[len(t)-1] - '0')
				list := make([][]machine.NodeID, n)
				for i := range list {
					list[i] = []machine.NodeID{1, 2, 3}
				}
				r.topics[t] = r.Apply(machine.CreateTopic{Name: t, Props: r.World.Broker.Topic, Assignment: list}).ID
				r.run(1000 * millis)
			}
		}
		a, ok := r.call(r.coordinatorOf(group), machine.ConsumerGroupHeartbeatRequest{Group: group, Member: m, Full: true, HasOwned: true, RebalanceTimeoutMs: 300_000,
			Topics: topics[m], Assignor: op.str("assignor")}).(machine.ConsumerGroupHeartbeatResponse)
		if !ok || a.Error != machine.NONE {
			return fmt.Errorf("%s joins: %+v", m, a)
		}
	}
	g, b := r.GroupAt(group)
	got := map[string]any{"assignor": g.Consumer.Assignor, "groupEpoch": g.Consumer.Epoch}
	target := map[string][]string{}
	for i := range g.Consumer.Members {
		target[g.Consumer.Members[i].ID] = partNames(b.Named(g.Consumer.Members[i].Target))
	}
	var want struct{ Target map[string][]string }
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	var all, wanted []string
	chance := op.str("assignor") == "uniform" && len(op.strs("topics")) > 1
	for m, w := range want.Target {
		slices.Sort(w)
		if len(w) != len(target[m]) || !chance && !slices.Equal(w, target[m]) {
			return fmt.Errorf("%s: target %v, with Kafka %v", m, target[m], w)
		}
		all, wanted = append(all, target[m]...), append(wanted, w...)
	}
	slices.Sort(all)
	slices.Sort(wanted)
	if !slices.Equal(all, wanted) {
		return fmt.Errorf("targets of %v, with Kafka of %v", all, wanted)
	}
	var rest map[string]json.RawMessage
	_ = json.Unmarshal(saw, &rest)
	delete(rest, "target")
	saw, _ = json.Marshal(rest)
	return expects(saw, got)
}

func (r *replay) commitByEpoch(op Operation, saw json.RawMessage) error {
	m := machine.OffsetCommitRequest{Group: r.consumerGroup(op), Member: op.str("member"), Generation: int32(op.num("memberEpoch", -1)),
		Parts: []machine.CommitPart{{Topic: r.topic, Partition: int32(op.num("partition", 0)), LeaderEpoch: -1}}}
	if m.Member == "(none)" {
		m.Member = ""
	}
	a := r.call(r.coordinatorOf(m.Group), m).(machine.OffsetCommitResponse)
	return expects(saw, map[string]any{"error": a.Parts[0].Error.String()})
}
