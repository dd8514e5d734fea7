package charts

import (
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/view"
)

// The measures of a batch picture, in px.
const (
	batchesLeft  = 120
	batchesRow   = 52
	flightColumn = 560
	maxBatchRows = 12
	maxInBatch   = 8 // cells drawn in one batch
)

// Batches draws what a producer holds: on the left the accumulator, a row for each partition with its batches
// and the records in them; on the right what is in flight, by broker. A batch leaves when it is full or
// has waited for linger.ms. Without an id it draws the only producer that there is.
func Batches(src view.Source, producer ...string) *Picture {
	now, trace := look("Batches", src)
	p := producerOf(now, producer)
	keys := keysOf(trace)
	for i := range p.Batches {
		for k := range p.Batches[i].Records {
			keys.of(&p.Batches[i].Records[k])
		}
	}
	b := &batchPicture{now: now.Now, p: p, keys: keys, used: map[int64]bool{}, pen: newPen(fmt.Sprintf("Batches of %s at %s", p.ID, ms(now.Now)), pictureWidth)}
	b.pen.title()
	b.pen.text(2, 40, 11.5, "soft", b.limits())
	b.pen.bold(2, 66, 13, "ink", "Accumulator")
	b.pen.bold(flightColumn, 66, 13, "ink", "In flight")
	bottom := max(b.accumulator(78), b.inFlight(78))
	b.pen.put(Shape{Kind: shapeLine, X: flightColumn - 22, Y: 56, H: bottom - 60, Stroke: "line", Dash: dashed})
	b.pen.text(2, bottom+8, 10.5, "soft", "dashed: takes more records, leaves in … · full: waits for the sender · red: failed once, will be tried again")
	bottom += 18
	y := b.pen.keysOnly(keys.names, bottom+4, b.used)
	b.pen.frame(float64(now.Now)/1000, nil, false)
	return newDrawing(b.pen, y+4, b.describe(), nil)
}

// producerOf finds a producer: the only one when none is named.
func producerOf(now *view.Cluster, names []string) *view.Producer {
	var known []string
	for i := range now.Producers {
		known = append(known, now.Producers[i].ID)
	}
	return &now.Producers[oneOf("Batches", "producer", "producers", "this cluster has no producers yet; make one with NewProducer", known, names)]
}

type batchPicture struct {
	now  int64
	p    *view.Producer
	keys *keyTable
	used map[int64]bool
	pen  *pen
}

func (b *batchPicture) limits() string {
	l := &b.p.Limits
	text := fmt.Sprintf("acks=%s · batch.size %s · linger.ms %d · max.in.flight %d", b.p.Acks, sizeText(int64(l.BatchSize)), l.LingerMs, l.MaxInFlight)
	if l.BatchRecords > 0 {
		text += fmt.Sprintf(" · full at %d records", l.BatchRecords)
	}
	if l.IsIdempotent {
		text += " · idempotent"
	}
	return text + fmt.Sprintf(" · buffer %s of %s", sizeText(l.BufferUsed), sizeText(l.BufferMemory))
}

// accumulator draws the queues and returns the y below.
func (b *batchPicture) accumulator(y float64) float64 {
	x, row, name := 0.0, -1, ""
	rows := 0
	for i := range b.p.Batches {
		batch := &b.p.Batches[i]
		if batch.State == view.BatchInFlight {
			continue
		}
		if this := partitionName(batch.Topic, batch.Partition); this != name {
			if rows++; rows > maxBatchRows {
				b.pen.text(2, y+float64(rows-1)*batchesRow+14, 11.5, "soft", "and more partitions")
				return y + float64(rows-1)*batchesRow + 24
			}
			name, x, row = this, batchesLeft, row+1
			b.pen.text(2, y+float64(row)*batchesRow+22, 12, "ink", shorten(name, 16))
		}
		w := batchWidth(batch)
		if x+w > flightColumn-34 {
			b.pen.text(x, y+float64(row)*batchesRow+22, 12, "soft", "…")
			x = flightColumn
			continue
		}
		b.batch(batch, x, y+float64(row)*batchesRow, b.says(batch), w+10)
		x += w + 8
	}
	if row < 0 {
		b.pen.text(2, y+20, 12, "soft", "empty: nothing waits to be sent")
		return y + batchesRow
	}
	return y + float64(row+1)*batchesRow
}

func batchWidth(batch *view.ProducerBatch) float64 {
	return float64(min(len(batch.Records), maxInBatch))*cellPitch + pick(len(batch.Records) > maxInBatch, 44.0, 14.0) + pick(batch.State == view.BatchFilling, 20.0, 0)
}

// batch draws one batch with its records and what there is to say below; a batch that takes more is open at its right.
func (b *batchPicture) batch(batch *view.ProducerBatch, x, y float64, says string, room float64) {
	w := batchWidth(batch)
	s := Shape{Kind: shapeRect, X: x, Y: y, W: w, H: 34, R: 4, Fill: "box", Stroke: "ink", Thick: 1.3, Tip: b.tip(batch)}
	switch batch.State {
	case view.BatchFilling:
		s.Dash = dashed
	case view.BatchRetry:
		s.Stroke = "alarm"
	}
	b.pen.put(s)
	for i := range batch.Records {
		if i == maxInBatch {
			b.pen.text(x+8+maxInBatch*cellPitch, y+22, 11, "soft", fmt.Sprintf("+%d", len(batch.Records)-i))
			break
		}
		r := &batch.Records[i]
		key := b.keys.of(r)
		b.used[key] = true
		b.pen.put(Shape{Kind: shapeCell, Z: 1, X: x + 7 + float64(i)*cellPitch, Y: y + 5, Key: int(key), As: cellOpen,
			Tip: cutEnd(pick(r.NullKey, "no key", shorten(r.Key, 60))+" = "+r.Value, 200)})
	}
	if batch.State == view.BatchFilling {
		b.pen.text(x+w-16, y+22, 13, "soft", "…")
	}
	b.pen.text(x, y+45, 10, pick(batch.State == view.BatchRetry, "alarm", "soft"), fitEnd(says, 10, room))
}

