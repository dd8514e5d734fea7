package charts

import (
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/view"
)

// Transaction draws the life of a transactional id over time: what state its coordinator has it in, what state the
// producer is in, and for each partition when a transaction was open there and where the last stable offset stood,
// to which read_committed reads. Without an id it draws the only one that there is.
func Transaction(src view.Source, id ...string) *Picture {
	now, trace := look("Transaction", src)
	txn := txnOf(now, id)
	t := &txnPicture{now: now, trace: trace, txn: txn, b: newBoard(trace), pen: newPen(fmt.Sprintf("Transactions of %s at %s", txn.ID, ms(now.Now)), pictureWidth)}
	t.collect()
	t.pen.title()
	l := &lanes{pen: t.pen, from: t.begins(), to: max(trace.To, 1), left: 150}
	y := 34.0
	y = t.states(l, y, fmt.Sprintf("coordinator, broker %d", txn.Coordinator), t.coordinator)
	if len(t.producer) > 0 {
		y = t.states(l, y, "producer", t.producer)
	}
	for _, p := range t.parts[:min(len(t.parts), maxAssigned)] {
		t.partition(l, p, y)
		y += laneHeight
	}
	y = t.legend(l.axis(y + 4))
	t.pen.frame(float64(now.Now)/1000, nil, false)
	return newDrawing(t.pen, y+6, t.describe(), nil)
}

// txnOf finds a transactional id: the only one when none is named.
func txnOf(now *view.Cluster, names []string) *view.Transaction {
	var known []string
	for i := range now.Txns {
		known = append(known, now.Txns[i].ID)
	}
	const none = "no coordinator knows a transactional id yet; make a producer with kafkasim.Config{\"transactional.id\": \"…\"} and let it Begin"
	return &now.Txns[oneOf("Transaction", "transactional id", "ids", none, known, names)]
}

type txnPicture struct {
	now         *view.Cluster
	trace       *view.Trace
	txn         *view.Transaction
	b           *board
	pen         *pen
	coordinator []txnSpan
	producer    []txnSpan
	opened      []openSpan
	stable      []stableStep
	parts       []int
}

// txnSpan is a stretch in one state.
type txnSpan struct {
	state    string
	epoch    int64
	from, to int64
}

// openSpan is a stretch in which a transaction was open in a partition, and how it ended.
type openSpan struct {
	partition int
	from, to  int64
	end       string // "committed", "aborted", "" while it is open
}

// stableStep is a move of a leader's last stable offset.
type stableStep struct {
	partition int
	at, value int64
}

func (t *txnPicture) collect() {
	open := map[int]int{}
	for i := range t.trace.Changes {
		c := &t.trace.Changes[i]
		switch {
		case c.Kind == view.TransactionState && c.Client == t.txn.ID:
			t.coordinator = spanned(t.coordinator, c)
			t.move(c, open)
		case c.Kind == view.ProducerState && t.isProducer(c.Client):
			t.producer = spanned(t.producer, c)
		case c.Kind == view.LastStable && c.Partition >= 0 && c.Partition < len(t.b.partitions):
			if l := t.b.partitions[c.Partition].leaderLog(); l != nil && l.broker == c.Broker {
				t.stable = append(t.stable, stableStep{c.Partition, c.At, c.A})
			}
		}
		t.b.apply(c)
	}
	for _, list := range [][]txnSpan{t.coordinator, t.producer} {
		if n := len(list); n > 0 {
			list[n-1].to = t.trace.To
		}
	}
	for _, i := range open {
		t.opened[i].to = t.trace.To
	}
	slices.Sort(t.parts)
}

// isProducer says whether a client is who has the transactional id: by name, or the only one that a trace tells of.
func (t *txnPicture) isProducer(client string) bool {
	return client == t.txn.ID || len(t.now.Txns) == 1
}

func spanned(list []txnSpan, c *view.Change) []txnSpan {
	if n := len(list); n > 0 {
		list[n-1].to = c.At
	}
	return append(list, txnSpan{c.Text, c.B, c.At, c.At})
}

// move opens the partitions that were added, and closes all when the transaction is complete.
func (t *txnPicture) move(c *view.Change, open map[int]int) {
	for _, p := range c.List {
		if _, is := open[p]; !is && c.Text == "Ongoing" && p >= 0 && p < len(t.trace.Partitions) {
			open[p] = len(t.opened)
			t.opened = append(t.opened, openSpan{partition: p, from: c.At})
			if !slices.Contains(t.parts, p) {
				t.parts = append(t.parts, p)
			}
		}
	}
	end := map[string]string{"CompleteCommit": "committed", "CompleteAbort": "aborted"}[c.Text]
	if end == "" {
		return
	}
	for p, i := range open {
		t.opened[i].to, t.opened[i].end = c.At, end
		delete(open, p)
	}
}

func (t *txnPicture) begins() int64 {
	if len(t.coordinator) > 0 {
		return t.coordinator[0].from
	}
	return t.trace.From
}

