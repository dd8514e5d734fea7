package oracle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
)

// Steps about groups: raw requests of members (k1, k2, k5), and consumers of the Java client (k3, gd1).

// groupReplay is what a recording's steps know of groups.
type groupReplay struct {
	ids      map[string]string // member ids by the recording's names
	parked   map[string]uint32 // requests whose answers wait, by member
	changed  int               // how often a member's metadata was changed
	n        int               // groups of steps that need one of their own
	members  []int32           // consumers, in the order in which they were made
	names    map[string]int32
	heard    map[string]int
	strategy string
	dead     machine.NodeID // the coordinator that was killed
	protocol string         // of gd1's consumers
}

// modernGroup is the group of the members with the consumer protocol in gd1.
const modernGroup = "modern"

// lives is the group of the present consumers.
func (g *groupReplay) lives() string {
	if g.protocol == "consumer" {
		return modernGroup
	}
	return theGroup
}

func init() {
	for name, run := range map[string]func(*replay, Operation, json.RawMessage) error{
		"describeGroup": (*replay).describeGroup, "joinGroup": (*replay).joinGroup, "joinAnswer": (*replay).joinAnswer,
		"syncGroup": (*replay).syncGroup, "syncAnswer": (*replay).syncAnswer, "heartbeat": (*replay).heartbeat,
		"offsetCommit": (*replay).offsetCommit, "offsetFetch": (*replay).offsetFetch, "leaveGroup": (*replay).leaveGroup,
		"describeAfter": (*replay).describeAfter, "joinAlone": (*replay).joinAlone, "joinTwo": (*replay).joinTwo,
		"joinAgainAfterEmpty": (*replay).joinAgainAfterEmpty, "coordinatorPartition": (*replay).coordinatorPartition,
		"join": (*replay).joinConsumer, "close": (*replay).closeMember, "unequalSubscriptions": (*replay).unequalSubscriptions,
		"commit": (*replay).commitAt, "findCoordinator": (*replay).findCoordinator, "heartbeatRaw": (*replay).heartbeatRaw,
		"waitNewCoordinator": (*replay).waitNewCoordinator,
	} {
		operations[name] = run
	}
	kill, start := operations["kill9"], operations["start"]
	operations["kill9"] = func(r *replay, op Operation, saw json.RawMessage) error {
		if string(op["broker"]) != `"coordinator"` {
			return kill(r, op, saw)
		}
		r.g().dead = r.CoordinatorOf(r.g().lives())
		r.Apply(machine.CrashBroker{Broker: r.g().dead})
		return nil
	}
	operations["start"] = func(r *replay, op Operation, saw json.RawMessage) error {
		if string(op["broker"]) != `"old coordinator"` {
			return start(r, op, saw)
		}
		r.Apply(machine.StartBroker{Broker: r.g().dead})
		return r.stillMembers(saw)
	}
	operations["txnOffsetCommit"] = (*replay).txnOffsetCommit
}

// theGroup is the group of a recording's steps.
const theGroup = "g"

func (r *replay) g() *groupReplay {
	if r.groups == nil {
		r.groups = &groupReplay{ids: map[string]string{}, parked: map[string]uint32{}, names: map[string]int32{}, heard: map[string]int{}}
	}
	return r.groups
}

// coordinatorOf asks for a group's coordinator until there is one.
func (r *replay) coordinatorOf(group string) int {
	for range 600 {
		alive := slices.IndexFunc(r.Brokers, func(b machine.Broker) bool { return b.Process == machine.Running })
		if a, ok := r.call(alive+1, machine.FindCoordinatorRequest{Kind: machine.GroupCoordinator, Key: group}).(machine.FindCoordinatorResponse); ok && a.Error == machine.NONE {
			if h, ok := r.call(int(a.Node), machine.HeartbeatRequest{Group: group, Member: "nobody"}).(machine.HeartbeatResponse); ok && h.Error == machine.UNKNOWN_MEMBER_ID {
				return int(a.Node)
			}
		}
		r.run(100 * millis)
	}
	r.t.Fatal("no coordinator")
	return 0
}

