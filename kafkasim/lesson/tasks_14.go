package lesson

import (
	"time"

	"kafkalab/kafkasim"
	"kafkalab/kafkasim/registry"
)

// Lesson 14, Kafka in a system.

func init() {
	checkers["14"] = map[string]checker{
		"evolve": checked("a schema as a string", checkEvolve),
		"disk":   checked("a function `func(bytesPerHour int64, copies, hours int) int64`", checkDisk),
	}
}

// orderSchema is the first version that lesson 14 shows.
const orderSchema = `{"type": "record", "name": "Order", "fields": [
	{"name": "id", "type": "long"},
	{"name": "cents", "type": "long"},
	{"name": "note", "type": "string", "default": ""}]}`

// checkEvolve registers the learner's schema after the first one, and reads both ways.
func checkEvolve(schema string) finding {
	r := registry.New(kafkasim.New(kafkasim.World{Brokers: 1, Seed: 4}))
	r.Register("orders-value", orderSchema)
	old := r.Encode("orders-value", orderSchema, map[string]any{"id": int64(7), "cents": int64(995), "note": "gift"})
	if a := r.Register("orders-value", schema); a.Code == 422 {
		return wrong("The registry does not take it for a schema: %s", a.Message)
	} else if !a.OK() {
		return wrong("Consumers with your schema could not read the old orders. The registry says: %s", a.Message)
	}
	d := r.Decode(old.Bytes, schema)
	value, _ := d.Value.(map[string]any)
	currency, has := value["currency"].(string)
	_, note := value["note"]
	switch {
	case d.Error != "" || !has:
		return wrong("An old order, read with your schema, has no `currency` that is a string: %s", d)
	case currency != "EUR":
		return wrong("An old order, read with your schema, has the currency %q, not \"EUR\".", currency)
	case note:
		return wrong("The field `note` is still there.")
	}
	r.Compatibility(registry.Full)
	r.Register("check-value", orderSchema)
	if a := r.Compatible("check-value", schema); !a.OK() {
		return wrong("New consumers can read old orders. But old consumers could not read new ones: %s", a.Message)
	}
	return solved("Old orders are read as %s, and old consumers can read new orders.", d.JSON)
}

// checkDisk compares the learner's rule with what clusters really write.
func checkDisk(rule func(int64, int, int) int64) finding {
	for _, x := range []struct{ brokers, copies, hours int }{{3, 1, 24}, {3, 3, 24}, {4, 2, 168}, {5, 3, 72}} {
		c := kafkasim.New(kafkasim.World{Brokers: x.brokers, Seed: uint64(x.hours)})
		c.CreateTopic("orders", 4, x.copies, nil)
		p := c.NewProducer("shop", nil)
		p.Every(20*time.Millisecond, "orders", "anna", "ben", "carl")
		c.RunFor(36 * time.Second) // a hundredth of an hour
		p.Close()
		c.Settle()
		costs := c.Costs()
		in, disk := int64(costs.ProducedBytes)*100, int64(costs.AppendedBytes)*100*int64(x.hours)
		if got := rule(in, x.copies, x.hours); got != disk {
			return wrong("Producers sent %d bytes in an hour, to a topic with %d copies that keeps %d hours. The disks of that cluster then hold %d bytes together; your function says %d.", in, x.copies, x.hours, disk, got)
		}
	}
	return solved("Four clusters, and the bytes on their disks are what your function says.")
}
