package machine

import (
	"slices"
	"strings"

	"kafkalab/kafkasim/prng"
)

// Replica placement for topics without an assignment by hand (R3.32).
//
// Brokers are taken rack by rack, each rack's list like a wheel with a random start; leaders go round the
// racks, and each partition starts one place further on.
//
// Kafka: StripedReplicaPlacer. Kafka's Random is unseeded; ours draws by (seed, topic, counter), so that the
// same topic in the same world is placed the same.

// placementPurpose is the purpose of placement's draws.
const placementPurpose = 0x706c6163

// dice yields numbers in [0, n).
type dice interface{ below(n int) int }

// seededDice draws by purpose.
type seededDice struct {
	seed    uint64
	topic   uint64
	counter uint64
}

func (d *seededDice) below(n int) int {
	d.counter++
	return prng.Below(prng.Draw(d.seed, placementPurpose, d.topic, d.counter), n)
}

// usableBroker is a broker that may get replicas.
type usableBroker struct {
	id     NodeID
	rack   string
	fenced bool
}

// usableBrokers lists the registered brokers that are not in controlled shutdown (R3.31).
func (s *State) usableBrokers(c *Controller) []usableBroker {
	var list []usableBroker
	for i := range c.Image.Brokers {
		b := &c.Image.Brokers[i]
		if b.Epoch < 0 || b.InControlledShutdown {
			continue
		}
		rack := ""
		if i < len(s.World.Racks) {
			rack = s.World.Racks[i]
		}
		list = append(list, usableBroker{b.ID, rack, b.Fenced})
	}
	return list
}

// placeStriped places partitions; draws names the request's draws.
func (s *State) placeStriped(usable []usableBroker, draws uint64, partitions, factor int) ([][]NodeID, Code) {
	p := newPlacer(usable, &seededDice{seed: s.World.Seed, topic: draws})
	if p.unfenced == 0 {
		return nil, INVALID_REPLICATION_FACTOR
	}
	assignment := make([][]NodeID, partitions)
	for i := range assignment {
		assignment[i] = p.place(factor)
	}
	return assignment, NONE
}

// brokerWheel is a list of brokers that is taken from a moving start (StripedReplicaPlacer.BrokerList).
type brokerWheel struct {
	ids                  []NodeID
	epoch, index, offset int
}

// take yields the next broker in the placer's epoch; NoNode when all were taken.
func (w *brokerWheel) take(epoch int) NodeID {
	if len(w.ids) == 0 {
		return NoNode
	}
	if w.epoch != epoch {
		w.epoch, w.index, w.offset = epoch, 0, (w.offset+1)%len(w.ids)
	}
	if w.index >= len(w.ids) {
		return NoNode
	}
	w.index++
	return w.ids[(w.index-1+w.offset)%len(w.ids)]
}

// spin gives the wheel a random start.
func (w *brokerWheel) spin(d dice) {
	if len(w.ids) > 0 {
		w.offset = d.below(len(w.ids))
	}
}

// placerRack is one rack.
type placerRack struct {
	name             string
	fenced, unfenced brokerWheel
}

// placer is StripedReplicaPlacer.RackList.
type placer struct {
	racks           []placerRack // by name
	order           []int        // the racks as they are gone round
	epoch, unfenced int
	offset          int
	dice            dice
}

// newPlacer sorts brokers into racks and draws the starts: for each rack fenced, then unfenced; the racks'
// own start last.
func newPlacer(usable []usableBroker, d dice) *placer {
	p := &placer{dice: d}
	for _, b := range usable {
		i, found := slices.BinarySearchFunc(p.racks, b.rack, func(r placerRack, name string) int { return strings.Compare(r.name, name) })
		if !found {
			p.racks = slices.Insert(p.racks, i, placerRack{name: b.rack})
		}
		if b.fenced {
			p.racks[i].fenced.ids = append(p.racks[i].fenced.ids, b.id)
		} else {
			p.racks[i].unfenced.ids = append(p.racks[i].unfenced.ids, b.id)
			p.unfenced++
		}
	}
	for i := range p.racks {
		slices.Sort(p.racks[i].fenced.ids)
		slices.Sort(p.racks[i].unfenced.ids)
		p.racks[i].fenced.spin(d)
		p.racks[i].unfenced.spin(d)
	}
	for i := range p.racks {
		p.order = append(p.order, i)
	}
	p.offset = d.below(len(p.racks))
	return p
}

// place picks the replicas of one partition; factor is at most the number of brokers, and one broker at
// least is unfenced.
func (p *placer) place(factor int) []NodeID {
	if p.epoch == p.unfenced && p.unfenced > 1 {
		p.shuffle()
		p.epoch = 0
	}
	if p.offset == len(p.racks) {
		p.offset = 0
	}
	replicas := make([]NodeID, 0, factor)
	at, first := p.offset, 0
	for len(replicas) == 0 { // the leader must be unfenced
		if id := p.rack(at).unfenced.take(p.epoch); id != NoNode {
			replicas, first = append(replicas, id), at
		}
		at = (at + 1) % len(p.racks)
	}
	at = p.offset
	skip := true
	for len(replicas) < factor {
		if at == first && skip {
			skip = false
		} else {
			id := p.rack(at).unfenced.take(p.epoch)
			if id == NoNode {
				id = p.rack(at).fenced.take(p.epoch)
			}
			if id != NoNode {
				replicas = append(replicas, id)
			}
		}
		at = (at + 1) % len(p.racks)
	}
	p.epoch++
	p.offset++
	return replicas
}

// rack is the rack at a place of the round.
func (p *placer) rack(at int) *placerRack { return &p.racks[p.order[at]] }

// shuffle mixes the racks and every list, so that long topics do not repeat themselves.
func (p *placer) shuffle() {
	mix(p.order, p.dice)
	for i := range p.racks {
		mix(p.racks[i].fenced.ids, p.dice)
		mix(p.racks[i].unfenced.ids, p.dice)
	}
}

// mix is java.util.Collections.shuffle.
func mix[E any](list []E, d dice) {
	for i := len(list); i > 1; i-- {
		j := d.below(i)
		list[i-1], list[j] = list[j], list[i-1]
	}
}
