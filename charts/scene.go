package charts

import (
	"cmp"
	"fmt"
	"slices"
)

// scene is the whole picture at one frame: what a reader of the spec has after applying the deltas.
type scene struct {
	spec        *ReplaySpec
	t           float64
	words       []string
	brokers     []string // states
	controllers []ControllerDelta
	partitions  []PartitionDelta
	logs        []sceneLog
	clients     []string

	// forgets drops cells before the window, so that the recorder of a long story does not grow with its length; when
	// the window goes back it brings them again. A reader keeps them: recorders did not always.
	forgets bool
}

// sceneLog is one replica's log: the cells known so far, by offset.
type sceneLog struct {
	LogDelta // Add is not used
	cells    []Cell
}

func newScene(spec *ReplaySpec) *scene {
	s := &scene{spec: spec, brokers: make([]string, len(spec.Brokers)), controllers: make([]ControllerDelta, len(spec.Controllers)),
		partitions: make([]PartitionDelta, len(spec.Partitions)), logs: make([]sceneLog, len(spec.Replicas))}
	return s
}

// sceneAt applies the frames up to and with index last.
func sceneAt(spec *ReplaySpec, last int) *scene {
	s := newScene(spec)
	for i := range spec.Frames[:last+1] {
		s.apply(&spec.Frames[i])
	}
	return s
}

// apply moves the scene one frame forward.
func (s *scene) apply(f *Frame) {
	s.t, s.words = f.T, f.Words
	for _, b := range f.Brokers {
		s.brokers[b.Broker] = b.State
	}
	for _, c := range f.Controllers {
		s.controllers[c.Controller] = c
	}
	for _, p := range f.Partitions {
		s.partitions[p.Partition] = p
	}
	for i := range s.logs {
		s.logs[i].Gone = nil
	}
	for _, d := range f.Logs {
		from := int64(0)
		if s.forgets {
			from = s.partitions[s.spec.Replicas[d.Replica].Partition].From
		}
		s.logs[d.Replica].apply(d, from)
	}
	for _, m := range f.Marks {
		for i := range s.logs {
			if int64(s.spec.Replicas[i].Partition) == m[0] {
				s.logs[i].mark(m)
			}
		}
	}
	if f.Clients != nil {
		s.clients = f.Clients
	}
}

// apply changes the log and forgets cells before an offset.
func (l *sceneLog) apply(d LogDelta, from int64) {
	l.LogDelta = d
	from = max(from, d.Start)
	l.cells = slices.DeleteFunc(l.cells, func(c Cell) bool { return c[0] < from || c[0] >= d.End })
	for _, c := range d.Add {
		at, found := l.find(c[0])
		if found {
			l.cells[at] = c
		} else {
			l.cells = slices.Insert(l.cells, at, c)
		}
	}
	l.Add = nil
}

func (l *sceneLog) find(offset int64) (int, bool) {
	return slices.BinarySearchFunc(l.cells, offset, func(c Cell, o int64) int { return cmp.Compare(c[0], o) })
}

func (l *sceneLog) mark(m MarkDelta) {
	for i, c := range l.cells {
		if c[0] >= m[1] && c[0] < m[2] && c[2] == m[3] {
			l.cells[i][3] = m[4]
		}
	}
}

// visible are the cells that the window of the partition shows.
func (l *sceneLog) visible(from int64, slots int) []Cell {
	var list []Cell
	for _, c := range l.cells {
		if c[0] >= from && c[0] < from+int64(slots) {
			list = append(list, c)
		}
	}
	return list
}

// inISR says whether the controller counts the replica in.
func (s *scene) inISR(replica int) bool {
	place := s.spec.Replicas[replica]
	return slices.Contains(s.partitions[place.Partition].ISR, s.spec.Brokers[place.Broker])
}

func moment(ms float64) string { return fmt.Sprintf("%s ms", number(ms)) }
