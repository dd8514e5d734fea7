package kerneltest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"kafkalab/kernel/wire"
)

// kind is a JSON type as schemas name it.
type kind string

const (
	text    kind = "string"
	number  kind = "number"
	boolean kind = "boolean"
	object  kind = "object"
	list    kind = "array"
	texts   kind = "array of strings"
	bundle  kind = "MIME bundle"
)

// field is one field of a content: its type, and whether it may be missing.
type field struct {
	is       kind
	optional bool
}

// Schemas of the contents that a kernel sends, as jupyter_kernel_test 0.7 (msgspec_v5.py) and the
// message spec have them. Replies with status error have errorFields instead.
var schemas = map[string]map[string]field{
	"execute_reply":         {"status": {is: text}, "execution_count": {is: number}, "payload": {is: list}, "user_expressions": {is: object}},
	"inspect_reply":         {"status": {is: text}, "found": {is: boolean}, "data": {is: bundle}, "metadata": {is: object}},
	"complete_reply":        {"status": {is: text}, "matches": {is: texts}, "cursor_start": {is: number}, "cursor_end": {is: number}, "metadata": {is: object}},
	"history_reply":         {"status": {is: text}, "history": {is: list}},
	"is_complete_reply":     {"status": {is: text}, "indent": {is: text, optional: true}},
	"connect_reply":         {"status": {is: text}},
	"comm_info_reply":       {"status": {is: text}, "comms": {is: object}},
	"kernel_info_reply":     {"status": {is: text}, "protocol_version": {is: text}, "implementation": {is: text}, "implementation_version": {is: text}, "language_info": {is: object}, "banner": {is: text}, "debugger": {is: boolean}, "help_links": {is: list}, "supported_features": {is: texts}},
	"shutdown_reply":        {"status": {is: text}, "restart": {is: boolean}},
	"interrupt_reply":       {"status": {is: text}},
	"create_subshell_reply": {"status": {is: text}, "subshell_id": {is: text}},
	"delete_subshell_reply": {"status": {is: text}},
	"list_subshell_reply":   {"status": {is: text}, "subshell_id": {is: texts}},
	"usage_reply":           {"hostname": {is: text}, "pid": {is: number}, "kernel_memory": {is: number}},
	"stream":                {"name": {is: text}, "text": {is: text}},
	"display_data":          {"data": {is: bundle}, "metadata": {is: object}, "transient": {is: object}},
	"update_display_data":   {"data": {is: bundle}, "metadata": {is: object}, "transient": {is: object}},
	"execute_result":        {"execution_count": {is: number}, "data": {is: bundle}, "metadata": {is: object}},
	"clear_output":          {"wait": {is: boolean}},
	"execute_input":         {"code": {is: text}, "execution_count": {is: number}},
	"error":                 {"ename": {is: text}, "evalue": {is: text}, "traceback": {is: texts}},
	"status":                {"execution_state": {is: text}},
	"iopub_welcome":         {"subscription": {is: text}},
	"comm_open":             {"comm_id": {is: text}, "target_name": {is: text}, "data": {is: object}},
	"comm_msg":              {"comm_id": {is: text}, "data": {is: object}},
	"comm_close":            {"comm_id": {is: text}, "data": {is: object}},
	"input_request":         {"prompt": {is: text}, "password": {is: boolean}},
}

var errorFields = map[string]field{
	"status": {is: text}, "ename": {is: text}, "evalue": {is: text}, "traceback": {is: texts},
}

// Fields whose text is one of a few words.
var words = map[string][]string{
	"stream.name":              {"stdout", "stderr"},
	"status.execution_state":   {"starting", "busy", "idle"},
	"is_complete_reply.status": {"complete", "incomplete", "invalid", "unknown"},
}

// Message types by channel; what is not here goes on shell and control.
var onlyOn = map[wire.Channel][]string{
	wire.Stdin: {"input_request"},
	wire.IOPub: {"stream", "display_data", "update_display_data", "execute_result", "clear_output", "execute_input",
		"error", "status", "iopub_welcome", "comm_open", "comm_msg", "comm_close", "shutdown_reply"},
}

var (
	mimeType = regexp.MustCompile(`^[\w\-+.]+/[\w\-+.]+$`)
	version  = regexp.MustCompile(`^5\.([2-9]|\d\d)`) // below 5.2 jupyter_kernel_test forbids fields that we send
)

// Check tells what is wrong with a message from a kernel; nothing is right.
func Check(ch wire.Channel, m *wire.Message) []string {
	problems := checkHeader(m)
	msgType := m.Header.MsgType
	if allowed, limited := onlyOn[ch]; limited && !slices.Contains(allowed, msgType) {
		problems = append(problems, "does not belong on this channel")
	}
	if ch == wire.IOPub && len(m.Identities) != 1 {
		problems = append(problems, fmt.Sprintf("%d prefix frames; iopub has exactly one topic", len(m.Identities)))
	}
	var content map[string]any
	if err := json.Unmarshal(m.Content, &content); err != nil {
		return append(problems, "content is no JSON object: "+err.Error())
	}
	schema, known := schemas[msgType]
	if status := content["status"]; strings.HasSuffix(msgType, "_reply") && (status == "error" || status == "aborted") {
		schema, known = errorFields, true
		if msgType == "execute_reply" {
			problems = append(problems, checkField(msgType, "execution_count", field{is: number}, content)...)
		}
	}
	if !known {
		return append(problems, "is no message type that a kernel sends")
	}
	names := make([]string, 0, len(schema))
	for name := range schema {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		problems = append(problems, checkField(msgType, name, schema[name], content)...)
	}
	return problems
}

func checkHeader(m *wire.Message) (problems []string) {
	h := m.Header
	for name, value := range map[string]string{"msg_id": h.MsgID, "session": h.Session, "username": h.Username, "msg_type": h.MsgType} {
		if value == "" {
			problems = append(problems, "header without "+name)
		}
	}
	if _, ok := wire.ParseDate(h.Date); !ok || !strings.HasSuffix(h.Date, "Z") {
		problems = append(problems, fmt.Sprintf("date %q is not ISO 8601 with a zone", h.Date))
	}
	if !version.MatchString(h.Version) {
		problems = append(problems, fmt.Sprintf("protocol version %q; want 5.2 or more", h.Version))
	}
	for name, part := range map[string]json.RawMessage{"parent_header": m.Parent, "metadata": m.Metadata} {
		var v map[string]any
		if len(part) > 0 && json.Unmarshal(part, &v) != nil {
			problems = append(problems, name+" is no JSON object")
		}
	}
	return problems
}

func checkField(msgType, name string, f field, content map[string]any) []string {
	value, there := content[name]
	if !there {
		if f.optional {
			return nil
		}
		return []string{name + " is missing"}
	}
	if !f.is.holds(value) {
		return []string{fmt.Sprintf("%s is %T, want %s", name, value, f.is)}
	}
	if allowed := words[msgType+"."+name]; allowed != nil && !slices.Contains(allowed, value.(string)) {
		return []string{fmt.Sprintf("%s is %q, want one of %q", name, value, allowed)}
	}
	return nil
}

func (k kind) holds(v any) bool {
	switch v := v.(type) {
	case string:
		return k == text
	case float64:
		return k == number
	case bool:
		return k == boolean
	case []any:
		return k == list || k == texts && !slices.ContainsFunc(v, func(e any) bool { _, is := e.(string); return !is })
	case map[string]any:
		if k != bundle {
			return k == object
		}
		for mime := range v {
			if !mimeType.MatchString(mime) {
				return false
			}
		}
		return true
	}
	return false
}
