package kernel

import (
	"fmt"
	"strings"
	"testing"
)

func TestGlob(t *testing.T) {
	for _, tc := range []struct {
		glob string
		yes  []string
		no   []string
	}{
		{"*", []string{"", "a\nb"}, nil},
		{"a?c", []string{"abc", "a\nc", "aéc"}, []string{"ac", "abbc", "xabc"}},
		{"*crash*", []string{"c.Broker(1).Crash()\ncrash()"}, []string{"Crash"}},
		{"[a-c]x", []string{"ax", "cx"}, []string{"dx", "-x"}},
		{"[^a-c]x", []string{"dx"}, []string{"ax"}},
		{"[]]", []string{"]"}, []string{"["}},
		{"[a", []string{"[a"}, []string{"a"}},
		{"[-a]", []string{"-", "a"}, []string{"b"}},
		{`a.b\d(`, []string{`a.b\d(`}, []string{`axb1(`}},
	} {
		re, err := Glob(tc.glob)
		if err != nil {
			t.Errorf("%s: %v", tc.glob, err)
			continue
		}
		for _, s := range tc.yes {
			if !re.MatchString(s) {
				t.Errorf("%q should match %q", tc.glob, s)
			}
		}
		for _, s := range tc.no {
			if re.MatchString(s) {
				t.Errorf("%q should not match %q", tc.glob, s)
			}
		}
	}
}

func TestMemoryHistory(t *testing.T) {
	h, session := NewMemoryHistory(), 0
	for i, input := range []string{"a", "b", "a", "c"} {
		if i == 0 || i == 3 {
			session = h.Begin()
		}
		if err := h.Add(HistoryEntry{Session: session, Line: i + 1, Input: input}); err != nil {
			t.Fatal(err)
		}
	}
	show := func(entries []HistoryEntry, err error) string {
		if err != nil {
			return err.Error()
		}
		var s []string
		for _, e := range entries {
			s = append(s, fmt.Sprintf("%d:%d%s", e.Session, e.Line, e.Input))
		}
		return strings.Join(s, " ")
	}
	for _, tc := range []struct{ name, got, want string }{
		{"tail 2", show(h.Tail(2)), "1:3a 2:4c"},
		{"tail 99", show(h.Tail(99)), "1:1a 1:2b 1:3a 2:4c"},
		{"tail -1", show(h.Tail(-1)), ""},
		{"range 2..4", show(h.Range(1, 2, 4)), "1:2b 1:3a"},
		{"range 3..", show(h.Range(1, 3, 0)), "1:3a"},
		{"the second session", show(h.Range(2, 0, 0)), "2:4c"},
		{"a session that never was", show(h.Range(3, 0, 0)), ""},
		{"search", show(h.Search("[ab]", 0, false)), "1:1a 1:2b 1:3a"},
		{"search unique", show(h.Search("[ab]", 0, true)), "1:2b 1:3a"},
		{"search last", show(h.Search("*", 1, false)), "2:4c"},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, tc.got, tc.want)
		}
	}
}

// The table against the list of the message spec: a misspelt type ("comm_comm_close" exists in the
// wild) is never served.
func TestTableHasEveryMessageType(t *testing.T) {
	want := strings.Fields(`execute_request inspect_request complete_request history_request is_complete_request
		connect_request comm_info_request kernel_info_request shutdown_request interrupt_request usage_request
		comm_open comm_msg comm_close create_subshell_request delete_subshell_request list_subshell_request`)
	k := New(nil, Options{})
	for _, name := range want {
		if r, ok := k.routes[name]; !ok || r.serve == nil || (r.lane == nil) == (r.choose == nil) {
			t.Errorf("%s is not served, or by no lane", name)
		}
	}
	if len(k.routes) != len(want) {
		t.Errorf("the table has %d types, the spec's list %d", len(k.routes), len(want))
	}
}
