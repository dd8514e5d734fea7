package oracle

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"kafkalab/kafkasim/machine"
)

// Steps of members of both group protocols in one group, by raw requests (ga1 to ga4).

func init() {
	for name, run := range map[string]func(*replay, Operation) (map[string]any, error){
		"rawJoin": (*replay).rawJoin, "rawJoinAnswer": (*replay).rawJoinAnswer, "rawSync": (*replay).rawSync, "rawSyncAnswer": (*replay).rawSyncAnswer,
		"rawHeartbeat": (*replay).rawHeartbeat, "rawLeave": (*replay).rawLeave, "rawCommit": (*replay).rawCommit, "rawFetchOffset": (*replay).rawFetchOffset,
		"rawConsumerHeartbeat": (*replay).rawConsumerHeartbeat, "describe": (*replay).describeBoth, "expiry": (*replay).expiry,
	} {
		operations[name] = func(r *replay, op Operation, saw json.RawMessage) error {
			got, err := run(r, op)
			if err != nil || saw == nil {
				return err
			}
			return agrees("", saw, got)
		}
	}
	operations["topic"] = func(r *replay, op Operation, _ json.RawMessage) error {
		r.topic = op.str("topic")
		r.topics[r.topic] = r.Apply(machine.CreateTopic{Name: r.topic, Partitions: int32(op.num("partitions", 1)), ReplicationFactor: 1, Props: r.World.Broker.Topic}).ID
		r.run(500 * millis)
		return nil
	}
	operations["sleep"] = operations["sleepMs"]
}

// agrees compares what a recording has of a value, field by field, with what there is.
func agrees(where string, saw json.RawMessage, got any) error {
	var fields map[string]json.RawMessage
	if json.Unmarshal(saw, &fields) == nil {
		have, _ := got.(map[string]any)
		for name, raw := range fields {
			if err := agrees(where+"."+name, raw, have[name]); err != nil {
				return err
			}
		}
		return nil
	}
	have, _ := json.Marshal(got)
	var a, b any
	_ = json.Unmarshal(saw, &a)
	_ = json.Unmarshal(have, &b)
	if x, y := fmt.Sprint(a), fmt.Sprint(b); x != y {
		return fmt.Errorf("%s is %s, with Kafka %s", where, y, x)
	}
	return nil
}

func (r *replay) groupOf(op Operation) string {
	if op.has("group") {
		return op.str("group")
	}
	return theGroup
}

// ask sends a raw request to the group's coordinator, or parks it for a later step.
func (r *replay) ask(op Operation, p machine.Payload) machine.Payload {
	node := r.coordinatorOf(r.groupOf(op))
	if !op.has("park") {
		return r.call(node, p)
	}
	r.correlation++
	r.g().parked[op.str("member")] = r.correlation
	r.Probe(0, machine.NodeID(node), r.correlation, r.correlation, p)
	r.run(100 * millis)
	return nil
}

func partsOf(text string) []machine.TopicParts {
	var out []machine.TopicParts
	for _, p := range strings.Split(text, ",") {
		topic, number, ok := strings.Cut(p, ":")
		if !ok {
			continue
		}
		n, _ := strconv.Atoi(number)
		if len(out) == 0 || out[len(out)-1].Topic != topic {
			out = append(out, machine.TopicParts{Topic: topic})
		}
		out[len(out)-1].Partitions = append(out[len(out)-1].Partitions, int32(n))
	}
	return out
}

func (r *replay) rawJoin(op Operation) (map[string]any, error) {
	m := machine.JoinGroupRequest{Group: r.groupOf(op), Member: r.member(op), Instance: op.str("instance"), ClientID: op.str("member"), Type: "consumer",
		SessionTimeoutMs: op.num("sessionTimeoutMs", 30_000), RebalanceTimeoutMs: op.num("rebalanceTimeoutMs", 60_000)}
	if op.has("new") {
		m.Member = ""
	}
	if op.has("type") {
		m.Type = op.str("type")
	}
	protocols := "range"
	if op.has("protocols") {
		protocols = op.str("protocols")
	}
	said := machine.Subscription{Topics: []string{"ga"}, Owned: partsOf(op.str("owned")), Generation: int32(op.num("generation", -1))}
	for _, name := range strings.Split(protocols, ",") {
		m.Protocols = append(m.Protocols, machine.GroupProtocol{Name: name, Subscription: said})
	}
	return r.rawJoined(op, r.ask(op, m))
}

