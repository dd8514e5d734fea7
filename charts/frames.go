package charts

import (
	"slices"
	"strconv"
	"strings"

	"kafkalab/kafkasim/view"
)

// recorder turns states of a board into frames. It keeps the scene that a reader of the frames has, and
// writes down only what differs from it.
type recorder struct {
	spec     *ReplaySpec
	scene    *scene
	shown    []int    // spec partition → board partition
	replicas [][2]int // spec replica → board partition, index of its log
	started  bool
}

// newRecorder lays out the surroundings: which partitions and replicas are drawn where.
func newRecorder(title string, b *board, topics []string) *recorder {
	r := &recorder{spec: &ReplaySpec{Title: clip(title), Keys: append([]string{}, b.keys.legend(slices.ContainsFunc(topics, isInternal))...), Brokers: []int{},
		Partitions: []string{}, Replicas: []ReplicaPlace{}}}
	for i := range b.brokers {
		if len(r.spec.Brokers) < maxBrokers {
			r.spec.Brokers = append(r.spec.Brokers, b.brokers[i].id)
		}
	}
	for i := range b.controllers {
		if len(r.spec.Controllers) < maxControllers {
			r.spec.Controllers = append(r.spec.Controllers, b.controllers[i].id)
		}
	}
	for i, p := range b.partitions {
		if slices.Contains(topics, p.topic) && len(r.shown) < maxShown {
			r.shown = append(r.shown, i)
			r.spec.Partitions = append(r.spec.Partitions, clip(p.name))
		}
	}
	r.place(b)
	return r
}

// maxShown is how many partitions one picture shows.
const maxShown = 12

// place gives each replica a row in its broker's box. While there are few partitions each has the same
// row in every box, so that one can compare along a line; with many the rows close up.
func (r *recorder) place(b *board) {
	aligned := len(r.shown) <= 4
	used := make([]int, len(r.spec.Brokers))
	for s, i := range r.shown {
		for k, l := range b.partitions[i].logs {
			at := slices.Index(r.spec.Brokers, l.broker)
			if at < 0 {
				continue
			}
			row := used[at]
			if aligned {
				row = s
			}
			used[at] = row + 1
			r.spec.Rows = max(r.spec.Rows, row+1)
			r.spec.Replicas = append(r.spec.Replicas, ReplicaPlace{Partition: s, Broker: at, Row: row})
			r.replicas = append(r.replicas, [2]int{i, k})
		}
	}
}

// frame writes down the board as it is now.
func (r *recorder) frame(b *board, at int64, words []string) {
	if r.scene == nil {
		r.spec.measure(0)
		r.scene = newScene(r.spec)
		r.scene.forgets = true
	}
	f := Frame{T: float64(at) / 1000, Words: words}
	r.controllers(b, &f)
	r.brokers(b, &f)
	r.partitions(b, &f)
	r.logs(b, &f)
	if lines := b.clientLines(); !slices.Equal(lines, r.scene.clients) {
		f.Clients = lines
	}
	r.scene.apply(&f)
	r.marks(b, &f)
	r.spec.Frames = append(r.spec.Frames, f)
	r.started = true
	for i := range b.partitions {
		for k := range b.partitions[i].logs {
			b.partitions[i].logs[k].gone = nil
		}
	}
}

func (r *recorder) controllers(b *board, f *Frame) {
	for i := range r.spec.Controllers {
		c := &b.controllers[i]
		now := ControllerDelta{Controller: i, State: c.picture(), Epoch: c.epoch}
		if !r.started || now != r.scene.controllers[i] {
			f.Controllers = append(f.Controllers, now)
		}
	}
}

func (r *recorder) brokers(b *board, f *Frame) {
	for i, id := range r.spec.Brokers {
		if state := b.broker(id).picture(); !r.started || state != r.scene.brokers[i] {
			f.Brokers = append(f.Brokers, BrokerDelta{Broker: i, State: state})
		}
	}
}

func (r *recorder) partitions(b *board, f *Frame) {
	for s, i := range r.shown {
		p := &b.partitions[i]
		now := PartitionDelta{Partition: s, Leader: p.leader, Epoch: p.epoch, ISR: append([]int{}, p.isr...), From: p.window(r.spec.Cells)}
		old := r.scene.partitions[s]
		same := old.Leader == now.Leader && old.Epoch == now.Epoch && old.From == now.From && slices.Equal(old.ISR, now.ISR)
		if !r.started || !same {
			f.Partitions = append(f.Partitions, now)
			r.scene.partitions[s] = now
		}
	}
}

// window is the offset in the first slot: the strip shows the newest records of any replica, and the
// ghosts of what was cut off just now.
func (p *boardPartition) window(slots int) int64 {
	end, start := int64(0), int64(-1)
	for i := range p.logs {
		l := &p.logs[i]
		end = max(end, l.end)
		for _, c := range l.gone {
			end = max(end, c[0]+1)
		}
		if start < 0 || l.start < start {
			start = l.start
		}
	}
	return max(0, start, end-int64(slots))
}

