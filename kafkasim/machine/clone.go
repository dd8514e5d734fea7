package machine

import "slices"

// Copies of a whole world.
//
// Everything that a step changes in place is copied; what is written once is shared: records, batches,
// sealed segments, decided outcomes, the metadata log, lists of replicas and ISRs, payloads. A slice that
// only grows is shared without its spare room, so that whoever appends to the copy moves it apart first.
// clone_test.go holds the list of what is shared and checks by reflection that it is complete.

// Clone returns a world that lives on independently.
func (s *State) Clone() *State {
	s.shareImages()
	c := *s
	c.Queue, c.Holds, c.Held = slices.Clone(s.Queue), slices.Clip(s.Holds), slices.Clone(s.Held)
	c.Delays = slices.Clone(s.Delays)
	c.Links = slices.Clone(s.Links)
	for i := range c.Links {
		c.Links[i].Held = slices.Clone(c.Links[i].Held)
	}
	c.Brokers = slices.Clone(s.Brokers)
	for i := range c.Brokers {
		c.Brokers[i].unshare()
	}
	c.Controllers = slices.Clone(s.Controllers)
	for i := range c.Controllers {
		c.Controllers[i].unshare()
	}
	c.Committed = CommittedMetadata{Image: s.Committed.Image, Log: slices.Clip(s.Committed.Log)}
	c.Admin = slices.Clone(s.Admin)
	c.Clients, c.TopicBase = slices.Clip(s.Clients), slices.Clip(s.TopicBase)
	c.Added = slices.Clip(s.Added)
	c.Producers = slices.Clone(s.Producers)
	for i := range c.Producers {
		c.Producers[i] = s.Producers[i].clone()
	}
	c.Consumers = slices.Clone(s.Consumers)
	for i := range c.Consumers {
		c.Consumers[i] = s.Consumers[i].clone()
	}
	c.Truth.Acked, c.Truth.Partitions = slices.Clip(s.Truth.Acked), slices.Clone(s.Truth.Partitions)
	c.Deletions, c.GroupAdmin = slices.Clone(s.Deletions), slices.Clone(s.GroupAdmin)
	c.Share = s.Share.clone()
	c.Notes, c.Watching, c.Answers, c.Losses, c.Untold, c.Commits, c.Transitions = nil, false, nil, nil, nil, nil, nil
	return &c
}

// shareImages lets the copies that follow share the nodes' metadata until somebody's change.
func (s *State) shareImages() {
	s.Committed.Image.clone()
	for i := range s.Brokers {
		s.Brokers[i].Image.clone()
	}
	for i := range s.Controllers {
		s.Controllers[i].Image.clone()
	}
}

// CloneSize is about how many bytes a clone has for itself.
func (s *State) CloneSize() int64 {
	const fixed, replica, client = 12 << 10, 600, 2 << 10
	n := int64(fixed + client*len(s.Clients))
	for i := range s.Brokers {
		n += int64(replica * len(s.Brokers[i].Replicas))
	}
	return n
}

// unshare gives a copied controller its own of everything that a step changes in place.
func (c *Controller) unshare() {
	c.Backlog, c.Conns, c.Deferred = slices.Clone(c.Backlog), slices.Clone(c.Conns), slices.Clone(c.Deferred)
	c.Log = slices.Clip(c.Log)
	c.Sessions, c.Parked, c.Observers = slices.Clone(c.Sessions), slices.Clone(c.Parked), slices.Clone(c.Observers)
	c.Quorum.Voters, c.Quorum.Links = slices.Clone(c.Quorum.Voters), slices.Clone(c.Quorum.Links)
	c.Mutations.Buckets = slices.Clone(c.Mutations.Buckets)
}

// unshare gives a copied broker its own of everything that a step changes in place.
func (b *Broker) unshare() {
	b.Backlog = slices.Clone(b.Backlog)
	b.Dirs = slices.Clone(b.Dirs)
	b.Assign.Items = slices.Clone(b.Assign.Items)
	b.Conns = slices.Clone(b.Conns)
	for i := range b.Conns {
		b.Conns[i].Waiting = slices.Clone(b.Conns[i].Waiting)
	}
	b.Replicas = slices.Clone(b.Replicas)
	n := 0
	for i := range b.Replicas {
		n += len(b.Replicas[i].Remotes)
	}
	remotes := make([]Remote, 0, n) // one array for all: a thousand partitions are not a thousand allocations
	for i := range b.Replicas {
		r := &b.Replicas[i]
		r.Log.Unshare()
		r.Guards = slices.Clone(r.Guards)
		if r.Remotes != nil {
			from := len(remotes)
			remotes = append(remotes, r.Remotes...)
			r.Remotes = remotes[from:len(remotes):len(remotes)]
		}
	}
	b.Fetchers = slices.Clone(b.Fetchers)
	for i := range b.Fetchers {
		f := &b.Fetchers[i]
		f.Session.Parts, f.News, f.Later = slices.Clone(f.Session.Parts), slices.Clone(f.News), slices.Clone(f.Later)
	}
	b.Sessions = slices.Clone(b.Sessions)
	for i := range b.Sessions {
		b.Sessions[i].Parts, b.Sessions[i].Dirty = slices.Clone(b.Sessions[i].Parts), slices.Clone(b.Sessions[i].Dirty)
	}
	b.Alter.Items = slices.Clone(b.Alter.Items)
	b.IDs.Waiting = slices.Clone(b.IDs.Waiting)
	b.Forward.Queue = slices.Clone(b.Forward.Queue)
	b.Pull.Links = slices.Clone(b.Pull.Links)
	b.Produces = slices.Clone(b.Produces)
	for i := range b.Produces {
		b.Produces[i].Parts = slices.Clone(b.Produces[i].Parts)
	}
	b.Fetches = slices.Clone(b.Fetches)
	b.Shards = slices.Clone(b.Shards)
	for i := range b.Shards {
		b.Shards[i].unshare()
	}
	b.Share.unshare()
	b.unshareTransactions()
	b.Quotas.unshare()
	b.Deletes = slices.Clone(b.Deletes)
	for i := range b.Deletes {
		b.Deletes[i].Parts = slices.Clone(b.Deletes[i].Parts)
	}
}

// unshareTransactions is unshare for what is under way with transactions.
func (b *Broker) unshareTransactions() {
	b.Peers, b.Markers, b.Adds, b.Verifying = slices.Clone(b.Peers), slices.Clone(b.Markers), slices.Clone(b.Adds), slices.Clone(b.Verifying)
	for i := range b.Peers {
		b.Peers[i].unshare()
	}
	for i := range b.Adds {
		b.Adds[i].Results = slices.Clone(b.Adds[i].Results)
	}
}
