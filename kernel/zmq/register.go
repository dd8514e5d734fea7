package zmq

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kafkalab/kernel/wire"
)

// maxAck bounds what a registration socket may answer.
const maxAck = 64 << 10

// registrar is the connection to a registration socket.
type registrar struct {
	net.Conn
	wire.Registration
	patience time.Duration
}

// reach connects to the registration socket; everything with it must be over within patience.
func reach(ctx context.Context, r wire.Registration, patience time.Duration) (*registrar, error) {
	network, address := r.Address()
	dialer := net.Dialer{Timeout: patience}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, fmt.Errorf("the registration socket does not answer: %w", err)
	}
	_ = conn.SetDeadline(time.Now().Add(patience)) // sockets always take deadlines
	return &registrar{conn, r, patience}, nil
}

// connection is that of a kernel which chooses its ports. Its sockets listen where the registration
// socket can reach them: on the address that this machine reaches it from.
func (r *registrar) connection() (wire.Connection, error) {
	c := wire.Connection{Transport: r.Transport, Key: r.Key, SignatureScheme: r.SignatureScheme}
	local, ok := r.LocalAddr().(*net.TCPAddr)
	if !ok {
		return ownIPC(c, r.IP)
	}
	c.IP = local.IP.String()
	return c, nil
}

// ownIPC chooses five numbers, the "ports" of Unix sockets, that no file beside the registration socket
// has yet.
func ownIPC(c wire.Connection, base string) (wire.Connection, error) {
	c.IP = base
	for _, ch := range wire.Sockets {
		for tries := 0; ; tries++ {
			c.SetPort(ch, 1+rand.IntN(65535))
			_, path := c.Address(ch)
			if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) && !c.Shares(ch) {
				break
			}
			if tries == 100 {
				return c, fmt.Errorf("no free name for a socket beside %s", base)
			}
		}
	}
	return c, nil
}

// register tells the registration socket our ports and waits for its acknowledgement. Without one
// nobody knows that this kernel is there, and it should not be.
func (s *Server) register(ctx context.Context, r *registrar) error {
	defer context.AfterFunc(ctx, func() { r.Close() })()
	_, address := r.Address()
	in := bufio.NewReader(r)
	if _, _, err := shake(r, in, "DEALER", r.KernelID); err != nil {
		return fmt.Errorf("the registration socket at %s: %w", address, err)
	}
	frames, err := s.signer.Announce(r.KernelID, s.info)
	if err != nil {
		return err
	}
	if _, err := r.Write(appendMessage(nil, frames)); err != nil {
		return fmt.Errorf("the registration socket at %s: %w", address, err)
	}
	for {
		m, err := readMessage(in, maxAck)
		if err != nil {
			return fmt.Errorf("no signed acknowledgement from the registration socket at %s within %v: %w", address, r.patience, err)
		}
		if !m.command && s.signer.Acknowledged(split(m.raw)) {
			return nil
		}
	}
}

// writeConnection writes the connection file of a registered kernel, for the clients that come later, and
// returns its path.
func (s *Server) writeConnection(dir, kernelID string) (string, error) {
	text, err := json.MarshalIndent(s.info, "", "  ")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "kernel-"+fileName(kernelID)+".json")
	tmp, err := os.CreateTemp(dir, ".kernel-*") // made with mode 0600: the key is in it
	if err != nil {
		return "", err
	}
	defer os.Remove(tmp.Name())
	if _, err := tmp.Write(text); err != nil {
		tmp.Close()
		return "", err
	}
	if err := tmp.Close(); err != nil {
		return "", err
	}
	return path, os.Rename(tmp.Name(), path)
}

// fileName keeps a kernel's id from naming anything but one file.
func fileName(id string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
			return c
		}
		return '_'
	}, id)
}
