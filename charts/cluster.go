package charts

import (
	"fmt"
	"slices"
	"strings"

	"kafkalab/kafkasim/view"
)

// Cluster draws the cluster as it is now: the brokers side by side, in each box the logs of its
// replicas, with the high watermark as a blue bar and every record as a cell with its key's letter and
// colour; above them the controllers, below them what is on the wire. With topic names it draws those topics only; at most 12 partitions are shown.
func Cluster(src view.Source, topic ...string) *Picture {
	now, trace := look("Cluster", src)
	b := boardOf(now, trace)
	title := "Cluster at " + ms(now.Now)
	topics := topicsOf("Cluster", now, topic)
	r := newRecorder(title+b.omitted(topics), b, topics)
	r.spec.Wire = wireRows(now)
	r.frame(b, now.Now, nil)
	spec := r.finish()
	spec.Frames[0].Words, spec.WordLines = nil, 0
	p := newPicture(KindCluster, b.describe(title, topics)+wireText(spec.Wire), spec.Height, spec)
	p.width, p.height = spec.Width, spec.Height
	p.draw = func(string) (string, error) { return drawScene(sceneAt(spec, 0), p.envelope.Alt, 0, nil), nil }
	return p
}

// omitted says that some partitions are not shown.
func (b *board) omitted(topics []string) string {
	total := 0
	for _, p := range b.partitions {
		if slices.Contains(topics, p.topic) {
			total++
		}
	}
	if total <= maxShown {
		return ""
	}
	return fmt.Sprintf(" (%d of %d partitions)", maxShown, total)
}

// describe is the alternative text of a moment.
func (b *board) describe(title string, topics []string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s%s.", title, count(len(b.brokers), "broker", "brokers"), b.troubles())
	out.WriteString(b.quorumText())
	shown := 0
	for i := range b.partitions {
		p := &b.partitions[i]
		if !slices.Contains(topics, p.topic) {
			continue
		}
		if shown++; shown > maxShown {
			break
		}
		fmt.Fprintf(&out, " %s: %s in epoch %d, ISR %s", p.name, leaderText(p.leader), p.epoch, listing(ids(p.isr)))
		for _, l := range p.logs {
			fmt.Fprintf(&out, "; on broker %d hw %d leo %d", l.broker, l.hw, l.end)
		}
		out.WriteString(".")
	}
	for _, line := range b.clientLines() {
		out.WriteString(" " + strings.ToUpper(line[:1]) + line[1:] + ".")
	}
	return out.String()
}

// troubles lists the brokers that are not simply running: ", broker 1 is down".
func (b *board) troubles() string {
	text := ""
	for i := range b.brokers {
		if state := b.brokers[i].picture(); state != BrokerUp {
			text += fmt.Sprintf(", broker %d is %s", b.brokers[i].id, stateText[state])
		}
	}
	if text == "" && len(b.brokers) > 1 {
		return ", all running"
	}
	return text
}
