package kafkasim

import (
	"fmt"
	"strings"
	"time"

	"kafkalab/kafkasim/config"
	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/view"
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

	highWatermark int64
}

// ShareRecordState is a record in flight.
type ShareRecordState struct {
	Offset        int64
	State         string // Available, Acquired, Acknowledged or Archived
	DeliveryCount int
	Member        string        // the client id of who has it, "" for nobody
	LockEnds      time.Duration // virtual time; 0 for none
	Writing       bool          // what was decided is being written to the share coordinator
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
	if r := c.s.LeaderLog(tp); r != nil {
		v.highWatermark = r.HighWatermark
	}
	p := c.s.SharePartition(g.ID, tp)
	if p == nil {
		return v
	}
	v.Start, v.End = p.Start, p.End()
	v.Lag = v.highWatermark - p.Start
	for i := range p.Window {
		w := &p.Window[i]
		if w.State == machine.ShareAcknowledged || w.State == machine.ShareArchived {
			v.Lag--
		}
		r := ShareRecordState{Offset: p.Start + int64(i), State: w.State.String(), DeliveryCount: int(w.Count), Writing: w.Pending}
		if w.State == machine.ShareAcquired {
			r.Member, r.LockEnds = c.shareMember(w.Member), duration(w.LockEnds)
		}
		v.Records = append(v.Records, r)
	}
	return v
}

// View is a picture of the group: what charts see.
func (g *ShareGroup) View() view.ShareGroup {
	v := view.ShareGroup{ID: g.ID, State: g.State, Coordinator: g.Coordinator, Epoch: g.Epoch, AssignmentEpoch: g.AssignmentEpoch}
	for _, m := range g.Members {
		y := view.ShareMember{ID: m.ID, ClientID: m.ClientID, Epoch: m.Epoch}
		for _, p := range m.Partitions {
			y.Partitions = append(y.Partitions, fmt.Sprintf("%s-%d", p.Topic, p.Partition))
		}
		v.Members = append(v.Members, y)
	}
	for _, p := range g.Partitions {
		y := view.SharePartition{Topic: p.Topic, Partition: p.Partition, Leader: p.Leader, Start: p.Start, End: p.End, Written: p.Written, HighWatermark: p.highWatermark}
		for _, r := range p.Records {
			y.Records = append(y.Records, view.ShareRecord{Offset: r.Offset, State: r.State, DeliveryCount: r.DeliveryCount, Member: r.Member,
				LockEnds: r.LockEnds.Microseconds(), Writing: r.Writing})
		}
		v.Partitions = append(v.Partitions, y)
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
// said otherwise; it counts when a partition is asked for first), share.isolation.level, share.record.lock.duration.ms,
// share.session.timeout.ms, share.heartbeat.interval.ms; since 4.3 also share.delivery.count.limit,
// share.partition.max.record.locks, share.renew.acknowledge.enable and share.assignment.interval.ms. The brokers bound the
// numbers (group.share.min.… and group.share.max.…).
func (g *ShareGroup) Alter(conf Config) *ShareGroup {
	where := fmt.Sprintf("ShareGroup(%q).Alter", g.ID)
	if v := g.c.world.version(); v < config.V4_1 {
		misuse(where, "Kafka %s has no share groups; they came with 4.1 (KIP-932)", v)
	}
	for _, name := range config.ShareGroupSince43 {
		if _, given := conf[name]; given && g.c.world.version() < config.V4_3 {
			misuse(where, "%s: in Kafka %s that is the brokers' to say (group.%s); groups have it of their own since 4.3 (KIP-1240)", name, g.c.world.version(), name)
		}
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
