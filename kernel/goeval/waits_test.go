package goeval

import (
	"testing"
	"time"
)

// TestInterruptWaits stops cells that wait in compiled code. Each ends within 100 ms, and what comes after is
// not lost to a wait that nobody needs any more.
func TestInterruptWaits(t *testing.T) {
	s := newSession(t)
	s.run(`import "net"
import "net/http"
import "os/exec"
x := 41
l, e1 := net.Listen("tcp", "127.0.0.1:0")
c, e2 := net.Dial("tcp", l.Addr().String())
d, e3 := l.Accept()
a, b := net.Pipe()
r, w, e4 := os.Pipe()
p, q := io.Pipe()
var mu sync.Locker = new(sync.Mutex)
mu.Lock()
buf := make([]byte, 10)
n := 0`)
	for _, c := range []struct{ wait, after, want string }{
		{"x = 0; n, _ = c.Read(buf); x = 1", "d.Write([]byte(\"abc\"))\nn, err := c.Read(buf)\nfmt.Sprintln(x, string(buf[:n]), err)", "0 abc <nil>\n"},
		{"n, _ = a.Read(buf); x = 2", "go b.Write([]byte(\"def\"))\nn, err := a.Read(buf)\nfmt.Sprintln(x, string(buf[:n]), err)", "0 def <nil>\n"},
		{"a.Write(buf)", "go a.Write([]byte(\"ghi\"))\nn, err := b.Read(buf)\nfmt.Sprintln(string(buf[:n]), err)", "ghi <nil>\n"},
		{"lines := bufio.NewReader(c)\nlines.ReadString('\\n')", "fmt.Fprintln(d, \"jkl\")\nline, err := bufio.NewReader(c).ReadString('\\n')\nfmt.Sprintln(line, err)", "jkl\n <nil>\n"},
		{"io.ReadAll(r)", "w.WriteString(\"mno\")\nn, err := r.Read(buf)\nfmt.Sprintln(string(buf[:n]), err)", "mno <nil>\n"},
		{"io.Copy(io.Discard, io.LimitReader(c, 100))", "d.Write([]byte(\"pqr\"))\nn, err := c.Read(buf)\nfmt.Sprintln(string(buf[:n]), err)", "pqr <nil>\n"},
		{"json.NewDecoder(c).Decode(&x)", "d.Write([]byte(\"7\\n\"))\nerr := json.NewDecoder(c).Decode(&x)\nfmt.Sprintln(x, err)", "7 <nil>\n"},
		{"l.Accept()", "c2, err := net.Dial(\"tcp\", l.Addr().String())\nd2, err2 := l.Accept()\nfmt.Sprintln(d2.RemoteAddr().String() == c2.LocalAddr().String(), err, err2)", "true <nil> <nil>\n"},
		{"mu.Lock()", "mu.Unlock()\nmu.Lock()\nmu.Unlock()\n1", "1"},
		{"exec.Command(\"sleep\", \"30\").Run()", "1", "1"},
		{"cmd := exec.Command(\"sleep\", \"30\")\ncmd.Start()\ncmd.Wait()", "cmd.Process.Signal(os.Kill)", "os: process already finished"},
		{"exec.Command(\"sleep\", \"30\").Output()", "1", "1"},
		{"http.Get(\"http://\" + l.Addr().String())", "x", "7"},
		{"p.Read(buf)", "x", "7"},
	} {
		best := time.Hour
		for range 5 { // a busy machine may need another try
			timer := time.AfterFunc(30*time.Millisecond, s.Interrupt)
			began := time.Now()
			o := s.run(c.wait)
			timer.Stop()
			best = min(best, time.Since(began)-30*time.Millisecond)
			if o.Failure == nil || o.Failure.Name != "KeyboardInterrupt" {
				t.Fatalf("%s: %+v", c.wait, o)
			}
			if best < 100*time.Millisecond {
				break
			}
		}
		if best >= 100*time.Millisecond {
			t.Errorf("%s took %v to stop", c.wait, best)
		}
		if got := s.result(c.after); got != c.want {
			t.Errorf("after %s\n%s\nshows %q\nwant  %q", c.wait, c.after, got, c.want)
		}
	}
	s.run("p.Close()\nl.Close()\nc.Close()\nd.Close()") // what was left behind ends
}

// TestUnlockThroughAnInterface misuses a lock behind sync.Locker: the cell ends, not the process.
func TestUnlockThroughAnInterface(t *testing.T) {
	s := newSession(t)
	for _, code := range []string{
		"var l sync.Locker = new(sync.Mutex)\nl.Unlock()",
		"var l2 sync.Locker = new(sync.RWMutex)\ndefer func() { recover() }()\nl2.Lock()\nl2.Unlock()\nl2.Unlock()",
		"var l3 sync.Locker = new(sync.Mutex)\ndefer l3.Unlock()",
	} {
		if o := s.run(code); o.Failure == nil || o.Failure.Name != "FatalError" {
			t.Errorf("%s: %+v", code, o.Failure)
		}
	}
}
