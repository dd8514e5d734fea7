package machine

// Broker is one broker: its process, its disk, and what it knows of the cluster.
type Broker struct {
	ID          NodeID
	Incarnation uint32 // how often the process was started
}

func (s *State) brokerEvent(e Event)           { unexpected(e) }
func (s *State) applyCluster(c Command) Result { return Result{ID: -1} }
func (s *State) startCluster()                 {}
