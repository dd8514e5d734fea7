package oracle

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"kafkalab/kafkasim"
	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
)

// Recordings of the metadata quorum: controllers killed, stopped, two of three down. Controllers have the names of
// their roles: A leads at the start, B leads next, C is the third.

// topicsBefore are the topics that a recording had made before its first step, by scenario.
var topicsBefore = map[string][]struct {
	name     string
	replicas []machine.NodeID
}{
	"aa1": {{"aa1", []machine.NodeID{1, 2, 3}}},
	"ac1": {{"ac1", []machine.NodeID{1, 2, 3}}, {"ac1b", []machine.NodeID{2, 3, 1}}},
	"ad1": {{"ad1", []machine.NodeID{1, 2, 3}}},
}

// quorum is what a replay knows of the controllers.
type quorum struct {
	roles   map[string]machine.NodeID
	elected bool   // a leader was waited for
	shift   *int32 // our epochs less the recording's, after an election that may take one or two
	stopped map[machine.NodeID]int64
}

// prepare makes the topics that were there before the first step.
func (r *replay) prepare() {
	r.quorum = quorum{roles: map[string]machine.NodeID{}, stopped: map[machine.NodeID]int64{}}
	for i, role := range []string{"A", "B", "C"} {
		r.quorum.roles[role] = machine.FirstController + machine.NodeID(i)
	}
	for i, id := range r.rec.Cluster.Controllers {
		r.quorum.roles[strconv.Itoa(id)] = machine.FirstController + machine.NodeID(i)
	}
	for _, t := range topicsBefore[strings.SplitN(r.rec.Scenario, "-", 2)[0]] {
		props, _ := config.ParseTopic(r.World.Broker.Topic, nil)
		r.topics[t.name] = r.administer(machine.CreateTopic{Name: t.name, Props: props, Assignment: [][]machine.NodeID{t.replicas}}, patience).ID
		r.topic = t.name
		r.quiet()
	}
}

// administer carries out a request to the controllers and waits for the answer; TIMEOUT_EXCEPTION without one.
func (r *replay) administer(cmd machine.Command, limit int64) machine.Result {
	res := r.Apply(cmd)
	if res.Pending == 0 {
		return res
	}
	if !r.await(limit, func() bool { return r.Admin[res.Pending-1].Done }) {
		return machine.Result{Error: machine.TIMEOUT_EXCEPTION, ID: -1}
	}
	return r.Admin[res.Pending-1].Result
}

// controllersOf are the controllers that a step names.
func (r *replay) controllersOf(op Operation) []machine.NodeID {
	var names []string
	op.into("controllers", &names)
	if op.has("controller") {
		names = append(names, strings.Trim(string(op["controller"]), `"`)) // a role, or a number
	}
	var ids []machine.NodeID
	for _, n := range names {
		ids = append(ids, r.quorum.roles[n])
	}
	return ids
}

// atControllers carries out a step on controllers; false when it names none.
func (r *replay) atControllers(op Operation, saw json.RawMessage) (bool, error) {
	ids := r.controllersOf(op)
	if len(ids) == 0 {
		return false, nil
	}
	for _, id := range ids {
		switch op.name() {
		case "kill9":
			r.Apply(machine.CrashController{Controller: id})
		case "start":
			r.Apply(machine.StartController{Controller: id})
		case "sigstop":
			r.Apply(machine.PauseController{Controller: id})
			r.quorum.stopped[id] = r.Now
		case "sigcont":
			r.run(max(r.quorum.stopped[id]+r.stopTime()-r.Now, 0))
			r.Apply(machine.ResumeController{Controller: id})
		}
	}
	if op.name() == "start" && len(saw) > 0 && saw[0] == '{' {
		return true, r.snapshot(op, saw)
	}
	return true, nil
}

var stopTimes = regexp.MustCompile(`SIGSTOP .* for (\d+) s`)

// stopTime is how long the recording's title says that a process was stopped, µs.
func (r *replay) stopTime() int64 {
	if m := stopTimes.FindStringSubmatch(r.rec.Title); m != nil {
		n, _ := strconv.ParseInt(m[1], 10, 64)
		return n * 1000 * millis
	}
	return 0
}

