//go:build darwin || linux || freebsd || netbsd || openbsd || dragonfly

package jupyter

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes the lock, or fails with errHeld.
func tryLock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errHeld
		}
		return nil, err
	}
	return func() { f.Close() }, nil
}