// expects compares the fields that a step saw with what there is; fields that a recording dropped are not there.
func expects(saw json.RawMessage, got map[string]any) error {
	var want map[string]json.RawMessage
	if err := json.Unmarshal(saw, &want); err != nil {
		return nil // a step that saw nothing
	}
	for field, raw := range want {
		have, _ := json.Marshal(got[field])
		var a, b any
		_ = json.Unmarshal(raw, &a)
		_ = json.Unmarshal(have, &b)
		if x, y := fmt.Sprint(a), fmt.Sprint(b); x != y {
			return fmt.Errorf("%s is %s, with Kafka %s", field, y, x)
		}
	}
	return nil
}

// label is the recording's name of a member id.
func (r *replay) label(id string) string {
	for name, x := range r.g().ids {
		if x == id {
			return name
		}
	}
	return id
}

func (r *replay) labels(ids []string) []string {
	out := []string{}
	for _, id := range ids {
		out = append(out, r.label(id))
	}
	slices.Sort(out)
	return out
}

func (r *replay) describeGroup(_ Operation, saw json.RawMessage) error {
	var want struct{ Members []string }
	_ = json.Unmarshal(saw, &want)
	got := map[string]any{"error": "GROUP_ID_NOT_FOUND", "state": "Dead", "members": []string{}}
	look := func() (ids []string) {
		g, b := r.GroupAt(theGroup)
		if b != nil && g != nil && r.Known(b, g) {
			for i := range g.Members {
				ids = append(ids, g.Members[i].ID)
			}
			got = map[string]any{"error": "NONE", "state": g.State.String(), "members": r.labels(ids)}
		}
		return ids
	}
	ids := look()
	for _, name := range want.Members { // the recorder let it join without a step of its own
		if id := r.g().ids[name]; id != "" && !slices.Contains(ids, id) {
			r.park(name, r.joinRequest(Operation{}, theGroup, id))
			r.run(50 * millis)
			look()
		}
	}
	return expects(saw, got)
}

// park sends a request whose answer a later step looks at.
func (r *replay) park(member string, p machine.Payload) {
	node := r.coordinatorOf(theGroup)
	r.correlation++
	r.g().parked[member] = r.correlation
	r.Probe(0, machine.NodeID(node), r.correlation, r.correlation, p)
}

func (r *replay) joinRequest(op Operation, group, id string) machine.JoinGroupRequest {
	topics := []string{"k1"}
	for range r.g().changed {
		topics = append(topics, "another")
	}
	m := machine.JoinGroupRequest{Group: group, Member: id, ClientID: "raw", Type: "consumer", RebalanceTimeoutMs: 60_000,
		SessionTimeoutMs: op.num("sessionTimeoutMs", 30_000), Protocols: []machine.GroupProtocol{{Name: "range", Subscription: machine.Subscription{Topics: topics, Generation: -1}}}}
	if op.str("protocols") == "roundrobin only" {
		m.Protocols[0].Name = "roundrobin"
	}
	if t := op.str("protocolType"); t != "" {
		m.Type = t
	}
	return m
}

func (r *replay) joinGroup(op Operation, saw json.RawMessage) error {
	group, name := theGroup, op.str("member")
	if op.has("group") || strings.HasPrefix(op.str("note"), "unknown group") {
		r.g().n++
		group = fmt.Sprint("other-", r.g().n)
	}
	id := r.g().ids[name]
	switch {
	case op.str("memberId") == "(empty)" || op.has("protocols") || op.has("protocolType") || op.has("group"):
		id = ""
	case id == "":
		id = "somebody"
	}
	a, ok := r.call(r.coordinatorOf(group), r.joinRequest(op, group, id)).(machine.JoinGroupResponse)
	if !ok {
		return fmt.Errorf("no answer")
	}
	if a.Error == machine.MEMBER_ID_REQUIRED && name != "" {
		r.g().ids[name] = a.Member
	}
	return expects(saw, r.joined(&a))
}

func (r *replay) joined(a *machine.JoinGroupResponse) map[string]any {
	var ids []string
	for i := range a.Members {
		ids = append(ids, a.Members[i].ID)
	}
	return map[string]any{"error": a.Error.String(), "generation": a.Generation, "leader": r.label(a.Leader), "protocol": a.Protocol, "members": r.labels(ids)}
}

// waited is the answer to a parked request.
func (r *replay) waited(member string) machine.Payload {
	c := r.g().parked[member]
	r.await(60_000*millis, func() bool { return r.answers[c] != nil })
	return r.answers[c]
}

