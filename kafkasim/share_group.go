package kafkasim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
)

// ShareGroup is a snapshot of a share group: its members as the group coordinator has them, and the windows of records
// in flight at the partitions' leaders.
type ShareGroup struct {
	ID              string
	State           string // Empty, Stable or Dead
	Coordinator     int    // broker id, -1 for none
	Epoch           int
	AssignmentEpoch int
	Members         []ShareGroupMember
	Partitions      []SharePartition

	c *Cluster
}

// ShareGroupMember is a member of a share group.
type ShareGroupMember struct {
	ID, ClientID string
	Epoch        int
	Partitions   []TopicPartition
}

// SharePartition is how far a share group is in a partition.
type SharePartition struct {
	Topic     string
	Partition int
	Start     int64 // SPSO: the first record that is not dealt with; -1 while nobody knows
	End       int64 // behind the last record in flight (SPEO + 1)
	Written   int64 // the start that the share coordinator has: what the tool shows, one step behind (H-3); -1 for none
	Lag       int64 // records up to the high watermark that are not dealt with; -1 while nobody knows
	Leader    int   // broker id, -1 for none
	Records   []ShareRecordState
}

// ShareRecordState is a record in flight.
type ShareRecordState struct {
	Offset        int64
	State         string // Available, Acquired, Acknowledged or Archived
	DeliveryCount int
	Member        string        // the client id of who has it, "" for nobody
	LockEnds      time.Duration // virtual time; 0 for none
}

// ShareGroup is the share group with this id, as it is now.
func (c *Cluster) ShareGroup(id string) *ShareGroup {
	if id == "" {
		misuse("ShareGroup", "a group needs an id, such as \"jobs\"")
	}
	out := &ShareGroup{ID: id, State: "Dead", Coordinator: -1, c: c}
	g, at := c.s.ShareGroup(id)
	if g == nil {
		return out
	}
	out.State, out.Coordinator, out.Epoch, out.AssignmentEpoch = g.State(), int(at), int(g.Epoch), int(g.AssignmentEpoch)
	for i := range g.Members {
		m := &g.Members[i]
		v := ShareGroupMember{ID: m.ID, ClientID: m.ClientID, Epoch: int(m.Epoch)}
		for _, tp := range m.Parts {
			v.Partitions = append(v.Partitions, TopicPartition{c.image().Topics[tp.Topic].Name, int(tp.Partition)})
		}
		out.Members = append(out.Members, v)
	}
	for _, tp := range g.Ready {
		out.Partitions = append(out.Partitions, c.sharePartition(g, tp))
	}
	return out
}

func (c *Cluster) sharePartition(g *machine.ShareGroup, tp machine.TopicPartition) SharePartition {
	d := &c.image().Topics[tp.Topic].Partitions[tp.Partition]
	v := SharePartition{Topic: c.image().Topics[tp.Topic].Name, Partition: int(tp.Partition), Start: -1, End: -1, Written: -1, Lag: -1, Leader: int(d.Leader)}
	if d.Leader == machine.NoNode {
		v.Leader = -1
	}
	if w := c.s.ShareState(g.ID, tp); w != nil {
		v.Written = w.Start
	}
	p := c.s.SharePartition(g.ID, tp)
	if p == nil {
		return v
	}
	v.Start, v.End = p.Start, p.End()
	v.Lag = -p.Start
	if r := c.s.LeaderLog(tp); r != nil {
		v.Lag += r.HighWatermark
	}
	for i := range p.Window {
		w := &p.Window[i]
		if w.State == machine.ShareAcknowledged || w.State == machine.ShareArchived {
			v.Lag--
		}
		r := ShareRecordState{Offset: p.Start + int64(i), State: w.State.String(), DeliveryCount: int(w.Count)}
		if w.State == machine.ShareAcquired {
			r.Member, r.LockEnds = c.shareMember(w.Member), duration(w.LockEnds)
		}
		v.Records = append(v.Records, r)
	}
	return v
}

// shareMember is the client id of a member.
func (c *Cluster) shareMember(id string) string {
	for i := range c.s.Share.Consumers {
		if x := &c.s.Share.Consumers[i]; x.Member == id {
			return x.Name
		}
	}
	return id
}

// String is a row for each partition, with the records in flight by state.
func (g *ShareGroup) String() string {
	head := fmt.Sprintf("share group %s: %s, epoch %d, %s", g.ID, g.State, g.Epoch, plural(len(g.Members), "member"))
	if g.State == "Dead" {
		return fmt.Sprintf("share group %s: nobody knows it", g.ID)
	}
	table := [][]string{}
	for _, p := range g.Partitions {
		var parts []string
		for i := 0; i < len(p.Records); {
			r, first := p.Records[i], i
			for i++; i < len(p.Records) && p.Records[i].State == r.State && p.Records[i].Member == r.Member && p.Records[i].DeliveryCount == r.DeliveryCount; i++ {
			}
			what := offsets(r.Offset, int64(i-first)) + " " + r.State
			if r.DeliveryCount > 0 {
				what += fmt.Sprintf(" ×%d", r.DeliveryCount)
			}
			if r.Member != "" {
				what += " by " + r.Member
			}
			parts = append(parts, what)
		}
		table = append(table, []string{fmt.Sprintf("%s-%d", p.Topic, p.Partition), "start " + unknownDash(p.Start), "lag " + unknownDash(p.Lag), strings.Join(parts, "; ")})
	}
	if len(table) == 0 {
		return head
	}
	return head + "\n" + rows(table)
}