func (b *batchPicture) says(batch *view.ProducerBatch) string {
	switch batch.State {
	case view.BatchFilling:
		if left := batch.Created + b.p.Limits.LingerMs*1000 - b.now; left > 0 {
			return "in " + ms(left)
		}
		return "due"
	case view.BatchReady:
		return "full"
	case view.BatchRetry:
		return fmt.Sprintf("try %d", batch.Attempts+1)
	}
	return fmt.Sprintf("try %d", max(batch.Attempts, 0)+1)
}

func (b *batchPicture) tip(batch *view.ProducerBatch) string {
	text := fmt.Sprintf("%s, %s: %s, %s of %s, %s old", partitionName(batch.Topic, batch.Partition), batch.State, count(len(batch.Records), "record", "records"),
		sizeText(int64(batch.Bytes)), sizeText(int64(batch.Limit)), ms(b.now-batch.Created))
	if batch.Sequence >= 0 {
		text += fmt.Sprintf(", sequence %d to %d", batch.Sequence, batch.Sequence+len(batch.Records)-1)
	}
	return text
}

// inFlight draws what has no answer yet, a row for each broker and batch, and returns the y below.
func (b *batchPicture) inFlight(y float64) float64 {
	list := slices.DeleteFunc(slices.Clone(b.p.Batches), func(x view.ProducerBatch) bool { return x.State != view.BatchInFlight })
	slices.SortStableFunc(list, func(x, z view.ProducerBatch) int { return x.Broker - z.Broker })
	if len(list) == 0 {
		b.pen.text(flightColumn, y+20, 12, "soft", "nothing: every request has its answer")
		return y + batchesRow
	}
	broker := -1
	for i := range list {
		batch := &list[i]
		if i == maxBatchRows {
			b.pen.text(flightColumn, y+14, 11.5, "soft", "and "+count(len(list)-i, "more batch", "more batches"))
			return y + 24
		}
		if batch.Broker != broker {
			broker = batch.Broker
			b.pen.text(flightColumn, y+22, 12, "ink", fmt.Sprintf("broker %d", broker))
		}
		b.pen.put(Shape{Kind: shapeArrow, X: flightColumn + 102, Y: y + 17, W: -30, Stroke: "t0", Thick: 1.6})
		short := *batch
		short.Records = batch.Records[:min(len(batch.Records), 4)]
		if more := len(batch.Records) - 4; more > 0 {
			b.pen.text(flightColumn+110+batchWidth(&short)+4, y+22, 11, "soft", fmt.Sprintf("+%d", more))
		}
		b.batch(&short, flightColumn+110, y, shorten(partitionName(batch.Topic, batch.Partition), 18)+", "+b.says(batch), pictureWidth-flightColumn-112)
		y += batchesRow
	}
	return y
}

func (b *batchPicture) describe() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s.", b.pen.spec.Title, b.limits())
	if len(b.p.Batches) == 0 {
		out.WriteString(" It holds no batches: everything that was sent is decided.")
	}
	for i := range b.p.Batches {
		if i == 8 {
			fmt.Fprintf(&out, " And %s more.", count(len(b.p.Batches)-i, "batch", "batches"))
			break
		}
		x := &b.p.Batches[i]
		fmt.Fprintf(&out, " %s: %s with %s%s.", partitionName(x.Topic, x.Partition), x.State, count(len(x.Records), "record", "records"), pick(x.Broker >= 0, fmt.Sprintf(" to broker %d", x.Broker), ""))
	}
	return out.String()
}

// keysOnly explains the keys that are used and returns the y below.
func (p *pen) keysOnly(keys []string, y float64, used map[int64]bool) float64 {
	x, first := 0.0, y
	for i, name := range keys {
		if used != nil && !used[int64(i)] {
			continue
		}
		text := shorten(name, maxChipText)
		w := after(24, text, 11.5, false)
		if x > 0 && x+w > pictureWidth-20 {
			if y > first {
				p.text(x+2, y+11, 11.5, "soft", "…")
				break
			}
			x, y = 0, y+legendLine
		}
		p.keyChip(i, text, x, y)
		x += w
	}
	return pick(x > 0, y+legendLine, y)
}

// keyChip is one key of a legend.
func (p *pen) keyChip(i int, text string, x, y float64) {
	p.rect(x+2, y, 14, 14, 2.5, fmt.Sprintf("c%d", i%len(palette)), "none")
	p.put(Shape{Kind: shapeText, Z: 5, X: x + 9, Y: y + 11, Size: 10.5, Fill: fmt.Sprintf("l%d", i%len(palette)), Text: letterOf(int64(i)), Anchor: "middle", Bold: true})
	p.text(x+20, y+11, 11.5, "ink", text)
}
