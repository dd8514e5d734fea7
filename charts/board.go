package charts

import (
	"cmp"
	"slices"

	"kafkalab/kafkasim/view"
)

// board is the state of a cluster as far as a picture shows it. It is filled from a view (one moment) or
// folded from a trace, change by change.
type board struct {
	brokers     []boardBroker
	controllers []boardController
	partitions  []boardPartition
	keys        *keyTable
	clients     []boardClient
	groups      []boardClient // consumer groups, whose positions are their committed offsets
	bare        bool          // curves need no cells: of a log only its offsets are kept
}

type boardBroker struct {
	id     int
	state  string // Kafka's word, "PAUSED" or "CRASHED"
	fenced bool
}

type boardPartition struct {
	name     string
	topic    string
	replicas []int
	created  bool
	leader   int
	epoch    int
	isr      []int
	logs     []boardLog // in the order of replicas
}

type boardLog struct {
	broker         int
	role           string
	epoch          int64 // that it leads or follows
	start, end, hw int64
	cells          []Cell // the last ones, by offset
	gone           []Cell // cut off since the last frame
}

// boardClient counts what a client did.
type boardClient struct {
	id                        string
	producer                  bool
	acks                      string
	sent, acked, failed, lost int64
	read                      int64 // records that polls returned
	retrying                  bool
	positions                 []int64 // by partition, -1 for none
}

// keepCells is how many cells a log keeps at least: more than any window shows, so that a truncation
// finds what came before.
const keepCells = 4 * maxCells

// maxKeyText is how much of a key a picture tells.
const maxKeyText = 60

// keyTable numbers keys in the order in which they first appear in the trace, so that a key keeps its
// letter and colour in every picture of a session.
type keyTable struct {
	names []string
	index map[string]int64
	own   int // so many of the names are keys of the learner's own topics; the rest are Kafka's
}

func newKeyTable() *keyTable { return &keyTable{index: map[string]int64{}} }

// of is the number of a record's key, -1 for none. Beyond maxKeys all share the last number.
func (k *keyTable) of(r *view.Record) int64 {
	if r.NullKey {
		return -1
	}
	if i, ok := k.index[r.Key]; ok {
		return i
	}
	if len(k.names) == maxKeys {
		return maxKeys - 1
	}
	i := int64(len(k.names))
	k.index[r.Key] = i
	k.names = append(k.names, shorten(visible(r.Key), maxKeyText))
	return i
}

// legend is the keys that a picture explains: Kafka's own only when it draws a topic of Kafka's own.
func (k *keyTable) legend(internal bool) []string {
	if internal || k.own == 0 {
		return k.names
	}
	return k.names[:k.own]
}

// clip shortens a text to what the schema allows.
func clip(text string) string { return shorten(text, maxText) }

// state is the broker's state in the words of the picture.
func (b *boardBroker) picture() string {
	switch b.state {
	case "RUNNING":
		if b.fenced {
			return BrokerFencedUp
		}
		return BrokerUp
	case "PAUSED":
		return BrokerPaused
	case "STARTING", "RECOVERY":
		return BrokerStarting
	case "PENDING_CONTROLLED_SHUTDOWN":
		return BrokerStopping
	}
	return BrokerDown
}

// logOf finds a replica's log; nil when the broker has none (it was added by a reassignment that the
// trace's list does not know).
func (p *boardPartition) logOf(broker int) *boardLog {
	for i := range p.logs {
		if p.logs[i].broker == broker {
			return &p.logs[i]
		}
	}
	return nil
}

// find is where a cell of that offset is or would be. Most logs have no gaps and most questions are about their end.
func (l *boardLog) find(offset int64) (int, bool) {
	n := len(l.cells)
	if n == 0 || offset > l.cells[n-1][0] {
		return n, false
	}
	if back := l.cells[n-1][0] - offset; back < int64(n) && l.cells[n-1-int(back)][0] == offset {
		return n - 1 - int(back), true
	}
	return slices.BinarySearchFunc(l.cells, offset, func(c Cell, o int64) int { return cmp.Compare(c[0], o) })
}

// cut drops the cells from offset on and remembers them as ghosts.
func (l *boardLog) cut(offset int64) {
	at, _ := l.find(offset)
	l.gone = append(l.gone, l.cells[at:]...)
	l.cells = l.cells[:at]
	l.end = offset
}

// put appends a cell and forgets old ones.
func (l *boardLog) put(c Cell) {
	if n := len(l.cells); n > 0 && l.cells[n-1][0] >= c[0] {
		at, _ := l.find(c[0]) // an append below the known end replaces
		l.cells = l.cells[:at]
	}
	if len(l.cells) >= 2*keepCells {
		l.cells = append(l.cells[:0], l.cells[len(l.cells)-keepCells:]...)
	}
	l.cells = append(l.cells, c)
}

// markOf is what became of a record so far, by the other replicas' cells.
func (p *boardPartition) markOf(offset, epoch int64) int64 {
	for i := range p.logs {
		if at, ok := p.logs[i].find(offset); ok && p.logs[i].cells[at][2] == epoch {
			return p.logs[i].cells[at][3]
		}
	}
	return int64(view.MarkWritten)
}

// remark gives records at an offset a new mark: of all cells there with the old mark, those of the
// epoch that better prefers. An acknowledgement belongs to the newest record that waits for one; a loss
// to the oldest that was acknowledged.
func (p *boardPartition) remark(offset int64, from, to view.Mark, better func(a, b int64) bool) {
	epoch, found := int64(0), false
	for i := range p.logs {
		if at, ok := p.logs[i].find(offset); ok && p.logs[i].cells[at][3] == int64(from) {
			if e := p.logs[i].cells[at][2]; !found || better(e, epoch) {
				epoch, found = e, true
			}
		}
	}
	for i := range p.logs {
		l := &p.logs[i]
		if at, ok := l.find(offset); found && ok && l.cells[at][2] == epoch {
			l.cells[at][3] = int64(to)
		}
	}
}

// leaderLog is the log of the broker that leads by the newest epoch, as the brokers believe; nil before
// there was one.
func (p *boardPartition) leaderLog() *boardLog {
	var best *boardLog
	for i := range p.logs {
		if l := &p.logs[i]; l.role == "leader" && (best == nil || l.epoch > best.epoch) {
			best = l
		}
	}
	return best
}

func (b *board) broker(id int) *boardBroker {
	for i := range b.brokers {
		if b.brokers[i].id == id {
			return &b.brokers[i]
		}
	}
	b.brokers = append(b.brokers, boardBroker{id: id})
	return &b.brokers[len(b.brokers)-1]
}

func (b *board) client(id string) *boardClient { return b.reader(&b.clients, id) }

func (b *board) group(id string) *boardClient { return b.reader(&b.groups, id) }

// reader finds a client or a group in its list, or adds it.
func (b *board) reader(list *[]boardClient, id string) *boardClient {
	for i := range *list {
		if (*list)[i].id == id {
			return &(*list)[i]
		}
	}
	c := boardClient{id: id, positions: make([]int64, len(b.partitions))}
	for i := range c.positions {
		c.positions[i] = -1
	}
	*list = append(*list, c)
	return &(*list)[len(*list)-1]
}
