package machine

import (
	"slices"
)

// Fetch sessions, on the broker that is asked.
//
// A broker remembers for each fetcher which partitions it asks for and what it was last told, so that a request
// names only what has changed and an answer only what is new. A session is numbered by the requests that it
// has had; one that comes twice or out of its turn is refused, and the fetcher begins anew with a full one.
//
// Kafka: FetchSession, FetchManager, FetchSessionCache, IncrementalFetchContext. KIP-227 (R2.8, C-25).
// Simplified: ids are counted, not drawn; one cache instead of eight; a session that is evicted while a request
// of it waits answers that request with FETCH_SESSION_ID_NOT_FOUND. Ours: a session knows which of its partitions
// anything has happened to (Dirty) and reads only those. The others' fetches count all the same, by
// FetchSession.At.

// Epochs of a session with a meaning of their own.
const (
	InitialFetchEpoch int32 = 0  // a full request that wants a session
	FinalFetchEpoch   int32 = -1 // a full request that wants none, and ends the one it names
)

// sessionEvictionMs is how long a session is safe from others that want its place
// (MIN_INCREMENTAL_FETCH_SESSION_EVICTION_MS).
const sessionEvictionMs = 120_000

// FetchSession is what a broker remembers of one fetcher.
type FetchSession struct {
	ID      int32
	Epoch   int32  // of the next request
	Replica NodeID // the follower, whose sessions come first; NoNode for a consumer
	Created int64  // µs
	At      int64  // µs: of the last request
	Turns   int64  // counts moves to the end
	Parts   []SessionPart
	Dirty   []int32 // places in Parts of those to look at, without order
}

// SessionPart is a partition of a session: what was last asked, and what was last told.
type SessionPart struct {
	FetchPart
	HighWatermark, LogStart int64
	Turn                    int64 // its place in the order of answers
	Dirty                   bool
}

// place finds a partition in a session: its place, or where it belongs.
func (f *FetchSession) place(tp TopicPartition) (int, bool) {
	lo, hi := 0, len(f.Parts)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if at := f.Parts[mid].TP; at.less(tp) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < len(f.Parts) && f.Parts[lo].TP == tp
}

// less orders partitions by topic and number.
func (tp TopicPartition) less(o TopicPartition) bool {
	return tp.Topic < o.Topic || tp.Topic == o.Topic && tp.Partition < o.Partition
}

func (f *FetchSession) mark(i int) {
	if p := &f.Parts[i]; !p.Dirty {
		p.Dirty = true
		f.Dirty = append(f.Dirty, int32(i))
	}
}

// collectDirty makes the list of dirty partitions again.
func (f *FetchSession) collectDirty() {
	f.Dirty = f.Dirty[:0]
	for i := range f.Parts {
		if f.Parts[i].Dirty {
			f.Dirty = append(f.Dirty, int32(i))
		}
	}
}

// asked takes over what a request names and forgets.
func (f *FetchSession) asked(m *FetchRequest) {
	moved := false
	for i := range m.Parts {
		k, found := f.place(m.Parts[i].TP)
		if !found {
			f.Turns++
			f.Parts = slices.Insert(f.Parts, k, SessionPart{HighWatermark: -1, LogStart: -1, Turn: f.Turns, Dirty: true})
			moved = true
		}
		f.Parts[k].FetchPart = m.Parts[i]
		if !moved {
			f.mark(k)
		}
		f.Parts[k].Dirty = true
	}
	for _, tp := range m.Forgotten {
		if k, found := f.place(tp); found {
			f.Parts = slices.Delete(f.Parts, k, k+1)
			moved = true
		}
	}
	if moved {
		f.collectDirty()
	}
}

// session finds a session by its id, nil for none.
func (b *Broker) session(id int32) *FetchSession {
	for i := range b.Sessions {
		if b.Sessions[i].ID == id {
			return &b.Sessions[i]
		}
	}
	return nil
}

// openFetch finds out what a request is about. A full one ends the session that it names; another one must be
// the next of its session, and takes it one further.
func (s *State) openFetch(b *Broker, d *DelayedFetch) Code {
	m := &d.Request
	if s.World.Rules.Without(FetchSessions) {
		m.SessionID, m.SessionEpoch = 0, FinalFetchEpoch
	}
	if m.SessionEpoch <= InitialFetchEpoch {
		s.endSession(b, m.SessionID)
		return NONE
	}
	f := b.session(m.SessionID)
	switch {
	case f == nil:
		return FETCH_SESSION_ID_NOT_FOUND
	case f.Epoch != m.SessionEpoch && !s.mutant(TakesAnySessionEpoch):
		return INVALID_FETCH_SESSION_EPOCH
	}
	// What this request names or forgets had the requests before it; whether it has this one is still to be seen.
	for i := range m.Parts {
		f.settle(b.replica(m.Parts[i].TP))
	}
	for _, tp := range m.Forgotten {
		f.settle(b.replica(tp))
	}
	f.asked(m)
	if len(f.Parts) == 0 {
		s.endSession(b, f.ID)
		m.SessionID, m.SessionEpoch = 0, FinalFetchEpoch
		return NONE
	}
	f.Epoch++
	f.At = s.Now
	d.Session = f.ID
	return NONE
}

