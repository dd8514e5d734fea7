package config

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Problem is what is wrong with a caller's properties, as the end of a sentence that starts with whose
// they are.
type Problem struct{ Text string }

func (e *Problem) Error() string { return e.Text }

func problem(format string, args ...any) *Problem { return &Problem{fmt.Sprintf(format, args...)} }

// apply sets the fields of into (a pointer to the owner's struct) from given, by name, and returns the
// names that were given. Names are looked at in sorted order, so that the first problem is always the
// same one.
func apply(o Owner, into any, given map[string]any) ([]string, *Problem) {
	names := slices.Sorted(maps.Keys(given))
	for _, name := range names {
		row, ok := Lookup(o, name)
		switch {
		case !ok:
			return nil, unknown(o, name)
		case !row.Modelled:
			return nil, row.refusal()
		}
		if pr := row.set(into, given[name]); pr != nil {
			return nil, pr
		}
	}
	return names, nil
}

// defaults sets every modelled field of an owner's struct to its default.
func defaults(o Owner, into any) {
	for _, row := range rows {
		if row.Owner == o && row.Modelled && row.Default != "null" {
			if pr := row.set(into, row.Default); pr != nil {
				panic("config: default of " + row.Name + ": " + pr.Text)
			}
		}
	}
}

// refusal says that a real property is not modelled.
func (p *Property) refusal() *Problem {
	s := p.Name + " is a real Kafka property that this simulator does not model; remove it"
	if p.Missing != "" {
		s += " (" + p.Missing + ")"
	}
	return &Problem{s}
}

// unknown answers a name that the owner does not have: it belongs to somebody else, or it is misspelt.
func unknown(o Owner, name string) *Problem {
	for _, other := range [...]Owner{OwnerTopic, OwnerProducer, OwnerConsumer, OwnerBroker} {
		if row, ok := Lookup(other, name); ok {
			if !row.Modelled {
				return row.refusal()
			}
			return problem("%q is a %s property; give it to %s", name, other, other.giveTo())
		}
	}
	if slices.Contains(ShareGroupProperties, name) {
		return problem("%q is a property of a share group; give it to ShareGroup(id).Alter", name)
	}
	if s := nearest(name, allNames(o)); s != "" {
		return problem("unknown property %q - did you mean %q?", name, s)
	}
	for _, other := range [...]Owner{OwnerTopic, OwnerProducer, OwnerConsumer, OwnerBroker} {
		if s := nearest(name, Names(other)); s != "" {
			return problem("unknown property %q - did you mean %q? It is a %s property; give it to %s", name, s, other, other.giveTo())
		}
	}
	return problem("unknown property %q; a %s knows %s", name, o, join(Names(o)))
}

// allNames are the names to be meant by a misspelling: the modelled ones of the owner first.
func allNames(o Owner) []string {
	names := Names(o)
	for _, p := range rows {
		if p.Owner == o && !p.Modelled {
			names = append(names, p.Name)
		}
	}
	return names
}

// set gives the field the value, if it is a good one.
func (p *Property) set(into, value any) *Problem {
	if pr := p.tooLate(value); pr != nil {
		return pr
	}
	switch f := p.field(into).(type) {
	case *bool:
		v, ok := truth(value)
		if !ok {
			return p.refuse(value, "true or false", kafkaBoolean)
		}
		*f = v
	case *int64:
		v, pr := p.whole(value)
		if pr != nil {
			return pr
		}
		*f = v
	case *int32:
		v, pr := p.whole(value)
		if pr != nil {
			return pr
		}
		*f = int32(v)
	case *string:
		*f = unlessNull(text(value))
	case *[]string, *ServerAssignors:
		return p.setAssignors(f, value)
	case *Cleanup:
		v, ok := parseCleanup(text(value))
		if !ok {
			return p.want(value, "delete, compact or compact,delete")
		}
		*f = v
	case *Reset:
		v, ok := parseReset(text(value))
		if !ok {
			return p.refuse(value, resetWanted, fmt.Sprintf("Invalid value `%s` for configuration %s. %s", written(value), p.Name, p.texts))
		}
		*f = v
	case *Ratio:
		v, ok := parseRatio(text(value))
		if !ok {
			return p.want(value, "a number from 0 to 1")
		}
		*f = v
	default:
		return p.setOther(f, value)
	}
	return nil
}

// setOther is set for kinds that few properties have.
func (p *Property) setOther(field, value any) *Problem {
	switch f := field.(type) {
	case *Throttled:
		v, ok := parseThrottled(unlessNull(text(value)))
		if !ok {
			return p.want(value, throttledWanted)
		}
		*f = v
	case *Partitioner:
		v, ok := parsePartitioner(text(value))
		if !ok {
			return p.want(value, partitionerWanted)
		}
		*f = v
	case *[]KeyPartition:
		v, ok := table(value)
		if !ok {
			return p.want(value, `a text like "user-1=0,user-2=1" or a map of keys to partitions`)
		}
		*f = v
	default:
		i := slices.IndexFunc(p.only, func(s string) bool { return s == text(value) || p.anyCase && strings.EqualFold(s, text(value)) })
		if i < 0 {
			return p.refuse(value, orList(p.only), p.kafkaOnly())
		}
		p.choose(f, i)
	}
	return nil
}

