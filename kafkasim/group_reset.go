package kafkasim

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
)

// kafka-consumer-groups.sh --reset-offsets (O-9; recording u2): ConsumerGroupCommand.prepareOffsetsToReset, OffsetsUtils.

// OffsetReset is a plan of kafka-consumer-groups.sh --reset-offsets. It does nothing before Execute.
type OffsetReset struct {
	c       *Cluster
	Group   string
	Offsets []NewOffset // by topic and partition
	Error   string      // why the tool refuses; "" for nothing
	Notes   []string    // what it warns of
	code    string
}

// NewOffset is one row of a plan.
type NewOffset struct {
	Topic     string
	Partition int
	Offset    int64
}

// resetOptions are the tool's scenarios.
var resetOptions = []string{"--by-duration", "--shift-by", "--to-current", "--to-datetime", "--to-earliest", "--to-latest", "--to-offset"}

// resetScenario is where offsets are to go.
type resetScenario struct {
	option string
	n      int64 // of --to-offset and --shift-by; ms of --to-datetime, and of now less --by-duration
}

// ResetOffsets plans new committed offsets of a topic, as kafka-consumer-groups.sh --reset-offsets does. topic is "orders",
// "orders:0,2" for some of its partitions, or "--all-topics" for all in which the group has committed. to is one of the tool's
// scenarios: "--to-earliest", "--to-latest", "--to-current", "--to-offset 5", "--shift-by -5", "--by-duration PT10S" (so long
// ago) or "--to-datetime 1970-01-01T00:00:10.000" (virtual time began in 1970). Offsets outside of a log are cut to its bounds.
// The group must have no members. Nothing is done before Execute.
func (c *Cluster) ResetOffsets(group, topic, to string) *OffsetReset {
	where := fmt.Sprintf("ResetOffsets(%q, %q, %q)", group, topic, to)
	scenario := c.resetScenario(where, to)
	g := c.Group(group)
	r := &OffsetReset{c: c, Group: group, code: fmt.Sprintf("c.ResetOffsets(%q, %q, %q).Execute()", group, topic, to)}
	partitions := c.resetPartitions(where, g, topic)
	if r.refuses(g) {
		return r
	}
	for _, tp := range partitions {
		offset, committed := c.resetOffset(r, g, tp, scenario)
		if scenario.option == "--shift-by" && committed < 0 {
			r.Offsets, r.Error = nil, fmt.Sprintf("Cannot shift offset for partition %s-%d since there is no current committed offset", tp.Topic, tp.Partition)
			return r
		}
		r.Offsets = append(r.Offsets, NewOffset{tp.Topic, tp.Partition, offset})
	}
	return r
}

// ResetOffsetsFromFile plans what a table says, as --reset-offsets --from-file does: a row "topic,partition,offset" for each
// partition, such as OffsetReset.CSV writes.
func (c *Cluster) ResetOffsetsFromFile(group, table string) *OffsetReset {
	where := fmt.Sprintf("ResetOffsetsFromFile(%q, …)", group)
	r := &OffsetReset{c: c, Group: group, code: fmt.Sprintf("c.ResetOffsetsFromFile(%q, %q).Execute()", group, table)}
	refused := r.refuses(c.Group(group))
	for i, row := range strings.Split(strings.TrimSpace(table), "\n") {
		fields := strings.Split(strings.TrimSpace(row), ",")
		if len(fields) != 3 {
			misuse(where, `line %d: %q: want topic,partition,offset such as "orders,0,5"`, i+1, row)
		}
		p, bad := strconv.Atoi(strings.TrimSpace(fields[1]))
		offset, worse := strconv.ParseInt(strings.TrimSpace(fields[2]), 10, 64)
		if bad != nil || worse != nil {
			misuse(where, "line %d: %q: partition and offset are whole numbers", i+1, row)
		}
		topic := strings.TrimSpace(fields[0])
		c.partitionOf(where, topic, p)
		if !refused {
			start, end := c.bounds(topic, p)
			r.Offsets = append(r.Offsets, NewOffset{topic, p, min(max(offset, start), end)})
		}
	}
	r.sort()
	return r
}

// refuses tells whether the group has members.
func (r *OffsetReset) refuses(g *Group) bool {
	if g.State == "Empty" || g.Error == machine.GROUP_ID_NOT_FOUND.String() {
		return false
	}
	r.Error = fmt.Sprintf("Assignments can only be reset if the group '%s' is inactive, but the current state is %s.", r.Group, g.State)
	return true
}

func (r *OffsetReset) sort() {
	slices.SortFunc(r.Offsets, func(a, b NewOffset) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
}

// datetime is the tool's format; without a zone it is UTC.
const datetime = "2006-01-02T15:04:05.000Z07:00"

// resetScenario reads one of the tool's options.
func (c *Cluster) resetScenario(where, to string) resetScenario {
	option, value, with := strings.Cut(strings.TrimSpace(to), " ")
	value = strings.TrimSpace(value)
	s := resetScenario{option: option}
	takes := !slices.Contains([]string{"--to-current", "--to-earliest", "--to-latest"}, option)
	switch {
	case !slices.Contains(resetOptions, option):
		misuse(where, "there is no scenario %q%s", option, meant(option, resetOptions, ""))
	case takes != with:
		misuse(where, `want "--to-offset 5", "--shift-by -5", "--by-duration PT10S", "--to-datetime 1970-01-01T00:00:10.000" or one of the others alone`)
	case option == "--to-datetime":
		if !strings.Contains(value, "T") {
			misuse(where, "Error parsing timestamp. It does not contain a 'T' according to ISO8601 format (ParseException): %q", value)
		}
		if _, clock, _ := strings.Cut(value, "T"); !strings.ContainsAny(clock, "+-Z") {
			value += "Z"
		}
		at, err := time.Parse(datetime, value)
		if err != nil {
			misuse(where, `%q is no time (ParseException): want YYYY-MM-DDThh:mm:ss.sss; virtual time began at 1970-01-01T00:00:00.000`, value)
		}
		s.n = at.UnixMilli()
	case option == "--by-duration":
		d, ok := config.ParseDuration(value)
		if !ok {
			misuse(where, "Text cannot be parsed to a Duration (DateTimeParseException): %q; want an ISO-8601 duration such as PT1H or P2D", value)
		}
		s.n = c.s.Now/1000 - int64(d)
	case takes:
		v, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			misuse(where, "%q is no whole number", value)
		}
		s.n = v
	}
	return s
}

