package kafkasim

import (
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/view"
)

// The text of kafka-consumer-groups.sh --describe, blank by blank (O-1 to O-7, recording u1).

// groupOptions are the tool's options that Describe takes.
var groupOptions = []string{"--members", "--offsets", "--state", "--verbose"}

// Describe is what kafka-consumer-groups.sh --describe prints for the group: its offsets, or with --members its members,
// with --state its state; --verbose says more of each. What the tool writes to stderr comes first.
func (g *Group) Describe(options ...string) *Description {
	where := fmt.Sprintf("Group(%q).Describe", g.ID)
	for _, o := range options {
		if !slices.Contains(groupOptions, o) {
			misuse(where, "there is no option %q%s", o, meant(o, groupOptions, ""))
		}
	}
	members, state, verbose := slices.Contains(options, "--members"), slices.Contains(options, "--state"), slices.Contains(options, "--verbose")
	if members && state || slices.Contains(options, "--offsets") && (members || state) {
		misuse(where, "only one of --members, --offsets and --state can be asked for, as in the tool")
	}
	switch {
	case g.Error == "GROUP_ID_NOT_FOUND":
		return &Description{fmt.Sprintf("\nError: Executing consumer group command failed due to org.apache.kafka.common.errors.GroupIdNotFoundException: Group %s not found.", g.ID)}
	case g.Error != "":
		return &Description{"\nError: Executing consumer group command failed due to " + g.Error + "."}
	case state:
		return &Description{g.describeState(verbose)}
	case members:
		return &Description{g.note() + g.describeMembers(verbose)}
	}
	return &Description{g.note() + g.describeOffsets(verbose)}
}

// note is what the tool says of the state before a table (O-5).
func (g *Group) note() string {
	switch g.State {
	case "Empty":
		return fmt.Sprintf("\nConsumer group '%s' has no active members.\n", g.ID)
	case "PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling":
		return fmt.Sprintf("\nWarning: Consumer group '%s' is rebalancing.\n", g.ID)
	}
	return ""
}

// width is a column's: the longest of its values, at least least.
func width(least int, table [][]string, column int) int {
	for _, r := range table[1:] {
		least = max(least, len(r[column]))
	}
	return least
}

// columns prints rows, each after a line break, with cells padded to their widths; 0 is no padding.
func columns(table [][]string, widths ...int) string {
	var b strings.Builder
	for _, r := range table {
		b.WriteByte('\n')
		for i, cell := range r {
			if i > 0 {
				b.WriteByte(' ')
			}
			if widths[i] == 0 {
				b.WriteString(cell)
			} else {
				fmt.Fprintf(&b, "%-*s", widths[i], cell)
			}
		}
	}
	b.WriteByte('\n')
	return b.String()
}

// byMostPartitions are the members, those with the most partitions first (O-3).
func (g *Group) byMostPartitions() []view.GroupMember {
	members := slices.Clone(g.Members)
	slices.SortStableFunc(members, func(a, b view.GroupMember) int {
		if d := len(b.Partitions) - len(a.Partitions); d != 0 {
			return d
		}
		return strings.Compare(a.ID, b.ID)
	})
	return members
}

func (g *Group) describeOffsets(verbose bool) string {
	head := []string{"GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST", "CLIENT-ID"}
	table := [][]string{head}
	row := func(o *view.GroupOffset, m *view.GroupMember) {
		r := []string{g.ID, o.Topic, fmt.Sprint(o.Partition), unknownDash(o.Committed), unknownDash(o.End), "-", "-", "-", "-"}
		if o.Committed >= 0 && o.End >= 0 {
			r[5] = fmt.Sprint(o.Lag)
		}
		if m != nil {
			r[6], r[7], r[8] = m.ID, m.Host, m.ClientID
		}
		if verbose {
			r = slices.Insert(r, 3, unknownDash(int64(o.LeaderEpoch)))
		}
		table = append(table, r)
	}
	if verbose {
		table[0] = slices.Insert(slices.Clone(head), 3, "LEADER-EPOCH")
	}
	for _, m := range g.byMostPartitions() {
		for i := range g.Offsets {
			if g.Offsets[i].Owner == m.ID {
				row(&g.Offsets[i], &m)
			}
		}
		if len(m.Partitions) == 0 {
			r := []string{g.ID, "-", "-", "-", "-", "-", m.ID, m.Host, m.ClientID}
			if verbose {
				r = slices.Insert(r, 3, "-")
			}
			table = append(table, r)
		}
	}
	for i := range g.Offsets {
		if g.Offsets[i].Owner == "" {
			row(&g.Offsets[i], nil)
		}
	}
	at := 6
	widths := []int{width(15, table, 0), width(15, table, 1), 10, 15, 15, 15}
	if verbose {
		widths = slices.Insert(widths, 3, 15)
		at = 7
	}
	widths = append(widths, width(15, table, at), width(15, table, at+1), 0)
	return columns(table, widths...)
}

