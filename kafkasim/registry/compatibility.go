package registry

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/avro"
)

// Compatibility: may this schema follow those that a subject has (SR-5, SR-6, SR-7)?
//
//	BACKWARD: readers with the new schema can read what was written with the old. Upgrade consumers first.
//	FORWARD:  readers with the old schema can read what is written with the new. Upgrade producers first.
//	FULL:     both.
//
// Without _TRANSITIVE the old schema is the latest version, with it every version is.
//
// Schema Registry: CompatibilityLevel, CompatibilityChecker. Whether one Avro schema reads another is Avro's own rule
// (Schema Resolution).

// The levels of compatibility.
const (
	None               = "NONE"
	Backward           = "BACKWARD"
	BackwardTransitive = "BACKWARD_TRANSITIVE"
	Forward            = "FORWARD"
	ForwardTransitive  = "FORWARD_TRANSITIVE"
	Full               = "FULL"
	FullTransitive     = "FULL_TRANSITIVE"
)

// Levels lists the levels of compatibility.
func Levels() []string {
	return []string{None, Backward, BackwardTransitive, Forward, ForwardTransitive, Full, FullTransitive}
}

// incompatible says why a schema may not follow those of a subject; "" when it may.
func (r *Registry) incompatible(subject string, doc *document) string {
	level := r.store.level(subject)
	mode, all := strings.CutSuffix(level, "_TRANSITIVE")
	old := r.store.subject(subject, false)
	for i := len(old) - 1; i >= 0; i-- {
		if why := r.clash(mode, &old[i], doc); why != "" {
			return fmt.Sprintf("%s (oldSchemaVersion: %d, oldSchema: %s, compatibility: %s)", why, old[i].Version, old[i].Schema, level)
		}
		if !all {
			break
		}
	}
	return ""
}

// clash says why two schemas do not go together under a mode.
func (r *Registry) clash(mode string, before *entry, new *document) string {
	old, err := r.resolve(before.Schema, slices.Clone(before.References))
	if err != nil {
		return "the old schema cannot be read: " + err.Error()
	}
	if mode == Backward || mode == Full {
		if err := avro.CheckCompatibility(old.schema, new.schema); err != nil {
			return "the new schema cannot read data of the old: " + detail(err)
		}
	}
	if mode == Forward || mode == Full {
		if err := avro.CheckCompatibility(new.schema, old.schema); err != nil {
			return "the old schema cannot read data of the new: " + detail(err)
		}
	}
	return ""
}

// detail is the library's reason in the form "where: what".
func detail(err error) string {
	var e *avro.CompatibilityError
	if !errors.As(err, &e) {
		return strings.TrimPrefix(err.Error(), "avro: ")
	}
	types := ""
	if e.ReaderType != "" && e.WriterType != "" {
		types = fmt.Sprintf(" (reader %s, writer %s)", e.ReaderType, e.WriterType)
	}
	return e.Path + ": " + e.Detail + types
}
