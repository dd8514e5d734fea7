package zmq

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kafkalab/kernel/wire"
)

// Each test here is an attack that goes on while somebody else works: their `1+1` is answered within a
// second throughout, and afterwards memory, descriptors and goroutines are where they were.

// promptly is how long an honest cell may take during an attack.
const promptly = time.Second

// bystander is an honest frontend that keeps nothing of what it reads.
type bystander struct {
	r       *running
	session *wire.Session
	shell   *link
	idle    chan string // ids of the messages whose idle has come; closed when it was cut off
	cells   atomic.Int64
}

func (r *running) bystander(t *testing.T) *bystander {
	t.Helper()
	b := &bystander{r: r, session: wire.NewSession("bystander"), idle: make(chan string, 1)}
	b.shell = r.connect(t, wire.Shell, "DEALER", "bystander")
	iopub := r.connect(t, wire.IOPub, "SUB", "")
	if err := iopub.send([]byte{1}); err != nil {
		t.Fatal(err)
	}
	if _, err := iopub.recv(); err != nil { // the welcome: from here on it misses nothing
		t.Fatal(err)
	}
	go func() {
		for {
			frames, err := iopub.recv()
			if err != nil {
				close(b.idle)
				return
			}
			m, err := r.signer.Decode(frames)
			if err == nil && string(m.Content) == `{"execution_state":"idle"}` && m.ParentHeader().Session == b.session.ID {
				b.idle <- m.ParentHeader().MsgID
			}
		}
	}()
	return b
}

// cell runs 1+1 and returns how long its reply and its idle took.
func (b *bystander) cell(t *testing.T) time.Duration {
	t.Helper()
	m := wire.Message{Header: b.session.Header("execute_request"), Content: json.RawMessage(`{"code":"result 2"}`)}
	frames, err := b.r.signer.Encode(&m)
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if err := b.shell.send(frames...); err != nil {
		t.Fatalf("the bystander was cut off: %v", err)
	}
	_ = b.shell.SetReadDeadline(begun.Add(20 * time.Second))
	reply, err := b.shell.recv()
	if err != nil {
		t.Fatalf("1+1 has no answer: %v", err)
	}
	got, err := b.r.signer.Decode(reply)
	if err != nil || got.ParentHeader().MsgID != m.Header.MsgID || !strings.Contains(string(got.Content), `"status":"ok"`) {
		t.Fatalf("1+1 is answered by %s %s (%v)", got.Header.MsgType, got.Content, err)
	}
	select {
	case id := <-b.idle:
		if id != m.Header.MsgID {
			t.Fatalf("idle of %s, want %s", id, m.Header.MsgID)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("1+1 has no idle")
	}
	b.cells.Add(1)
	return time.Since(begun)
}

// held is what the process holds.
type held struct {
	descriptors, goroutines int
	heap                    uint64
}

func holds() held {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	h := held{goroutines: runtime.NumGoroutine(), heap: m.HeapAlloc, descriptors: -1}
	if entries, err := os.ReadDir("/proc/self/fd"); err == nil {
		h.descriptors = len(entries)
	}
	return h
}

// besieged runs an attack beside a bystander and holds both promises.
func besieged(t *testing.T, r *running, attack func(t *testing.T, b *bystander)) {
	t.Helper()
	b := r.bystander(t)
	limit := promptly // a machine that is slow without an attack gets the longer
	for range 20 {
		limit = max(limit, promptly+50*b.cell(t))
	}
	before := holds()
	over := make(chan struct{})
	go func() { defer close(over); attack(t, b) }()
	cells, worst := 0, time.Duration(0)
	for going := true; going; cells++ {
		select {
		case <-over:
			going = false
		default:
		}
		worst = max(worst, b.cell(t))
	}
	if worst > limit {
		t.Errorf("1+1 took %v during the attack, want at most %v", worst, limit)
	}
	var after held
	back := func() bool {
		after = holds()
		kept := 4<<20 + uint64(cells)<<10 // a kernel remembers its cells: less than 1 KiB for each
		return after.descriptors <= before.descriptors && after.goroutines <= before.goroutines && after.heap <= before.heap+kept
	}
	for deadline := time.Now().Add(10 * time.Second); !back(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("before the attack %+v, afterwards %+v", before, after)
			break
		}
	}
	t.Logf("%d cells, the slowest %v; %+v, then %+v", cells, worst, before, after)
}

