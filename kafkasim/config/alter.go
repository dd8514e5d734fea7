package config

import (
	"maps"
	"slices"
)

// AlterTopic changes a topic's properties: base are the brokers' defaults, props what holds for the topic,
// set the names of those that the topic itself sets. A nil value in given takes a property back to the
// default. It returns what holds from now on, and the new names, sorted.
func AlterTopic(base, props Topic, set []string, given map[string]any) (Topic, []string, *Problem) {
	names := map[string]bool{}
	for _, n := range set {
		names[n] = true
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		row, ok := Lookup(OwnerTopic, name)
		switch {
		case !ok:
			return props, nil, unknown(OwnerTopic, name)
		case !row.Modelled:
			return props, nil, row.refusal()
		}
		value := given[name]
		if value == nil {
			delete(names, name)
			value = valueOf(row.field(&base))
		} else {
			names[name] = true
		}
		if pr := row.set(&props, value); pr != nil {
			return props, nil, pr
		}
	}
	return props, slices.Sorted(maps.Keys(names)), nil
}

// TopicValues are the named properties of a topic, as name=value.
func TopicValues(props Topic, names []string) []string {
	var out []string
	for _, n := range names {
		if row, ok := Lookup(OwnerTopic, n); ok {
			out = append(out, n+"="+valueOf(row.field(&props)))
		}
	}
	return out
}
