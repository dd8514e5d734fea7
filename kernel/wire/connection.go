package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
)

// Connection is the content of a connection file (jupyter_client, "Connection files").
type Connection struct {
	Transport       string `json:"transport"` // "tcp" or "ipc"
	IP              string `json:"ip"`        // an address; with ipc the first part of a path
	ShellPort       int    `json:"shell_port"`
	IOPubPort       int    `json:"iopub_port"`
	StdinPort       int    `json:"stdin_port"`
	ControlPort     int    `json:"control_port"`
	HBPort          int    `json:"hb_port"`
	Key             string `json:"key"`
	SignatureScheme string `json:"signature_scheme"`
	KernelName      string `json:"kernel_name,omitempty"`
}

// ReadConnection reads and checks a connection file.
func ReadConnection(path string) (Connection, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return Connection{}, fmt.Errorf("connection file: %w", err)
	}
	c, err := ParseConnection(raw)
	if err != nil {
		return Connection{}, fmt.Errorf("connection file %s: %w", path, err)
	}
	return c, nil
}

// ParseConnection reads the JSON of a connection file and refuses what cannot work, by name.
func ParseConnection(raw []byte) (Connection, error) {
	c := Connection{Transport: "tcp", SignatureScheme: SignatureScheme}
	if err := json.Unmarshal(raw, &c); err != nil {
		return Connection{}, fmt.Errorf("not a JSON object as Jupyter writes it: %w", err)
	}
	if isRegistration(raw) {
		return Connection{}, errors.New("it is a registration file of the start handshake (protocol 5.6): it names no ports")
	}
	if err := refuseCurve(raw); err != nil {
		return Connection{}, err
	}
	return c, c.check()
}

// refuseCurve says by name that there is no encryption, before anybody takes the connection for secret.
func refuseCurve(raw []byte) error {
	var keys struct {
		Public string `json:"curve_publickey"`
		Secret string `json:"curve_secretkey"`
	}
	if err := json.Unmarshal(raw, &keys); err != nil {
		return fmt.Errorf("curve keys: %w", err)
	}
	if keys.Public != "" || keys.Secret != "" {
		return errors.New("it has CURVE keys, but this kernel cannot encrypt; " +
			"start it without (the kernelspec does not declare supported_encryption)")
	}
	return nil
}

func (c Connection) check() error {
	if c.Transport != "tcp" && c.Transport != "ipc" {
		return fmt.Errorf("transport %q is not supported; want \"tcp\" or \"ipc\"", c.Transport)
	}
	if c.IP == "" {
		return errors.New("ip is missing")
	}
	if _, err := NewSigner(c.SignatureScheme, c.Key); err != nil {
		return err
	}
	for _, ch := range Sockets {
		port := c.Port(ch)
		if port < 0 || port > 65535 {
			return fmt.Errorf("%s_port is %d; want 0 to 65535", ch, port)
		}
		if port == 0 && c.Transport == "ipc" {
			return fmt.Errorf("%s_port is missing", ch)
		}
	}
	return nil
}

// Heartbeat names the heartbeat's socket, beside the four channels.
const Heartbeat Channel = "hb"

// Sockets lists the five sockets of a kernel.
var Sockets = [5]Channel{Shell, IOPub, Stdin, Control, Heartbeat}

func (c *Connection) port(ch Channel) *int {
	switch ch {
	case Shell:
		return &c.ShellPort
	case IOPub:
		return &c.IOPubPort
	case Stdin:
		return &c.StdinPort
	case Control:
		return &c.ControlPort
	}
	return &c.HBPort
}

// Port of a socket; 0 with tcp lets the system choose.
func (c Connection) Port(ch Channel) int { return *c.port(ch) }

// SetPort writes the port that the system chose.
func (c *Connection) SetPort(ch Channel, port int) { *c.port(ch) = port }

// Shares reports whether another socket has the port of this one.
func (c Connection) Shares(ch Channel) bool {
	for _, other := range Sockets {
		if other != ch && c.Port(other) == c.Port(ch) {
			return true
		}
	}
	return false
}

// Address returns network and address for net.Listen: tcp and host:port, or unix and the path
// "ip-port", as jupyter_client spells ipc endpoints.
func (c Connection) Address(ch Channel) (network, address string) {
	port := strconv.Itoa(c.Port(ch))
	if c.Transport == "ipc" {
		return "unix", c.IP + "-" + port
	}
	host := c.IP
	if host == "*" {
		host = "0.0.0.0"
	}
	return "tcp", net.JoinHostPort(host, port)
}

// Loopback reports whether only this machine can reach the kernel.
func (c Connection) Loopback() bool {
	if c.Transport == "ipc" || c.IP == "localhost" {
		return true
	}
	ip := net.ParseIP(c.IP)
	return ip != nil && ip.IsLoopback()
}
