package config

import "slices"

// sorted joins the owners' rows, each sorted by name.
func sorted(parts ...[]Property) []Property {
	var out []Property
	for _, p := range parts {
		slices.SortFunc(p, func(a, b Property) int {
			if a.Name < b.Name {
				return -1
			}
			return 1
		})
		out = append(out, p...)
	}
	return out
}

// hour is an hour in ms, beyond which nobody waits for a controller.
const hour = 3600000

// ms is a modelled property in milliseconds.
func ms(name, def string, field func(any) any, doc string) Property {
	return Property{Name: name, Type: Long, Default: def, Unit: "ms", Valid: "[0,…]", max: maxInt, Modelled: true, field: field, Doc: doc}
}

// msInt is ms for a property whose type in Kafka is int.
func msInt(name, def string, field func(any) any, doc string) Property {
	return number(name, def, "ms", 0, maxInt, "[0,…]", field, doc)
}

// number is a modelled whole number.
func number(name, def, unit string, lo, hi int64, valid string, field func(any) any, doc string) Property {
	kind := Int
	if hi == maxLong {
		kind = Long
	}
	return Property{Name: name, Type: kind, Default: def, Unit: unit, Valid: valid, min: lo, max: hi, Modelled: true, field: field, Doc: doc}
}

// boolean is a modelled switch.
func boolean(name, def string, field func(any) any, doc string) Property {
	return Property{Name: name, Type: Boolean, Default: def, Modelled: true, field: field, Doc: doc}
}

// choice is a modelled property with few values.
func choice(name, def string, values []string, field func(any) any, doc string) Property {
	return Property{Name: name, Type: String, Default: def, Valid: "[" + join(values) + "]", only: values, Modelled: true, field: field, Doc: doc}
}

// absent is a real Kafka property that is not modelled.
func absent(name string, t Type, def, missing, doc string) Property {
	return Property{Name: name, Type: t, Default: def, Missing: missing, Doc: doc}
}

// owned gives rows their owner.
func owned(o Owner, rows []Property) []Property {
	for i := range rows {
		rows[i].Owner = o
	}
	return rows
}

// What absent properties would need.
const (
	needsTwoPhase = "two-phase commit (KIP-939) is not there"
	noOldFormat   = "every client reads record batches of format 2, so nothing is ever converted; Kafka 4.0 removed it, KIP-724"
	needsTiers    = "logs are on the brokers' own disks only"
	needsQuorum   = "controllers are nodes of their own, without snapshots; World.Controllers says how many"
	needsWire     = "there are no sockets, hosts or security inside the simulator"
	needsSerde    = "keys and values are strings"
	needsMetrics  = "there are no JMX metrics; look at the views"
)

func b(f func(*Broker) any) func(any) any { return func(p any) any { return f(p.(*Broker)) } }
func t(f func(*Topic) any) func(any) any  { return func(p any) any { return f(p.(*Topic)) } }
func p(f func(*Producer) any) func(any) any {
	return func(v any) any { return f(v.(*Producer)) }
}
func c(f func(*Consumer) any) func(any) any {
	return func(v any) any { return f(v.(*Consumer)) }
}
