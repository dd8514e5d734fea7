package kafkasim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"kafkalab/kafkasim/machine"
	"kafkalab/kafkasim/view"
)

// Group is a snapshot of a consumer group: its state and members as the coordinator has them, and how far it is.
type Group struct {
	view.Group
	Error string // Kafka's error when the group cannot be described; "" for none
	at    time.Duration
}

// Group is the group with this id, as it is now. Kafka answers GROUP_ID_NOT_FOUND for one that nobody has written yet,
// and COORDINATOR_NOT_AVAILABLE while no broker coordinates it.
func (c *Cluster) Group(id string) *Group {
	g, code := c.viewGroup(id)
	if code != machine.NONE {
		return &Group{Group: view.Group{ID: id, State: "Dead", Generation: -1, Coordinator: -1}, Error: code.String()}
	}
	return &Group{Group: *g, at: c.Now()}
}

// Groups are the ids of all groups that have a coordinator now, sorted (kafka-consumer-groups.sh --list).
func (c *Cluster) Groups() []string {
	var ids []string
	for i := range c.s.Brokers {
		b := &c.s.Brokers[i]
		for j := range b.Shards {
			for k := range b.Shards[j].Groups {
				if g := &b.Shards[j].Groups[k]; c.s.CoordinatorOf(g.ID) == b.ID && c.s.Known(b, g) {
					ids = append(ids, g.ID)
				}
			}
		}
	}
	slices.Sort(ids)
	return ids
}

