package connect

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"kafkalab/kafkasim"
)

// What each transform does. Kafka: the classes of org.apache.kafka.connect.transforms, their applySchemaless.

// header is a record's.
type header = kafkasim.Header

// changing makes a transform of what it does to a Map. Nothing happens to a null.
func (s side) changing(change func(r *record, old map[string]any) (any, error)) func(*record) (*record, error) {
	return func(r *record) (*record, error) {
		if s.of(r) == nil {
			return r, nil
		}
		old, err := s.object(s.of(r))
		if err != nil {
			return nil, err
		}
		v, err := change(r, old)
		return s.with(r, v), err
	}
}

// makeInsertField adds fields: of where the record is, when it is from, or one that never changes. What a record does
// not know (a source's has no partition yet) is left out.
func makeInsertField(p *properties, at string, s side) func(*record) (*record, error) {
	topic, partition, offset := p.text(at+"topic.field", ""), p.text(at+"partition.field", ""), p.text(at+"offset.field", "")
	timestamp, static, value := p.text(at+"timestamp.field", ""), p.text(at+"static.field", ""), p.text(at+"static.value", "")
	if topic+partition+offset+timestamp+static == "" {
		misuse(p.where, "%sstatic.field, topic.field, partition.field, offset.field or timestamp.field: No field insertion configured", at)
	}
	if (static == "") != (value == "") {
		misuse(p.where, "%sstatic.field and %sstatic.value belong together", at, at)
	}
	return s.changing(func(r *record, old map[string]any) (any, error) {
		m := maps.Clone(old)
		put := func(field string, known bool, v any) {
			if field = strings.TrimRight(field, "!?"); field != "" && known {
				m[field] = v
			}
		}
		if offset != "" && !r.sink {
			return nil, errors.New("Only SinkRecord objects supported for [field insertion], found: org.apache.kafka.connect.source.SourceRecord") // Kafka's sentence
		}
		put(topic, true, r.topic)
		put(partition, r.partition >= 0, number(int64(r.partition)))
		put(offset, r.sink, number(r.offset))
		put(timestamp, r.sink, number(r.timestamp.Milliseconds()))
		put(static, true, value)
		return m, nil
	})
}

func number(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }

// makeReplaceField leaves fields out, or only some in, and renames.
func makeReplaceField(p *properties, at string, s side) func(*record) (*record, error) {
	exclude, include, renames := p.list(at+"exclude"), p.list(at+"include"), p.list(at+"renames")
	to := map[string]string{}
	for _, x := range renames {
		from, new, ok := strings.Cut(x, ":")
		if !ok || from == "" || new == "" {
			misuse(p.where, "%srenames %q: want old:new, with commas between them", at, x)
		}
		to[from] = new
	}
	return s.changing(func(_ *record, old map[string]any) (any, error) {
		m := map[string]any{}
		for k, v := range old {
			if slices.Contains(exclude, k) || len(include) > 0 && !slices.Contains(include, k) {
				continue
			}
			if new := to[k]; new != "" {
				k = new
			}
			m[k] = v
		}
		return m, nil
	})
}

// makeMaskField puts nothing, or a replacement, where a field was.
func makeMaskField(p *properties, at string, s side) func(*record) (*record, error) {
	fields, replacement := p.names(at+"fields", "card,phone"), p.text(at+"replacement", "")
	return s.changing(func(r *record, old map[string]any) (any, error) {
		m := maps.Clone(old)
		for _, f := range fields {
			if v, has := m[f]; has {
				var err error
				if m[f], err = masked(v, replacement); err != nil {
					return nil, err
				}
			}
		}
		return m, nil
	})
}

func masked(v any, replacement string) (any, error) {
	switch v.(type) {
	case nil:
		return nil, nil
	case string:
		return replacement, nil
	case json.Number:
		if replacement == "" {
			return number(0), nil
		}
		if _, err := strconv.ParseFloat(replacement, 64); err != nil {
			return nil, fmt.Errorf("Unable to convert %s (%s) to number", replacement, javaClass(v)) // Kafka's sentence
		}
		return json.Number(replacement), nil
	}
	if replacement != "" {
		return nil, fmt.Errorf("Cannot mask value of type %s with custom replacement.", javaClass(v)) // Kafka's sentence
	}
	switch v.(type) {
	case bool:
		return false, nil
	case []any:
		return []any{}, nil
	}
	return map[string]any{}, nil
}

