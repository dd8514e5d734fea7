package kafkasim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/machine"
)

// The text of kafka-share-groups.sh (O-41; ShareGroupCommand).

// shareOptions are the tool's options that Describe takes.
var shareOptions = []string{"--members", "--offsets", "--state", "--verbose"}

// Describe is what kafka-share-groups.sh --describe prints for the group, blank for blank: its start offsets (also with
// --offsets), with --members its members, with --state its state; --verbose says more of each. The start offset is the one
// that the share coordinator has, one step behind (H-3); LAG counts what is not dealt with from there to the high watermark
// (H-20).
func (g *ShareGroup) Describe(options ...string) *Description {
	where := fmt.Sprintf("ShareGroup(%q).Describe", g.ID)
	n := 0
	for i, o := range options {
		switch {
		case !slices.Contains(shareOptions, o):
			misuse(where, "there is no option %q%s", o, meant(o, shareOptions, ""))
		case slices.Contains(options[:i], o):
			misuse(where, "%s is named twice", o)
		case o != "--verbose":
			n++
		}
	}
	verbose := slices.Contains(options, "--verbose")
	switch {
	case n > 1:
		misuse(where, "only one of --members, --offsets and --state can be asked for, as in the tool")
	case g.State == "Dead":
		return &Description{fmt.Sprintf("\nError: Executing share group command failed due to org.apache.kafka.common.errors.GroupIdNotFoundException: Group %s not found.\n", g.ID)}
	case slices.Contains(options, "--state"):
		return &Description{g.describeState(verbose)}
	case slices.Contains(options, "--members"):
		return &Description{g.describeMembers(verbose)}
	}
	return &Description{g.describeOffsets(verbose)}
}

// noMembers is what the tool says of an empty group before anything else.
func (g *ShareGroup) noMembers() string {
	if g.State != "Empty" {
		return ""
	}
	return fmt.Sprintf("\nShare group '%s' has no active members.\n", g.ID)
}

func (g *ShareGroup) describeState(verbose bool) string {
	at := fmt.Sprintf("broker%d:9092  (%d)", g.Coordinator, g.Coordinator)
	table := [][]string{{"GROUP", "COORDINATOR (ID)", "STATE"}, {g.ID, at, g.State}}
	widths := []int{max(15, len(g.ID)), max(25, len(at)), 15}
	if verbose {
		table[0], table[1] = append(table[0], "GROUP-EPOCH", "ASSIGNMENT-EPOCH"), append(table[1], fmt.Sprint(g.Epoch), fmt.Sprint(g.AssignmentEpoch))
		widths = append(widths, 12, 17)
	}
	table[0], table[1] = append(table[0], "#MEMBERS"), append(table[1], fmt.Sprint(len(g.Members)))
	return g.noMembers() + columns(table, append(widths, 0)...)
}

func (g *ShareGroup) describeMembers(verbose bool) string {
	if len(g.Members) == 0 {
		return g.noMembers()
	}
	head := []string{"GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS"}
	if verbose {
		head = append(head, "MEMBER-EPOCH")
	}
	table := [][]string{append(head, "ASSIGNMENT")}
	members := slices.Clone(g.Members)
	slices.SortFunc(members, func(a, b ShareGroupMember) int { return cmp.Compare(a.ID, b.ID) })
	for _, m := range members {
		row := []string{g.ID, m.ID, "/" + m.ClientID, m.ClientID, fmt.Sprint(len(m.Partitions))}
		if verbose {
			row = append(row, fmt.Sprint(m.Epoch))
		}
		table = append(table, append(row, assignment(m.Partitions)))
	}
	widths := []int{max(15, len(g.ID)), width(15, table, 1), width(15, table, 2), width(15, table, 3), 12}
	if verbose {
		widths = append(widths, 13)
	}
	return columns(table, append(widths, 0)...)
}

// assignment is a member's partitions: topic:0,1;topic2:0.
func assignment(parts []TopicPartition) string {
	var topics []string
	of := map[string][]int{}
	for _, p := range parts {
		of[p.Topic] = append(of[p.Topic], p.Partition)
	}
	for name, list := range of {
		slices.Sort(list)
		topics = append(topics, name+":"+strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", ","))
	}
	slices.Sort(topics)
	return strings.Join(topics, ";")
}

func (g *ShareGroup) describeOffsets(verbose bool) string {
	if len(g.Partitions) == 0 {
		return fmt.Sprintf("\nShare group '%s' has no offset information.\n", g.ID)
	}
	head := []string{"GROUP", "TOPIC", "PARTITION"}
	if verbose {
		head = append(head, "LEADER-EPOCH")
	}
	table := [][]string{append(head, "START-OFFSET", "LAG")}
	parts := slices.Clone(g.Partitions)
	slices.SortFunc(parts, func(a, b SharePartition) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	for _, p := range parts {
		row := []string{g.ID, p.Topic, fmt.Sprint(p.Partition)}
		y := g.c.s.ShareState(g.ID, machine.TopicPartition{Topic: g.c.findTopic(p.Topic), Partition: int32(p.Partition)})
		epoch, lag := "-", "-"
		if y != nil && y.Start >= 0 {
			epoch = fmt.Sprint(y.LeaderEpoch)
			if log := g.c.s.LeaderLog(y.TP); log != nil {
				lag = fmt.Sprint(log.HighWatermark - y.Start - y.Complete)
			}
		}
		if verbose {
			row = append(row, epoch)
		}
		table = append(table, append(row, unknownDash(p.Written), lag))
	}
	widths := []int{max(15, len(g.ID)), width(15, table, 1), 10, 13}
	if verbose {
		widths = append(widths, 13)
	}
	return columns(table, append(widths, 0)...)
}