// open dials without the clean-up of running.dial: an attack closes what it opens.
func (r *running) open(ch wire.Channel) (*link, error) {
	network, address := r.Connection().Address(ch)
	conn, err := net.Dial(network, address)
	if err != nil {
		return nil, err
	}
	return newLink(conn), nil
}

// socketTypes are what speaks to each port.
var socketTypes = map[wire.Channel]string{
	wire.Shell: "DEALER", wire.Control: "DEALER", wire.Stdin: "DEALER", wire.IOPub: "SUB", wire.Heartbeat: "REQ",
}

// shaken opens a connection and shakes hands.
func (r *running) shaken(ch wire.Channel) (*link, error) {
	l, err := r.open(ch)
	if err != nil {
		return nil, err
	}
	if err := l.shake(socketTypes[ch], ""); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

func noise(random *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return b
}

// Bytes that mean nothing: from the first, after a greeting, after a whole handshake, and as frames.
func TestHostileRandomBytesOnEachPort(t *testing.T) {
	r := start(t)
	besieged(t, r, func(t *testing.T, _ *bystander) {
		random := rand.New(rand.NewPCG(1, 2))
		for range 40 {
			for _, ch := range wire.Sockets {
				for kind, start := range [][]byte{nil, greeting(), append(greeting(), ready(socketTypes[ch], "")...)} {
					l, err := r.open(ch)
					if err != nil {
						t.Errorf("%s takes no connections: %v", ch, err)
						return
					}
					bytes := noise(random, random.IntN(5000))
					if kind == 2 && random.IntN(2) == 0 {
						bytes = appendMessage(nil, [][]byte{{}, noise(random, random.IntN(300)), noise(random, 10)})
					}
					_, _ = l.Write(append(start, bytes...)) // it may have been cut off already
					l.Close()
				}
			}
		}
	})
}

// A handshake that stops after each of its bytes, on each port, and stays open.
func TestHostileHalfHandshakes(t *testing.T) {
	r := start(t, limits(func(l *Limits) { l.Handshake = 500 * time.Millisecond }))
	besieged(t, r, func(t *testing.T, _ *bystander) {
		for _, ch := range wire.Sockets {
			whole := append(greeting(), ready(socketTypes[ch], "")...)
			var open []*link
			for cut := range whole {
				l, err := r.open(ch)
				if err != nil {
					t.Errorf("%s takes no connections: %v", ch, err)
					return
				}
				_, _ = l.Write(whole[:cut])
				open = append(open, l)
			}
			for _, l := range open {
				l.closedSoon(t, 5*time.Second)
				l.Close()
			}
		}
	})
	if n := r.Counts().Handshakes.Load(); n < 5*64 {
		t.Errorf("%d handshakes failed, want one for each that was left half done", n)
	}
}

// Subscribers that read nothing, or a byte now and then, and clients that never read their replies, while
// there is a lot to read.
func TestHostileSlowReaders(t *testing.T) {
	r := start(t, limits(func(l *Limits) { l.OutBytes = 4 << 20 }))
	besieged(t, r, func(t *testing.T, b *bystander) {
		var open []*link
		for i := range 8 {
			ch := []wire.Channel{wire.IOPub, wire.Shell}[i%2]
			l, err := r.shaken(ch)
			if err != nil {
				t.Error(err)
				return
			}
			_ = l.Conn.(*net.TCPConn).SetReadBuffer(4 << 10)
			open = append(open, l)
			if ch == wire.IOPub {
				_ = l.send([]byte{1})
			}
			if i < 4 { // one byte now and then
				go func() {
					for one := make([]byte, 1); ; time.Sleep(10 * time.Millisecond) {
						if _, err := l.Read(one); err != nil {
							return
						}
					}
				}()
			}
		}
		// The header of a request comes back with its reply: a long one makes long replies.
		session, text := wire.NewSession(strings.Repeat("u", 20_000)), strings.Repeat("0123456789", 1000)
		for deadline := time.Now().Add(30 * time.Second); r.Counts().Slow.Load() < 8 && time.Now().Before(deadline); {
			for i, l := range open {
				m := wire.Message{Header: session.Header("is_complete_request"), Content: json.RawMessage(`{"code":"x"}`)}
				if i == 1 {
					m.Header.MsgType, m.Content = "execute_request", json.RawMessage(`{"code":"flood 20 `+text+`","store_history":false}`)
				}
				if frames, err := r.signer.Encode(&m); err == nil && i%2 == 1 {
					_ = l.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
					_ = l.send(frames...) // it is cut off sooner or later
				}
			}
			// No more than who does read can take: the next round when the bystander has come round.
			for seen, end := b.cells.Load(), time.Now().Add(time.Second); b.cells.Load() < seen+2 && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
		}
		for _, l := range open {
			l.Close()
		}
	})
	if n := r.Counts().Slow.Load(); n != 8 {
		t.Errorf("%d slow readers were cut off, want 8", n)
	}
}

// Sizes that are only claimed, and big frames that really come, forged, several at once.
func TestHostileHugeFrames(t *testing.T) {
	r := start(t, limits(func(l *Limits) { l.InBytes = 16 << 20 }))
	besieged(t, r, func(t *testing.T, _ *bystander) {
		var all sync.WaitGroup
		for i := range 3 {
			all.Go(func() {
				for _, ch := range wire.Sockets {
					for _, size := range []uint64{1<<64 - 1, 1 << 62, 1 << 47, 8 << 30, 17 << 20} {
						if l, err := r.shaken(ch); err == nil {
							_, _ = l.Write(binary.BigEndian.AppendUint64([]byte{flagLong | flagMore&byte(i)}, size))
							l.closedSoon(t, 5*time.Second)
							l.Close()
						}
					}
				}
				l, err := r.shaken(wire.Shell)
				if err != nil {
					t.Error(err)
					return
				}
				defer l.Close()
				big := bytes.Repeat([]byte("x"), 12<<20)
				_ = l.send(wire.Delimiter, []byte("forged"), []byte("{}"), []byte("{}"), []byte("{}"), big)
				_, _ = l.Write(binary.BigEndian.AppendUint64([]byte{flagLong}, 15<<20)) // and one that breaks off
				_, _ = l.Write(big[:5<<20])
			})
		}
		all.Wait()
	})
	if n := r.Counts().BadSignature.Load(); n != 3 {
		t.Errorf("%d forged messages came through, want 3", n)
	}
	if n := r.Counts().Illegal.Load(); n < 3*25 {
		t.Errorf("%d connections were dropped for what they claimed, want at least 75", n)
	}
}

// A thousand peers that come and vanish at any moment, half of them with a reset.
func TestHostileThousandVanish(t *testing.T) {
	r := start(t)
	besieged(t, r, func(t *testing.T, _ *bystander) {
		random := rand.New(rand.NewPCG(3, 4))
		for i := range 1000 {
			ch := wire.Sockets[i%len(wire.Sockets)]
			l, err := r.open(ch)
			if err != nil {
				t.Errorf("connection %d: %v", i, err)
				return
			}
			whole := append(greeting(), ready(socketTypes[ch], fmt.Sprint("peer", i%50))...)
			whole = appendMessage(append(whole, 0, 1, 1), [][]byte{{}, []byte("<IDS|MSG>"), []byte("x"), []byte("{}")})
			_, _ = l.Write(whole[:random.IntN(len(whole)+1)])
			if i%2 == 0 {
				_ = l.Conn.(*net.TCPConn).SetLinger(0)
			}
			l.Close()
		}
	})
}

// Well-formed messages under another key, as fast as they can be sent.
func TestHostileForgedSignatures(t *testing.T) {
	const peers, each = 4, 5000
	r := start(t)
	besieged(t, r, func(t *testing.T, _ *bystander) {
		forger, err := wire.NewSigner("", "another key")
		if err != nil {
			t.Error(err)
			return
		}
		var all sync.WaitGroup
		for range peers {
			all.Go(func() {
				l, err := r.shaken(wire.Shell)
				if err != nil {
					t.Error(err)
					return
				}
				defer l.Close()
				session := wire.NewSession("mallory")
				for range each {
					m := wire.Message{Header: session.Header("execute_request"), Content: json.RawMessage(`{"code":"print stolen"}`)}
					frames, err := forger.Encode(&m)
					if err == nil {
						err = l.send(frames...)
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		for deadline := time.Now().Add(20 * time.Second); r.Counts().BadSignature.Load() < peers*each && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
	})
	if n := r.Counts().BadSignature.Load(); n != peers*each {
		t.Errorf("%d of %d forged messages counted", n, peers*each)
	}
	if n := strings.Count(r.log.String(), "\n"); n != 1 {
		t.Errorf("the log has %d lines about it:\n%s", n, r.log)
	}
}

// One recorded message, played again on all three sockets and from many connections.
func TestHostileReplayedFrames(t *testing.T) {
	const peers, each = 6, 500
	r := start(t)
	recorded := wire.Message{Header: wire.NewSession("victim").Header("execute_request"), Content: json.RawMessage(`{"code":"result once"}`)}
	frames, err := r.signer.Encode(&recorded)
	if err != nil {
		t.Fatal(err)
	}
	victim := r.connect(t, wire.Shell, "DEALER", "victim")
	if err := victim.send(frames...); err != nil {
		t.Fatal(err)
	}
	if _, err := victim.recv(); err != nil {
		t.Fatal(err)
	}
	besieged(t, r, func(t *testing.T, _ *bystander) {
		for i := range peers {
			l, err := r.shaken([]wire.Channel{wire.Shell, wire.Control, wire.Stdin}[i%3])
			if err != nil {
				t.Error(err)
				return
			}
			for range each {
				if err := l.send(frames...); err != nil {
					t.Error(err)
					return
				}
			}
			for deadline := time.Now().Add(10 * time.Second); r.Counts().Replayed.Load() < int64(each*(i+1)) && time.Now().Before(deadline); {
				time.Sleep(time.Millisecond)
			}
			_ = l.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
			if answer, err := l.recv(); err == nil {
				t.Errorf("a replay was answered: %q", answer)
			}
			l.Close()
		}
	})
	if n := r.Counts().Replayed.Load(); n != peers*each {
		t.Errorf("%d of %d replays were dropped", n, peers*each)
	}
}

// malformed are parts of a message that are no JSON objects, or are hard to read.
var malformed = []string{
	"", " ", "{", "}", "[]", "null", "0", `"x"`, "{}{}", `{"a":}`, `{"a":1,}`, "{'a':1}", "\x00", "\xff\xfe{}", `{"a":"` + "\xff" + `"}`,
	`{"a":"\ud800"}`, `{"a":NaN}`, `{"a":1e999999}`, `{"a":1,"a":2}`, strings.Repeat(`{"a":`, 50_000), strings.Repeat("[", 100_000),
	`{"a":` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + "}", `{"` + strings.Repeat("x", 1<<20) + `":1}`,
	`{"msg_id":7,"msg_type":[]}`, `{"msg_id":"","msg_type":""}`, `{"msg_id":"x"}`, `{"msg_type":"execute_request"}`,
	`{"code":7,"cursor_pos":"x","silent":"no","user_expressions":[1],"comm_id":{},"data":null,"subshell_id":5}`,
}

// Signed messages, so that they are looked at, whose header, parent, metadata or content is malformed, on
// each socket.
func TestHostileMalformedJSONAtEachLevel(t *testing.T) {
	r := start(t)
	besieged(t, r, func(t *testing.T, _ *bystander) {
		for _, ch := range []wire.Channel{wire.Shell, wire.Control, wire.Stdin} {
			l, err := r.shaken(ch)
			if err != nil {
				t.Error(err)
				return
			}
			go func() { // what is answered is read, so that it is no slow reader
				for {
					if _, err := l.recv(); err != nil {
						return
					}
				}
			}()
			for level := range 4 {
				for i, bad := range malformed {
					if err := r.sendParts(l, level, bad, i, ch); err != nil {
						t.Errorf("%s: level %d, part %.40q: %v", ch, level, bad, err)
						return
					}
				}
			}
			time.Sleep(50 * time.Millisecond)
			l.Close()
		}
	})
	if n := r.Counts().BadMessage.Load(); n < 3*4*15 {
		t.Errorf("%d messages were dropped as malformed", n)
	}
}

var requestTypes = []string{"execute_request", "complete_request", "comm_open", "comm_msg", "history_request", "inspect_request",
	"kernel_info_request", "input_reply", "interrupt_request", "delete_subshell_request", "x_request"}

// sendParts signs and sends a message one of whose four parts is replaced.
func (r *running) sendParts(l *link, level int, bad string, i int, ch wire.Channel) error {
	header := wire.NewSession("eve").Header(requestTypes[i%len(requestTypes)])
	if header.MsgType == "interrupt_request" && level != 3 {
		header.MsgType = "usage_request" // an honest cell is not to be interrupted
	}
	raw, err := json.Marshal(header)
	if err != nil {
		return err
	}
	parts := [4][]byte{raw, []byte("{}"), []byte("{}"), []byte(`{"code":"print x","n":` + fmt.Sprint(i) + `}`)}
	parts[level] = []byte(bad)
	if level == 0 && json.Valid(parts[0]) && strings.Contains(bad, "msg_id") {
		parts[3] = []byte(fmt.Sprintf(`{"n":"%s %d"}`, ch, i)) // no replay of another
	}
	return l.send(append([][]byte{wire.Delimiter, r.signer.Sign(parts)}, parts[:]...)...)
}

// Whatever stands in a signed message, the next cell is answered.
func FuzzSignedParts(f *testing.F) {
	for i, bad := range malformed {
		f.Add(uint8(i%4), uint8(i), []byte(bad))
	}
	r := start(f)
	f.Fuzz(func(t *testing.T, level, kind uint8, part []byte) {
		if bytes.Contains(part, []byte("interrupt")) || bytes.Contains(part, []byte("shutdown")) {
			return // that is what they are for
		}
		l, err := r.shaken(wire.Shell)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if err := r.sendParts(l, int(level%4), string(part), int(kind), wire.Shell); err != nil {
			t.Fatal(err)
		}
		m := wire.Message{Header: wire.NewSession("fuzz").Header("kernel_info_request")}
		frames, err := r.signer.Encode(&m)
		if err == nil {
			err = l.send(frames...)
		}
		if err != nil {
			t.Fatal(err)
		}
		_ = l.SetReadDeadline(time.Now().Add(5 * time.Second))
		for {
			reply, err := l.recv()
			if err != nil {
				t.Fatalf("level %d, part %.200q: nothing is answered afterwards: %v", level%4, part, err)
			}
			if got, err := r.signer.Decode(reply); err == nil && got.ParentHeader().MsgID == m.Header.MsgID {
				return
			}
		}
	})
}