// createOnly makes a topic wherever the placer puts it, and compares only whether it was made in time.
func (r *replay) createOnly(op Operation, saw json.RawMessage) error {
	var want struct{ Result, Exception string }
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	props, _ := config.ParseTopic(r.World.Broker.Topic, nil)
	cmd := machine.CreateTopic{Name: op.str("topic"), Partitions: 1, ReplicationFactor: 1, Props: props}
	return r.answered(cmd, op.num("timeoutMs", 4000)*millis, want.Result+want.Exception)
}

// answered compares a request's end with "OK" or an exception's name.
func (r *replay) answered(cmd machine.Command, limit int64, want string) error {
	got := "OK"
	if res := r.administer(cmd, limit); res.Error != machine.NONE {
		got = exceptionName(res.Error.String())
	}
	if got != want {
		return fmt.Errorf("%T: %s, want %s", cmd, got, want)
	}
	return nil
}

func (r *replay) alterInTime(_ Operation, saw json.RawMessage) error {
	var want struct{ Exception string }
	_ = json.Unmarshal(saw, &want)
	props, problem := config.ParseTopic(r.World.Broker.Topic, map[string]any{"max.message.bytes": 2000000})
	if problem != nil {
		return fmt.Errorf("%s", problem.Text)
	}
	return r.answered(machine.AlterTopic{Topic: r.topic, Props: props, Set: []string{"max.message.bytes"}}, 4000*millis, want.Exception)
}

// waitQuorumLeader waits until a controller that lives leads, and gives it the role that the recording says.
func (r *replay) waitQuorumLeader(_ Operation, saw json.RawMessage) error {
	var want struct {
		Leader        string
		LeaderIsOneOf []string
	}
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	leader := machine.NoNode
	leads := func() bool {
		for i := range r.Controllers {
			if c := &r.Controllers[i]; c.Running && !c.Paused && c.Quorum.State == machine.QuorumLeader {
				leader = c.ID
			}
		}
		return leader != machine.NoNode
	}
	if !r.await(patience, leads) {
		return fmt.Errorf("no controller leads")
	}
	q := &r.quorum
	if q.elected = true; want.Leader == "B" && leader == q.roles["C"] {
		q.roles["B"], q.roles["C"] = q.roles["C"], q.roles["B"]
	}
	if role := r.role(leader); want.Leader != "" && role != want.Leader || want.Leader == "" && !slices.Contains(want.LeaderIsOneOf, role) {
		return fmt.Errorf("%s leads, want %s", role, saw)
	}
	return nil
}

func (r *replay) role(id machine.NodeID) string {
	for _, role := range []string{"A", "B", "C"} {
		if r.quorum.roles[role] == id {
			return role
		}
	}
	return "none"
}

// describedQuorum is what one controller answers to DescribeQuorum, and its quorum-state file.
type describedQuorum struct {
	State           string
	Error           string
	Leader          string
	Epoch           *int32
	HighWatermark   string
	Voters          map[string]string
	Observers       map[string]string
	QuorumStateFile struct {
		Leader, Voted string
		Epoch         *int32
	}
}

// describeQuorum compares what each controller says, 1.2 s later.
func (r *replay) describeQuorum(_ Operation, saw json.RawMessage) error {
	r.run(1200 * millis)
	var want map[string]describedQuorum
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	for _, role := range []string{"A", "B", "C"} {
		w, told := want[role]
		if !told {
			continue
		}
		if err := r.compareController(role, &w); err != nil {
			return fmt.Errorf("%s: %w", role, err)
		}
	}
	return nil
}

func (r *replay) compareController(role string, want *describedQuorum) error {
	c := &r.Controllers[r.quorum.roles[role]-machine.FirstController]
	state := ""
	switch {
	case !c.Running:
		state = "dead"
	case c.Paused:
		state = "stopped"
	}
	if state != want.State {
		return fmt.Errorf("is %q, want %q", state, want.State)
	}
	if state != "" {
		return nil
	}
	code := machine.NOT_LEADER_OR_FOLLOWER
	if c.Quorum.State == machine.QuorumLeader {
		code = machine.NONE
	}
	file := &want.QuorumStateFile
	for _, x := range [][3]string{{"error", code.String(), want.Error}, {"file's leader", r.role(c.Quorum.Leader), file.Leader},
		{"file's vote", r.role(c.Quorum.Voted), file.Voted}} {
		if x[1] != x[2] {
			return fmt.Errorf("%s %s, want %s", x[0], x[1], x[2])
		}
	}
	for _, epoch := range []*int32{want.Epoch, file.Epoch} {
		if epoch != nil && !r.epochIs(c.Quorum.Epoch, *epoch) {
			return fmt.Errorf("epoch %d after the first, want %d", c.Quorum.Epoch-1, *epoch)
		}
	}
	if code != machine.NONE {
		return nil
	}
	return r.compareVoters(role, c, want)
}

