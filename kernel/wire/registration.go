package wire

import (
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
)

// Registration is the content of a registration file: the other way to start a kernel, in which the
// kernel chooses its ports and tells them (jupyter_client, "Registration file format" and "Kernel startup
// handshake"; protocol 5.6, JEP 66).
type Registration struct {
	KernelID        string `json:"kernel_id"`
	Transport       string `json:"transport"` // "tcp" or "ipc"
	IP              string `json:"registration_ip"`
	Port            int    `json:"registration_port"`
	SignatureScheme string `json:"signature_scheme"`
	Key             string `json:"key"`
}

// ReadStart reads the file that a kernel is started with: a connection file, or a registration file, and
// then the second result is not nil and the first holds nothing.
func ReadStart(path string) (Connection, *Registration, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return Connection{}, nil, fmt.Errorf("connection file: %w", err)
	}
	if isRegistration(raw) {
		r, err := ParseRegistration(raw)
		if err != nil {
			return Connection{}, nil, fmt.Errorf("registration file %s: %w", path, err)
		}
		return Connection{}, &r, nil
	}
	c, err := ParseConnection(raw)
	if err != nil {
		return Connection{}, nil, fmt.Errorf("connection file %s: %w", path, err)
	}
	return c, nil, nil
}

// isRegistration tells the two files apart: only one names a registration socket.
func isRegistration(raw []byte) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return false
	}
	_, there := fields["registration_port"]
	return there
}

// ParseRegistration reads the JSON of a registration file and refuses what cannot work, by name.
func ParseRegistration(raw []byte) (Registration, error) {
	r := Registration{Transport: "tcp", SignatureScheme: SignatureScheme}
	if err := json.Unmarshal(raw, &r); err != nil {
		return r, fmt.Errorf("not a JSON object as Jupyter writes it: %w", err)
	}
	switch {
	case r.Transport != "tcp" && r.Transport != "ipc":
		return r, fmt.Errorf("transport %q is not supported; want \"tcp\" or \"ipc\"", r.Transport)
	case r.KernelID == "":
		return r, errors.New("kernel_id is missing")
	case len(r.KernelID) > 255:
		return r, fmt.Errorf("kernel_id has %d bytes; want 255 at most", len(r.KernelID))
	case r.IP == "":
		return r, errors.New("registration_ip is missing")
	case r.Port < 1 || r.Port > 65535:
		return r, fmt.Errorf("registration_port is %d; want 1 to 65535", r.Port)
	}
	if err := refuseCurve(raw); err != nil {
		return r, err
	}
	_, err := NewSigner(r.SignatureScheme, r.Key)
	return r, err
}

// Address returns network and address of the registration socket, spelt as Connection.Address does.
func (r Registration) Address() (network, address string) {
	port := strconv.Itoa(r.Port)
	if r.Transport == "ipc" {
		return "unix", r.IP + "-" + port
	}
	return "tcp", net.JoinHostPort(r.IP, port)
}

// Announce is what the kernel says to the registration socket: the delimiter, the signature and one
// content with its five ports, which are strings there. It is no full message.
func (s *Signer) Announce(kernelID string, c Connection) ([][]byte, error) {
	fields := map[string]string{"kernel_id": kernelID}
	for _, ch := range Sockets {
		fields[string(ch)+"_port"] = strconv.Itoa(c.Port(ch))
	}
	content, err := Marshal(fields)
	if err != nil {
		return nil, err
	}
	return [][]byte{Delimiter, s.sign(content), content}, nil
}

// Acknowledged reports whether frames are a signed, single-frame content, as the registration socket
// answers Announce. What the content says is the other side's business.
func (s *Signer) Acknowledged(frames [][]byte) bool {
	for i, f := range frames {
		if string(f) == string(Delimiter) {
			rest := frames[i+1:]
			return len(rest) == 2 && (len(s.key) == 0 || hmac.Equal(rest[0], s.sign(rest[1])))
		}
	}
	return false
}