// resetPartitions are the partitions that a plan is about.
func (c *Cluster) resetPartitions(where string, g *Group, topic string) []TopicPartition {
	var out []TopicPartition
	if topic == "--all-topics" {
		for i := range g.Offsets {
			out = append(out, TopicPartition{g.Offsets[i].Topic, g.Offsets[i].Partition})
		}
		return out
	}
	name, some, only := strings.Cut(topic, ":")
	t := c.topicIndex(where, name)
	if !only {
		for p := range c.image().Topics[t].Partitions {
			out = append(out, TopicPartition{name, p})
		}
		return out
	}
	for _, field := range strings.Split(some, ",") {
		p, err := strconv.Atoi(field)
		if err != nil {
			misuse(where, `%q is no partition; want "orders", "orders:0,2" or "--all-topics"`, field)
		}
		c.partitionOf(where, name, p)
		out = append(out, TopicPartition{name, p})
	}
	return out
}

// bounds are the ends of a partition's log, as the tool hears them.
func (c *Cluster) bounds(topic string, partition int) (start, end int64) {
	if l := c.leaderLog(topic, partition); l != nil {
		return l.Log.LogStart, l.Log.HighWatermark
	}
	return 0, 0
}

// leaderLog is the leader's replica of a partition, nil without a leader.
func (c *Cluster) leaderLog(topic string, partition int) *machine.Replica {
	tp := machine.TopicPartition{Topic: c.findTopic(topic), Partition: int32(partition)}
	if tp.Topic < 0 || partition >= len(c.image().Topics[tp.Topic].Partitions) {
		return nil
	}
	if leader := c.image().Topics[tp.Topic].Partitions[partition].Leader; leader != machine.NoNode {
		return c.replica(leader, tp)
	}
	return nil
}

// resetOffset is one partition's new offset; committed is the present one, -1 for none.
func (c *Cluster) resetOffset(r *OffsetReset, g *Group, tp TopicPartition, s resetScenario) (to, committed int64) {
	start, end := c.bounds(tp.Topic, tp.Partition)
	committed = -1
	for i := range g.Offsets {
		if o := &g.Offsets[i]; o.Topic == tp.Topic && o.Partition == tp.Partition {
			committed = o.Committed
		}
	}
	to = end
	switch s.option {
	case "--to-earliest":
		to = start
	case "--to-offset":
		to = s.n
	case "--shift-by":
		to = committed + s.n
	case "--to-current":
		if committed >= 0 {
			return committed, committed // not cut: it is what is there
		}
	case "--to-datetime", "--by-duration":
		found := false
		if l := c.leaderLog(tp.Topic, tp.Partition); l != nil {
			to, _, _, found = l.Log.OffsetByTime(s.n, end)
		}
		if !found {
			to = end
			r.Notes = append(r.Notes, fmt.Sprintf("Warn: Partition %d from topic %s is empty. Falling back to latest known offset.", tp.Partition, tp.Topic))
		}
	}
	return min(max(to, start), end), committed
}

// CSV is the plan as --export prints it, a row for each partition; ResetOffsetsFromFile reads it.
func (r *OffsetReset) CSV() string {
	var b strings.Builder
	for _, o := range r.Offsets {
		fmt.Fprintf(&b, "%s,%d,%d\n", o.Topic, o.Partition, o.Offset)
	}
	return b.String()
}

// String is the plan as the tool prints it.
func (r *OffsetReset) String() string {
	out := ""
	for _, n := range r.Notes {
		out += "\n" + n + "\n"
	}
	if r.Error != "" {
		out += "\nError: " + r.Error + "\n"
	}
	table := [][]string{{"GROUP", "TOPIC", "PARTITION", "NEW-OFFSET"}}
	for _, o := range r.Offsets {
		table = append(table, []string{r.Group, o.Topic, fmt.Sprint(o.Partition), fmt.Sprint(o.Offset)})
	}
	return out + columns(table, width(15, table, 0), width(15, table, 1), 10, 0)
}

// Execute commits the plan.
func (r *OffsetReset) Execute() *GroupChange {
	var topics []string
	cmd := machine.AdministerGroup{Group: r.Group, Op: machine.ResetGroupOffsets}
	for _, o := range r.Offsets {
		cmd.Commit = append(cmd.Commit, machine.CommitPart{Topic: o.Topic, Partition: int32(o.Partition), Offset: o.Offset, LeaderEpoch: -1})
		if !slices.Contains(topics, o.Topic) {
			topics = append(topics, o.Topic)
		}
	}
	what := "offsets of " + strings.Join(topics, ", ")
	switch {
	case r.Error != "":
		return &GroupChange{Group: r.Group, What: "offsets not reset", Error: r.Error}
	case len(cmd.Commit) == 0:
		return &GroupChange{Group: r.Group, What: "there are no offsets to reset"}
	}
	return r.c.administerGroup(r.code, what+" reset", cmd)
}