func (g *Group) describeMembers(verbose bool) string {
	head := []string{"GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS"}
	static := slices.ContainsFunc(g.Members, func(m view.GroupMember) bool { return m.InstanceID != "" })
	if static {
		head = slices.Insert(head, 2, "GROUP-INSTANCE-ID")
	}
	if verbose {
		head = append(head, "CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT")
	}
	both := slices.ContainsFunc(g.Members, func(m view.GroupMember) bool { return m.Classic })
	if both && verbose {
		head = append(head, "UPGRADED")
	}
	table := [][]string{head}
	for _, m := range g.byMostPartitions() {
		r := []string{g.ID, m.ID, m.Host, m.ClientID, fmt.Sprint(len(m.Partitions))}
		if static {
			r = slices.Insert(r, 2, orDash(m.InstanceID))
		}
		if verbose && g.Modern {
			r = append(r, fmt.Sprint(m.Epoch), assignmentWords(m.Partitions), fmt.Sprint(g.AssignmentEpoch), assignmentWords(m.Target))
		} else if verbose { // a classic member has no epochs
			r = append(r, "-", assignmentWords(m.Partitions), "-", "-")
		}
		if both && verbose {
			r = append(r, fmt.Sprint(!m.Classic))
		}
		table = append(table, r)
	}
	widths := []int{width(15, table, 0), width(15, table, 1)}
	if static {
		widths = append(widths, width(17, table, 2))
	}
	n := len(widths)
	widths = append(widths, width(15, table, n), width(15, table, n+1), 15)
	if !verbose { // the tool's own format has a blank more here
		widths[len(widths)-1]++
	}
	if verbose {
		widths = append(widths, 15, width(20, table, n+4), 15, width(20, table, n+6))
		if both {
			widths = append(widths, 0)
		}
	}
	return columns(table, widths...)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// assignmentWords is an assignment as the tool writes it: topicA:0,1;topicB:2.
func assignmentWords(ps []view.Position) string {
	var out []string
	for i, p := range ps {
		if i == 0 || ps[i-1].Topic != p.Topic {
			out = append(out, p.Topic+":"+fmt.Sprint(p.Partition))
		} else {
			out[len(out)-1] += "," + fmt.Sprint(p.Partition)
		}
	}
	return orDash(strings.Join(out, ";"))
}

func (g *Group) describeState(verbose bool) string {
	coordinator := fmt.Sprintf("broker%d:9092  (%d)", g.Coordinator, g.Coordinator)
	head := []string{"GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "#MEMBERS"}
	r := []string{g.ID, coordinator, g.Protocol, g.State, fmt.Sprint(len(g.Members))}
	widths := []int{max(15, len(g.ID)), max(25, len(coordinator)), 20, 20, 0}
	if verbose {
		head = slices.Insert(head, 4, "GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH")
		epochs := []string{"-", "-"}
		if g.Modern {
			epochs = []string{fmt.Sprint(g.Generation), fmt.Sprint(g.AssignmentEpoch)}
		}
		r = slices.Insert(r, 4, epochs...)
		widths = slices.Insert(widths, 4, 15, 25)
	}
	return columns([][]string{head, r}, widths...)
}
