package kernel

import (
	"maps"
	"slices"
)

// RequestTypes are the message types that a kernel serves.
func RequestTypes() []string {
	k := New(nil, Options{})
	return slices.Sorted(maps.Keys(k.table()))
}

// Unavailable is what usage_reply says of a system that told only so much.
var Unavailable = unavailable
