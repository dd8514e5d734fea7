package view

// ShareGroup is a share group (KIP-932): its members as the group coordinator has them, and the records in flight at the
// partitions' leaders.
type ShareGroup struct {
	ID              string
	State           string // Empty or Stable; Dead when nobody knows the group
	Coordinator     int    // broker id, -1 for none
	Epoch           int
	AssignmentEpoch int
	Members         []ShareMember    // by member id
	Partitions      []SharePartition // with a state, by topic and number
}

// ShareMember is a member of a share group.
type ShareMember struct {
	ID         string
	ClientID   string // its client id: what a ShareRecord's Member says
	Epoch      int
	Partitions []string // topic-partition; several members may have the same (H-1)
}

// SharePartition is how far a share group is in a partition (H-3).
type SharePartition struct {
	Topic         string
	Partition     int
	Leader        int   // broker id, -1 for none
	Start         int64 // SPSO: the first record that is not dealt with; -1 while nobody knows
	End           int64 // behind the last record in flight (SPEO + 1); -1 while nobody knows
	Written       int64 // the start that the share coordinator has, one step behind; -1 for none
	HighWatermark int64
	Records       []ShareRecord // from Start to before End
}

// ShareRecord is a record in flight (H-2, H-4).
type ShareRecord struct {
	Offset        int64
	State         string // Available, Acquired, Acknowledged or Archived
	DeliveryCount int
	Member        string // the client id of who has acquired it, "" for nobody
	LockEnds      int64  // µs of virtual time at which its lock ends; 0 for none
	Writing       bool   // what was decided is being written to the share coordinator
}

// Acquired counts the records that a member has; of all members for "".
func (p *SharePartition) Acquired(member string) int {
	n := 0
	for i := range p.Records {
		if r := &p.Records[i]; r.State == "Acquired" && (member == "" || r.Member == member) {
			n++
		}
	}
	return n
}
