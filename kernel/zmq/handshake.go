package zmq

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
)

// Sizes of a ZMTP 3.0 handshake (RFC 23): a greeting of 64 bytes, then one READY command each way.
const (
	greetingSize = 64
	maxReady     = 4 << 10
)

var errHandshake = errors.New("handshake")

// Which peers a socket of ours may talk to (RFC 23, "socket type property").
var compatible = map[string][]string{
	"ROUTER": {"REQ", "DEALER", "ROUTER"},
	"REP":    {"REQ", "DEALER"},
	"XPUB":   {"SUB", "XSUB"},
	"DEALER": {"ROUTER", "REP", "DEALER"}, // ours, for the start handshake
}

// greeting is ours and the one zmq4 is shown of the peer: version 3.0, mechanism NULL.
func greeting() []byte {
	g := make([]byte, greetingSize)
	g[0], g[9] = 0xFF, 0x7F
	g[10] = 3
	copy(g[12:32], "NULL")
	return g
}

// ready is a READY command with the two properties that matter.
func ready(socketType, identity string) []byte {
	body := append([]byte{5}, "READY"...)
	for _, p := range [2][2]string{{"Socket-Type", socketType}, {"Identity", identity}} {
		body = append(body, byte(len(p[0])))
		body = append(body, p[0]...)
		body = binary.BigEndian.AppendUint32(body, uint32(len(p[1])))
		body = append(body, p[1]...)
	}
	return appendFrame(nil, flagCommand, body)
}

// shake does the whole handshake with a peer of our socket of type own that is called name, and returns
// the peer's type and identity. The caller has set a deadline on conn.
func shake(conn net.Conn, r *bufio.Reader, own, name string) (peerType, identity string, err error) {
	if _, err := conn.Write(append(greeting(), ready(own, name)...)); err != nil {
		return "", "", err
	}
	if err := readGreeting(r); err != nil {
		return "", "", err
	}
	m, err := readMessage(r, maxReady)
	if err != nil {
		return "", "", err
	}
	if !m.command {
		return "", "", fmt.Errorf("%w: a message before READY", errHandshake)
	}
	word, body := command(m.first())
	if word != "READY" {
		return "", "", fmt.Errorf("%w: command %q instead of READY", errHandshake, word)
	}
	properties, err := readProperties(body)
	if err != nil {
		return "", "", err
	}
	peerType, identity = properties["socket-type"], properties["identity"]
	if len(identity) > 255 {
		return "", "", fmt.Errorf("%w: identity of %d bytes", errHandshake, len(identity))
	}
	for _, t := range compatible[own] {
		if t == peerType {
			return peerType, identity, nil
		}
	}
	return "", "", fmt.Errorf("%w: socket type %q does not go with %s", errHandshake, peerType, own)
}

// readGreeting judges the greeting as its bytes come: whoever speaks something else is known by the
// first byte, and not waited for.
func readGreeting(r *bufio.Reader) error {
	var g [greetingSize]byte
	for i := range g {
		c, err := r.ReadByte()
		if err != nil {
			return err
		}
		g[i] = c
		if i == 0 && c != 0xFF || i == 9 && c&1 == 0 || i == 10 && c < 3 {
			return fmt.Errorf("%w: not ZMTP 3 (byte %d is %#x)", errHandshake, i, c)
		}
	}
	if mechanism := strings.TrimRight(string(g[12:32]), "\x00"); mechanism != "NULL" {
		return fmt.Errorf("%w: security mechanism %q; this kernel speaks NULL only", errHandshake, mechanism)
	}
	return nil
}

// command splits a command's body into name and data.
func command(body []byte) (name string, data []byte) {
	if len(body) == 0 || len(body) < 1+int(body[0]) {
		return "", nil
	}
	n := 1 + int(body[0])
	return string(body[1:n]), body[n:]
}

// readProperties reads the metadata of READY; names compare without case.
func readProperties(b []byte) (map[string]string, error) {
	properties := map[string]string{}
	for len(b) > 0 {
		n := 1 + int(b[0])
		if len(b) < n+4 {
			return nil, fmt.Errorf("%w: metadata is cut off: %w", errHandshake, io.ErrUnexpectedEOF)
		}
		name := strings.ToLower(string(b[1:n]))
		size := binary.BigEndian.Uint32(b[n:])
		b = b[n+4:]
		if uint64(size) > uint64(len(b)) {
			return nil, fmt.Errorf("%w: metadata is cut off: %w", errHandshake, io.ErrUnexpectedEOF)
		}
		properties[name] = string(b[:size])
		b = b[size:]
	}
	return properties, nil
}