// states draws a lane of states and returns the y below.
func (t *txnPicture) states(l *lanes, y float64, name string, list []txnSpan) float64 {
	l.name(y, shorten(name, 22))
	for _, s := range list {
		shape := Shape{Fill: "box", Stroke: "line", Tip: fmt.Sprintf("%s, producer epoch %d, %s", s.state, s.epoch, between(s.from, s.to))}
		tone := "soft"
		switch {
		case strings.Contains(s.state, "Abort"), strings.Contains(s.state, "Error"), strings.Contains(s.state, "ERROR"):
			shape.Stroke, tone = "alarm", "alarm"
		case strings.Contains(s.state, "Commit"):
			shape.Stroke, tone = "t2", "t2"
		case s.state == "Ongoing" || strings.EqualFold(s.state, "in_transaction") || s.state == "InTransaction":
			shape.Fill, shape.Stroke, tone = "c4", "none", "l4"
		}
		l.bar(y, s.from, s.to, shape, s.state, "", tone)
	}
	return y + laneHeight
}

// maxLabelled is how many transactions a lane has room for with the numbers of its last stable offset.
const maxLabelled = 6

// partition draws when a transaction was open, how it ended, and the last stable offset below it.
func (t *txnPicture) partition(l *lanes, p int, y float64) {
	t.pen.text(2, y+15, 12, "ink", shorten(nameOf(t.trace, p), 20))
	spans := 0
	for _, o := range t.opened {
		if o.partition != p {
			continue
		}
		spans++
		s := Shape{Fill: "c4", Tip: fmt.Sprintf("a transaction is open in %s %s%s", nameOf(t.trace, p), between(o.from, o.to), pick(o.end == "", "", ": "+o.end))}
		l.bar(y, o.from, o.to, s, "", "", "l4")
		switch o.end {
		case "committed":
			t.pen.put(Shape{Kind: shapeTick, Z: 5, X: l.x(o.to) + 9, Y: y + 11, R: 4.5, Stroke: "t2"})
		case "aborted":
			t.pen.put(Shape{Kind: shapeCross, Z: 5, X: l.x(o.to) + 9, Y: y + 11, R: 4, Stroke: "alarm", Thick: 2.2})
		}
	}
	end := -1.0
	if spans > maxLabelled {
		end = pictureWidth // no room for numbers: pointing at the lines tells them
	}
	for _, s := range t.stable {
		if x := l.x(s.at); s.partition == p && s.at >= l.from {
			over := slices.ContainsFunc(t.opened, func(o openSpan) bool { return o.partition == p && o.from <= s.at && s.at <= o.to })
			t.pen.put(Shape{Kind: shapeLine, Z: 4, X: x, Y: y + 1, H: laneBar + 4, Stroke: "hw", Thick: 2, Tip: fmt.Sprintf("the last stable offset is %d from %s on", s.value, ms(s.at))})
			at := x + 4
			if slices.ContainsFunc(t.opened, func(o openSpan) bool { return o.partition == p && o.end != "" && l.x(o.to)+16 > at && l.x(o.to)-8 < at }) {
				at = x + 20 // beside how a transaction ended
				over = false
			}
			if label := fmt.Sprint(s.value); x > end && at < pictureWidth-24 {
				t.pen.text(at, y+15, 10.5, pick(over, "l4", "hw"), label)
				end = at + 6 + 7*float64(len(label))
			}
		}
	}
}

func (t *txnPicture) legend(y float64) float64 {
	t.pen.rect(2, y, 16, 13, 2, "c4", "none")
	t.pen.text(23, y+11, 11, "soft", "open")
	t.pen.put(Shape{Kind: shapeTick, X: 76, Y: y + 7, R: 4.5, Stroke: "t2"})
	t.pen.text(86, y+11, 11, "soft", "committed: the marker is written")
	t.pen.put(Shape{Kind: shapeCross, X: 302, Y: y + 7, R: 4, Stroke: "alarm"})
	t.pen.text(312, y+11, 11, "soft", "aborted")
	t.pen.put(Shape{Kind: shapeLine, X: 380, Y: y, H: 14, Stroke: "hw", Thick: 2})
	t.pen.text(388, y+11, 11, "soft", "the last stable offset moves: read_committed reads up to it")
	return y + legendLine
}

func (t *txnPicture) describe() string {
	var out strings.Builder
	x := t.txn
	fmt.Fprintf(&out, "%s: %s, producer id %d, epoch %d, coordinated by broker %d.", t.pen.spec.Title, x.State, x.ProducerID, x.ProducerEpoch, x.Coordinator)
	ends := map[string]int{}
	for _, s := range t.coordinator {
		ends[s.state]++
	}
	fmt.Fprintf(&out, " %s and %s so far.", count(ends["CompleteCommit"], "commit", "commits"), count(ends["CompleteAbort"], "abort", "aborts"))
	for i, o := range t.opened {
		if i == 6 {
			fmt.Fprintf(&out, " And %s more.", count(len(t.opened)-i, "stretch", "stretches"))
			break
		}
		fmt.Fprintf(&out, " In %s a transaction was open %s%s.", nameOf(t.trace, o.partition), between(o.from, o.to), pick(o.end == "", "", " and was "+o.end))
	}
	return out.String()
}
