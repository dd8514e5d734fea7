package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/go-zeromq/zmq4"

	"kafkalab/kernel/wire"
)

// opening is a way to start a kernel: the file that it is given, and how its connection becomes known.
type opening struct {
	key        string
	file       any
	connection func(context.Context, *Kernel) (wire.Connection, error)
	close      func()
}

func newKey() string { return wire.NewSession("").ID }

// givenPorts picks five free ports, as jupyter_client does.
func givenPorts() (*opening, error) {
	c := wire.Connection{Transport: "tcp", IP: "127.0.0.1", Key: newKey(), SignatureScheme: wire.SignatureScheme}
	for _, ch := range wire.Sockets {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // all five are held until all are known, so that they differ
		c.SetPort(ch, l.Addr().(*net.TCPAddr).Port)
	}
	known := func(context.Context, *Kernel) (wire.Connection, error) { return c, nil }
	return &opening{c.Key, c, known, func() {}}, nil
}

// chosenPorts opens a registration socket.
func chosenPorts() (*opening, error) {
	router := zmq4.NewRouter(context.Background())
	if err := router.Listen("tcp://127.0.0.1:0"); err != nil {
		return nil, err
	}
	addr, ok := router.Addr().(*net.TCPAddr)
	if !ok {
		router.Close()
		return nil, fmt.Errorf("the registration socket is at %v", router.Addr())
	}
	r := wire.Registration{
		KernelID: newKey(), Transport: "tcp", IP: "127.0.0.1", Port: addr.Port,
		SignatureScheme: wire.SignatureScheme, Key: newKey(),
	}
	o := &opening{key: r.Key, file: r, close: func() { router.Close() }}
	o.connection = func(ctx context.Context, k *Kernel) (wire.Connection, error) { return registered(ctx, k, router, r) }
	return o, nil
}

// registered waits for the kernel's announcement, acknowledges it and returns the connection.
func registered(ctx context.Context, k *Kernel, router zmq4.Socket, r wire.Registration) (wire.Connection, error) {
	type result struct {
		c   wire.Connection
		err error
	}
	done := make(chan result, 1)
	go func() {
		c, err := announced(k.signer, router, r)
		done <- result{c, err}
	}()
	select {
	case got := <-done:
		return got.c, got.err
	case <-k.ended:
		return wire.Connection{}, errors.New("the process ended before it registered")
	case <-ctx.Done():
		return wire.Connection{}, errors.New("it did not register in time")
	}
}

func announced(signer *wire.Signer, router zmq4.Socket, r wire.Registration) (wire.Connection, error) {
	c := wire.Connection{Transport: r.Transport, IP: r.IP, Key: r.Key, SignatureScheme: r.SignatureScheme}
	msg, err := router.Recv()
	if err != nil {
		return c, err
	}
	if !signer.Acknowledged(msg.Frames) { // the announcement has the shape of its acknowledgement
		return c, errors.New("its registration is not signed as it should be")
	}
	var ports map[string]string
	if err := json.Unmarshal(msg.Frames[len(msg.Frames)-1], &ports); err != nil {
		return c, fmt.Errorf("its registration: %w", err)
	}
	if ports["kernel_id"] != r.KernelID {
		return c, fmt.Errorf("it registers as %q", ports["kernel_id"])
	}
	for _, ch := range wire.Sockets {
		port, err := strconv.Atoi(ports[string(ch)+"_port"])
		if err != nil {
			return c, fmt.Errorf("its registration: %s_port: %w", ch, err)
		}
		c.SetPort(ch, port)
	}
	ack, err := signer.Announce(r.KernelID, c)
	if err != nil {
		return c, err
	}
	return c, router.SendMulti(zmq4.NewMsgFrom(append([][]byte{msg.Frames[0]}, ack...)...))
}
