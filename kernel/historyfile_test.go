package kernel

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

func written(t *testing.T, entries []HistoryEntry, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var s []string
	for _, e := range entries {
		text := fmt.Sprintf("%d:%d%s", e.Session, e.Line, e.Input)
		if e.Output != nil {
			text += "=" + *e.Output
		}
		s = append(s, text)
	}
	return strings.Join(s, " ")
}

func tail(t *testing.T, h History, n int) string {
	t.Helper()
	entries, err := h.Tail(n)
	return written(t, entries, err)
}

func add(t *testing.T, h History, session, line int, input string) {
	t.Helper()
	if err := h.Add(HistoryEntry{Session: session, Line: line, Input: input}); err != nil {
		t.Fatal(err)
	}
}

func TestHistoryOutlivesTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a folder", "history.jsonl")
	first := NewFileHistory(path)
	if _, err := os.Stat(path); err == nil {
		t.Error("the file is there before it is needed")
	}
	one, out := first.Begin(), "2"
	if err := first.Add(HistoryEntry{Session: one, Line: 1, Input: "1+1", Output: &out}); err != nil {
		t.Fatal(err)
	}
	add(t, first, one, 2, "a\nb")
	second := NewFileHistory(path)
	two := second.Begin()
	add(t, second, two, 1, "1+1")
	add(t, first, one, 3, "é😀")
	if one != 1 || two != 2 {
		t.Errorf("sessions %d and %d", one, two)
	}
	for _, h := range []*FileHistory{first, second, NewFileHistory(path)} {
		if got := tail(t, h, 99); got != "1:11+1=2 1:2a\nb 2:11+1 1:3é😀" {
			t.Errorf("tail is %q", got)
		}
		entries, err := h.Range(1, 2, 0)
		if got := written(t, entries, err); got != "1:2a\nb 1:3é😀" {
			t.Errorf("session 1 from line 2 is %q", got)
		}
		entries, err = h.Search("1+*", 0, true)
		if got := written(t, entries, err); got != "2:11+1" {
			t.Errorf("search is %q", got)
		}
	}
	if runtime.GOOS != "windows" {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the file has mode %v (%v)", info.Mode(), err)
		}
	}
}

func TestADamagedHistoryStopsNothing(t *testing.T) {
	good := `{"s":"a","n":1,"i":"kept"}` + "\n"
	for name, damage := range map[string]string{
		"empty":           "",
		"torn last line":  `{"s":"a","n":2,"i":"half`,
		"binary":          "\x00\xff\xfe\n\x80garbage\n",
		"other JSON":      "[]\n7\nnull\n{\"s\":5}\n{\"n\":1}\n",
		"wrong types":     `{"s":"a","n":"two","i":7}` + "\n",
		"one endless row": strings.Repeat("x", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "history.jsonl")
			if err := os.WriteFile(path, []byte(good+damage), 0o600); err != nil {
				t.Fatal(err)
			}
			h := NewFileHistory(path)
			session := h.Begin()
			add(t, h, session, 1, "new")
			if got := tail(t, NewFileHistory(path), 99); got != "1:1kept 2:1new" {
				t.Errorf("tail is %q", got)
			}
		})
	}
}

// A place that cannot be written: the kernel says so once and remembers by itself.
func TestHistoryThatCannotBeWritten(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"below a file": filepath.Join(blocked, "history.jsonl"), "a folder": t.TempDir()} {
		h := NewFileHistory(path)
		session := h.Begin()
		if err := h.Add(HistoryEntry{Session: session, Line: 1, Input: "a"}); err == nil {
			t.Errorf("%s: nothing is said", name)
		}
		if err := h.Add(HistoryEntry{Session: session, Line: 2, Input: "b"}); err != nil {
			t.Errorf("%s: it is said twice: %v", name, err)
		}
		if got := tail(t, h, 9); got != "1:1a 1:2b" {
			t.Errorf("%s: tail is %q", name, got)
		}
	}
}

func TestAHistoryThatGrowsIsShortened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	old := NewFileHistory(path)
	session := old.Begin()
	for i := range 200 {
		add(t, old, session, i+1, strings.Repeat("x", 100))
	}
	h := NewFileHistory(path)
	h.limit = 8 << 10
	if got := h.Begin(); got != 2 {
		t.Errorf("the session after session 1 is %d", got)
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() > h.limit {
		t.Errorf("the file has %d bytes (%v)", info.Size(), err)
	}
	// The kernel that was there before writes on, under its number, and sees the same.
	add(t, old, session, 201, "after")
	for _, h := range []*FileHistory{old, h, NewFileHistory(path)} {
		entries, err := h.Range(1, 201, 0)
		if got := written(t, entries, err); got != "1:201after" {
			t.Errorf("session 1 ends with %q", got)
		}
		if kept, err := h.Range(1, 0, 0); err != nil || len(kept) < 20 || kept[0].Line == 1 {
			t.Errorf("%d cells are kept, from line %d (%v)", len(kept), kept[0].Line, err)
		}
	}
	if files, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); err != nil || len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
}

// Several kernels at once: no cell is lost, and all of them count the sessions alike.
func TestSeveralKernelsShareAHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	var kernels [4]*FileHistory
	var wg sync.WaitGroup
	for k := range kernels {
		kernels[k] = NewFileHistory(path)
		wg.Go(func() {
			session := kernels[k].Begin()
			for i := range 100 {
				add(t, kernels[k], session, i+1, fmt.Sprintf("kernel %d", k))
			}
		})
	}
	wg.Wait()
	want := tail(t, kernels[0], 1000)
	if n := strings.Count(want, "kernel"); n != 400 {
		t.Errorf("%d cells of 400 are there", n)
	}
	for _, h := range kernels[1:] {
		if got := tail(t, h, 1000); got != want {
			t.Error("the kernels see different histories")
		}
	}
	for k, h := range kernels {
		for number := range h.mine {
			entries, err := h.Range(number, 0, 0)
			if err != nil || len(entries) != 100 || entries[0].Input != fmt.Sprintf("kernel %d", k) {
				t.Errorf("kernel %d finds %d cells in its session %d (%v)", k, len(entries), number, err)
			}
		}
	}
}

func TestLongOutputsAreCutAtACharacter(t *testing.T) {
	if got := shorten("aé", 2); got != "a…" {
		t.Errorf("got %q", got)
	}
	if got := shorten("aé", 3); got != "aé" {
		t.Errorf("got %q", got)
	}
}
