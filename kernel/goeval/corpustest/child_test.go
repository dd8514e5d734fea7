package corpustest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// job is a program for a child process.
type job struct {
	Source string
	Limit  time.Duration
}

// child runs programs that come as JSON on standard input, and answers on descriptor 3. It may die of
// them; the parent starts another.
func child() {
	in := json.NewDecoder(bufio.NewReader(os.Stdin))
	answers := json.NewEncoder(os.NewFile(3, "answers"))
	for {
		var j job
		if in.Decode(&j) != nil {
			return
		}
		if answers.Encode(runCells([]string{j.Source}, j.Limit)) != nil {
			return
		}
	}
}

// worker is a child process, started again when it dies.
type worker struct {
	cmd     *exec.Cmd
	in      *json.Encoder
	answers chan outcome
	died    chan string
	stop    func()
}

func newWorker() (*worker, error) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CORPUS_CHILD=1", "GOMEMLIMIT=2GiB")
	cmd.Dir = os.TempDir()
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.ExtraFiles = []*os.File{w}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	var last tail
	cmd.Stderr = &last
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	w.Close()
	k := &worker{cmd: cmd, in: json.NewEncoder(stdin), answers: make(chan outcome), died: make(chan string, 1)}
	k.stop = func() { stdin.Close(); cmd.Process.Kill() }
	go func() {
		dec := json.NewDecoder(r)
		for {
			var o outcome
			if dec.Decode(&o) != nil {
				break
			}
			k.answers <- o
		}
		r.Close()
		err := cmd.Wait()
		k.died <- fmt.Sprintf("%v: %s", err, last.words())
	}()
	return k, nil
}

// tail keeps the beginning of what a process writes on standard error.
type tail struct {
	sync.Mutex
	buf bytes.Buffer
}

func (t *tail) Write(b []byte) (int, error) {
	t.Lock()
	defer t.Unlock()
	if t.buf.Len() < 16<<10 {
		t.buf.Write(b)
	}
	return len(b), nil
}

func (t *tail) words() string {
	t.Lock()
	defer t.Unlock()
	for line := range strings.Lines(t.buf.String()) {
		if strings.HasPrefix(line, "fatal error:") || strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "runtime:") || strings.HasPrefix(line, "SIG") {
			return strings.TrimSpace(line)
		}
	}
	line, _, _ := strings.Cut(t.buf.String(), "\n")
	return line
}

// grace is what a child may take beyond a program's limit.
const grace = 5 * time.Second

// do runs one program in the child.
func (k *worker) do(j job) (o outcome, alive bool) {
	if err := k.in.Encode(j); err != nil {
		return outcome{End: "dies: " + <-k.died}, false
	}
	select {
	case o = <-k.answers:
		return o, o.End != "timeout" // what may still be running must not disturb the next
	case how := <-k.died:
		return outcome{End: "dies: " + how}, false
	case <-time.After(j.Limit + grace):
		k.stop()
		return outcome{End: "timeout"}, false
	}
}

// inChildren runs jobs in n children at a time.
func inChildren(n int, jobs []job, done func(i int, o outcome)) error {
	next := make(chan int)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for range n {
		wg.Go(func() {
			var k *worker
			for i := range next {
				if k == nil {
					var err error
					if k, err = newWorker(); err != nil {
						mu.Lock()
						failed = err
						mu.Unlock()
						continue
					}
				}
				o, alive := k.do(jobs[i])
				mu.Lock()
				done(i, o)
				mu.Unlock()
				if !alive {
					k.stop()
					k = nil
				}
			}
			if k != nil {
				k.stop()
			}
		})
	}
	for i := range jobs {
		next <- i
	}
	close(next)
	wg.Wait()
	return failed
}