// epochIs compares an epoch with the recording's, which counts from the first. An election of a new leader takes
// one epoch or two (both at once, split vote), which is not compared: ours may differ by that.
func (r *replay) epochIs(got, want int32) bool {
	q := &r.quorum
	if q.elected && q.shift == nil && (got == 2 || got == 3) && (want == 1 || want == 2) {
		shift := got - 1 - want
		q.shift = &shift
	}
	if q.shift != nil {
		want += *q.shift
	}
	return got-1 == want
}

// compareVoters compares how far the leader has its voters and its observers. Observers that found the new leader
// in one run and not in the other are not compared.
func (r *replay) compareVoters(role string, c *machine.Controller, want *describedQuorum) error {
	if want.Leader != role || want.HighWatermark != "at end" || c.Quorum.HighWatermark != int64(len(c.Log)) {
		return fmt.Errorf("leads with high watermark %d of %d, want leader %s, %s", c.Quorum.HighWatermark, len(c.Log), want.Leader, want.HighWatermark)
	}
	words := func(end int64) string {
		switch {
		case end < 0:
			return "unknown"
		case end == int64(len(c.Log)):
			return "at end"
		}
		return fmt.Sprintf("%d behind", int64(len(c.Log))-end)
	}
	for name, w := range want.Voters {
		id := r.quorum.roles[name]
		got := words(c.Quorum.Voters[id-machine.FirstController].End)
		if id == c.ID {
			got = "at end"
		}
		if got != w {
			return fmt.Errorf("voter %s %s, want %s", name, got, w)
		}
	}
	if r.dropped(fmt.Sprintf("%s.observers", role)) {
		return nil
	}
	got := map[string]string{}
	for _, o := range c.Observers {
		got[fmt.Sprint(o.ID)] = words(o.End)
	}
	if fmt.Sprint(got) != fmt.Sprint(want.Observers) {
		return fmt.Errorf("observers %v, want %v", got, want.Observers)
	}
	return nil
}

// dropped tells whether something that this step saw differed from run to run.
func (r *replay) dropped(what string) bool {
	prefix := fmt.Sprintf("steps[%d].saw.%s", r.at, what)
	return slices.ContainsFunc(r.rec.Dropped, func(p string) bool { return strings.HasPrefix(p, prefix) })
}

func (r *replay) adminDescribeQuorum(_ Operation, saw json.RawMessage) error {
	var want struct{ Exception string }
	_ = json.Unmarshal(saw, &want)
	if none := r.ActiveController() == nil; none != (want.Exception != "") {
		return fmt.Errorf("no leader: %v, want %s", none, saw)
	}
	return nil
}

// logsEqual compares the ends of the controllers' logs.
func (r *replay) logsEqual(_ Operation, saw json.RawMessage) error {
	var want struct{ Equal bool }
	_ = json.Unmarshal(saw, &want)
	equal := true
	for i := range r.Controllers {
		equal = equal && len(r.Controllers[i].Log) == len(r.Controllers[0].Log)
	}
	if equal != want.Equal {
		return fmt.Errorf("equal: %v, want %v", equal, want.Equal)
	}
	return nil
}

// topicsThere compares which topics were made.
func (r *replay) topicsThere(_ Operation, saw json.RawMessage) error {
	var want map[string]bool
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	for name, there := range want {
		got := slices.ContainsFunc(r.Metadata().Topics, func(t machine.TopicImage) bool { return t.Name == name })
		if got != there {
			return fmt.Errorf("topic %s: %v, want %v", name, got, there)
		}
	}
	return nil
}

func (r *replay) activeBrokers(_ Operation, saw json.RawMessage) error {
	var want []int
	if err := json.Unmarshal(saw, &want); err != nil {
		return err
	}
	var got []int
	for i, b := range r.Metadata().Brokers {
		if !b.Fenced {
			got = append(got, i+1)
		}
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("active brokers %v, want %v", got, want)
	}
	return nil
}

