package machine

// Client says what a client's node id stands for: an index into Producers or Consumers.
type Client struct {
	Name     string
	Consumer bool // else a producer
	Index    int32
}

// clientNode is the node id of the n-th client, in the order in which clients were made.
func clientNode(n int) NodeID { return FirstClient + NodeID(n) }

// client finds what a client's node id stands for.
func (s *State) client(n NodeID) *Client { return &s.Clients[n-FirstClient] }