// fetchParts is what a request asks for as far as there may be news: everything that a full one names, or
// the dirty partitions of its session in their turn.
func (s *State) fetchParts(b *Broker, d *DelayedFetch) []FetchPart {
	if d.Session == 0 {
		return d.Request.Parts
	}
	f := b.session(d.Session)
	if f == nil || len(f.Dirty) == 0 {
		return nil
	}
	slices.SortFunc(f.Dirty, func(a, c int32) int {
		if f.Parts[a].Turn < f.Parts[c].Turn {
			return -1
		}
		return 1
	})
	parts := make([]FetchPart, len(f.Dirty))
	for i, k := range f.Dirty {
		parts[i] = f.Parts[k].FetchPart
	}
	return parts
}

// answerFetch answers a request with what was read. A session's answer leaves out what is not new.
func (s *State) answerFetch(b *Broker, d *DelayedFetch, results []FetchResult) {
	m := &d.Request
	if m.Replica != NoNode {
		s.countSent(b, results)
	}
	wait := s.throttleFetch(b, d, results)
	s.toldHighWatermark(b, m.Replica, results)
	res := FetchResponse{Parts: results}
	switch f := b.session(d.Session); {
	case d.Session != 0 && f == nil:
		res = FetchResponse{Error: FETCH_SESSION_ID_NOT_FOUND}
	case d.Session != 0 && f.Epoch != m.SessionEpoch+1:
		res = FetchResponse{Error: INVALID_FETCH_SESSION_EPOCH, SessionID: f.ID}
	case wait > 0 && d.Session != 0:
		res = FetchResponse{SessionID: f.ID, ThrottleMs: wait}
	case wait > 0:
		res = FetchResponse{ThrottleMs: wait}
	case d.Session != 0:
		res = FetchResponse{SessionID: f.ID, Parts: s.news(b, f, results)}
	case m.SessionEpoch == InitialFetchEpoch:
		res.SessionID = s.newSession(b, m, results)
	}
	s.replyThrottled(b, d.From, d.Conn, d.Correlation, res, res.ThrottleMs)
}

// news keeps those results that a fetcher has to be told (R2.8): records, errors, diverging logs, a preferred
// replica, another high watermark or log start. Partitions that had records go to the end of the line, so
// that none starves (C-25).
func (s *State) news(b *Broker, f *FetchSession, results []FetchResult) []FetchResult {
	told := results[:0]
	for i := range results {
		res := results[i]
		k, found := f.place(res.TP)
		if !found {
			continue
		}
		p := &f.Parts[k]
		fresh := res.Error != NONE || len(res.Batches) > 0 || res.Diverging.Epoch >= 0 || res.PreferredReplica != NoNode ||
			res.HighWatermark != p.HighWatermark && !s.mutant(SessionHidesHighWatermark) || res.LogStartOffset != p.LogStart
		p.HighWatermark, p.LogStart = res.HighWatermark, res.LogStartOffset
		if res.Error != NONE {
			p.HighWatermark = -1 // when the error is over it is news again
		}
		if len(res.Batches) > 0 {
			f.Turns++
			p.Turn = f.Turns
		}
		if fresh {
			told = append(told, res)
		}
		p.Dirty = !s.rests(b, f, p, &res)
	}
	dirty := f.Dirty[:0]
	for _, k := range f.Dirty {
		if f.Parts[k].Dirty {
			dirty = append(dirty, k)
		}
	}
	f.Dirty = dirty
	return told
}

// rests tells whether nothing is to be said or done about a partition until something happens to it: nothing to
// read, nothing new since the answer, and, for a follower's, a member of the ISR that has everything.
func (s *State) rests(b *Broker, f *FetchSession, p *SessionPart, res *FetchResult) bool {
	if res.Error != NONE || len(res.Batches) > 0 || res.Diverging.Epoch >= 0 || res.PreferredReplica != NoNode {
		return false
	}
	r := b.replica(p.TP)
	if r == nil || res.HighWatermark != r.Log.HighWatermark || res.LogStartOffset != r.Log.LogStart {
		return false
	}
	if f.Replica == NoNode {
		looks := r.Role == Leader && s.selectsByRack() // for a better replica, each time
		return p.FetchOffset >= r.Log.HighWatermark && !looks
	}
	x := r.remote(f.Replica)
	if x == nil || p.FetchOffset != r.Log.End || x.End != r.Log.End || r.Change.Kind != NoChange || !slices.Contains(r.ISR, f.Replica) {
		return false
	}
	x.Session = f.ID
	return true
}