func (r *replay) rawJoined(op Operation, answer machine.Payload) (map[string]any, error) {
	if answer == nil {
		return nil, nil
	}
	a := answer.(machine.JoinGroupResponse)
	if op.has("new") && a.Member != "" {
		r.g().ids[op.str("member")] = a.Member
	}
	out := r.joined(&a)
	out["skip"] = a.SkipAssignment
	return out, nil
}

func (r *replay) rawJoinAnswer(op Operation) (map[string]any, error) {
	return r.rawJoined(op, r.waited(op.str("member")))
}

func (r *replay) rawSync(op Operation) (map[string]any, error) {
	m := machine.SyncGroupRequest{Group: r.groupOf(op), Member: r.member(op), Instance: op.str("instance"), Generation: int32(op.num("generation", -1)), Protocol: "range"}
	if op.has("protocol") {
		m.Protocol = op.str("protocol")
	}
	var assign map[string]string
	op.into("assign", &assign)
	for name, parts := range assign {
		m.Assignments = append(m.Assignments, machine.MemberAssignment{Member: r.g().ids[name], Parts: partsOf(parts)})
	}
	return rawSynced(r.ask(op, m))
}

func rawSynced(answer machine.Payload) (map[string]any, error) {
	if answer == nil {
		return nil, nil
	}
	a := answer.(machine.SyncGroupResponse)
	return map[string]any{"error": a.Error.String(), "assignment": strings.Join(partNames(a.Parts), ",")}, nil
}

func (r *replay) rawSyncAnswer(op Operation) (map[string]any, error) {
	return rawSynced(r.waited(op.str("member")))
}

func (r *replay) rawHeartbeat(op Operation) (map[string]any, error) {
	a := r.ask(op, machine.HeartbeatRequest{Group: r.groupOf(op), Member: r.member(op), Instance: op.str("instance"), Generation: int32(op.num("generation", -1))}).(machine.HeartbeatResponse)
	return map[string]any{"error": a.Error.String()}, nil
}

func (r *replay) rawLeave(op Operation) (map[string]any, error) {
	a := r.ask(op, machine.LeaveGroupRequest{Group: r.groupOf(op), Members: []machine.LeavingMember{{Member: r.member(op), Instance: op.str("instance")}}}).(machine.LeaveGroupResponse)
	return map[string]any{"error": a.Error.String(), "member": a.Members[0].String()}, nil
}

func (r *replay) rawCommit(op Operation) (map[string]any, error) {
	topic := "ga"
	if op.has("topic") {
		topic = op.str("topic")
	}
	a := r.ask(op, machine.OffsetCommitRequest{Group: r.groupOf(op), Member: r.member(op), Generation: int32(op.num("epoch", -1)),
		Parts: []machine.CommitPart{{Topic: topic, Partition: int32(op.num("partition", 0)), Offset: op.num("offset", 0), LeaderEpoch: -1}}}).(machine.OffsetCommitResponse)
	return map[string]any{"error": a.Parts[0].Error.String()}, nil
}

func (r *replay) rawFetchOffset(op Operation) (map[string]any, error) {
	a := r.ask(op, machine.OffsetFetchRequest{Group: r.groupOf(op), Parts: []machine.NamedPartition{{Topic: "ga", Partition: int32(op.num("partition", 0))}}}).(machine.OffsetFetchResponse)
	return map[string]any{"error": a.Error.String(), "offset": a.Parts[0].Offset}, nil
}

