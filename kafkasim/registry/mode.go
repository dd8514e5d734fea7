package registry

import (
	"fmt"
	"slices"
	"strings"
)

// Modes (SR-12): whether a subject takes schemas, and whose ids they have.
//
//	READWRITE: schemas are registered, and get the next id.
//	READONLY:  nothing changes. (READONLY_OVERRIDE, for all, is stronger than a subject's own mode.)
//	IMPORT:    schemas come with the id and the version that they had in another registry.
//
// Schema Registry: Mode, KafkaSchemaRegistry.setMode, checkRegisterMode.

// The modes.
const (
	ReadWrite        = "READWRITE"
	ReadOnly         = "READONLY"
	ReadOnlyOverride = "READONLY_OVERRIDE"
	Import           = "IMPORT"
)

// modeSetting is the value of a MODE record.
type modeSetting struct {
	Mode string `json:"mode"`
}

// Mode sets the mode: of a subject when one is named, else of all that have none of their own. IMPORT wants a subject
// without schemas (a registry without any), because imported ids might be taken.
func (r *Registry) Mode(mode string, subject ...string) *Answer {
	r.requests++
	mode = strings.ToUpper(mode)
	where := fmt.Sprintf("Mode(%q)", mode)
	k, name := settingKey(where, "MODE", subject)
	if !slices.Contains([]string{ReadWrite, ReadOnly, ReadOnlyOverride, Import}, mode) {
		return refusal(422, 42204, name, "Invalid mode. Valid values are READWRITE, READONLY, READONLY_OVERRIDE and IMPORT.")
	}
	r.catchUp()
	if mode == Import && r.store.mode(name) != Import {
		if name == "" && len(r.store.names(false)) > 0 || name != "" && len(r.store.subject(name, false)) > 0 {
			return refusal(422, 42205, name, "Cannot import since found existing subjects")
		}
	}
	value := mustJSON(modeSetting{mode})
	if !r.write(record{Key: k, Value: &value}) {
		return refusal(500, 50001, name, "Error in the backend data store: Failed to update mode")
	}
	return &Answer{Code: 200, Subject: name, Message: "mode " + mode}
}

// ModeOf is the mode that holds: of a subject when one is named, else the one for all.
func (r *Registry) ModeOf(subject ...string) string {
	r.catchUp()
	if len(subject) == 1 {
		return r.store.mode(subject[0])
	}
	return r.store.mode("")
}

// DeleteMode takes a subject's own mode back (DELETE /mode/SUBJECT): the one for all holds then.
func (r *Registry) DeleteMode(subject string) *Answer {
	return r.takeBack("MODE", subject, r.store.modes, 40409, "mode")
}

// DeleteCompatibility takes a subject's own compatibility level back (DELETE /config/SUBJECT): the one for all holds then.
func (r *Registry) DeleteCompatibility(subject string) *Answer {
	return r.takeBack("CONFIG", subject, r.store.levels, 40408, "compatibility")
}

// takeBack deletes a subject's own setting.
func (r *Registry) takeBack(kind, subject string, settings map[string]string, errorCode int, what string) *Answer {
	r.requests++
	if subject == "" {
		misuse("Delete", "a subject needs a name, such as \"orders-value\"")
	}
	r.catchUp()
	old, has := settings[subject]
	if !has {
		return refusal(404, errorCode, subject, "Subject '%s' does not have subject-level %s configured", subject, what)
	}
	if bad := r.put(subject, record{Key: key{Type: kind, Subject: &subject}}); bad != nil {
		return bad
	}
	return &Answer{Code: 200, Subject: subject, Message: what + " was " + old}
}

// settingKey is the key of a setting, and whose it is.
func settingKey(where, kind string, subject []string) (key, string) {
	if len(subject) > 1 {
		misuse(where, "%d subjects: want one, or none for all", len(subject))
	}
	k := key{Type: kind}
	if len(subject) == 1 {
		k.Subject = &subject[0]
		return k, subject[0]
	}
	return k, ""
}

// mode is the mode that holds for a subject.
func (s *store) mode(subject string) string {
	if s.modes[""] == ReadOnlyOverride {
		return ReadOnlyOverride
	}
	if m, ok := s.modes[subject]; ok {
		return m
	}
	if m, ok := s.modes[""]; ok {
		return m
	}
	return ReadWrite
}

// mayWrite refuses changes in a read-only mode; nil when they are fine.
func (r *Registry) mayWrite(subject string) *Answer {
	if m := r.store.mode(subject); m == ReadOnly || m == ReadOnlyOverride {
		return refusal(422, 42205, subject, "Subject %s in context . is in read-only mode", subject)
	}
	return nil
}

// mayRegister refuses what the mode does not allow: ids of one's own in READWRITE, and none in IMPORT.
func (r *Registry) mayRegister(subject string, o *Options) *Answer {
	if bad := r.mayWrite(subject); bad != nil {
		return bad
	}
	imports := r.store.mode(subject) == Import
	switch {
	case o.ID > 0 && !imports:
		return refusal(422, 42205, subject, "Subject %s in context . is not in import mode", subject)
	case o.ID == 0 && imports:
		return refusal(422, 42205, subject, "Subject %s in context . is not in read-write mode", subject)
	}
	return nil
}
