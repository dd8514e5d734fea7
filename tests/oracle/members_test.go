package oracle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
)

// Steps about single members: subscription by pattern (gb1), and how long somebody who is slow or silent stays one (gc1).

func init() {
	operations["subscribePattern"] = (*replay).subscribePattern
	operations["javaSlowConsumer"] = (*replay).slowConsumer
	operations["rawMemberStopsHeartbeats"] = (*replay).stopsHeartbeats
}

// memberOf makes a consumer of a group of its own that has only this step.
func (r *replay) memberOf(protocol string, more map[string]any) (int32, string) {
	r.g().n++
	group := fmt.Sprint("member-", r.g().n)
	given := map[string]any{"group.id": group, "auto.offset.reset": "earliest", "enable.auto.commit": false, "group.protocol": protocol}
	for k, v := range more {
		given[k] = v
	}
	props, problem := config.ParseConsumer(given)
	if problem != nil {
		r.t.Fatal(problem.Text)
	}
	return r.Apply(machine.NewConsumer{Name: fmt.Sprint("c", len(r.Consumers)), Props: props}).ID, group
}

// has is a consumer's assignment, sorted, as the recorder printed it.
func (r *replay) has(id int32) string {
	var out []string
	for i := range r.Consumers[id].Parts {
		p := &r.Consumers[id].Parts[i]
		out = append(out, fmt.Sprintf("%s-%d", p.Topic, p.TP.Partition))
	}
	slices.Sort(out)
	return "[" + strings.Join(out, ", ") + "]"
}

// subscribePattern is a lone consumer's assignment by a pattern; for the first one also after a topic came, and after it went.
func (r *replay) subscribePattern(op Operation, saw json.RawMessage) error {
	for _, name := range []string{"gb-one", "gb-two", "xgb-three"} {
		if _, there := r.topics[name]; !there {
			if err := r.topicFor(name, r.World.Broker.Topic, []machine.NodeID{1, 2, 3}, []machine.NodeID{2, 3, 1}); err != nil {
				return err
			}
		}
	}
	protocol, _, _ := strings.Cut(op.str("protocol"), " ")
	id, _ := r.memberOf(protocol, map[string]any{"metadata.max.age.ms": 2000})
	r.Apply(machine.Subscribe{Consumer: id, Pattern: op.str("pattern")})
	r.Apply(machine.Work{Consumer: id, PollTimeout: 100 * millis})
	r.run(15_000 * millis)
	var want []string
	var one string
	switch {
	case json.Unmarshal(saw, &one) == nil:
		want = []string{one}
	case json.Unmarshal(saw, &want) != nil:
		return expects(saw, map[string]any{"exception": map[machine.Code]string{machine.INVALID_REGULAR_EXPRESSION: "InvalidRegularExpression"}[r.Consumers[id].Group.Fatal]})
	}
	got := []string{r.has(id)}
	if len(want) == 3 {
		if err := r.topicFor("gb-late", r.World.Broker.Topic, []machine.NodeID{1, 2, 3}, []machine.NodeID{2, 3, 1}); err != nil {
			return err
		}
		r.run(25_000 * millis)
		got = append(got, r.has(id))
		r.administer(machine.DeleteTopic{Topic: "gb-late"}, 10_000*millis)
		r.run(25_000 * millis)
		got = append(got, r.has(id))
	}
	r.Apply(machine.CloseConsumer{Consumer: id})
	r.run(2000 * millis)
	return equalLists("assignments", got, want)
}

