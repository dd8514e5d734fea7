package kernel

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// HistoryEntry is one cell that was executed with store_history.
type HistoryEntry struct {
	Session int // as Begin numbered it, 1 and up
	Line    int // the cell's execution count
	Input   string
	Output  *string // the result's plain text, if there was a result
}

// History keeps executed cells (message spec, "History"). Its methods may be called at the same time.
type History interface {
	// Begin starts a session and returns its number; the parent shell and every subshell have one.
	Begin() int
	// Add keeps a cell.
	Add(HistoryEntry) error
	// Range gives the lines start (included) to stop (excluded; 0 means to the end) of a session.
	Range(session, start, stop int) ([]HistoryEntry, error)
	// Tail gives the last n cells of all sessions, oldest first.
	Tail(n int) ([]HistoryEntry, error)
	// Search gives the last n cells whose input matches the glob, oldest first; n 0 means all. With
	// unique, of equal inputs only the last one counts.
	Search(glob string, n int, unique bool) ([]HistoryEntry, error)
}

// MemoryHistory is a History that ends with the process.
type MemoryHistory struct {
	mu       sync.Mutex
	sessions int
	entries  []HistoryEntry
}

// NewMemoryHistory returns an empty history.
func NewMemoryHistory() *MemoryHistory { return &MemoryHistory{} }

// Begin implements History.
func (h *MemoryHistory) Begin() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sessions++
	return h.sessions
}

// Add implements History.
func (h *MemoryHistory) Add(e HistoryEntry) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.entries = append(h.entries, e)
	return nil
}

// Range implements History.
func (h *MemoryHistory) Range(session, start, stop int) ([]HistoryEntry, error) {
	return h.pick(func(e HistoryEntry) bool {
		return e.Session == session && e.Line >= start && (stop <= 0 || e.Line < stop)
	}), nil
}

// Tail implements History.
func (h *MemoryHistory) Tail(n int) ([]HistoryEntry, error) {
	return last(h.pick(func(HistoryEntry) bool { return true }), max(n, 0)), nil
}

// Search implements History.
func (h *MemoryHistory) Search(glob string, n int, unique bool) ([]HistoryEntry, error) {
	re, err := Glob(glob)
	if err != nil {
		return nil, err
	}
	found := h.pick(func(e HistoryEntry) bool { return re.MatchString(e.Input) })
	if unique {
		found = lastOfEach(found)
	}
	if n <= 0 {
		return found, nil
	}
	return last(found, n), nil
}

func (h *MemoryHistory) pick(keep func(HistoryEntry) bool) []HistoryEntry {
	h.mu.Lock()
	defer h.mu.Unlock()
	var picked []HistoryEntry
	for _, e := range h.entries {
		if keep(e) {
			picked = append(picked, e)
		}
	}
	return picked
}

func last(entries []HistoryEntry, n int) []HistoryEntry {
	return entries[max(0, len(entries)-n):]
}

func lastOfEach(entries []HistoryEntry) []HistoryEntry {
	at := map[string]int{}
	for i, e := range entries {
		at[e.Input] = i
	}
	var kept []HistoryEntry
	for i, e := range entries {
		if at[e.Input] == i {
			kept = append(kept, e)
		}
	}
	return kept
}

// Glob turns a history pattern into a regular expression over the whole input: * any text, ? any one
// character, [abc], [a-z] and [^abc] sets, as SQLite's GLOB has it, which IPython uses.
func Glob(pattern string) (*regexp.Regexp, error) {
	var re strings.Builder
	re.WriteString(`(?s)\A`)
	runes := []rune(pattern)
	for i := 0; i < len(runes); i++ {
		switch c := runes[i]; c {
		case '*':
			re.WriteString(`.*`)
		case '?':
			re.WriteString(`.`)
		case '[':
			end := setEnd(runes, i)
			if end < 0 {
				re.WriteString(`\[`)
				continue
			}
			re.WriteString(setExpr(runes[i+1 : end]))
			i = end
		default:
			re.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	re.WriteString(`\z`)
	return regexp.Compile(re.String())
}

// setEnd finds the ] of the set that starts at i; one that comes first belongs to the set.
func setEnd(runes []rune, i int) int {
	j := i + 1
	if j < len(runes) && runes[j] == '^' {
		j++
	}
	for j++; j < len(runes); j++ {
		if runes[j] == ']' {
			return j
		}
	}
	return -1
}

func setExpr(set []rune) string {
	var re strings.Builder
	re.WriteByte('[')
	if len(set) > 0 && set[0] == '^' {
		re.WriteByte('^')
		set = set[1:]
	}
	for i, c := range set {
		if c == '-' && i > 0 && i < len(set)-1 {
			re.WriteByte('-')
			continue
		}
		fmt.Fprintf(&re, `\x{%x}`, c)
	}
	re.WriteByte(']')
	return re.String()
}