func (r *replay) rawConsumerHeartbeat(op Operation) (map[string]any, error) {
	m := machine.ConsumerGroupHeartbeatRequest{Group: r.groupOf(op), Member: r.member(op), Instance: op.str("instance"), Epoch: int32(op.num("epoch", 0)),
		HasOwned: op.has("owned"), Owned: partsOf(op.str("owned"))}
	if r.g().ids[op.str("member")] == "" {
		r.g().ids[m.Member] = m.Member
	}
	if op.has("topics") {
		m.Full, m.Topics, m.RebalanceTimeoutMs = true, strings.Split(op.str("topics"), ","), 60_000
	}
	a := r.ask(op, m).(machine.ConsumerGroupHeartbeatResponse)
	out := map[string]any{"error": a.Error.String(), "epoch": a.Epoch}
	if a.HasAssignment {
		out["assignment"] = strings.Join(partNames(a.Assignment), ",")
	}
	return out, nil
}

// expiry is after how many seconds, rounded to fives, offsets are gone (ge1): one member lives on, another leaves after 20 s.
func (r *replay) expiry(op Operation) (map[string]any, error) {
	from, gone := r.Now, map[string]any{}
	watch := op.strs("watch")
	for _, w := range watch {
		gone[w] = "kept"
	}
	for left := false; r.Now < from+op.num("seconds", 0)*1000*millis; r.run(200 * millis) {
		beat := func(group, member string) machine.Payload {
			return r.call(r.coordinatorOf(group), machine.HeartbeatRequest{Group: group, Member: r.g().ids[member], Generation: 1})
		}
		beat("live", "L")
		if !left && r.Now >= from+20_000*millis {
			left = true
			r.call(r.coordinatorOf("gone"), machine.LeaveGroupRequest{Group: "gone", Members: []machine.LeavingMember{{Member: r.g().ids["G"]}}})
		} else if !left {
			beat("gone", "G")
		}
		for _, w := range watch {
			group, topic, _ := strings.Cut(w, "/")
			a := r.call(r.coordinatorOf(group), machine.OffsetFetchRequest{Group: group, Parts: []machine.NamedPartition{{Topic: topic}}}).(machine.OffsetFetchResponse)
			if gone[w] == "kept" && a.Parts[0].Offset < 0 {
				gone[w] = (r.Now - from + 2500*millis) / (5000 * millis) * 5
			}
		}
	}
	groups := []string{}
	for _, g := range []string{"gone", "live", "modern", "simple"} {
		if x, b := r.GroupAt(g); x != nil && r.Known(b, x) {
			groups = append(groups, g)
		}
	}
	gone["groups"] = groups
	return gone, nil
}

// describeBoth is what DescribeGroups and ConsumerGroupDescribe say of a group.
func (r *replay) describeBoth(op Operation) (map[string]any, error) {
	classic := map[string]any{"error": "GROUP_ID_NOT_FOUND", "state": "Dead", "protocol": "", "members": []string{}}
	modern := map[string]any{"error": "GROUP_ID_NOT_FOUND"}
	switch g, b := r.GroupAt(r.groupOf(op)); {
	case g == nil:
	case g.Consumer.On:
		members := map[string]any{}
		for i := range g.Consumer.Members {
			m := &g.Consumer.Members[i]
			x := map[string]any{"epoch": m.Epoch, "type": "consumer", "assigned": strings.Join(partNames(b.Named(m.Holds())), ","), "target": strings.Join(partNames(b.Named(m.Target)), ",")}
			if len(m.Classic.Protocols) > 0 {
				x["type"] = "classic"
			}
			if m.Instance != "" {
				x["instance"] = m.Instance
			}
			members[r.label(m.ID)] = x
		}
		modern = map[string]any{"error": "NONE", "state": g.State.String(), "groupEpoch": g.Consumer.Epoch, "assignmentEpoch": g.Consumer.AssignmentEpoch,
			"assignor": g.Consumer.Assignor, "members": members}
	default:
		var ids []string
		for i := range g.Members {
			ids = append(ids, g.Members[i].ID)
		}
		classic = map[string]any{"error": "NONE", "state": g.State.String(), "protocol": "", "members": r.labels(ids)}
		if g.State == machine.GroupStable {
			classic["protocol"] = g.Protocol
		}
	}
	return map[string]any{"classic": classic, "consumer": modern}, nil
}
