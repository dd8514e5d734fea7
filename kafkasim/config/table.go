package config

import "math"

// Owner says who takes a property.
type Owner uint8

// The owners. A broker property may also be a controller's; a topic property has a broker-level default.
const (
	OwnerBroker Owner = iota
	OwnerTopic
	OwnerProducer
	OwnerConsumer
)

// String names the owner in lower case.
func (o Owner) String() string { return [...]string{"broker", "topic", "producer", "consumer"}[o] }

// giveTo says where a property of this owner belongs.
func (o Owner) giveTo() string {
	return [...]string{"World.Config", "CreateTopic", "NewProducer", "NewConsumer"}[o]
}

// Type is a property's type, after Kafka's ConfigDef.Type.
type Type uint8

// The types. Table is this simulator's own: keys with numbers.
const (
	Int Type = iota
	Long
	Double
	Boolean
	String
	List
	Class
	Table
)

// String names the type as Kafka's documentation does.
func (t Type) String() string {
	return [...]string{"int", "long", "double", "boolean", "string", "list", "class", "table"}[t]
}

// Property is one row of the table, after Kafka's ConfigDef.ConfigKey.
type Property struct {
	Name    string
	Owner   Owner
	Type    Type
	Default string // as Kafka's documentation writes it; "null" for none
	Valid   string // the valid values in words, "" when the type says it all
	Unit    string // "ms", "bytes", "seconds", … or ""
	Doc     string // one sentence
	// Modelled is false for a real Kafka property that this simulator does not have; Missing then may
	// say what it would need.
	Modelled bool
	Missing  string

	min, max int64
	only     []string // the allowed texts, if they are few
	// How Kafka speaks of what is not allowed, where it is not as for other properties (refusal.go).
	texts, between string
	unbounded      bool          // Kafka has no lower limit
	anyCase        bool          // of the texts in only
	late           []only        // real values of a modelled property that are not there yet
	field          func(any) any // a pointer to the field in the owner's struct
}

// only is a value that Kafka has and this simulator does not, with what it would need.
type only struct{ value, needs string }

// Limits of Kafka's number types.
const (
	maxInt  = math.MaxInt32
	maxLong = math.MaxInt64
)

// rows is the whole table: brokers, topics, producers, consumers, each sorted by name.
var rows = sorted(brokerRows(), topicRows(), producerRows(), consumerRows())

// All returns the properties of an owner by name. The slice is a copy.
func All(o Owner) []Property {
	var out []Property
	for _, p := range rows {
		if p.Owner == o {
			out = append(out, p)
		}
	}
	return out
}

// Names returns the names that an owner accepts, sorted: what completion proposes.
func Names(o Owner) []string {
	var out []string
	for _, p := range rows {
		if p.Owner == o && p.Modelled {
			out = append(out, p.Name)
		}
	}
	return out
}

// Lookup finds an owner's property by its exact name.
func Lookup(o Owner, name string) (Property, bool) {
	for _, p := range rows {
		if p.Owner == o && p.Name == name {
			return p, true
		}
	}
	return Property{}, false
}

// Help is a property's row as a hover text.
func (p Property) Help() string {
	s := p.Name + " (" + p.Owner.String() + ", " + p.Type.String()
	if p.Unit != "" {
		s += ", " + p.Unit
	}
	s += "), default " + p.Default
	if p.Valid != "" {
		s += ", valid: " + p.Valid
	}
	s += "\n" + p.Doc
	if !p.Modelled {
		s += "\nThis simulator does not model it"
		if p.Missing != "" {
			s += " (" + p.Missing + ")"
		}
		s += "."
	}
	return s
}
