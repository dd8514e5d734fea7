package wire

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"sync/atomic"
	"time"
)

// Session makes headers: one per process, new on every start, as the message spec asks.
type Session struct {
	ID       string
	Username string
	Now      func() time.Time // time.Now; tests set it

	count atomic.Uint64
}

// NewSession returns a session with a random id.
func NewSession(username string) *Session {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails since Go 1.24
	return &Session{ID: hex.EncodeToString(id[:]), Username: username, Now: time.Now}
}

// Header returns the header of a new message; its msg_id is unique.
func (s *Session) Header(msgType string) Header {
	return Header{
		MsgID:    s.ID + "_" + strconv.FormatUint(s.count.Add(1), 10),
		Session:  s.ID,
		Username: s.Username,
		Date:     FormatDate(s.Now()),
		MsgType:  msgType,
		Version:  ProtocolVersion,
	}
}

// FormatDate writes a time as headers do: UTC, microseconds.
func FormatDate(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// ParseDate reads a header's date. A date without a zone, which protocol 5.0 allowed, counts as UTC.
func ParseDate(s string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999-0700", "2006-01-02T15:04:05.999999999"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
