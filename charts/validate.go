package charts

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"unicode/utf8"
)

// The limits of SCHEMA.md.
const (
	maxText        = 300
	maxAlt         = 2000
	maxSeries      = 64
	maxPoints      = 2000
	maxBands       = 200
	maxMarks       = 200
	maxPanels      = 16
	maxBrokers     = 64
	maxPartitions  = 64
	maxKeys        = 512
	maxFrames      = 400
	maxCells       = 64
	maxHeight      = 20_000
	maxControllers = 16
)

// idShape is what a chart's id may look like.
var idShape = regexp.MustCompile(`^[a-z0-9-]{1,40}$`)

// ParseEnvelope reads a chart as it travels and checks it against the closed schema: unknown fields,
// wrong types, unknown words, numbers out of range and indexes that point nowhere are errors. The spec
// comes back as *CurveSpec, *ReplaySpec or *DrawingSpec.
func ParseEnvelope(data []byte) (Envelope, any, error) {
	var e Envelope
	if err := strict(data, &e); err != nil {
		return e, nil, fmt.Errorf("chart: %w", err)
	}
	if e.V != SchemaVersion {
		return e, nil, fmt.Errorf("chart: version %d; this program reads version %d", e.V, SchemaVersion)
	}
	if !idShape.MatchString(e.ID) {
		return e, nil, fmt.Errorf("chart: id %q; want 1 to 40 of a-z, 0-9 and -", e.ID)
	}
	if e.H < 1 || e.H > maxHeight {
		return e, nil, fmt.Errorf("chart: height %d; want 1 to %d", e.H, maxHeight)
	}
	if n := utf8.RuneCountInString(e.Alt); n > maxAlt {
		return e, nil, fmt.Errorf("chart: alt has %d characters; at most %d are allowed", n, maxAlt)
	}
	spec, err := parseSpec(e.Kind, []byte(e.Spec))
	if err != nil {
		return e, nil, fmt.Errorf("chart %s: %s: %w", e.ID, e.Kind, err)
	}
	return e, spec, nil
}

func parseSpec(kind string, data []byte) (any, error) {
	switch kind {
	case KindCurve:
		spec := &CurveSpec{}
		if err := strict(data, spec); err != nil {
			return nil, err
		}
		return spec, spec.check()
	case KindCluster, KindReplay:
		spec := &ReplaySpec{}
		if err := strict(data, spec); err != nil {
			return nil, err
		}
		if kind == KindCluster && len(spec.Frames) != 1 {
			return nil, fmt.Errorf("%d frames; a cluster has one", len(spec.Frames))
		}
		return spec, spec.check()
	case KindDrawing:
		spec := &DrawingSpec{}
		if err := strict(data, spec); err != nil {
			return nil, err
		}
		return spec, spec.check()
	}
	return nil, fmt.Errorf("unknown kind; want %s, %s, %s or %s", KindCurve, KindCluster, KindReplay, KindDrawing)
}

// checks collects the first thing that is wrong.
type checks struct{ err error }

