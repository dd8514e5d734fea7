package jupyter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// errHeld means that another process has the lock.
var errHeld = errors.New("another process has the lock")

// lockFile stands beside the environments; the system frees it when its process ends, however that comes.
const lockFile = "making.lock"

// lock waits until no other kafkalab makes an environment beside dir, and keeps the next ones waiting until
// unlock is called.
func lock(ctx context.Context, dir string, progress Progress) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, fmt.Errorf("the cache folder cannot be made: %w", err)
	}
	path := filepath.Join(filepath.Dir(dir), lockFile)
	for {
		unlock, err := tryLock(path)
		if err == nil {
			return unlock, nil
		}
		if !errors.Is(err, errHeld) {
			return nil, fmt.Errorf("%s cannot be locked: %w", path, err)
		}
		progress(0, "another kafkalab is making the same; waiting for it")
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return nil, errors.New("waiting for another kafkalab, which makes the environment, was stopped")
		}
	}
}