// makeValueToKey makes the key of fields of the value: so records get their partition by what they are about.
func makeValueToKey(p *properties, at string, s side) func(*record) (*record, error) {
	fields := p.names(at+"fields", "id")
	return func(r *record) (*record, error) {
		old, err := s.object(r.value)
		if err != nil {
			return nil, err
		}
		m := map[string]any{}
		for _, f := range fields {
			m[f] = old[f]
		}
		out := *r
		out.key = m
		return &out, nil
	}
}

// makeExtractField puts one field in the place of all.
func makeExtractField(p *properties, at string, s side) func(*record) (*record, error) {
	field := p.needed(at+"field", "id")
	return s.changing(func(r *record, old map[string]any) (any, error) {
		return old[field], nil
	})
}

// makeHoistField wraps all in one field.
func makeHoistField(p *properties, at string, s side) func(*record) (*record, error) {
	field := p.needed(at+"field", "line")
	return func(r *record) (*record, error) { return s.with(r, map[string]any{field: s.of(r)}), nil }
}

// makeFlatten lifts fields of fields up, with their names joined.
func makeFlatten(p *properties, at string, s side) func(*record) (*record, error) {
	delimiter := p.text(at+"delimiter", ".")
	var lift func(into map[string]any, prefix string, from map[string]any)
	lift = func(into map[string]any, prefix string, from map[string]any) {
		for k, v := range from {
			if m, deeper := v.(map[string]any); deeper {
				lift(into, prefix+k+delimiter, m)
			} else {
				into[prefix+k] = v
			}
		}
	}
	return s.changing(func(r *record, old map[string]any) (any, error) {
		m := map[string]any{}
		lift(m, "", old)
		return m, nil
	})
}

// makeCast turns values into others of a type.
func makeCast(p *properties, at string, s side) func(*record) (*record, error) {
	whole, types := "", map[string]string{}
	for _, x := range p.names(at+"spec", "amount:int32,paid:boolean") {
		field, typ, ok := strings.Cut(x, ":")
		if !ok {
			whole, typ = field, field
		}
		if !slices.Contains([]string{"int8", "int16", "int32", "int64", "float32", "float64", "boolean", "string"}, typ) {
			misuse(p.where, "%sspec %q: want field:type, or one type for the whole, with int8, int16, int32, int64, float32, float64, boolean or string", at, x)
		}
		types[field] = typ
	}
	if whole != "" && len(types) > 1 {
		misuse(p.where, "%sspec: a type for the whole value stands alone", at)
	}
	if whole != "" {
		return func(r *record) (*record, error) {
			if s.of(r) == nil {
				return r, nil
			}
			v, err := cast(s.of(r), whole)
			return s.with(r, v), err
		}
	}
	return s.changing(func(_ *record, old map[string]any) (any, error) {
		m := maps.Clone(old)
		for f, typ := range types {
			if v, has := m[f]; has && v != nil {
				var err error
				if m[f], err = cast(v, typ); err != nil {
					return nil, err
				}
			}
		}
		return m, nil
	})
}

func cast(v any, typ string) (any, error) {
	text := javaText(v)
	if b, is := v.(bool); is && typ != "string" && typ != "boolean" {
		text = map[bool]string{true: "1", false: "0"}[b]
	}
	fail := fmt.Errorf("Unexpected value in Cast transformation: %s cannot be cast to %s", text, typ) // Kafka's words
	switch {
	case typ == "string":
		return text, nil
	case typ == "boolean":
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return f != 0, nil
		}
		return strings.EqualFold(text, "true"), nil
	}
	bits, _ := strconv.Atoi(strings.TrimLeft(typ, "intfloa"))
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return nil, fail
	case strings.HasPrefix(typ, "float"):
		return json.Number(strconv.FormatFloat(f, 'g', -1, bits)), nil
	}
	n, err := strconv.ParseInt(text, 10, bits)
	if _, isText := v.(string); err != nil && isText {
		return nil, fail
	}
	if err != nil { // a number loses its fraction
		n = int64(f)
	}
	return number(n), nil
}

