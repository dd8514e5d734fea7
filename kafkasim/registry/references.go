package registry

import (
	"fmt"
	"slices"

	"github.com/twmb/avro"
)

// References: a schema that uses a type which another subject has (SR-10).
//
//	r.Register("address", `{"type":"record","name":"Address","fields":[…]}`)
//	r.RegisterWith("order-value", `{"type":"record","name":"Order","fields":[{"name":"to","type":"Address"}]}`,
//		registry.Options{References: []registry.Reference{{Name: "Address", Subject: "address", Version: 1}}})
//
// The reference names a version, so the schema stays what it is when the other subject goes on. What is referred to
// cannot be deleted.
//
// Schema Registry: SchemaReference, AbstractSchemaProvider.resolveReferences, LookupCache.referencesSchema.

// Reference is a type that a schema takes from a version of a subject.
type Reference struct {
	Name    string `json:"name"` // of the type
	Subject string `json:"subject"`
	Version int    `json:"version"` // -1 for the latest when it is registered
}

// Options of a registration.
type Options struct {
	SchemaType string // "AVRO"
	References []Reference
	// ID and Version are the schema's own, in mode IMPORT alone; 0 for those that the registry gives.
	ID, Version int
}

// resolve parses a schema with what it refers to; the answer is 422 when that is not there.
func (r *Registry) resolve(text string, refs []Reference) (*document, error) {
	var cache avro.SchemaCache
	if err := r.gather(&cache, refs, nil); err != nil {
		return nil, err
	}
	return parseIn(&cache, text, refs)
}

// gather parses what schemas refer to, the deepest first.
func (r *Registry) gather(cache *avro.SchemaCache, refs []Reference, path []string) error {
	for i := range refs {
		ref := &refs[i]
		e := r.store.version(ref.Subject, ref.Version, false)
		if e == nil {
			return fmt.Errorf("No schema reference found for subject \"%s\" and version %d", ref.Subject, ref.Version) // the registry's sentence
		}
		if ref.Version == Latest {
			ref.Version = e.Version
		}
		at := fmt.Sprintf("%s-%d", e.Subject, e.Version)
		if slices.Contains(path, at) {
			continue // it refers to itself, and is on its way
		}
		if err := r.gather(cache, e.References, append(path, at)); err != nil {
			return err
		}
		if _, err := cache.Parse(e.Schema); err != nil {
			return err
		}
	}
	return nil
}

// ReferencedBy lists the ids of the schemas that refer to a version of a subject (GET
// /subjects/SUBJECT/versions/VERSION/referencedby).
func (r *Registry) ReferencedBy(subject string, version int) []int {
	r.catchUp()
	var out []int
	if e := r.store.version(subject, version, false); e != nil {
		out = r.store.referring(e)
	}
	return out
}

// referring lists the ids of living schemas that refer to one.
func (s *store) referring(to *entry) (ids []int) {
	for _, name := range s.names(false) {
		for _, e := range s.subject(name, false) {
			refers := slices.ContainsFunc(e.References, func(x Reference) bool { return x.Subject == to.Subject && x.Version == to.Version })
			if refers && !slices.Contains(ids, e.ID) {
				ids = append(ids, e.ID)
			}
		}
	}
	slices.Sort(ids)
	return ids
}