func (r *replay) joinAnswer(op Operation, saw json.RawMessage) error {
	a, ok := r.waited(op.str("member")).(machine.JoinGroupResponse)
	if !ok {
		return fmt.Errorf("no answer")
	}
	if strings.Contains(string(saw), `"generation": 2`) || strings.Contains(string(saw), `"generation":2`) {
		// B syncs before A does, without a step of its own
		r.park(op.str("member"), machine.SyncGroupRequest{Group: theGroup, Member: r.g().ids[op.str("member")], Generation: a.Generation})
	}
	return expects(saw, r.joined(&a))
}

func (r *replay) syncGroup(op Operation, saw json.RawMessage) error {
	m := machine.SyncGroupRequest{Group: theGroup, Member: r.g().ids[op.str("member")], Generation: int32(op.num("generation", -1))}
	for _, one := range strings.Split(op.str("assignments"), ";") {
		name, parts, is := strings.Cut(one, "=")
		if !is {
			continue
		}
		a := machine.MemberAssignment{Member: r.g().ids[name], Parts: []machine.TopicParts{{Topic: "k1"}}}
		for p := range int32(2) {
			if strings.Contains(parts, fmt.Sprint("p", p)) {
				a.Parts[0].Partitions = append(a.Parts[0].Partitions, p)
			}
		}
		m.Assignments = append(m.Assignments, a)
	}
	a := r.call(r.coordinatorOf(theGroup), m).(machine.SyncGroupResponse)
	return expects(saw, synced(&a))
}

func synced(a *machine.SyncGroupResponse) map[string]any {
	text := ""
	for _, t := range a.Parts {
		for _, p := range t.Partitions {
			text += fmt.Sprint("p", p)
		}
	}
	return map[string]any{"error": a.Error.String(), "assignment": text}
}

func (r *replay) syncAnswer(op Operation, saw json.RawMessage) error {
	a := r.waited(op.str("member")).(machine.SyncGroupResponse)
	return expects(saw, synced(&a))
}

func (r *replay) member(op Operation) string {
	if id := r.g().ids[op.str("member")]; id != "" {
		return id
	}
	return op.str("member")
}

func (r *replay) heartbeat(op Operation, saw json.RawMessage) error {
	a := r.call(r.coordinatorOf(theGroup), machine.HeartbeatRequest{Group: theGroup, Member: r.member(op), Generation: int32(op.num("generation", -1))}).(machine.HeartbeatResponse)
	return expects(saw, map[string]any{"error": a.Error.String()})
}

func (r *replay) offsetCommit(op Operation, saw json.RawMessage) error {
	if op.has("memberEpoch") {
		return r.commitByEpoch(op, saw)
	}
	topic := r.topic
	if op.has("topic") {
		topic = op.str("topic")
	}
	m := machine.OffsetCommitRequest{Group: theGroup, Member: r.member(op), Generation: int32(op.num("generation", -1)), Old: op.num("version", 9) < 9,
		Parts: []machine.CommitPart{{Topic: topic, Offset: op.num("offset", 0), LeaderEpoch: -1, Metadata: strings.Repeat("m", int(op.num("metadataBytes", 0)))}}}
	a := r.call(r.coordinatorOf(theGroup), m).(machine.OffsetCommitResponse)
	return expects(saw, map[string]any{"error": a.Parts[0].Error.String()})
}

func (r *replay) offsetFetch(op Operation, saw json.RawMessage) error {
	m := machine.OffsetFetchRequest{Group: r.g().lives(), Parts: []machine.NamedPartition{{Topic: r.topic}}}
	op.into("requireStable", &m.RequireStable)
	a := r.call(r.coordinatorOf(m.Group), m).(machine.OffsetFetchResponse)
	return expects(saw, map[string]any{"error": a.Parts[0].Error.String(), "offset": a.Parts[0].Offset})
}

