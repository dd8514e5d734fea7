package charts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// strict decodes one JSON value and refuses what the type does not say: fields that it does not have
// (spelled exactly so), fields that are missing, null, and anything after the value. encoding/json alone
// lets all of these pass in some case.
func strict(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	var value any
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the JSON value")
	}
	if err := fits(value, reflect.TypeOf(into).Elem(), ""); err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// fits checks that a value has the shape of a type; json.Unmarshal checks the rest.
func fits(value any, t reflect.Type, at string) error {
	switch t.Kind() {
	case reflect.Struct:
		object, ok := value.(map[string]any)
		if !ok {
			return fmt.Errorf("%s: want an object", orTop(at))
		}
		return fitsStruct(object, t, at)
	case reflect.Slice, reflect.Array:
		items, ok := value.([]any)
		if !ok {
			return fmt.Errorf("%s: want a list", orTop(at))
		}
		if t.Kind() == reflect.Array && len(items) != t.Len() {
			return fmt.Errorf("%s: %d items; want %d", orTop(at), len(items), t.Len())
		}
		for i, item := range items {
			if err := fits(item, t.Elem(), fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	default:
		if value == nil {
			return fmt.Errorf("%s: null; want a %s", orTop(at), t.Kind())
		}
	}
	return nil
}

func fitsStruct(object map[string]any, t reflect.Type, at string) error {
	known := 0
	for i := range t.NumField() {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		value, given := object[name]
		if !given {
			if options != "omitempty" {
				return fmt.Errorf("%s: no field %q", orTop(at), name)
			}
			continue
		}
		known++
		if err := fits(value, t.Field(i).Type, at+"."+name); err != nil {
			return err
		}
	}
	if known < len(object) {
		for name := range object {
			if !hasField(t, name) {
				return fmt.Errorf("%s: unknown field %q", orTop(at), name)
			}
		}
	}
	return nil
}

func hasField(t reflect.Type, name string) bool {
	for i := range t.NumField() {
		if tag, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); tag == name {
			return true
		}
	}
	return false
}

func orTop(at string) string {
	if at == "" {
		return "the value"
	}
	return strings.TrimPrefix(at, ".")
}
