package wire

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func signer(t testing.TB, key string) *Signer {
	t.Helper()
	s, err := NewSigner("", key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sample() Message {
	session := NewSession("learner")
	return Message{
		Identities: [][]byte{{0, 1, 2}, []byte("second")},
		Header:     session.Header("execute_request"),
		Metadata:   json.RawMessage(`{"cellId":"a"}`),
		Content:    json.RawMessage(`{"code":"1+1 // é😀"}`),
		Buffers:    [][]byte{{1}, {}},
	}
}

// The HMAC is the one that jupyter_client computes: this vector comes from Python's hmac module over
// the same four strings and key.
func TestSignatureIsJupytersOwn(t *testing.T) {
	parts := [4][]byte{[]byte(`{"msg_id":"1"}`), []byte(`{}`), []byte(`{}`), []byte(`{"code":"x"}`)}
	got := string(signer(t, "secret").Sign(parts))
	const want = "6d4e96e072a7d545daf167071b1f625b663fcd9227dc75b9859ef0fcf0aef780"
	if got != want {
		t.Errorf("signature %s, want %s", got, want)
	}
}

func TestEncodeThenDecodeGivesTheSameMessage(t *testing.T) {
	for _, key := range []string{"", "k3y"} {
		s := signer(t, key)
		m := sample()
		frames, err := s.Encode(&m)
		if err != nil {
			t.Fatal(err)
		}
		if key == "" && len(frames[3]) != 0 {
			t.Error("an empty key must give an empty signature frame")
		}
		got, err := s.Decode(frames)
		if err != nil {
			t.Fatal(err)
		}
		if got.Header != m.Header || string(got.Content) != string(m.Content) ||
			string(got.Metadata) != string(m.Metadata) || string(got.Parent) != "{}" ||
			len(got.Identities) != 2 || len(got.Buffers) != 2 {
			t.Errorf("got %+v\nwant %+v", got, m)
		}
	}
}

func TestParentIsTheWholeHeaderOfTheRequest(t *testing.T) {
	s := signer(t, "k")
	raw := []byte(`{"msg_id":"7","msg_type":"x_request","session":"s","username":"u","date":"d","version":"5.9","from_the_future":[1]}`)
	parts := [4][]byte{raw, []byte("{}"), []byte("{}"), []byte("{}")}
	m, err := s.Decode([][]byte{Delimiter, s.Sign(parts), parts[0], parts[1], parts[2], parts[3]})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(m.AsParent()); got != string(raw) {
		t.Errorf("parent %s, want the header as it came, %s", got, raw)
	}
}

func TestDecodeRefuses(t *testing.T) {
	s := signer(t, "k")
	good := sample()
	frames, err := s.Encode(&good)
	if err != nil {
		t.Fatal(err)
	}
	change := func(at int, to string) [][]byte {
		c := append([][]byte{}, frames...)
		c[at] = []byte(to)
		return c
	}
	resign := func(at int, to string) [][]byte {
		c := change(at, to)
		c[3] = s.Sign([4][]byte(c[4:8]))
		return c
	}
	for name, tc := range map[string]struct {
		frames [][]byte
		want   error
	}{
		"nothing":                {nil, ErrNoDelimiter},
		"no delimiter":           {change(2, "<IDS>"), ErrNoDelimiter},
		"four frames":            {frames[:7], ErrTooShort},
		"another's signature":    {change(3, strings.Repeat("0", 64)), ErrBadSignature},
		"no signature":           {change(3, ""), ErrBadSignature},
		"uppercase signature":    {change(3, strings.ToUpper(string(frames[3]))), ErrBadSignature},
		"content changed":        {change(7, `{"code":"evil"}`), ErrBadSignature},
		"header is an array":     {resign(4, `[]`), ErrBadHeader},
		"header without msg_id":  {resign(4, `{"msg_type":"x"}`), ErrBadHeader},
		"content is null":        {resign(7, `null`), ErrBadJSON},
		"content is cut":         {resign(7, `{"code":`), ErrBadJSON},
		"metadata is empty":      {resign(6, ``), ErrBadJSON},
		"parent is a string":     {resign(5, `"x"`), ErrBadJSON},
		"signed with other key":  {must(signer(t, "other").Encode(&good)), ErrBadSignature},
		"unsigned, key expected": {must(signer(t, "").Encode(&good)), ErrBadSignature},
	} {
		if _, err := s.Decode(tc.frames); !errors.Is(err, tc.want) {
			t.Errorf("%s: error %v, want %v", name, err, tc.want)
		}
	}
}

func must(frames [][]byte, err error) [][]byte {
	if err != nil {
		panic(err)
	}
	return frames
}

func TestHeadersAreUniqueAndDated(t *testing.T) {
	s := NewSession("learner")
	a, b := s.Header("status"), s.Header("status")
	if a.MsgID == b.MsgID || a.MsgID == NewSession("learner").Header("status").MsgID {
		t.Error("msg_id must be unique")
	}
	if a.Version != "5.6" {
		t.Errorf("version %q, want 5.5", a.Version)
	}
	date, ok := ParseDate(a.Date)
	if !ok || time.Since(date).Abs() > time.Minute || !strings.HasSuffix(a.Date, "Z") {
		t.Errorf("date %q is not now in ISO 8601 with a zone", a.Date)
	}
}

func TestParseDate(t *testing.T) {
	want := time.Date(2026, 10, 4, 12, 0, 0, 123000000, time.UTC)
	for _, s := range []string{
		"2026-10-04T12:00:00.123Z", "2026-10-04T12:00:00.123000+00:00",
		"2026-10-04T14:00:00.123+0200", "2026-10-04T12:00:00.123",
	} {
		if got, ok := ParseDate(s); !ok || !got.Equal(want) {
			t.Errorf("%s: %v %v", s, got, ok)
		}
	}
	if _, ok := ParseDate("yesterday"); ok {
		t.Error("a word is not a date")
	}
}

func TestSeenRefusesAReplayAndForgetsTheOldest(t *testing.T) {
	seen := NewSeen(2)
	m := func(signature string) *Message { return &Message{Signature: []byte(signature)} }
	if !seen.First(m("a")) || seen.First(m("a")) {
		t.Error("a is new once")
	}
	seen.First(m("b"))
	seen.First(m("c")) // pushes a out
	if seen.First(m("c")) || !seen.First(m("a")) {
		t.Error("the last two are kept, older ones forgotten")
	}
	if len(seen.signatures) != 2 {
		t.Errorf("%d signatures kept, want 2", len(seen.signatures))
	}
	if !seen.First(m("")) || !seen.First(m("")) {
		t.Error("without signatures nothing is a replay")
	}
}

const tcpFile = `{"shell_port": 1, "iopub_port": 2, "stdin_port": 3, "control_port": 4, "hb_port": 5,
	"ip": "127.0.0.1", "key": "k", "transport": "tcp", "signature_scheme": "hmac-sha256", "kernel_name": "go", "jupyter_session": "/x.ipynb"}`

func TestConnectionFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kernel.json")
	if err := os.WriteFile(path, []byte(tcpFile), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := ReadConnection(path)
	if err != nil {
		t.Fatal(err)
	}
	for ch, want := range map[Channel]string{Shell: "127.0.0.1:1", IOPub: "127.0.0.1:2", Stdin: "127.0.0.1:3", Control: "127.0.0.1:4", Heartbeat: "127.0.0.1:5"} {
		if network, got := c.Address(ch); network != "tcp" || got != want {
			t.Errorf("%s at %s %s, want tcp %s", ch, network, got, want)
		}
	}
	ipc, err := ParseConnection([]byte(strings.NewReplacer(`"tcp"`, `"ipc"`, "127.0.0.1", "/run/k").Replace(tcpFile)))
	if err != nil {
		t.Fatal(err)
	}
	if network, got := ipc.Address(Shell); network != "unix" || got != "/run/k-1" {
		t.Errorf("ipc shell at %s %s", network, got)
	}
	for ip, want := range map[string]bool{"127.0.0.1": true, "localhost": true, "::1": true, "0.0.0.0": false, "*": false, "192.168.1.7": false} {
		if got := (Connection{Transport: "tcp", IP: ip}).Loopback(); got != want {
			t.Errorf("Loopback(%s) = %v", ip, got)
		}
	}
}

func TestConnectionFileIsRefusedByName(t *testing.T) {
	for _, tc := range []struct{ old, new, want string }{
		{`"tcp"`, `"udp"`, `transport "udp"`},
		{`"hmac-sha256"`, `"hmac-md5"`, `"hmac-md5" is not supported`},
		{`"shell_port": 1`, `"shell_port": 99999`, "shell_port is 99999"},
		{`"shell_port": 1`, `"shell_port": "1"`, "not a JSON object"},
		{`"ip": "127.0.0.1"`, `"ip": ""`, "ip is missing"},
		{`"key"`, `"curve_secretkey": "x", "key"`, "CURVE"},
		{`"ip": "127.0.0.1"`, `"registration_port": 5`, "start handshake"},
		{tcpFile, `[]`, "not a JSON object"},
	} {
		_, err := ParseConnection([]byte(strings.Replace(tcpFile, tc.old, tc.new, 1)))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want one with %q", tc.new, err, tc.want)
		}
	}
	if _, err := ReadConnection("/no/such/file"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

// Whatever frames arrive, Decode returns a message that can be encoded again, or an error.
func FuzzDecode(f *testing.F) {
	s := signer(f, "")
	m := sample()
	frames, _ := s.Encode(&m)
	for n := range frames {
		f.Add(joinFrames(frames[n:]))
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := s.Decode(splitFrames(data))
		if err != nil {
			return
		}
		again, err := s.Encode(&got)
		if err != nil {
			t.Fatalf("decoded but not encodable: %v", err)
		}
		if _, err := s.Decode(again); err != nil {
			t.Fatalf("encoded but not decodable: %v", err)
		}
		if !json.Valid(got.AsParent()) {
			t.Fatal("parent is not JSON")
		}
	})
}

func FuzzParseConnection(f *testing.F) {
	f.Add([]byte(tcpFile))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ParseConnection(data)
		if err != nil {
			return
		}
		for _, ch := range Sockets {
			if _, address := c.Address(ch); address == "" {
				t.Fatal("accepted without an address")
			}
		}
	})
}

// Frames in fuzz data: a length byte (255: up to the end), then the bytes.
func splitFrames(data []byte) (frames [][]byte) {
	for len(data) > 0 {
		n := int(data[0])
		data = data[1:]
		if n == 255 || n > len(data) {
			n = len(data)
		}
		frames = append(frames, data[:n])
		data = data[n:]
	}
	return frames
}

func joinFrames(frames [][]byte) (data []byte) {
	for _, f := range frames {
		data = append(append(data, byte(min(len(f), 254))), f[:min(len(f), 254)]...)
	}
	return data
}

func BenchmarkEncode(b *testing.B) {
	s := signer(b, "0123456789abcdef")
	m := sample()
	for b.Loop() {
		if _, err := s.Encode(&m); err != nil {
			b.Fatal(err)
		}
	}
}