// Alter sets properties of the group (kafka-configs.sh --entity-type groups): share.auto.offset.reset (latest unless
// said otherwise; it counts when a partition is asked for first), share.isolation.level, share.record.lock.duration.ms.
func (g *ShareGroup) Alter(conf Config) *ShareGroup {
	where := fmt.Sprintf("ShareGroup(%q).Alter", g.ID)
	if v := g.c.world.version(); v < config.V4_1 {
		misuse(where, "Kafka %s has no share groups; they came with 4.1 (KIP-932)", v)
	}
	var base config.ShareGroup
	for _, x := range g.c.s.Share.Configs {
		if x.Group == g.ID {
			base = x.Props
		}
	}
	props, problem := config.ParseShareGroup(base, g.c.s.World.Broker.Share, conf)
	mustParse(where, problem)
	g.c.apply(fmt.Sprintf("c.ShareGroup(%q).Alter(%s)", g.ID, conf.orNil()), machine.AlterShareGroup{Group: g.ID, Props: props})
	return g
}

// shareOptions are the tool's options that Describe takes.
var shareOptions = []string{"--members", "--offsets", "--state", "--verbose"}

// Describe is what kafka-share-groups.sh --describe prints for the group (O-41): its start offsets, or with --members
// its members, with --state its state; --verbose says more of each.
func (g *ShareGroup) Describe(options ...string) *Description {
	where := fmt.Sprintf("ShareGroup(%q).Describe", g.ID)
	for _, o := range options {
		if !slices.Contains(shareOptions, o) {
			misuse(where, "there is no option %q%s", o, meant(o, shareOptions, ""))
		}
	}
	members, state, verbose := slices.Contains(options, "--members"), slices.Contains(options, "--state"), slices.Contains(options, "--verbose")
	switch {
	case members && state:
		misuse(where, "only one of --members, --offsets and --state can be asked for, as in the tool")
	case g.State == "Dead":
		return &Description{fmt.Sprintf("\nError: Executing share group command failed due to org.apache.kafka.common.errors.GroupIdNotFoundException: Group %s not found.", g.ID)}
	case state:
		return &Description{g.describeState(verbose)}
	case members:
		return &Description{g.describeMembers(verbose)}
	}
	return &Description{g.describeOffsets(verbose)}
}

func (g *ShareGroup) describeState(verbose bool) string {
	head, row := []string{"GROUP", "COORDINATOR (ID)", "STATE"}, []string{g.ID, fmt.Sprintf("broker%d:9092 (%d)", g.Coordinator, g.Coordinator), g.State}
	if verbose {
		head, row = append(head, "GROUP-EPOCH", "ASSIGNMENT-EPOCH"), append(row, fmt.Sprint(g.Epoch), fmt.Sprint(g.AssignmentEpoch))
	}
	return "\n" + rows([][]string{append(head, "#MEMBERS"), append(row, fmt.Sprint(len(g.Members)))})
}

func (g *ShareGroup) describeMembers(verbose bool) string {
	if len(g.Members) == 0 {
		return fmt.Sprintf("\nShare group '%s' has no active members.", g.ID)
	}
	head := []string{"GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS"}
	if verbose {
		head = append(head, "MEMBER-EPOCH")
	}
	table := [][]string{append(head, "ASSIGNMENT")}
	for _, m := range g.Members {
		var parts []string
		for _, p := range m.Partitions {
			parts = append(parts, fmt.Sprintf("%s:%d", p.Topic, p.Partition))
		}
		row := []string{g.ID, m.ID, "/" + m.ClientID, m.ClientID, fmt.Sprint(len(parts))}
		if verbose {
			row = append(row, fmt.Sprint(m.Epoch))
		}
		table = append(table, append(row, strings.Join(parts, ",")))
	}
	return "\n" + rows(table)
}

func (g *ShareGroup) describeOffsets(verbose bool) string {
	head := []string{"GROUP", "TOPIC", "PARTITION"}
	if verbose {
		head = append(head, "LEADER-EPOCH")
	}
	table := [][]string{append(head, "START-OFFSET", "LAG")}
	for _, p := range g.Partitions {
		row := []string{g.ID, p.Topic, fmt.Sprint(p.Partition)}
		if verbose {
			t := g.c.image().Topics[g.c.topicIndex("ShareGroup", p.Topic)]
			row = append(row, fmt.Sprint(t.Partitions[p.Partition].LeaderEpoch))
		}
		table = append(table, append(row, unknownDash(p.Written), unknownDash(p.Lag)))
	}
	return "\n" + rows(table)
}
