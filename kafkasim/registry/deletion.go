package registry

import (
	"fmt"
	"strconv"
	"strings"
)

// Deletion (SR-11): soft first, then for good.
//
// A version that was soft deleted is no more in a subject's list, and new schemas are not compared with it; its id still
// gives the schema, so that consumers read what was written with it. Deleted for good (permanent), nothing is left, and
// records with that id cannot be read any more.
//
// Schema Registry: KafkaSchemaRegistry.deleteSubject, deleteSchemaVersion; DeleteSubjectKey; a tombstone of the SCHEMA key.

// Latest is the newest version of a subject.
const Latest = -1

// deletion is the value of a DELETE_SUBJECT record: everything up to this version is soft deleted.
type deletion struct {
	Subject string `json:"subject"`
	Version int    `json:"version"`
}

// refusal is an answer that says no.
func refusal(code, errorCode int, subject, format string, args ...any) *Answer {
	return &Answer{Code: code, ErrorCode: errorCode, Subject: subject, Message: fmt.Sprintf(format, args...)}
}

// DeleteSubject deletes all versions of a subject (DELETE /subjects/SUBJECT): soft, or for good with true, which must
// come second. Its own compatibility level and mode go too. A version that another schema refers to stays, and the answer
// is 422.
func (r *Registry) DeleteSubject(subject string, permanent ...bool) *Answer {
	r.requests++
	forGood := once(fmt.Sprintf("DeleteSubject(%q)", subject), permanent)
	r.catchUp()
	all, living := r.store.subject(subject, true), r.store.subject(subject, false)
	switch {
	case len(all) == 0:
		return notFound(subject)
	case !forGood && len(living) == 0:
		return refusal(404, 40404, subject, "Subject '%s' was soft deleted.Set permanent=true to delete permanently", subject)
	case forGood && len(living) > 0:
		return refusal(404, 40405, subject, "Subject '%s' was not deleted first before being permanently deleted", subject)
	}
	if bad := r.mayWrite(subject); bad != nil {
		return bad
	}
	var versions []string
	for i := range all {
		if bad := r.referred(&all[i]); bad != nil {
			return bad
		}
	}
	if !forGood {
		for i := range living {
			versions = append(versions, strconv.Itoa(living[i].Version))
		}
		value := mustJSON(deletion{subject, living[len(living)-1].Version})
		if bad := r.put(subject, record{Key: key{Type: "DELETE_SUBJECT", Subject: &subject}, Value: &value}); bad != nil {
			return bad
		}
	} else {
		for i := range all {
			versions = append(versions, strconv.Itoa(all[i].Version))
			if bad := r.put(subject, record{Key: schemaKey(&all[i])}); bad != nil {
				return bad
			}
		}
	}
	return &Answer{Code: 200, Subject: subject, Message: fmt.Sprintf("%s: deleted versions [%s]", subject, strings.Join(versions, ","))}
}

// DeleteVersion deletes one version of a subject (DELETE /subjects/SUBJECT/versions/VERSION), the latest with Latest: soft,
// or for good with true, which must come second.
func (r *Registry) DeleteVersion(subject string, version int, permanent ...bool) *Answer {
	r.requests++
	where := fmt.Sprintf("DeleteVersion(%q, %d)", subject, version)
	forGood := once(where, permanent)
	r.catchUp()
	e := r.store.version(subject, version, true)
	if bad := r.noVersion(subject, version, e); bad != nil {
		return bad
	}
	switch {
	case !forGood && e.Deleted:
		return refusal(404, 40406, subject, "Subject '%s' Version %d was soft deleted.Set permanent=true to delete permanently", subject, e.Version)
	case forGood && !e.Deleted:
		return refusal(404, 40407, subject, "Subject '%s' Version %d was not deleted first before being permanently deleted", subject, e.Version)
	}
	if bad := r.mayWrite(subject); bad != nil {
		return bad
	}
	if bad := r.referred(e); bad != nil {
		return bad
	}
	x := record{Key: schemaKey(e)}
	if !forGood {
		gone := *e
		gone.Deleted = true
		value := mustJSON(gone)
		x.Value = &value
	}
	n := e.Version
	if bad := r.put(subject, x); bad != nil {
		return bad
	}
	return &Answer{Code: 200, Subject: subject, Message: fmt.Sprintf("%s: deleted version %d", subject, n)}
}

// once reads an optional argument.
func once(where string, permanent []bool) bool {
	if len(permanent) > 1 {
		misuse(where, "%d arguments more: want true for a permanent deletion, or nothing", len(permanent))
	}
	return len(permanent) == 1 && permanent[0]
}

// noVersion says that there is no such subject or version, nil when there is.
func (r *Registry) noVersion(subject string, version int, e *entry) *Answer {
	switch {
	case len(r.store.subject(subject, true)) == 0:
		return notFound(subject)
	case version < 1 && version != Latest:
		return refusal(422, 42202, subject, "The specified version '%d' is not a valid version id. Allowed values are between [1, 2^31-1] and the string \"latest\"", version)
	case e == nil:
		return refusal(404, 40402, subject, "Version %d not found.", version)
	}
	return nil
}

// referred refuses to delete what another schema refers to.
func (r *Registry) referred(e *entry) *Answer {
	if len(r.store.referring(e)) == 0 {
		return nil
	}
	return refusal(422, 42206, e.Subject, "One or more references exist to the schema {magic=1,keytype=SCHEMA,subject=%s,version=%d}.", e.Subject, e.Version)
}

// schemaKey is the key of a version's record.
func schemaKey(e *entry) key {
	return key{Type: "SCHEMA", Subject: &e.Subject, Version: e.Version, Magic: 1}
}

// put writes a record, and says so when that did not work.
func (r *Registry) put(subject string, x record) *Answer {
	if r.write(x) {
		return nil
	}
	return refusal(500, 50002, subject, "Operation timed out: Put operation timed out while waiting for an ack from Kafka")
}
