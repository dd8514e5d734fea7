package simtest

import "kafkalab/kafkasim"

// diskVerb makes a broker's disks fail.
func diskVerb(b *kafkasim.Broker, name string, a Args) error {
	switch name {
	case "slow": // slow 1 40s; slow 1 0s
		d, err := forTime(a.word(2))
		if err != nil {
			return err
		}
		b.Slow(d)
		return nil
	case "lose-disk": // lose-disk 1; lose-disk 1 2: its second directory
		dirs, err := a.numbers(2)
		if err != nil {
			return err
		}
		b.LoseDisk(dirs...)
		return nil
	}
	topic, id, err := partition(a.word(2))
	if err != nil {
		return err
	}
	if name == "lose-partition" { // lose-partition 1 orders-0
		b.LosePartition(topic, id)
		return nil
	}
	keep, err := a.number(3) // lose-tail 1 orders-0 2: two batches stay
	if err != nil {
		return err
	}
	b.LoseTail(topic, id, keep)
	return nil
}