// makeRegexRouter gives a record another topic, when all of its topic's name matches.
func makeRegexRouter(p *properties, at string, _ side) func(*record) (*record, error) {
	whole, replacement := p.regexp(at+"regex", "db-(.*)"), p.needed(at+"replacement", "shop-$1")
	replacement = regexp.MustCompile(`\$(\d+)`).ReplaceAllString(replacement, "$${$1}") // in Go $1x is a name
	return func(r *record) (*record, error) {
		out := *r
		out.topic = whole.ReplaceAllString(r.topic, replacement)
		return &out, nil
	}
}

// timeTokens are the letters of SimpleDateFormat that TimestampRouter is used with, in Go's words.
var timeTokens = strings.NewReplacer("yyyy", "2006", "yy", "06", "MM", "01", "dd", "02", "HH", "15", "mm", "04", "ss", "05")

// makeTimestampRouter puts the record's time into its topic's name. The world begins in 1970.
func makeTimestampRouter(p *properties, at string, _ side) func(*record) (*record, error) {
	topic, layout := p.text(at+"topic.format", "${topic}-${timestamp}"), p.text(at+"timestamp.format", "yyyyMMdd")
	if strings.Trim(layout, "yMdHms-_.") != "" {
		misuse(p.where, "%stimestamp.format %q: want of yyyy, MM, dd, HH, mm and ss, with - _ or . between them", at, layout)
	}
	layout = timeTokens.Replace(layout)
	return func(r *record) (*record, error) {
		if !r.sink {
			return nil, fmt.Errorf("Timestamp missing on record: %s", r.topic) // Kafka's sentence
		}
		out := *r
		when := time.Unix(0, 0).UTC().Add(r.timestamp).Format(layout)
		out.topic = strings.NewReplacer("${topic}", r.topic, "${timestamp}", when).Replace(topic)
		return &out, nil
	}
}

// makeFilter drops the record.
func makeFilter(*properties, string, side) func(*record) (*record, error) {
	return func(*record) (*record, error) { return nil, nil }
}

// makeInsertHeader adds a header that never changes.
func makeInsertHeader(p *properties, at string, _ side) func(*record) (*record, error) {
	h := header{Key: p.needed(at+"header", "source"), Value: p.needed(at+"value.literal", "shop")}
	return func(r *record) (*record, error) {
		out := *r
		out.headers = append(slices.Clone(r.headers), h)
		return &out, nil
	}
}

// makeDropHeaders takes headers away.
func makeDropHeaders(p *properties, at string, _ side) func(*record) (*record, error) {
	drop := p.names(at+"headers", "source")
	return func(r *record) (*record, error) {
		out := *r
		out.headers = slices.DeleteFunc(slices.Clone(r.headers), func(h header) bool { return slices.Contains(drop, h.Key) })
		return &out, nil
	}
}

// makeHeaderFrom copies or moves fields into headers.
func makeHeaderFrom(p *properties, at string, s side) func(*record) (*record, error) {
	fields, headers := p.names(at+"fields", "shop"), p.names(at+"headers", "shop")
	operation := p.oneOf(at+"operation", "", "move", "copy")
	if len(fields) != len(headers) {
		misuse(p.where, "%sfields has %d names and %sheaders %d: want as many", at, len(fields), at, len(headers))
	}
	s.purpose = "header " + operation
	return func(r *record) (*record, error) {
		old, err := s.object(s.of(r))
		if err != nil {
			return nil, err
		}
		m := maps.Clone(old)
		out := *r
		out.headers = slices.Clone(r.headers)
		for i, f := range fields {
			out.headers = append(out.headers, header{Key: headers[i], Value: rowText(old[f])})
			if operation == "move" {
				delete(m, f)
			}
		}
		return s.with(&out, m), nil
	}
}