func (c *checks) want(ok bool, format string, args ...any) {
	if !ok && c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

func (c *checks) text(where, text string) {
	n := utf8.RuneCountInString(text)
	c.want(n <= maxText, "%s has %d characters; at most %d are allowed", where, n, maxText)
}

func (c *checks) index(where string, i, length int) {
	c.want(i >= 0 && i < length, "%s %d; there are %d", where, i, length)
}

func (c *checks) atMost(where string, n, most int) {
	c.want(n <= most, "%d %s; at most %d are allowed", n, where, most)
}

func (c *checks) oneOf(where, word string, words ...string) {
	c.want(slices.Contains(words, word), "%s %q; want one of %q", where, word, words)
}

func (c *checks) finite(where string, values ...float64) {
	for _, v := range values {
		c.want(!math.IsNaN(v) && math.Abs(v) <= 1e15, "%s %g is out of range", where, v)
	}
}

func (s *CurveSpec) check() error {
	c := &checks{}
	c.text("title", s.Title)
	c.text("xLabel", s.XLabel)
	c.text("yLabel", s.YLabel)
	c.finite("xMin, xMax", s.XMin, s.XMax)
	c.want(s.XMin <= s.XMax, "xMin %g is above xMax %g", s.XMin, s.XMax)
	c.want(len(s.Panels) > 0, "no panels")
	c.atMost("panels", len(s.Panels), maxPanels)
	c.atMost("series", len(s.Series), maxSeries)
	c.atMost("bands", len(s.Bands), maxBands)
	c.atMost("marks", len(s.Marks), maxMarks)
	c.atMost("refs", len(s.Refs), maxMarks)
	for _, p := range s.Panels {
		c.text("panel label", p.Label)
		c.finite("panel", p.YMin, p.YMax)
	}
	for _, line := range s.Series {
		c.series(line, len(s.Panels))
	}
	for _, b := range s.Bands {
		c.text("band label", b.Label)
		c.finite("band", b.From, b.To)
		c.index("band panel", b.Panel+1, len(s.Panels)+1)
		c.oneOf("band tone", b.Tone, ToneQuiet, ToneAlarm)
		c.index("band row", b.Row, 8)
	}
	for _, m := range s.Marks {
		c.text("mark label", m.Label)
		c.finite("mark", m.X)
		c.oneOf("mark tone", m.Tone, ToneQuiet, ToneAlarm)
		c.index("mark row", m.Row, 8)
	}
	for _, r := range s.Refs {
		c.text("ref label", r.Label)
		c.finite("ref", r.Y)
		c.index("ref panel", r.Panel, len(s.Panels))
	}
	return c.err
}

func (c *checks) series(line Series, panels int) {
	c.text("series name", line.Name)
	c.index("series panel", line.Panel, panels)
	c.index("series colour", line.Colour, len(palette))
	c.oneOf("series line", line.Line, LineSolid, LineDashed, LineDotted)
	c.atMost("points in a series", len(line.Points), maxPoints)
	for i, p := range line.Points {
		c.finite("point", p[0], p[1])
		c.want(i == 0 || line.Points[i-1][0] <= p[0], "series %q: points are not ordered by x", line.Name)
	}
}

func (s *ReplaySpec) check() error {
	c := &checks{}
	c.text("title", s.Title)
	c.want(s.Width >= 1 && s.Width <= 4000, "width %d; want 1 to 4000", s.Width)
	c.want(s.Height >= 1 && s.Height <= maxHeight, "height %d; want 1 to %d", s.Height, maxHeight)
	c.want(s.Columns >= 1 && s.Columns <= 8, "columns %d; want 1 to 8", s.Columns)
	c.want(s.Rows >= 0 && s.Rows <= maxPartitions, "rows %d; want 0 to %d", s.Rows, maxPartitions)
	c.want(s.Cells >= 1 && s.Cells <= maxCells, "cells %d; want 1 to %d", s.Cells, maxCells)
	c.want(s.WordLines >= 0 && s.WordLines <= 20, "wordLines %d; want 0 to 20", s.WordLines)
	c.atMost("keys", len(s.Keys), maxKeys)
	c.atMost("brokers", len(s.Brokers), maxBrokers)
	c.atMost("controllers", len(s.Controllers), maxControllers)
	c.atMost("rows on the wire", len(s.Wire), maxControllers)
	for _, w := range s.Wire {
		for _, text := range []string{w.From, w.To, w.Text, w.When} {
			c.text("on the wire", text)
		}
		c.oneOf("state on the wire", w.State, "", wireHeld, wireCut)
	}
	c.atMost("partitions", len(s.Partitions), maxPartitions)
	c.atMost("replicas", len(s.Replicas), maxBrokers*maxPartitions)
	c.atMost("frames", len(s.Frames), maxFrames)
	for _, k := range s.Keys {
		c.text("key", k)
	}
	for _, p := range s.Partitions {
		c.text("partition", p)
	}
	for _, r := range s.Replicas {
		c.index("replica's partition", r.Partition, len(s.Partitions))
		c.index("replica's broker", r.Broker, len(s.Brokers))
		c.index("replica's row", r.Row, s.Rows)
	}
	c.want(len(s.Frames) > 0, "no frames")
	for i := range s.Frames {
		c.frame(s, &s.Frames[i])
		c.want(i == 0 || s.Frames[i-1].T <= s.Frames[i].T, "frame %d is earlier than the one before", i)
	}
	if c.err == nil {
		s.checkFirst(c)
	}
	return c.err
}

// checkFirst wants the first frame to be whole.
func (s *ReplaySpec) checkFirst(c *checks) {
	f := s.Frames[0]
	c.want(len(f.Brokers) == len(s.Brokers) && len(f.Controllers) == len(s.Controllers) && len(f.Partitions) == len(s.Partitions) && len(f.Logs) == len(s.Replicas),
		"the first frame is not whole: %d of %d brokers, %d of %d partitions, %d of %d logs",
		len(f.Brokers), len(s.Brokers), len(f.Partitions), len(s.Partitions), len(f.Logs), len(s.Replicas))
}

func (c *checks) frame(s *ReplaySpec, f *Frame) {
	c.finite("t", f.T)
	c.atMost("words", len(f.Words), 20)
	c.atMost("clients", len(f.Clients), 20)
	for _, text := range f.Words {
		c.text("words", text)
	}
	for _, text := range f.Clients {
		c.text("clients", text)
	}
	for _, x := range f.Controllers {
		c.index("controller", x.Controller, len(s.Controllers))
		c.oneOf("controller's state", x.State, ControllerActive, ControllerLeader, ControllerFollower, ControllerCandidate, ControllerUnattached, ControllerPaused, ControllerDown)
		c.want(x.Epoch >= -1, "controller %d: epoch %d", x.Controller, x.Epoch)
	}
	for _, b := range f.Brokers {
		c.index("broker", b.Broker, len(s.Brokers))
		c.oneOf("state", b.State, BrokerUp, BrokerStarting, BrokerStopping, BrokerFencedUp, BrokerPaused, BrokerDown)
	}
	for _, p := range f.Partitions {
		c.index("partition", p.Partition, len(s.Partitions))
		c.want(p.Leader >= -1 && p.Epoch >= -1 && p.From >= 0, "partition %d: leader %d, epoch %d, from %d", p.Partition, p.Leader, p.Epoch, p.From)
		c.atMost("in the ISR", len(p.ISR), maxBrokers)
	}
	for _, l := range f.Logs {
		c.index("replica", l.Replica, len(s.Replicas))
		c.oneOf("role", l.Role, "leader", "follower", "offline")
		c.want(l.Start >= 0 && l.Start <= l.End && l.End <= 1e15 && l.HW >= -1 && l.HW <= 1e15, "log %d: start %d, end %d, hw %d", l.Replica, l.Start, l.End, l.HW)
		c.atMost("cells", len(l.Add), maxCells)
		c.atMost("cut cells", len(l.Gone), maxCells)
		for _, cell := range l.Add {
			c.cell(s, cell)
		}
		for _, cell := range l.Gone {
			c.cell(s, cell)
		}
	}
	for _, m := range f.Marks {
		c.index("mark's partition", int(m[0]), len(s.Partitions))
		c.want(m[1] <= m[2] && m[4] >= 0 && m[4] <= markLost, "mark %v", m)
	}
}

func (c *checks) cell(s *ReplaySpec, cell Cell) {
	c.want(cell[0] >= 0 && cell[1] >= -1 && cell[1] < int64(len(s.Keys)) && cell[2] >= 0 && cell[3] >= 0 && cell[3] <= markLost, "cell %v", cell)
}