// newSession begins a session with a full request and its answer; 0 when there is no room.
func (s *State) newSession(b *Broker, m *FetchRequest, results []FetchResult) int32 {
	if len(m.Parts) == 0 || !s.roomForSession(b, m.Replica != NoNode, len(results)) {
		return 0
	}
	s.LastSession++
	f := FetchSession{ID: s.LastSession, Epoch: InitialFetchEpoch + 1, Replica: m.Replica, Created: s.Now, At: s.Now}
	f.Parts = make([]SessionPart, 0, len(results))
	for i := range results {
		res := &results[i]
		f.Turns++
		f.Parts = append(f.Parts, SessionPart{FetchPart: m.Parts[i], HighWatermark: res.HighWatermark, LogStart: res.LogStartOffset, Turn: f.Turns, Dirty: true})
	}
	slices.SortStableFunc(f.Parts, func(a, c SessionPart) int {
		switch {
		case a.TP.less(c.TP):
			return -1
		case c.TP.less(a.TP):
			return 1
		}
		return 0
	})
	f.Parts = slices.CompactFunc(f.Parts, func(a, c SessionPart) bool { return a.TP == c.TP })
	f.collectDirty()
	b.Sessions = append(b.Sessions, f)
	return f.ID
}

// roomForSession makes room for a session of so many partitions: the one that was silent longest goes if it was
// for two minutes; else one that is worth less. A follower's is worth more than a consumer's, then the larger
// one's more, and those that have existed for less than two minutes stay, but a consumer's for a follower's.
func (s *State) roomForSession(b *Broker, follower bool, size int) bool {
	if int64(len(b.Sessions)) < s.World.Broker.MaxIncrementalFetchSessionCacheSlots {
		return true
	}
	oldest, least := -1, -1
	for i := range b.Sessions {
		f := &b.Sessions[i]
		if oldest < 0 || f.At < b.Sessions[oldest].At {
			oldest = i
		}
		old := f.At-f.Created > sessionEvictionMs*ms
		if (old || follower && f.Replica == NoNode) && (least < 0 || f.worthLess(b.Sessions[least].Replica != NoNode, len(b.Sessions[least].Parts))) {
			least = i
		}
	}
	switch {
	case oldest >= 0 && s.Now-b.Sessions[oldest].At > sessionEvictionMs*ms:
		s.endSession(b, b.Sessions[oldest].ID)
	case least >= 0 && b.Sessions[least].worthLess(follower, size):
		s.endSession(b, b.Sessions[least].ID)
	default:
		return false
	}
	return true
}

// worthLess tells whether a session has to go before one of a follower or not, and of so many partitions.
func (f *FetchSession) worthLess(follower bool, size int) bool {
	if own := f.Replica != NoNode; own != follower {
		return follower
	}
	return len(f.Parts) < size
}

// endSession forgets a session, if there is one of this id.
func (s *State) endSession(b *Broker, id int32) {
	for i := range b.Sessions {
		f := &b.Sessions[i]
		if f.ID != id {
			continue
		}
		if f.Replica != NoNode {
			for k := range f.Parts {
				f.settle(b.replica(f.Parts[k].TP))
			}
		}
		b.Sessions = slices.Delete(b.Sessions, i, i+1)
		return
	}
}

// settle writes down when a follower last fetched a partition that rested in a session: it had everything, so
// each request of the session counts as R2.12 has it.
func (f *FetchSession) settle(r *Replica) {
	if f.Replica == NoNode || r == nil {
		return
	}
	if x := r.remote(f.Replica); x != nil && x.Session == f.ID {
		x.LastFetch, x.LastCaughtUp = max(x.LastFetch, f.At), max(x.LastCaughtUp, f.At)
		x.Session = 0
	}
}

// remote is what a leader knows of another replica, nil for nothing.
func (r *Replica) remote(id NodeID) *Remote {
	for i := range r.Remotes {
		if r.Remotes[i].Broker == id {
			return &r.Remotes[i]
		}
	}
	return nil
}

// touch says that something has happened to a replica that a fetch of it might tell or ask: sessions and fetchers
// look at it next time.
func (s *State) touch(b *Broker, r *Replica) {
	for i := range b.Sessions {
		f := &b.Sessions[i]
		if k, found := f.place(r.TP); found {
			f.settle(r)
			f.mark(k)
		}
	}
	if r.Role != Leader {
		b.refetch(r.TP)
	}
}

// touchAll is touch for all partitions that a broker follows: its registration has changed.
func (s *State) touchAll(b *Broker, follower NodeID) {
	for i := range b.Sessions {
		if f := &b.Sessions[i]; f.Replica == follower {
			for k := range f.Parts {
				f.settle(b.replica(f.Parts[k].TP))
				f.mark(k)
			}
		}
	}
}
