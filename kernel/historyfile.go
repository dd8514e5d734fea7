package kernel

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
	"unicode/utf8"
)

// FileHistory is a History in a file that several kernels may share: JSON lines that are only ever
// appended, one write each. Every session writes a random id with its cells; the sessions are numbered in
// the order in which their ids stand in the file, so that kernels agree on the numbers without a lock.
//
// Nothing about the file can stop a kernel: lines that cannot be read are passed over, and what cannot be
// written is remembered until the process ends.
type FileHistory struct {
	path  string
	limit int64

	mu       sync.Mutex
	file     os.FileInfo // what the following was read from
	offset   int64
	entries  []HistoryEntry
	numbers  map[string]int // of the sessions, by id
	last     int            // the highest number
	mine     map[int]string // ids of the sessions that began here
	lost     []HistoryEntry // what could not be written
	told     bool           // that writing fails
	prepared bool
}

// Limits of the file and of what goes into it, in bytes.
const (
	historyLimit  = 8 << 20 // above it, the older half is dropped
	outputLimit   = 16 << 10
	rememberedIDs = 1000 // sessions whose numbers are kept when their cells are dropped
	staleLock     = time.Minute
)

// NewFileHistory returns the history in a file. It is not touched before the history is first used; it is
// made, readable by its owner alone, if it is not there.
func NewFileHistory(path string) *FileHistory {
	return &FileHistory{path: path, limit: historyLimit, numbers: map[string]int{}, mine: map[int]string{}}
}

// historyLine is one line of the file: a cell, the begin of a session (a line with an id only), or what a
// shortened file begins with.
type historyLine struct {
	Session string  `json:"s,omitempty"`
	Line    int     `json:"n,omitempty"`
	Input   *string `json:"i,omitempty"`
	Output  *string `json:"o,omitempty"`

	Numbers map[string]int `json:"numbers,omitempty"` // of sessions whose begin was dropped
	Last    int            `json:"last,omitempty"`
}

// Begin implements History.
func (h *FileHistory) Begin() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	id := hex.EncodeToString(b[:])
	err := h.append(historyLine{Session: id})
	h.read()
	number, written := h.numbers[id]
	if err != nil || !written { // a session that only this process knows
		h.last++
		number = h.last
		h.numbers[id] = number
	}
	h.mine[number] = id
	return number
}

// Add implements History. That the file cannot be written is reported once.
func (h *FileHistory) Add(e HistoryEntry) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e.Output != nil {
		short := shorten(*e.Output, outputLimit)
		e.Output = &short
	}
	err := h.append(historyLine{Session: h.mine[e.Session], Line: e.Line, Input: &e.Input, Output: e.Output})
	if err == nil {
		return nil
	}
	h.lost = append(h.lost, e)
	if h.told {
		return nil
	}
	h.told = true
	return fmt.Errorf("%w (it is remembered until the kernel ends)", err)
}

// shorten cuts a text at a character, and says so by its end.
func shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + "…"
}

// Range implements History.
func (h *FileHistory) Range(session, start, stop int) ([]HistoryEntry, error) {
	return h.all().Range(session, start, stop)
}

// Tail implements History.
func (h *FileHistory) Tail(n int) ([]HistoryEntry, error) { return h.all().Tail(n) }

// Search implements History.
func (h *FileHistory) Search(glob string, n int, unique bool) ([]HistoryEntry, error) {
	return h.all().Search(glob, n, unique)
}

// all is the history as it stands now.
func (h *FileHistory) all() *MemoryHistory {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.read()
	return &MemoryHistory{entries: append(slices.Clip(h.entries), h.lost...)}
}

// append writes one line. It begins with a line break too: a line that another process could not finish
// does not swallow it.
func (h *FileHistory) append(l historyLine) error {
	if !h.prepared {
		h.prepared = true
		if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err == nil {
			h.compact()
		}
	}
	raw, err := json.Marshal(l)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(h.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(append([]byte{'\n'}, raw...), '\n'))
	return errors.Join(err, f.Close())
}

// read takes in what the file has got since the last time; another file in its place is read whole. A
// file that cannot be read holds nothing.
func (h *FileHistory) read() {
	f, err := os.Open(h.path)
	if err != nil {
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	if h.file == nil || !os.SameFile(h.file, info) || info.Size() < h.offset {
		h.entries, h.offset, h.last = nil, 0, 0
		h.numbers = map[string]int{}
	}
	h.file = info
	raw, err := io.ReadAll(io.NewSectionReader(f, h.offset, info.Size()-h.offset))
	if err != nil {
		return
	}
	h.take(raw)
}

// take reads the whole lines of raw; a line without its end may still be in the making.
func (h *FileHistory) take(raw []byte) {
	end := bytes.LastIndexByte(raw, '\n') + 1
	h.offset += int64(end)
	for line := range bytes.Lines(raw[:end]) {
		var l historyLine
		if json.Unmarshal(line, &l) != nil {
			continue // blank, or damaged
		}
		maps.Copy(h.numbers, l.Numbers)
		h.last = max(h.last, l.Last)
		if l.Session == "" {
			continue
		}
		number, known := h.numbers[l.Session]
		if !known {
			h.last++
			number = h.last
			h.numbers[l.Session] = number
		}
		if l.Input != nil {
			h.entries = append(h.entries, HistoryEntry{Session: number, Line: l.Line, Input: *l.Input, Output: l.Output})
		}
	}
}

// compact drops the older part of a file that has grown too big. One process does it at a time; what
// others append meanwhile is carried over. When anything goes wrong, the file stays as it is.
func (h *FileHistory) compact() {
	info, err := os.Stat(h.path)
	if err != nil || !info.Mode().IsRegular() || info.Size() <= h.limit {
		return
	}
	lock := h.path + ".lock"
	if old, err := os.Stat(lock); err == nil && time.Since(old.ModTime()) > staleLock {
		os.Remove(lock)
	}
	held, err := os.OpenFile(lock, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return
	}
	held.Close()
	defer os.Remove(lock)
	old, err := os.Open(h.path)
	if err != nil {
		return
	}
	defer old.Close()
	h.rewrite(old)
}

// rewrite puts the newer part of old in its place.
func (h *FileHistory) rewrite(old *os.File) {
	raw, err := io.ReadAll(old)
	if err != nil {
		return
	}
	whole := FileHistory{numbers: map[string]int{}}
	whole.take(raw)
	kept := raw[max(0, int64(len(raw))-h.limit/2):]
	if i := bytes.IndexByte(kept, '\n'); i >= 0 {
		kept = kept[i:]
	} else {
		kept = nil // one line of garbage without an end
	}
	maps.DeleteFunc(whole.numbers, func(_ string, n int) bool { return n <= whole.last-rememberedIDs })
	head, err := json.Marshal(historyLine{Numbers: whole.numbers, Last: whole.last})
	if err != nil {
		return
	}
	tmp, err := os.CreateTemp(filepath.Dir(h.path), ".history-*") // made with mode 0600
	if err != nil {
		return
	}
	defer tmp.Close()
	defer os.Remove(tmp.Name()) // fails when it has its new name
	if _, err := tmp.Write(slices.Concat(head, []byte{'\n'}, kept)); err != nil {
		return
	}
	if _, err := io.Copy(tmp, old); err != nil {
		return
	}
	if err := os.Rename(tmp.Name(), h.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return
	}
	_, _ = io.Copy(tmp, old) // what came in between; nothing can be done about a failure any more
}