// slowConsumer polls once, works for twice max.poll.interval.ms, commits and polls again, while a second consumer lives.
func (r *replay) slowConsumer(op Operation, saw json.RawMessage) error {
	protocol := op.str("group.protocol")
	if err := r.topicFor("gc-"+protocol, r.World.Broker.Topic, slices.Repeat([][]machine.NodeID{{1, 2, 3}}, 4)...); err != nil {
		return err
	}
	own := map[string]any{"max.poll.interval.ms": op.num("max.poll.interval.ms", 0)}
	if protocol == "classic" {
		own["heartbeat.interval.ms"], own["session.timeout.ms"] = 500, 6000
	}
	slow, group := r.memberOf(protocol, own)
	r.Apply(machine.Subscribe{Consumer: slow, Topics: []string{r.topic}})
	props := r.Consumers[slow].Config
	props.Member.MaxPollIntervalMs = 300_000
	other := r.Apply(machine.NewConsumer{Name: "other", Props: props}).ID
	r.Apply(machine.Subscribe{Consumer: other, Topics: []string{r.topic}})
	r.Apply(machine.Work{Consumer: other, PollTimeout: 100 * millis})
	pollUntil := func(cond func() bool) bool {
		for range 600 {
			if r.poll(slow, 100*millis); cond() {
				return true
			}
		}
		return false
	}
	both := func() bool {
		g, _ := r.GroupAt(group)
		return g != nil && g.State == machine.GroupStable && len(r.Consumers[slow].Parts) == 2 && len(r.Consumers[other].Parts) == 2
	}
	if !pollUntil(both) {
		return fmt.Errorf("the two do not share")
	}
	var events []string
	heard := 0
	listen := func() {
		for _, k := range r.Consumers[slow].Group.Calls[heard:] {
			events = append(events, fmt.Sprint(k.Kind, " ", len(k.TPs)))
			heard++
		}
	}
	listen()
	events = append(events, "-- sleeps 6 s")
	since := r.Now
	r.run(3000 * millis)
	all := r.await(2000*millis, func() bool { return len(r.Consumers[other].Parts) == 4 })
	r.run(since + 6000*millis - r.Now)
	n := r.Apply(machine.Commit{Consumer: slow}).ID
	c := &r.Consumers[slow]
	r.await(10_000*millis, func() bool { return n < 0 || r.Consumers[slow].CommitOf(n).Done })
	why := machine.NONE
	if n >= 0 {
		why = c.CommitOf(n).Error
	}
	events = append(events, "commitSync: "+map[machine.Code]string{machine.COMMIT_FAILED: "CommitFailedException"}[why])
	pollUntil(both)
	listen()
	finally := len(r.Consumers[slow].Parts)
	r.Apply(machine.CloseConsumer{Consumer: slow})
	r.run(2000 * millis)
	listen()
	return expects(saw, map[string]any{"otherHadAllBetween3And5s": all, "events": events, "finally": finally})
}

// stopsHeartbeats lets a member that only speaks by raw requests fall silent: it is one until its session is over.
func (r *replay) stopsHeartbeats(op Operation, saw json.RawMessage) error {
	r.g().n++
	group := fmt.Sprint("silent-", r.g().n)
	session := op.num("session.timeout.ms", op.num("group.consumer.session.timeout.ms", 0))
	if op.str("protocol") == "consumer" {
		r.call(r.coordinatorOf(group), machine.ConsumerGroupHeartbeatRequest{Group: group, Member: "m", Full: true, HasOwned: true, RebalanceTimeoutMs: 60_000, Topics: []string{r.topic}})
	} else {
		m := r.joinRequest(op, group, "")
		m.SessionTimeoutMs = session
		m.Member = r.call(r.coordinatorOf(group), m).(machine.JoinGroupResponse).Member
		a := r.call(r.coordinatorOf(group), m).(machine.JoinGroupResponse)
		r.call(r.coordinatorOf(group), machine.SyncGroupRequest{Group: group, Member: m.Member, Generation: a.Generation})
	}
	there := func() int {
		g, _ := r.GroupAt(group)
		return len(g.Members) + len(g.Consumer.Members)
	}
	r.run((session - 300) * millis)
	before := there()
	r.run(600 * millis)
	return expects(saw, map[string]any{"removedAfterSessionTimeout": before == 1 && there() == 0})
}
