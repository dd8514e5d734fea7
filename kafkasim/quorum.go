package kafkasim

import (
	"fmt"
	"strings"

	"kafkalab/kafkasim/machine"
)

// The quorum as kafka-metadata-quorum.sh describes it.

// Purposes of the draws that make ids.
const (
	drawClusterID   = 0x0a02
	drawDirectoryID = 0x0a03
)

// observerSession is how long the leader keeps an observer that does not fetch any more, µs
// (LeaderState.OBSERVER_SESSION_TIMEOUT_MS).
const observerSession = 300_000_000

// quorumRow is one replica of the metadata log as the leader sees it.
type quorumRow struct {
	id                  machine.NodeID
	end                 int64 // -1 when unknown
	lastFetch, caughtUp int64 // µs, -1 when unknown
	status              string
}

// quorumRows are the leader, the other voters and the observers; nil without a leader that can be asked.
func (c *Cluster) quorumRows() (*machine.Controller, []quorumRow) {
	leader := c.s.ActiveController()
	if leader == nil {
		return nil, nil
	}
	list := []quorumRow{{leader.ID, int64(len(leader.Log)), c.s.Now, c.s.Now, "Leader"}}
	for i := range leader.Quorum.Voters {
		if v := &leader.Quorum.Voters[i]; machine.FirstController+machine.NodeID(i) != leader.ID {
			list = append(list, quorumRow{machine.FirstController + machine.NodeID(i), v.End, v.LastFetch, v.CaughtUp, "Follower"})
		}
	}
	for _, o := range leader.Observers {
		if c.s.Now-o.LastFetch < observerSession {
			list = append(list, quorumRow{o.ID, o.End, o.LastFetch, o.CaughtUp, "Observer"})
		}
	}
	return leader, list
}

// noLeader is what the tool says when nobody leads.
func noLeader() *Description {
	return &Description{"TimeoutException: no controller leads the quorum"}
}

// DescribeQuorumStatus shows the metadata quorum as kafka-metadata-quorum.sh describe --status does.
func (c *Cluster) DescribeQuorumStatus() *Description {
	leader, list := c.quorumRows()
	if leader == nil {
		return noLeader()
	}
	lag, lagTime := c.followerLag(list)
	var voters, observers []string
	for _, r := range list {
		if r.status == "Observer" {
			observers = append(observers, fmt.Sprintf(`{"id": %d, "directoryId": %q}`, r.id, machine.UUID(c.s.World.Seed, drawDirectoryID, uint64(r.id))))
			continue
		}
		voters = append(voters, fmt.Sprintf(`{"id": %d, "endpoints": ["CONTROLLER://controller-%d:9093"]}`, r.id, r.id))
	}
	lines := [][2]string{
		{"ClusterId", machine.UUID(c.s.World.Seed, drawClusterID, 0)}, {"LeaderId", fmt.Sprint(leader.ID)}, {"LeaderEpoch", fmt.Sprint(leader.Quorum.Epoch)},
		{"HighWatermark", fmt.Sprint(leader.Quorum.HighWatermark)}, {"MaxFollowerLag", fmt.Sprint(lag)},
		{"MaxFollowerLagTimeMs", fmt.Sprint(lagTime)}, {"CurrentVoters", "[" + strings.Join(voters, ", ") + "]"},
		{"CurrentObservers", "[" + strings.Join(observers, ", ") + "]"},
	}
	var out []string
	for _, l := range lines {
		out = append(out, fmt.Sprintf("%-24s%s", l[0]+":", l[1]))
	}
	return &Description{strings.Join(out, "\n")}
}

// followerLag is how far the last voter is behind, in records, and since when it has not caught up, in ms.
func (c *Cluster) followerLag(list []quorumRow) (lag, lagTime int64) {
	last := list[0]
	for _, r := range list[1:] {
		if r.status == "Follower" && r.end < last.end {
			last = r
		}
	}
	switch {
	case last.status == "Leader":
		return 0, 0
	case last.caughtUp < 0:
		return list[0].end - last.end, -1
	}
	return list[0].end - last.end, (list[0].caughtUp - last.caughtUp) / 1000
}

// DescribeQuorumReplication shows how far each replica of the metadata log is, as kafka-metadata-quorum.sh
// describe --replication does. Times are virtual, in ms.
func (c *Cluster) DescribeQuorumReplication() *Description {
	leader, list := c.quorumRows()
	if leader == nil {
		return noLeader()
	}
	table := [][]string{{"NodeId", "DirectoryId", "LogEndOffset", "Lag", "LastFetchTimestamp", "LastCaughtUpTimestamp", "Status"}}
	for _, r := range list {
		table = append(table, []string{fmt.Sprint(r.id), machine.UUID(c.s.World.Seed, drawDirectoryID, uint64(r.id)), fmt.Sprint(r.end),
			fmt.Sprint(list[0].end - r.end), stamp(r.lastFetch), stamp(r.caughtUp), r.status})
	}
	width := make([]int, len(table[0]))
	for _, row := range table {
		for i, cell := range row {
			width[i] = max(width[i], len(cell))
		}
	}
	var out []string
	for _, row := range table {
		var b strings.Builder
		for i, cell := range row {
			fmt.Fprintf(&b, "%-*s\t", width[i], cell)
		}
		out = append(out, b.String())
	}
	return &Description{strings.Join(out, "\n")}
}

// stamp is a time in ms as the tool prints it, -1 for never.
func stamp(us int64) string {
	if us < 0 {
		return "-1"
	}
	return fmt.Sprint(us / 1000)
}
