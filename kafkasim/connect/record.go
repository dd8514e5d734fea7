package connect

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"kafkalab/kafkasim"
)

// Records inside of Connect, and converters (K-10).
//
// Between the converter and the table a record is data without a schema: a text, or what JSON has, an object being a Map.
//
// Kafka: ConnectRecord, StringConverter, JsonConverter (schemas.enable=false), Stage.

// record is a record on its way through a task.
type record struct {
	sink      bool
	topic     string
	partition int   // -1 for none: of a source
	offset    int64 // -1 for none: of a source
	timestamp time.Duration
	key       any // nil, a text, a bool, a json.Number, a list, or a map[string]any
	value     any
	headers   []kafkasim.Header
}

// stage is where something went wrong (__connect.errors.stage).
type stage string

const (
	keyConverter   stage = "KEY_CONVERTER"
	valueConverter stage = "VALUE_CONVERTER"
	transformation stage = "TRANSFORMATION"
)

// stageError is an error that errors.tolerance is about.
type stageError struct {
	at        stage
	class     string // what was executed (__connect.errors.class.name)
	exception string // its class
	message   string
}

func (e *stageError) Error() string { return e.message }

// dataException is an error of a transformation or a converter.
func dataException(at stage, class, format string, args ...any) *stageError {
	return &stageError{at, class, "org.apache.kafka.connect.errors.DataException", fmt.Sprintf(format, args...)}
}

// The converters by their short names, with their packages.
var converters = map[string]string{
	"StringConverter": "org.apache.kafka.connect.storage.StringConverter",
	"JsonConverter":   "org.apache.kafka.connect.json.JsonConverter",
}

// toConnect reads what a topic has.
func toConnect(at stage, name, text string, null bool) (any, *stageError) {
	if null {
		return nil, nil
	}
	if name != "JsonConverter" {
		return text, nil
	}
	v, err := fromJSON(text)
	if err != nil {
		return nil, dataException(at, converters[name], "JsonConverter: %v", err)
	}
	return v, nil
}

// fromConnect is what a topic gets; nil is a null.
func fromConnect(name string, v any) any {
	if v == nil {
		return nil
	}
	if name == "JsonConverter" {
		return asJSON(v)
	}
	return javaText(v)
}

// fromJSON keeps numbers as they are written.
func fromJSON(text string) (v any, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err = d.Decode(&v); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, fmt.Errorf("there is more behind the value")
	}
	return v, nil
}

// javaText is what toString() gives; a map's entries come in the order of their keys.
func javaText(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case map[string]any:
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, k+"="+javaText(v[k]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		var parts []string
		for _, x := range v {
			parts = append(parts, javaText(x))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return fmt.Sprint(v)
}

// javaClass is what Kafka's sentences call a value.
func javaClass(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return "java.lang.String"
	case bool:
		return "java.lang.Boolean"
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return "java.lang.Double"
		}
		return "java.lang.Long"
	case []any:
		return "java.util.ArrayList"
	}
	return "java.util.HashMap"
}

// rowText is what a table gets of a value.
func rowText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	return asJSON(v)
}

// rowValue is what a source makes of a row's text: with JSON an object is a Map, and anything else a text.
func rowValue(converter, text string) any {
	if converter == "JsonConverter" && strings.HasPrefix(strings.TrimSpace(text), "{") {
		if v, err := fromJSON(text); err == nil {
			return v
		}
	}
	return text
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts, and what json.Unmarshal gave
	}
	return string(b)
}
