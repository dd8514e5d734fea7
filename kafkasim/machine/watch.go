package machine

import (
	"fmt"
	"slices"

	"kafkalab/kafkasim/partlog"
)

// Watch looks at a world after every event and says which invariants of replication it broke:
// those of one moment, and those about a change (3, 8, 11, 13 to 15, 17, 18, 22, 24, 32).
//
// It looks only at what an event may have touched: the replicas of the broker that got it, the metadata
// records that were written, the answers that producers got, the records that a consumer was given. What was
// right before is not compared again. State.Check looks at everything, and a test holds the two together.
type Watch struct {
	image   Image
	records int64 // metadata records looked at
	parts   []partitionWatch
	marks   [][]replicaMark // by broker, in the order of Broker.Replicas
	quorum  quorumWatch
	grouped groupsWatch
	txns    transactionsWatch
	acked   int    // entries of Truth.Acked looked at
	stirred int64  // µs: the last command, or change of the metadata
	event   *Event // nil for a command
	s       *State
	found   []Violation
}

// partitionWatch is what a Watch knows of a partition.
type partitionWatch struct {
	leaders []epochLeader // who has led, by epoch
	exposed []batchMark   // what was below some leader's high watermark, by offset; the newest ones
	high    int64         // the highest high watermark of any leader
	told    int64         // … or that a follower may know from the time before the watch
	stirred int64         // µs: when a leader last appended, or a log was cut or loaded
}

// epochLeader is who led an epoch.
type epochLeader struct {
	epoch  int32
	broker NodeID
}

// batchMark is enough of a batch to know it again.
type batchMark struct {
	base           int64
	count          int32
	epoch          int32
	sender, serial int32
}

func markOf(b *partlog.Batch) batchMark {
	return batchMark{b.BaseOffset, b.Records.Count, b.LeaderEpoch, b.Sender, b.Serial}
}

// replicaMark is a replica as it was when it was last looked at.
type replicaMark struct {
	tp             TopicPartition
	role           Role
	epoch          int32
	partitionEpoch int32
	change         ISRChangeKind
	starts         int // of epochs in its cache
	hw             int64
	logStart       int64
	end            int64
	isr            int
	aligned        int32 // the epoch in which it has had an undiverged answer from its leader, -1 for none
	remotes        []remoteMark
	untold         int64          // the high watermark that came with word of where the logs part, plus 1
	known          []producerMark // of producers that have written transactions, by id
	open           []int64        // first offsets of the transactions that are open
}

// remoteMark is what a leader has last credited a follower with.
type remoteMark struct{ end, at int64 }

// exposedKept is how many exposed batches of a partition a Watch remembers.
const exposedKept = 4096

// NewWatch begins to watch a state, which it takes for right.
func NewWatch(s *State) *Watch {
	s.Watching = true
	w := &Watch{image: s.decided().clone(), records: s.decided().Offset, acked: len(s.Truth.Acked), stirred: s.Now}
	w.marks = make([][]replicaMark, len(s.Brokers))
	w.grow(s)
	for i := range s.Brokers {
		w.align(&s.Brokers[i])
		for j := range s.Brokers[i].Replicas {
			r := &s.Brokers[i].Replicas[j]
			w.marks[i][j].set(r)
			w.marks[i][j].reread(&r.Log, r.Log.End)
			p := &w.parts[s.ordinal(r.TP)]
			p.told = max(p.told, r.Log.HighWatermark, r.Checkpoint)
			if r.Role == Leader && s.clean(r.TP) {
				w.s = s
				w.expose(&s.Brokers[i], r, r.Log.LogStart)
			}
		}
	}
	w.s = s
	for i := range s.Consumers {
		w.groupMember(int32(i))
	}
	w.s, w.found = nil, nil
	return w
}

// Clone is a Watch for a clone of the world that w watches.
func (w *Watch) Clone(s *State) *Watch {
	s.Watching = true
	c := *w
	c.image = w.image.clone()
	c.quorum, c.grouped, c.txns = w.quorum.clone(), w.grouped.clone(), w.txns.clone()
	c.parts = append([]partitionWatch(nil), w.parts...)
	for i := range c.parts {
		p := &c.parts[i]
		p.leaders, p.exposed = p.leaders[:len(p.leaders):len(p.leaders)], p.exposed[:len(p.exposed):len(p.exposed)]
	}
	c.marks = make([][]replicaMark, len(w.marks))
	for i := range w.marks {
		c.marks[i] = append([]replicaMark(nil), w.marks[i]...)
		for j := range c.marks[i] {
			m := &c.marks[i][j]
			m.remotes, m.known, m.open = slices.Clone(m.remotes), slices.Clone(m.known), slices.Clone(m.open)
		}
	}
	c.s, c.event, c.found = nil, nil, nil
	return &c
}

