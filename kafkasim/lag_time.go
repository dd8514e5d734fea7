package kafkasim

import (
	"fmt"
	"time"
)

// LagHistory is a group's lag at moments of the past, equally far apart.
type LagHistory struct {
	Group  string
	Points []LagPoint
}

// LagPoint is a group's lag at a moment.
type LagPoint struct {
	At    time.Duration
	Total int64 // to the high watermarks, over the partitions with a committed offset
	Known bool  // the group had a coordinator that knew it
}

// lagPoints is how many moments a LagHistory may have.
const lagPoints = 2000

// LagHistory is how a group's lag was at each multiple of every, from the beginning to now: what a monitor would have seen
// that looks so often.
func (c *Cluster) LagHistory(group string, every time.Duration) *LagHistory {
	where := fmt.Sprintf("LagHistory(%q, %v)", group, every)
	if every < time.Microsecond {
		misuse(where, "want a time between two looks, such as time.Second")
	}
	if n := c.Now() / every; n > lagPoints {
		misuse(where, "that is %d looks; want at most %d: take a longer time between them", n, lagPoints)
	}
	h := &LagHistory{Group: group}
	for at := time.Duration(0); at <= c.Now(); at += every {
		g := c.At(at).Group(group)
		h.Points = append(h.Points, LagPoint{At: at, Total: g.Lag().Total, Known: g.Error == ""})
	}
	return h
}

// Behind is the group's lag in a partition in time: for how long the first record that it has not committed has been there.
// 0 when there is none, or nothing is committed. Kafka's own tool has no such column; monitors compute it so.
func (l *Lag) Behind(topic string, partition int) time.Duration {
	for i := range l.Offsets {
		if o := &l.Offsets[i]; o.Topic == topic && o.Partition == partition && o.Oldest >= 0 {
			return max(l.at-time.Duration(o.Oldest)*time.Millisecond, 0)
		}
	}
	return 0
}

// FarthestBehind is the longest of them.
func (l *Lag) FarthestBehind() time.Duration {
	longest := time.Duration(0)
	for i := range l.Offsets {
		longest = max(longest, l.Behind(l.Offsets[i].Topic, l.Offsets[i].Partition))
	}
	return longest
}

// String is a row for each moment at which the group was known.
func (h *LagHistory) String() string {
	table := [][]string{{"TIME", "LAG"}}
	for _, p := range h.Points {
		if p.Known {
			table = append(table, []string{clock(p.At.Microseconds()), fmt.Sprint(p.Total)})
		}
	}
	return "lag of group " + h.Group + "\n" + rows(table)
}
