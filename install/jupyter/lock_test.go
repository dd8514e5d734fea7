package jupyter

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Several at once: one after the other, and whoever waits says so and can be stopped.
func TestOneEnvironmentIsMadeAtATime(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache", "jupyter-1")
	var inside, waited atomic.Int32
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			unlock, err := lock(context.Background(), dir, func(_ float64, what string) {
				if strings.Contains(what, "another kafkalab") {
					waited.Add(1)
				}
			})
			if err != nil {
				t.Error(err)
				return
			}
			if n := inside.Add(1); n != 1 {
				t.Errorf("%d make it at once", n)
			}
			time.Sleep(20 * time.Millisecond)
			inside.Add(-1)
			unlock()
		})
	}
	all.Wait()
	if waited.Load() == 0 {
		t.Error("nobody said that it waits")
	}
	unlock, err := lock(context.Background(), dir, func(float64, string) {})
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer stop()
	if _, err := lock(ctx, dir, func(float64, string) {}); err == nil || !strings.Contains(err.Error(), "was stopped") {
		t.Errorf("stopped: %v", err)
	}
	removeOlder(dir)
	if _, err := os.Stat(filepath.Join(filepath.Dir(dir), lockFile)); err != nil {
		t.Errorf("the lock was removed with older environments: %v", err)
	}
}

// Whoever comes second takes what the first has made.
func TestWhoWaitedTakesWhatWasMade(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	dir, err := PrivateDir()
	if err != nil {
		t.Fatal(err)
	}
	unlock, err := lock(context.Background(), dir, func(float64, string) {})
	if err != nil {
		t.Fatal(err)
	}
	go func() { // the first finishes
		time.Sleep(50 * time.Millisecond)
		defer unlock()
		if err := os.MkdirAll(binDir(dir), 0o755); err != nil {
			t.Error(err)
			return
		}
		program(t, binDir(dir), "jupyter-lab", "echo 4.6.6")
		if err := os.WriteFile(filepath.Join(dir, readyFile), nil, 0o644); err != nil {
			t.Error(err)
		}
	}()
	made, err := Make(context.Background(), func(float64, string) {})
	if err != nil || made.Version != (Version{4, 6, 6}) || !made.Private {
		t.Errorf("it got %+v, %v", made, err)
	}
}