// After looks at the world after an event. What it returns is good until the next call.
func (w *Watch) After(s *State, e Event) []Violation {
	w.begin(s, &e)
	switch {
	case e.To.IsBroker():
		w.broker(s.broker(e.To), false)
		w.exchange()
		w.groups(s.broker(e.To))
	case e.To.IsController():
		w.quorumStep(e.To)
	case e.To.IsClient():
		w.client()
		if e.To < AdminNode && s.client(e.To).Kind == ConsumerClient {
			w.groupMember(s.client(e.To).Index)
		}
	}
	w.end()
	if len(w.found) > 0 {
		w.happened(s.Describe(e), s.Now)
	}
	return w.found
}

// Command looks at the world after a command, which may have touched everything; what says which one.
func (w *Watch) Command(s *State, what string) []Violation {
	w.begin(s, nil)
	w.stirred = s.Now
	for i := range s.Brokers {
		w.broker(&s.Brokers[i], true)
		w.groups(&s.Brokers[i])
	}
	for i := range s.Consumers {
		w.groupMember(int32(i))
	}
	w.quorumStep(NoNode)
	w.end()
	w.happened(what, s.Now)
	return w.found
}

func (w *Watch) begin(s *State, e *Event) {
	w.s, w.event, w.found = s, e, w.found[:0]
	w.grow(s)
	w.newRecords()
	w.transitions()
}

func (w *Watch) end() {
	w.answers()
	w.acknowledged()
	w.untold()
	w.s, w.event = nil, nil
}

// happened says of what was found when it was, and after what.
func (w *Watch) happened(what string, at int64) {
	for i := range w.found {
		w.found[i].At, w.found[i].Event = at, what
	}
}

// broken notes a violation.
func (w *Watch) broken(invariant int, format string, args ...any) {
	w.found = append(w.found, Violation{Invariant: invariant, Text: fmt.Sprintf(format, args...)})
}

// grow makes room for new partitions.
func (w *Watch) grow(s *State) {
	for len(w.parts) < len(s.Truth.Partitions) {
		w.parts = append(w.parts, partitionWatch{})
	}
}

// align brings the marks of a broker in line with its replicas: some may be new or gone.
func (w *Watch) align(b *Broker) {
	marks := w.marks[b.ID-1]
	same := len(marks) == len(b.Replicas)
	for j := 0; same && j < len(marks); j++ {
		same = marks[j].tp == b.Replicas[j].TP
	}
	if same {
		return
	}
	next := make([]replicaMark, len(b.Replicas))
	i := 0
	for j := range next {
		tp := b.Replicas[j].TP
		for i < len(marks) && (marks[i].tp.Topic < tp.Topic || marks[i].tp.Topic == tp.Topic && marks[i].tp.Partition < tp.Partition) {
			i++
		}
		next[j] = replicaMark{tp: tp, epoch: -1, partitionEpoch: -1, aligned: -1}
		if i < len(marks) && marks[i].tp == tp {
			next[j] = marks[i]
		}
	}
	w.marks[b.ID-1] = next
}

// set makes a mark say what a replica is now.
func (m *replicaMark) set(r *Replica) {
	aligned, untold := m.aligned, m.untold
	if r.Log.HighWatermark != m.hw || r.LeaderEpoch != m.epoch {
		untold = 0
	}
	if r.Role != Follower || aligned != r.LeaderEpoch {
		aligned = -1
	}
	remotes := m.remotes[:0]
	for i := range r.Remotes {
		remotes = append(remotes, remoteMark{r.Remotes[i].End, r.Remotes[i].LastFetch})
	}
	*m = replicaMark{
		tp: r.TP, role: r.Role, epoch: r.LeaderEpoch, partitionEpoch: r.PartitionEpoch, change: r.Change.Kind, starts: len(r.Log.Epochs),
		hw: r.Log.HighWatermark, logStart: r.Log.LogStart, end: r.Log.End, isr: len(r.ISR), aligned: aligned, remotes: remotes, untold: untold,
		known: m.known, open: m.open,
	}
}

// changed tells whether a replica is another one than its mark says.
func (m *replicaMark) changed(r *Replica) bool {
	return r.Log.End != m.end || r.Log.HighWatermark != m.hw || r.LeaderEpoch != m.epoch || r.PartitionEpoch != m.partitionEpoch ||
		r.Role != m.role || r.Change.Kind != m.change || r.Log.LogStart != m.logStart || len(r.Log.Epochs) != m.starts
}
