package zmq

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Flags of a ZMTP 3.0 frame (RFC 23).
const (
	flagMore    = 0x1
	flagLong    = 0x2
	flagCommand = 0x4
	flagsKnown  = flagMore | flagLong | flagCommand
)

const maxFrames = 1024 // of one message

var (
	errTooBig  = errors.New("message is too big")
	errIllegal = errors.New("illegal frame")
)

// inbound is one message or command as it came over the wire, headers and all.
type inbound struct {
	raw     []byte
	command bool
	frames  int
	body    int // where the first frame's body begins
}

// first is the body of the first frame, whole if it is the only one.
func (m *inbound) first() []byte { return m.raw[m.body:] }

// readMessage reads a message of at most limit bytes. Memory grows with the bytes that arrive, never
// with the size that a header claims.
func readMessage(r *bufio.Reader, limit int) (inbound, error) {
	var m inbound
	var buf bytes.Buffer
	for {
		flags, size, err := readHeader(r, &buf)
		if err != nil {
			return m, err
		}
		if size > uint64(limit) || buf.Len()+int(size) > limit {
			return m, fmt.Errorf("%w: over %d bytes", errTooBig, limit)
		}
		if m.frames++; m.frames > maxFrames {
			return m, fmt.Errorf("%w: over %d frames", errTooBig, maxFrames)
		}
		if flags&flagCommand != 0 && (m.frames > 1 || flags&flagMore != 0) {
			return m, fmt.Errorf("%w: a command is one frame by itself", errIllegal)
		}
		if m.frames == 1 {
			m.body = buf.Len()
		}
		if _, err := io.CopyN(&buf, r, int64(size)); err != nil {
			return m, err
		}
		if flags&flagMore == 0 {
			m.raw, m.command = buf.Bytes(), flags&flagCommand != 0
			return m, nil
		}
	}
}

// readHeader reads flags and size of a frame and keeps their bytes in buf.
func readHeader(r *bufio.Reader, buf *bytes.Buffer) (flags byte, size uint64, err error) {
	if flags, err = r.ReadByte(); err != nil {
		return 0, 0, err
	}
	if flags&^byte(flagsKnown) != 0 {
		return 0, 0, fmt.Errorf("%w: flags %#x", errIllegal, flags)
	}
	header := [9]byte{flags}
	n := 2
	if flags&flagLong != 0 {
		n = 9
	}
	if _, err = io.ReadFull(r, header[1:n]); err != nil {
		return 0, 0, err
	}
	buf.Write(header[:n])
	size, _ = headerSize(header[:n])
	return flags, size, nil
}

// headerSize reads the size of the frame at the start of b and the length of its header; 0 if the
// header is not whole.
func headerSize(b []byte) (size uint64, header int) {
	if len(b) < 2 {
		return 0, 0
	}
	if b[0]&flagLong == 0 {
		return uint64(b[1]), 2
	}
	if len(b) < 9 {
		return 0, 0
	}
	return binary.BigEndian.Uint64(b[1:9]), 9
}

// appendFrame writes a frame.
func appendFrame(b []byte, flags byte, body []byte) []byte {
	if len(body) > 255 {
		b = append(b, flags|flagLong)
		b = binary.BigEndian.AppendUint64(b, uint64(len(body)))
	} else {
		b = append(b, flags, byte(len(body)))
	}
	return append(b, body...)
}

// appendMessage writes frames as one message.
func appendMessage(b []byte, frames [][]byte) []byte {
	for i, f := range frames {
		flags := byte(flagMore)
		if i == len(frames)-1 {
			flags = 0
		}
		b = appendFrame(b, flags, f)
	}
	return b
}

// split cuts a whole message into its frames' bodies.
func split(raw []byte) (frames [][]byte) {
	for len(raw) > 0 {
		size, header := headerSize(raw)
		frames = append(frames, raw[header:header+int(size)])
		raw = raw[header+int(size):]
	}
	return frames
}

// assembler puts the pieces that zmq4 writes (a header, a body, …) together to whole messages, so that
// nothing is ever queued, or slipped in, in the middle of one.
type assembler struct {
	buf  []byte
	scan int // the frames before it are whole
}

// add takes a piece and hands every message that it completes to emit, which may keep the bytes.
func (a *assembler) add(piece []byte, emit func([]byte)) {
	a.buf = append(a.buf, piece...)
	for {
		size, header := headerSize(a.buf[a.scan:])
		if header == 0 || uint64(len(a.buf)-a.scan-header) < size {
			return
		}
		more := a.buf[a.scan]&flagMore != 0
		a.scan += header + int(size)
		if more {
			continue
		}
		whole := a.buf[:a.scan:a.scan]
		a.buf, a.scan = append(make([]byte, 0, 1024), a.buf[a.scan:]...), 0
		emit(whole)
	}
}
