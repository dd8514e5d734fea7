//go:build unix

package goeval

import (
	"io"
	"syscall"
)

// take waits until the pipe holds something, reads it and hands it to deliver, all under the delivery lock:
// whoever holds the lock knows that nothing is between the pipe and its receiver.
func (p *pipe) take(buf []byte, deliver func([]byte)) error {
	raw, err := p.r.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		p.delivery.Lock()
		defer p.delivery.Unlock()
		n, err := syscall.Read(int(fd), buf)
		switch {
		case err == syscall.EAGAIN || err == syscall.EINTR:
			return false
		case err != nil:
			failed = err
		case n == 0:
			failed = io.EOF
		default:
			deliver(buf[:n])
		}
		return true
	})
	if err != nil {
		return err
	}
	return failed
}

// empty reports that everything written has been delivered. It is asked before every print, and costs a
// system call instead of a trip through the pipe.
func (p *pipe) empty() bool {
	if !p.delivery.TryLock() {
		return false
	}
	defer p.delivery.Unlock()
	raw, err := p.r.SyscallConn()
	if err != nil {
		return false
	}
	waiting := 1
	if err := raw.Control(func(fd uintptr) { waiting, err = pending(int(fd)) }); err != nil {
		return false
	}
	return err == nil && waiting == 0
}