// txnOffsetCommit commits in a transaction of a producer of its own, as a newer client does: the group's coordinator adds its
// partition to the transaction.
func (r *replay) txnOffsetCommit(op Operation, saw json.RawMessage) error {
	x, err := r.begin("k2-txn")
	if err != nil {
		return err
	}
	m := machine.TxnOffsetCommitRequest{TransactionalID: r.lastTxn, Group: theGroup, Generation: -1, ProducerID: x.pid, ProducerEpoch: int16(op.num("epoch", 0)), Parts: []machine.CommitPart{{Topic: r.topic, Offset: op.num("offset", 0), LeaderEpoch: -1}}}
	for range 100 {
		a := r.call(r.coordinatorOf(theGroup), m).(machine.OffsetCommitResponse)
		if c := a.Parts[0].Error; c != machine.COORDINATOR_LOAD_IN_PROGRESS && c != machine.CONCURRENT_TRANSACTIONS && c != machine.COORDINATOR_NOT_AVAILABLE {
			return expects(saw, map[string]any{"error": c.String()})
		}
		r.run(100 * millis)
	}
	return fmt.Errorf("the offsets are not taken")
}

func (r *replay) leaveGroup(op Operation, saw json.RawMessage) error {
	a := r.call(r.coordinatorOf(theGroup), machine.LeaveGroupRequest{Group: theGroup, Members: []machine.LeavingMember{{Member: r.member(op)}}}).(machine.LeaveGroupResponse)
	return expects(saw, map[string]any{"error": a.Error.String(), "member": a.Members[0].String()})
}

// describeAfter says in its note who joined before the next step.
func (r *replay) describeAfter(op Operation, _ json.RawMessage) error {
	name := "A"
	if strings.HasPrefix(op.str("note"), "follower") {
		name = "B"
		r.g().changed++
	}
	r.park(name, r.joinRequest(op, theGroup, r.g().ids[name]))
	r.run(50 * millis)
	return nil
}

// enter joins a group of its own with a new member and returns the request whose answer waits.
func (r *replay) enter(group, name string) uint32 {
	node := r.coordinatorOf(group)
	a := r.call(node, r.joinRequest(Operation{}, group, "")).(machine.JoinGroupResponse)
	r.g().ids[name] = a.Member
	r.correlation++
	r.Probe(0, machine.NodeID(node), r.correlation, r.correlation, r.joinRequest(Operation{}, group, a.Member))
	return r.correlation
}

// after is how long it took, in seconds rounded to halves.
func (r *replay) after(from int64, c uint32) (float64, machine.JoinGroupResponse) {
	r.await(60_000*millis, func() bool { return r.answers[c] != nil })
	a, _ := r.answers[c].(machine.JoinGroupResponse)
	return float64((r.Now-from+250*millis)/(500*millis)) / 2, a
}

func (r *replay) joinAlone(_ Operation, saw json.RawMessage) error {
	r.g().n++
	c := r.enter(fmt.Sprint("alone-", r.g().n), "A")
	s, a := r.after(r.Now, c)
	return expects(saw, map[string]any{"afterSeconds": s, "answer": r.joined(&a)})
}

func (r *replay) joinTwo(op Operation, saw json.RawMessage) error {
	r.g().n++
	group := fmt.Sprint("two-", r.g().n)
	c := r.enter(group, "A")
	from := r.Now
	var wait float64
	op.into("secondAfterSeconds", &wait)
	r.run(int64(wait * 1000 * millis))
	r.enter(group, "B")
	s, a := r.after(from, c)
	return expects(saw, map[string]any{"firstAnsweredAfterSeconds": s, "answer": r.joined(&a)})
}

func (r *replay) joinAgainAfterEmpty(_ Operation, saw json.RawMessage) error {
	r.g().n++
	group := fmt.Sprint("again-", r.g().n)
	c := r.enter(group, "A")
	r.after(r.Now, c)
	r.call(r.coordinatorOf(group), machine.LeaveGroupRequest{Group: group, Members: []machine.LeavingMember{{Member: r.g().ids["A"]}}})
	c = r.enter(group, "A")
	s, a := r.after(r.Now, c)
	return expects(saw, map[string]any{"afterSeconds": s, "answer": r.joined(&a)})
}

func (r *replay) coordinatorPartition(op Operation, saw json.RawMessage) error {
	var want struct{ Partition int32 }
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	if got := machine.CoordinatorPartition(op.str("id"), 50); got != want.Partition {
		return fmt.Errorf("%q belongs to partition %d, with Kafka to %d", op.str("id"), got, want.Partition)
	}
	return nil
}

