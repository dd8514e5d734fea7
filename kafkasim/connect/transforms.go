package connect

import (
	"fmt"
	"slices"
	"strings"
)

// Single message transforms: what happens to a record between the table and the converter (K-10, KIP-66), and when
// (predicates, KIP-585).
//
//	"transforms": "addShop,route",
//	"transforms.addShop.type": "InsertField$Value", "transforms.addShop.static.field": "shop", "transforms.addShop.static.value": "7",
//	"transforms.route.type": "RegexRouter", "transforms.route.regex": "db-(.*)", "transforms.route.replacement": "shop-$1",
//	"transforms.route.predicate": "isOrder", "predicates": "isOrder",
//	"predicates.isOrder.type": "TopicNameMatches", "predicates.isOrder.pattern": "db-orders"
//
// Kafka: TransformationChain, TransformationStage, PredicatedTransformation. Simplified: values have no schema, so those
// transforms do what they do to a Map; regular expressions are Go's.

// step is one transform of a chain.
type step struct {
	name, class string
	predicate   func(*record) bool // nil for always
	negate      bool
	apply       func(*record) (*record, error) // nil for a record that is dropped
}

// chain are the transforms of a connector, in order.
type chain []step

const (
	transformsPackage = "org.apache.kafka.connect.transforms."
	predicatesPackage = transformsPackage + "predicates."
)

// run sends a record through the chain. Nothing comes out of a record that was dropped.
func (c chain) run(r *record) (*record, *stageError) {
	for i := range c {
		s := &c[i]
		if s.predicate != nil && s.predicate(r) == s.negate {
			continue
		}
		next, err := s.apply(r)
		if err != nil {
			return nil, dataException(transformation, transformsPackage+s.class, "%v", err)
		}
		if next == nil {
			return nil, nil
		}
		r = next
	}
	return r, nil
}

// side is which half of a record a transform works on: $Key or $Value.
type side struct {
	isKey   bool
	purpose string // Kafka's words for what it is about
}

func (s side) of(r *record) any {
	if s.isKey {
		return r.key
	}
	return r.value
}

// with is the record with another key or value.
func (s side) with(r *record, v any) *record {
	out := *r
	if s.isKey {
		out.key = v
	} else {
		out.value = v
	}
	return &out
}

// object is the Map that a transform wants.
func (s side) object(v any) (map[string]any, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("Only Map objects supported in absence of schema for [%s], found: %s", s.purpose, javaClass(v)) // Kafka's sentence
	}
	return m, nil
}

// kind is a transform that there is: whether it has a side, what it is about, and how it is made.
type kind struct {
	sided   bool
	purpose string
	make    func(p *properties, at string, s side) func(*record) (*record, error)
}

// The transforms by Kafka's names.
var kinds = map[string]kind{
	"Cast":            {true, "cast types", makeCast},
	"DropHeaders":     {false, "", makeDropHeaders},
	"ExtractField":    {true, "field extraction", makeExtractField},
	"Filter":          {false, "", makeFilter},
	"Flatten":         {true, "flattening", makeFlatten},
	"HeaderFrom":      {true, "header", makeHeaderFrom},
	"HoistField":      {true, "", makeHoistField},
	"InsertField":     {true, "field insertion", makeInsertField},
	"InsertHeader":    {false, "", makeInsertHeader},
	"MaskField":       {true, "mask fields", makeMaskField},
	"RegexRouter":     {false, "", makeRegexRouter},
	"ReplaceField":    {true, "field replacement", makeReplaceField},
	"TimestampRouter": {false, "", makeTimestampRouter},
	"ValueToKey":      {false, "copying fields from value to key", makeValueToKey},
}

// absentKinds are Kafka's other transforms, and why they are not there.
var absentKinds = map[string]string{
	"SetSchemaMetadata":  "values have no schemas here",
	"TimestampConverter": "fields have no types for times here",
}

// transforms reads a connector's chain.
func (p *properties) transforms() chain {
	predicates := p.predicates()
	var out chain
	for _, name := range p.list("transforms") {
		at := "transforms." + name + "."
		s := p.transform(name, at)
		given := p.text(at+"predicate", "")
		s.negate = p.oneOf(at+"negate", "false", "false", "true") == "true"
		switch i := slices.IndexFunc(predicates, func(x predicate) bool { return x.name == given }); {
		case given == "" && s.negate:
			misuse(p.where, "%snegate without %spredicate: there is nothing to negate", at, at)
		case given == "":
			if s.class == "Filter" {
				misuse(p.where, "%stype Filter without %spredicate drops every record; name one of the predicates", at, at)
			}
		case i < 0:
			misuse(p.where, "%spredicate %q: it is not among the predicates%s", at, given, nearest(given, names(predicates)))
		default:
			s.predicate = predicates[i].holds
		}
		out = append(out, s)
	}
	return out
}

// transform reads one transform.
func (p *properties) transform(name, at string) step {
	given := p.text(at+"type", "")
	if given == "" {
		misuse(p.where, "%stype is missing; want a transform such as InsertField$Value", at)
	}
	class, half, sided := strings.Cut(strings.TrimPrefix(given, transformsPackage), "$")
	k, ok := kinds[class]
	var all []string
	for n := range kinds {
		all = append(all, n)
	}
	switch {
	case absentKinds[class] != "":
		misuse(p.where, "%stype %s is a real transform of Kafka that is not modelled: %s", at, class, absentKinds[class])
	case !ok:
		misuse(p.where, "%stype %q: there is no such transform%s", at, given, nearest(class, all))
	case k.sided && half != "Key" && half != "Value":
		misuse(p.where, "%stype %q: want %s$Key or %s$Value", at, given, class, class)
	case !k.sided && sided:
		misuse(p.where, "%stype %q: want %s", at, given, class)
	}
	if k.sided {
		class += "$" + half
	}
	return step{name: name, class: class, apply: k.make(p, at, side{half == "Key", k.purpose})}
}

// predicate is a condition with a name.
type predicate struct {
	name  string
	holds func(*record) bool
}

func names(list []predicate) (out []string) {
	for _, x := range list {
		out = append(out, x.name)
	}
	return out
}

// predicates reads the conditions of a connector.
func (p *properties) predicates() (out []predicate) {
	for _, name := range p.list("predicates") {
		at := "predicates." + name + "."
		x := predicate{name: name}
		switch given := p.text(at+"type", ""); strings.TrimPrefix(given, predicatesPackage) {
		case "TopicNameMatches":
			whole := p.regexp(at+"pattern", "db-.*")
			x.holds = func(r *record) bool { return whole.MatchString(r.topic) }
		case "HasHeaderKey":
			want := p.needed(at+"name", "source")
			x.holds = func(r *record) bool {
				return slices.ContainsFunc(r.headers, func(h header) bool { return h.Key == want })
			}
		case "RecordIsTombstone":
			x.holds = func(r *record) bool { return r.value == nil }
		default:
			misuse(p.where, "%stype %q: want TopicNameMatches, HasHeaderKey or RecordIsTombstone", at, given)
		}
		out = append(out, x)
	}
	return out
}