// fencedMeanwhile compares whether the metadata log has a fencing; no broker died in these recordings.
func (r *replay) fencedMeanwhile(_ Operation, saw json.RawMessage) error {
	var want struct{ Any *bool }
	if err := json.Unmarshal(saw, &want); err != nil || want.Any == nil {
		return err
	}
	any := slices.ContainsFunc(r.MetadataLog(), func(x machine.MetadataRecord) bool {
		return x.Kind == machine.BrokerRegistrationChangeRecord && x.Broker.Fenced
	})
	if any != *want.Any {
		return fmt.Errorf("brokers fenced: %v, want %v", any, *want.Any)
	}
	return nil
}

func (r *replay) initProducerID(op Operation, saw json.RawMessage) error {
	var want struct{ Error string }
	_ = json.Unmarshal(saw, &want)
	got, ok := r.call(int(op.num("broker", 1)), machine.InitProducerIDRequest{}).(machine.InitProducerIDResponse)
	if !ok || got.Error.String() != want.Error {
		return fmt.Errorf("%v (%v), want %s", got.Error, ok, want.Error)
	}
	return nil
}

// topicOf is the topic that a step without one means: the one with the replicas that it saw.
func (r *replay) topicOf(op Operation, saw json.RawMessage) string {
	var want struct{ Replicas []int }
	if op.has("topic") || json.Unmarshal(saw, &want) != nil {
		return op.str("topic")
	}
	for name, t := range r.topics {
		var got []int
		for _, id := range r.Metadata().Topics[t].Partitions[0].Replicas {
			got = append(got, int(id))
		}
		if slices.Equal(got, want.Replicas) {
			return name
		}
	}
	return r.topic
}

// What differs from run to run in the quorum tool's text, as the recorder replaced it.
var quorumTexts = []struct {
	re   *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`ClusterId: +\S+`), "ClusterId: <id>"},
	{regexp.MustCompile(`(LeaderId: +|"id": |(?m:^))\b(300\d|10\d)\b`), "${1}<ctl>"},
	{regexp.MustCompile(`"id": \d\b`), `"id": <broker>`},
	{regexp.MustCompile(`(?m)^\d\b`), "<broker>"},
	{regexp.MustCompile(`CONTROLLER://[^"]+`), "CONTROLLER://127.0.0.1:<port>"},
	{regexp.MustCompile(`"directoryId": "[^"]+"`), `"directoryId": "<directory id of <n> chars>"`},
	{regexp.MustCompile(`(?m)^(<\w+>\s+)[A-Za-z0-9_-]{22}`), "${1}<directory id of <n> chars>"},
	{regexp.MustCompile(`(LeaderEpoch|HighWatermark|MaxFollowerLag|MaxFollowerLagTimeMs): +-?\d+`), "$1: <n>"},
	{regexp.MustCompile(`(chars>\s+)\d+(\s+)0(\s+)\d+(\s+)\d+`), "${1}<n>${2}0${3}<time>${4}<time>"},
	{regexp.MustCompile(`[ \t]+`), " "},
}

// TestQuorumTool compares DescribeQuorumStatus and DescribeQuorumReplication with the text of
// kafka-metadata-quorum.sh, spaces aside: the recorder replaced them. While a follower is dead its row is not
// compared: how long the tool waited there is not recorded.
func TestQuorumTool(t *testing.T) {
	rec, err := load("testdata/af1-quorum-tool.json")
	if err != nil {
		t.Fatal(err)
	}
	c := kafkasim.New(kafkasim.World{Brokers: 3, Controllers: 3})
	c.RunFor(3 * time.Second)
	compared := 0
	for i, s := range rec.Steps {
		if s.Do.name() == "kill9" {
			c.Controller(3003).Crash()
			continue
		}
		got := c.DescribeQuorumStatus().String()
		if strings.HasSuffix(s.Do.str("cmd"), "--replication") {
			got = c.DescribeQuorumReplication().String()
		}
		got += "\n"
		for _, x := range quorumTexts {
			got = x.re.ReplaceAllString(got, x.with)
		}
		var want string
		if err := json.Unmarshal(s.Saw, &want); err != nil {
			t.Fatal(err)
		}
		if compared++; got != want {
			t.Errorf("step %d, %s:\n got %q\nwant %q", i, s.Do.str("cmd"), got, want)
		}
	}
	if compared != 4 {
		t.Errorf("%d texts compared", compared)
	}
}