// consumerProps are a Java consumer's.
func consumerProps(group, strategy string) (config.Consumer, error) {
	given := map[string]any{"group.id": group, "auto.offset.reset": "earliest", "enable.auto.commit": false}
	if group == modernGroup {
		given["group.protocol"] = "consumer"
	}
	if strategy != "" && strategy != "default" {
		given["partition.assignment.strategy"] = strategy
	}
	c, problem := config.ParseConsumer(given)
	if problem != nil {
		return c, problem
	}
	return c, nil
}

// newMember makes a consumer that subscribes and polls.
func (r *replay) newMember(name, group, strategy string, topics ...string) error {
	props, err := consumerProps(group, strategy)
	if err != nil {
		return err
	}
	id := r.Apply(machine.NewConsumer{Name: name, Props: props}).ID
	r.Apply(machine.Subscribe{Consumer: id, Topics: topics})
	r.Apply(machine.Work{Consumer: id, PollTimeout: 100 * millis})
	r.g().names[name] = id
	r.g().members = append(r.g().members, id)
	r.g().heard[name] = 0
	return nil
}

// settled waits until all members of the group are in one generation and have nothing to do.
func (r *replay) settled(group string) bool {
	since := r.Now
	return r.await(120_000*millis, func() bool {
		g, _ := r.GroupAt(group)
		ok := g != nil && g.State == machine.GroupStable
		for _, id := range r.g().members {
			c := &r.Consumers[id]
			if ok && !c.Closed && g.Consumer.On {
				ok = c.Group.New.Phase == machine.PhaseStable && c.Group.Generation == g.Consumer.Epoch && len(c.Parts) > 0
			} else if ok && !c.Closed && (c.Group.State != machine.MemberStable || c.Group.Rejoin || c.Group.Generation != g.Generation) {
				ok = false
			}
		}
		if !ok {
			since = r.Now
		}
		return r.Now-since > 4000*millis
	})
}

// looks are what members have and what their listeners heard.
func (r *replay) looks(group string) map[string]any {
	has, heard := map[string]any{}, map[string]any{}
	for name, id := range r.g().names {
		c := &r.Consumers[id]
		var parts []string
		for i := range c.Parts {
			parts = append(parts, fmt.Sprintf("%s-%d", c.Parts[i].Topic, c.Parts[i].TP.Partition))
		}
		if !c.Closed {
			has[name] = "[" + strings.Join(parts, ", ") + "]"
		}
		var calls []string
		for _, k := range c.Group.Calls[r.g().heard[name]:] {
			var tps []string
			for _, p := range k.TPs {
				tps = append(tps, fmt.Sprintf("%s-%d", p.Topic, p.Partition))
			}
			calls = append(calls, k.Kind.String()+" ["+strings.Join(tps, ", ")+"]")
		}
		r.g().heard[name] = len(c.Group.Calls)
		if len(calls) > 0 && !c.Closed {
			heard[name] = calls
		}
	}
	g, _ := r.GroupAt(group)
	return map[string]any{"assignment": has, "generation": g.Generation, "callbacks": heard}
}

func (r *replay) joinConsumer(op Operation, saw json.RawMessage) error {
	if strings.HasPrefix(r.rec.Scenario, "l2-") {
		return r.joinByHeartbeat(op, saw)
	}
	if op.has("consumers") { // gd1
		r.g().protocol = op.str("group.protocol")
		r.g().members, r.g().names = nil, map[string]int32{}
		r.topic = "gd-" + r.g().protocol
		props, _ := config.ParseTopic(r.World.Broker.Topic, nil)
		r.Apply(machine.CreateTopic{Name: r.topic, Partitions: 4, ReplicationFactor: 3, Props: props})
		r.quiet()
		for i := range op.num("consumers", 0) {
			if err := r.newMember(fmt.Sprint("c", i+1), r.g().lives(), "", r.topic); err != nil {
				return err
			}
		}
		r.settled(r.g().lives())
		return expects(saw, r.counts())
	}
	if s := op.str("assignor"); s != r.g().strategy {
		for _, id := range r.g().members {
			if !r.Consumers[id].Closed {
				r.Apply(machine.CrashConsumer{Consumer: id})
			}
		}
		r.g().strategy, r.g().members, r.g().names = s, nil, map[string]int32{}
	}
	if err := r.newMember(op.str("consumer"), r.g().strategy, r.g().strategy, "kx", "ky"); err != nil {
		return err
	}
	if !r.settled(r.g().strategy) {
		return fmt.Errorf("the group does not come to rest")
	}
	return expects(saw, r.looks(r.g().strategy))
}