// unlessNull reads the text that stands for nothing.
func unlessNull(s string) string {
	if s == "null" {
		return ""
	}
	return s
}

// tooLate refuses a value that Kafka has and that is not modelled.
func (p *Property) tooLate(value any) *Problem {
	for _, l := range p.late {
		if s := text(value); s == l.value || strings.HasSuffix(l.value, ":") && strings.HasPrefix(s, l.value) {
			return problem("%s=%s is real, but %s", p.Name, s, l.needs)
		}
	}
	return nil
}

// choose sets a field whose values are few to the i-th of them.
func (p *Property) choose(field any, i int) {
	switch f := field.(type) {
	case *int8: // acks
		*f = [...]int8{AcksAll, AcksAll, AcksNone, AcksLeader}[i]
	case *Selector:
		*f = Selector(i)
	case *Isolation:
		*f = Isolation(i)
	case *Protocol:
		*f = Protocol(i)
	case *Compression:
		*f = Compression(i)
	case *MigrationPolicy:
		*f = MigrationPolicy(i)
	case *GroupProtocol:
		*f = GroupProtocol(i)
	case nil: // there is only one value
	default:
		panic("config: no way to set " + p.Name)
	}
}

func (p *Property) want(value any, what string) *Problem {
	return problem("%s=%s: want %s", p.Name, quoted(value), what)
}

// whole reads a whole number between the property's limits; a time.Duration is one for properties with
// a unit of time.
func (p *Property) whole(value any) (int64, *Problem) {
	v, ok := int64(0), false
	if d, is := value.(time.Duration); is {
		unit := map[string]time.Duration{"ms": time.Millisecond, "seconds": time.Second}[p.Unit]
		if unit == 0 {
			return 0, problem("%s=%v is a time, but the property is in %s", p.Name, d, cmpOr(p.Unit, "no unit of time"))
		}
		if d%unit != 0 {
			return 0, problem("%s=%v: want whole %s", p.Name, d, cmpOr(map[string]string{"ms": "milliseconds"}[p.Unit], p.Unit))
		}
		v, ok = int64(d/unit), true
	} else {
		v, ok = integer(value)
	}
	if !ok {
		what := "a whole number"
		if p.Unit != "" {
			what += " of " + p.Unit
		}
		return 0, p.refuse(value, what, p.kafkaNumber())
	}
	if v < p.min {
		return 0, p.refuse(value, "at least "+strconv.FormatInt(p.min, 10), p.kafkaLow())
	}
	if v > p.max {
		return 0, p.refuse(value, "at most "+strconv.FormatInt(p.max, 10), p.kafkaHigh(v))
	}
	return v, nil
}

// integer reads any Go number or text that is a whole number.
func integer(value any) (int64, bool) {
	switch v := value.(type) {
	case int:
		return int64(v), true
	case int8:
		return int64(v), true
	case int16:
		return int64(v), true
	case int32:
		return int64(v), true
	case int64:
		return v, true
	case uint:
		return int64(v), v <= math.MaxInt64
	case uint8:
		return int64(v), true
	case uint16:
		return int64(v), true
	case uint32:
		return int64(v), true
	case uint64:
		return int64(v), v <= math.MaxInt64
	case float32:
		return int64(v), v == float32(int32(v))
	case float64:
		return int64(v), math.Abs(v) < 1<<53 && v == math.Trunc(v)
	case string:
		n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
		return n, err == nil
	}
	return 0, false
}

func truth(value any) (v, ok bool) {
	switch strings.ToLower(text(value)) {
	case "true":
		return true, true
	case "false":
		return false, true
	}
	return false, false
}

// text is a value as one would write it in a properties file.
func text(value any) string {
	switch v := value.(type) {
	case string:
		return strings.TrimSpace(v)
	case nil:
		return "null"
	}
	if n, ok := integer(value); ok {
		return strconv.FormatInt(n, 10)
	}
	return fmt.Sprint(value)
}

// quoted is a value as an error message shows it: texts that are not plain words are quoted.
func quoted(value any) string {
	s := text(value)
	if v, ok := value.(string); ok && (s == "" || s != v || strings.ContainsAny(s, " ,=\"\n\t") || len(s) > 60) {
		if len(v) > 60 {
			v = v[:60] + "…"
		}
		return strconv.Quote(v)
	}
	return s
}

// table reads a table of keys and partitions; the result is in the order of the keys.
func table(value any) ([]KeyPartition, bool) {
	m := map[string]int{}
	switch v := value.(type) {
	case map[string]int:
		m = v
	case string:
		for _, row := range strings.Split(v, ",") {
			at := strings.LastIndexByte(row, '=')
			if at < 0 {
				return nil, strings.TrimSpace(v) == ""
			}
			n, err := strconv.Atoi(strings.TrimSpace(row[at+1:]))
			if err != nil {
				return nil, false
			}
			m[strings.TrimSpace(row[:at])] = n
		}
	default:
		return nil, false
	}
	var out []KeyPartition
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if m[k] < 0 || m[k] > maxInt {
			return nil, false
		}
		out = append(out, KeyPartition{k, int32(m[k])})
	}
	return out, true
}