func (r *recorder) logs(b *board, f *Frame) {
	for i, at := range r.replicas {
		l := &b.partitions[at[0]].logs[at[1]]
		from := r.scene.partitions[r.spec.Replicas[i].Partition].From
		now := LogDelta{Replica: i, Role: l.role, Start: l.start, End: max(l.end, l.start), HW: l.hw}
		now.Gone = windowed(l.gone, from, r.spec.Cells)
		now.Add = r.missing(i, l, from)
		old := &r.scene.logs[i]
		same := old.Role == now.Role && old.Start == now.Start && old.End == now.End && old.HW == now.HW
		if !r.started || !same || len(now.Add) > 0 || len(now.Gone) > 0 {
			f.Logs = append(f.Logs, now)
		}
	}
}

func windowed(cells []Cell, from int64, slots int) []Cell {
	var list []Cell
	for _, c := range cells {
		if c[0] >= from && c[0] < from+int64(slots) && len(list) < slots {
			list = append(list, c)
		}
	}
	return list
}

// missing are the visible cells that the reader does not have, or has of another epoch or key.
func (r *recorder) missing(replica int, l *boardLog, from int64) []Cell {
	known := &r.scene.logs[replica]
	var add []Cell
	first, _ := l.find(max(from, l.start))
	for _, c := range l.cells[first:] {
		at, found := known.find(c[0])
		if !found || known.cells[at][1] != c[1] || known.cells[at][2] != c[2] {
			add = append(add, c)
		}
	}
	return add
}

// marks writes down where the reader's marks differ now, as runs of offsets, and updates the scene.
func (r *recorder) marks(b *board, f *Frame) {
	for s, i := range r.shown {
		var runs []MarkDelta
		for k, at := range r.replicas {
			if at[0] == i {
				runs = r.differing(runs, s, k, &b.partitions[i].logs[at[1]])
			}
		}
		f.Marks = append(f.Marks, runs...)
	}
	for i := range r.scene.logs {
		for _, m := range f.Marks {
			if int64(r.spec.Replicas[i].Partition) == m[0] {
				r.scene.logs[i].mark(m)
			}
		}
	}
}

func (r *recorder) differing(runs []MarkDelta, partition, replica int, l *boardLog) []MarkDelta {
	for _, c := range r.scene.logs[replica].cells {
		at, found := l.find(c[0])
		if !found || l.cells[at][2] != c[2] || l.cells[at][3] == c[3] {
			continue
		}
		now := MarkDelta{int64(partition), c[0], c[0] + 1, c[2], l.cells[at][3]}
		covered := slices.ContainsFunc(runs, func(m MarkDelta) bool {
			return m[1] <= now[1] && now[2] <= m[2] && m[3] == now[3] && m[4] == now[4]
		})
		if n := len(runs); !covered && n > 0 && runs[n-1][2] == now[1] && runs[n-1][3] == now[3] && runs[n-1][4] == now[4] {
			runs[n-1][2]++
		} else if !covered {
			runs = append(runs, now)
		}
	}
	return runs
}

// finish measures the picture once the number of text lines is known.
func (r *recorder) finish() *ReplaySpec {
	clients := 0
	for _, f := range r.spec.Frames {
		clients = max(clients, len(f.Clients))
		r.spec.WordLines = max(r.spec.WordLines, len(f.Words))
	}
	r.spec.measure(clients)
	return r.spec
}

// maxClientLines bounds the lines about clients.
const maxClientLines = 8

// clientLines tells about producers and consumers, one line each.
func (b *board) clientLines() []string {
	var lines []string
	for i := range b.clients {
		if len(lines) == maxClientLines-1 && len(b.clients)-i > 1 {
			return append(lines, "and "+count(len(b.clients)-i, "more client", "more clients"))
		}
		c := &b.clients[i]
		if c.producer {
			lines = append(lines, fit(clip(c.producerLine()), 12, false, pictureWidth-4))
		} else {
			lines = append(lines, fit(clip(c.consumerLine(b)), 12, false, pictureWidth-4))
		}
	}
	return lines
}

func (c *boardClient) producerLine() string {
	text := "producer " + c.id
	if c.acks != "" {
		text += ", acks=" + c.acks
	}
	parts := []string{strconv.FormatInt(c.sent, 10) + " sent", strconv.FormatInt(c.acked, 10) + " acknowledged" + c.lostText()}
	if waiting := c.sent - c.acked - c.failed; waiting > 0 {
		parts = append(parts, strconv.FormatInt(waiting, 10)+pick(c.retrying, " waiting to be sent again", " waiting"))
	}
	if c.failed > 0 {
		parts = append(parts, strconv.FormatInt(c.failed, 10)+" failed")
	}
	return text + ": " + strings.Join(parts, ", ")
}

func (c *boardClient) lostText() string {
	if c.lost == 0 {
		return ""
	}
	return " (" + strconv.FormatInt(c.lost, 10) + " of them lost)"
}

func (c *boardClient) consumerLine(b *board) string {
	var parts []string
	for i, offset := range c.positions {
		if offset >= 0 {
			parts = append(parts, b.partitions[i].name+" at "+strconv.FormatInt(offset, 10))
		}
	}
	if len(parts) == 0 {
		return "consumer " + c.id + ": no position yet"
	}
	return "consumer " + c.id + " reads next: " + strings.Join(parts, ", ")
}

// acksOf copies the acks setting, which a trace does not tell, from the view.
func (b *board) acksOf(cluster *view.Cluster) {
	for _, p := range cluster.Producers {
		c := b.client(p.ID)
		c.producer, c.acks = true, p.Acks
	}
}
