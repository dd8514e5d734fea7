package kafkasim

import (
	"fmt"
	"slices"
	"strings"
)

// Lists of groups: kafka-consumer-groups.sh --list (O-8) and kafka-groups.sh --list (O-40). Recording u2.

// listOptions are those of ListGroups.
var listOptions = []string{"--state", "--type"}

// ListGroups is what kafka-consumer-groups.sh --list prints: a group in each line, with "--state" and "--type" their states
// and which protocol they have.
func (c *Cluster) ListGroups(options ...string) *Description {
	for _, o := range options {
		if !slices.Contains(listOptions, o) {
			misuse("ListGroups", "there is no option %q%s", o, meant(o, listOptions, ""))
		}
	}
	state, kind := slices.Contains(options, "--state"), slices.Contains(options, "--type")
	var b strings.Builder
	line := func(group, t, s string) {
		if !state && !kind {
			b.WriteString(group + "\n")
			return
		}
		fmt.Fprintf(&b, "%-25s", group)
		if kind {
			fmt.Fprintf(&b, " %-20s", t)
		}
		if state {
			fmt.Fprintf(&b, " %-20s", s)
		}
		b.WriteByte('\n')
	}
	if state || kind {
		line("GROUP", "TYPE", "STATE")
	}
	for _, id := range c.Groups() {
		g := c.Group(id)
		line(id, g.kind(), g.State)
	}
	return &Description{b.String()}
}

// kind is the group's type as the tools write it.
func (g *Group) kind() string {
	if g.Modern {
		return "Consumer"
	}
	return "Classic"
}

// AllGroups is what kafka-groups.sh --list prints: the groups of every type, share groups too, with their protocols.
func (c *Cluster) AllGroups() *Description {
	var b strings.Builder
	line := func(cells ...string) { fmt.Fprintf(&b, "%-20s %-20s %-20s\n", cells[0], cells[1], cells[2]) }
	line("GROUP", "TYPE", "PROTOCOL")
	rows := [][]string{}
	for _, id := range c.Groups() {
		g, _ := c.s.GroupAt(id)
		protocol := g.Type
		if g.Consumer.On {
			protocol = "consumer"
		}
		rows = append(rows, []string{id, c.Group(id).kind(), protocol})
	}
	for _, id := range c.shareGroups() {
		rows = append(rows, []string{id, "Share", "share"})
	}
	slices.SortFunc(rows, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	for _, r := range rows {
		line(r...)
	}
	return &Description{b.String()}
}

// shareGroups are the ids of the share groups that have a coordinator now.
func (c *Cluster) shareGroups() []string {
	var ids []string
	for i := range c.s.Brokers {
		b := &c.s.Brokers[i]
		for j := range b.Shards {
			for k := range b.Shards[j].Share.Groups {
				if id := b.Shards[j].Share.Groups[k].ID; c.s.CoordinatorOf(id) == b.ID && !slices.Contains(ids, id) {
					ids = append(ids, id)
				}
			}
		}
	}
	return ids
}