func (r *replay) closeMember(op Operation, saw json.RawMessage) error {
	id := r.g().names[op.str("consumer")]
	r.Apply(machine.CloseConsumer{Consumer: id})
	r.await(40_000*millis, func() bool { return r.Consumers[id].Closed })
	r.run(100 * millis)
	r.settled(r.g().strategy)
	delete(r.g().names, op.str("consumer"))
	return expects(saw, r.looks(r.g().strategy))
}

func (r *replay) unequalSubscriptions(op Operation, saw json.RawMessage) error {
	r.g().members, r.g().names = nil, map[string]int32{}
	for _, name := range []string{"c1", "c2"} {
		topics := strings.Split(strings.Trim(op.str(name), "[]"), ",")
		if err := r.newMember(name, "unequal", op.str("assignor"), topics...); err != nil {
			return err
		}
	}
	r.settled("unequal")
	return expects(saw, map[string]any{"assignment": r.looks("unequal")["assignment"]})
}

// counts are how many partitions each consumer has.
func (r *replay) counts() map[string]any {
	out := map[string]any{}
	for name, id := range r.g().names {
		out[name] = len(r.Consumers[id].Parts)
	}
	return out
}

func (r *replay) commitAt(op Operation, saw json.RawMessage) error {
	n := r.Apply(machine.Commit{Consumer: r.g().members[0], Parts: []machine.CommitPart{{Topic: r.topic, Offset: op.num("offset", 0), LeaderEpoch: -1}}}).ID
	c := &r.Consumers[r.g().members[0]]
	r.await(10_000*millis, func() bool { return c.CommitOf(n).Done })
	r.g().changed = int(c.Group.Generation)
	return expects(saw, map[string]any{"error": c.CommitOf(n).Error.String()})
}

// findCoordinator asks a live broker before it has heard of the election.
func (r *replay) findCoordinator(_ Operation, saw json.RawMessage) error {
	for i := range r.Brokers {
		if r.Brokers[i].Process == machine.NotRunning {
			continue
		}
		a := r.call(i+1, machine.FindCoordinatorRequest{Kind: machine.GroupCoordinator, Key: r.g().lives()}).(machine.FindCoordinatorResponse)
		dead := a.Node != machine.NoNode && r.Brokers[a.Node-1].Process == machine.NotRunning
		return expects(saw, map[string]any{"error": a.Error.String(), "stillDeadBroker": dead})
	}
	return fmt.Errorf("nobody lives")
}

func (r *replay) heartbeatRaw(_ Operation, saw json.RawMessage) error {
	for i := range r.Brokers {
		if b := &r.Brokers[i]; b.Process != machine.NotRunning {
			a := r.call(i+1, machine.HeartbeatRequest{Group: r.g().lives(), Member: "x", Generation: 1}).(machine.HeartbeatResponse)
			return expects(saw, map[string]any{"error": a.Error.String()})
		}
	}
	return fmt.Errorf("nobody lives")
}

// waitNewCoordinator waits until heartbeats succeed at the successor; nobody noticed a rebalance.
func (r *replay) waitNewCoordinator(_ Operation, saw json.RawMessage) error {
	if r.roles.X != 0 {
		return r.waitNextCoordinator(saw)
	}
	for name := range r.g().names {
		r.g().heard[name] = len(r.Consumers[r.g().names[name]].Group.Calls)
	}
	r.coordinatorOf(r.g().lives())
	return r.stillMembers(saw)
}

// stillMembers looks at the members ten seconds later.
func (r *replay) stillMembers(saw json.RawMessage) error {
	r.run(10_000 * millis)
	out := map[string]any{}
	for name, id := range r.g().names {
		c := &r.Consumers[id]
		one := map[string]any{"partitions": len(c.Parts), "generationUnchanged": int(c.Group.Generation) == r.g().changed}
		if strings.Contains(string(saw), "callbacks") {
			one["callbacks"] = c.Group.Calls[r.g().heard[name]:]
		}
		out[name] = one
	}
	return expects(saw, out)
}