func (c *Cluster) viewGroup(id string) (*view.Group, machine.Code) {
	g, b := c.s.GroupAt(id)
	switch {
	case b == nil && c.s.HasGroups():
		return nil, machine.COORDINATOR_NOT_AVAILABLE
	case g == nil || !c.s.Known(b, g):
		return nil, machine.GROUP_ID_NOT_FOUND
	}
	v := &view.Group{ID: id, State: g.State.String(), Protocol: g.Protocol, Generation: int(g.Generation), Coordinator: int(b.ID)}
	owner := map[view.Position]string{}
	if g.Consumer.On {
		c.viewConsumerGroup(v, b, &g.Consumer, owner)
	}
	for i := range g.Members {
		m := &g.Members[i]
		w := view.GroupMember{ID: m.ID, ClientID: m.ClientID, InstanceID: m.Instance, Host: m.Host, Leads: m.ID == g.Leader}
		for _, t := range m.Assignment {
			for _, p := range t.Partitions {
				owner[view.Position{Topic: t.Topic, Partition: int(p)}] = m.ID
				w.Partitions = append(w.Partitions, view.Position{Topic: t.Topic, Partition: int(p), Offset: c.memberPosition(m.ID, t.Topic, p)})
			}
		}
		v.Members = append(v.Members, w)
	}
	for i := range g.Offsets {
		o := &g.Offsets[i]
		if c.s.Stable(b, g, o.Topic, o.Partition) != nil {
			key := view.Position{Topic: o.Topic, Partition: int(o.Partition)}
			if _, owned := owner[key]; !owned {
				owner[key] = ""
			}
		}
	}
	for key, member := range owner {
		v.Offsets = append(v.Offsets, c.groupOffset(b, g, key, member))
	}
	slices.SortFunc(v.Offsets, func(a, b view.GroupOffset) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return v, machine.NONE
}

// memberPosition is where the consumer with a member id is in a partition, -1 if unknown.
func (c *Cluster) memberPosition(member, topic string, partition int32) int64 {
	for i := range c.s.Consumers {
		x := &c.s.Consumers[i]
		if x.Group.ID != member || x.Closed {
			continue
		}
		for j := range x.Parts {
			if x.Parts[j].Topic == topic && x.Parts[j].TP.Partition == partition {
				return x.Parts[j].Position
			}
		}
	}
	return -1
}

func (c *Cluster) groupOffset(b *machine.Broker, g *machine.Group, key view.Position, member string) view.GroupOffset {
	o := view.GroupOffset{Topic: key.Topic, Partition: key.Partition, Committed: -1, End: -1, StableEnd: -1, Lag: -1, LeaderEpoch: -1, Oldest: -1, Owner: member}
	if v := c.s.Stable(b, g, key.Topic, int32(key.Partition)); v != nil {
		o.Committed, o.LeaderEpoch = v.Offset, int(v.LeaderEpoch)
	}
	if t := c.findTopic(key.Topic); t >= 0 {
		tp := machine.TopicPartition{Topic: t, Partition: int32(key.Partition)}
		if reg := &c.image().Topics[t].Partitions[key.Partition]; reg.Leader != machine.NoNode {
			if r := c.replica(reg.Leader, tp); r != nil {
				o.End, o.StableEnd = r.Log.HighWatermark, r.Log.LastStable()
				if at, waits := r.Log.TimestampFrom(o.Committed, o.End); waits && o.Committed >= 0 {
					o.Oldest = at
				}
			}
		}
	}
	if o.Committed >= 0 && o.End >= 0 {
		o.Lag = o.End - o.Committed
	}
	return o
}

// String is the group with a row for each partition.
func (g *Group) String() string {
	if g.Error != "" {
		return fmt.Sprintf("group %s: %s", g.ID, g.Error)
	}
	s := fmt.Sprintf("group %s: %s, generation %d", g.ID, g.State, g.Generation)
	if g.Modern {
		s = fmt.Sprintf("group %s: %s, epoch %d, target of epoch %d", g.ID, g.State, g.Generation, g.AssignmentEpoch)
	}
	if g.Protocol != "" {
		s += " by " + g.Protocol
	}
	s += fmt.Sprintf(", coordinator broker %d, %s", g.Coordinator, plural(len(g.Members), "member"))
	if len(g.Offsets) == 0 && len(g.Members) == 0 {
		return s
	}
	table := [][]string{{"MEMBER", "PARTITIONS"}}
	if g.Modern {
		table = [][]string{{"MEMBER", "EPOCH", "STATE", "PARTITIONS", "TARGET"}}
	}
	for i := range g.Members {
		m := &g.Members[i]
		if g.Modern {
			table = append(table, []string{m.ClientID, fmt.Sprint(m.Epoch), m.State, partitionWords(m.Partitions), partitionWords(m.Target)})
			continue
		}
		name := m.ClientID
		if m.Leads {
			name += " (leader)"
		}
		table = append(table, []string{name, partitionWords(m.Partitions)})
	}
	if len(g.Members) > 0 {
		s += "\n" + rows(table)
	}
	if len(g.Offsets) > 0 {
		s += "\n" + g.Lag().String()
	}
	return s
}

func partitionWords(ps []view.Position) string {
	var out []string
	for _, p := range ps {
		out = append(out, fmt.Sprintf("%s-%d", p.Topic, p.Partition))
	}
	return orNone(strings.Join(out, " "))
}

// Lag is how far the group is behind, for each partition and in all.
func (g *Group) Lag() *Lag {
	l := &Lag{Group: g.ID, Offsets: g.Offsets, at: g.at}
	for i := range g.Offsets {
		o := &g.Offsets[i]
		if o.Lag >= 0 {
			l.Total += o.Lag
			l.ToStable += max(o.StableEnd-o.Committed, 0)
		} else if o.Committed < 0 {
			l.Unknown++
		}
	}
	return l
}

// Lag is a group's lag. It counts offsets, not records: markers and what was compacted away count too (C-82).
type Lag struct {
	Group    string
	Offsets  []view.GroupOffset
	Total    int64 // to the high watermarks, as Kafka's tool computes it
	ToStable int64 // to the last stable offsets: what read_committed could have
	Unknown  int   // partitions without a committed offset; they do not count (C-83)
	at       time.Duration
}

// Of is the lag of one partition to the high watermark, -1 if the group has committed nothing there.
func (l *Lag) Of(topic string, partition int) int64 {
	for i := range l.Offsets {
		if o := &l.Offsets[i]; o.Topic == topic && o.Partition == partition {
			return o.Lag
		}
	}
	return -1
}

// String is a row for each partition and the sum.
func (l *Lag) String() string {
	table := [][]string{{"PARTITION", "COMMITTED", "END", "LAG"}}
	for i := range l.Offsets {
		o := &l.Offsets[i]
		lag := "-"
		if o.Committed >= 0 && o.End >= 0 {
			lag = fmt.Sprint(o.Lag)
		}
		table = append(table, []string{fmt.Sprintf("%s-%d", o.Topic, o.Partition), unknownDash(o.Committed), unknownDash(o.End), lag})
	}
	table = append(table, []string{"in all", "", "", fmt.Sprint(l.Total)})
	return rows(table)
}
