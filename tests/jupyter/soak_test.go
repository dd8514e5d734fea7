package jupyter

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"kafkalab/install/probe"
)

// soak is how often a long test repeats: as often as it is meant to with KAFKALAB_SOAK=1, and a little
// otherwise.
func soak(always, long int) int {
	if os.Getenv("KAFKALAB_SOAK") != "" {
		return long
	}
	return always
}

func startKernel(t *testing.T) *probe.Kernel {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	k, err := probe.Start(ctx, []string{binary, "kernel", "{connection_file}"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Stop)
	return k
}

func cell(t *testing.T, k *probe.Kernel, code string) probe.Answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	a, err := k.Execute(ctx, code)
	if err != nil {
		t.Fatalf("%s\n%v", code, err)
	}
	return a
}

// resident is the memory of a process in bytes, where the system tells.
func resident(pid int) int {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	fields := bytes.Fields(raw)
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.Atoi(string(fields[1]))
	return pages * os.Getpagesize()
}

// Many cells, each with a name of its own: the last ones are as quick as the first, and what a cell costs
// is bounded.
func TestSoakCells(t *testing.T) {
	n := soak(500, 10_000)
	k := startKernel(t)
	cell(t, k, "v0 := 0")
	var took []time.Duration
	var before int
	for i := 1; i <= n; i++ {
		begun := time.Now()
		a := cell(t, k, fmt.Sprintf("v%d := v%d + 1\nv%d", i, i-1, i))
		took = append(took, time.Since(begun))
		if a.Text != fmt.Sprint(i) {
			t.Fatalf("cell %d says %q", i, a.Text)
		}
		if i == 100 {
			before = resident(k.PID())
		}
	}
	median := func(d []time.Duration) time.Duration {
		d = slices.Sorted(slices.Values(d))
		return d[len(d)/2]
	}
	first, last := median(took[:100]), median(took[len(took)-100:])
	perCell := (resident(k.PID()) - before) / (n - 100)
	t.Logf("%d cells: first hundred %v, last hundred %v, %d bytes a cell", n, first, last, perCell)
	if n >= 10_000 && (float64(last) > 1.5*float64(first) || perCell > 20<<10) {
		t.Errorf("a late cell takes %v against %v, and each cell %d bytes", last, first, perCell)
	}
}

// Start, cell, stop, again and again, by both ways to start: no process hangs, none is left.
func TestSoakRestarts(t *testing.T) {
	for i := range soak(6, 200) {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		start := probe.Start
		if i%2 == 1 {
			start = probe.StartRegistered
		}
		k, err := start(ctx, []string{binary, "kernel", "{connection_file}"})
		if err != nil {
			t.Fatalf("start %d: %v", i, err)
		}
		if a, err := k.Execute(ctx, "6 * 7"); err != nil || a.Text != "42" {
			t.Errorf("start %d: a cell says %q (%v)", i, a.Text, err)
		}
		begun := time.Now()
		k.Stop()
		if took := time.Since(begun); took > 2*time.Second {
			t.Errorf("stop %d takes %v", i, took)
		}
		cancel()
	}
}

// Cells that never end by themselves, interrupted at random moments: each ends with an error, and what
// was there before is there after.
func TestSoakInterrupts(t *testing.T) {
	endless := []string{
		"for { n++ }",
		"time.Sleep(time.Hour)",
		"<-make(chan int)",
		"select {}",
		"for { fmt.Println(n) }",
		"for { s = append(s[:0], n) }",
		"for { m[n] = strings.Repeat(\"x\", 10) }",
		"c.RunFor(100_000 * time.Hour)",
		"func spin(k int) int { for { k++ } }\nspin(1)",
		"var wg sync.WaitGroup\nwg.Add(1)\nwg.Wait()",
		"for i := range 1_000_000_000 { n = i }",
	}
	k := startKernel(t)
	cell(t, k, "n, s, m := 0, []int{}, map[int]string{}\nc := kafkasim.Widget()\nkept := \"kept\"")
	cell(t, k, "time.AfterFunc(time.Hour, func() {})\n_ = 0") // something may still happen, so that waiting is no deadlock
	random := rand.New(rand.NewPCG(1, 2))
	for i := range soak(33, 500) {
		code := endless[i%len(endless)]
		ended := make(chan error, 1)
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			_, err := k.Execute(ctx, code)
			ended <- err
		}()
		time.Sleep(time.Duration(random.IntN(50_000)) * time.Microsecond)
		begun := time.Now()
		var err error
		for waiting := true; waiting; {
			if err := k.Interrupt(); err != nil {
				t.Fatal(err)
			}
			select {
			case err = <-ended:
				waiting = false
			case <-time.After(5 * time.Second): // it came before the cell had begun
			}
		}
		if err == nil || !strings.Contains(err.Error(), "KeyboardInterrupt") {
			t.Fatalf("interrupt %d: %s\nends with %v", i, code, err)
		}
		if took := time.Since(begun); took > 9*time.Second {
			t.Errorf("interrupt %d: %s\nends after %v", i, code, took)
		}
		if a := cell(t, k, "m = map[int]string{}\nkept + fmt.Sprint(c.Check().OK())"); a.Text != "kepttrue" {
			t.Fatalf("interrupt %d: %s\nafterwards: %q", i, code, a.Text)
		}
	}
}

// 100 MB of output, by the language's own printing and through the file: what a server would not pass on
// is cut with a notice and its size, and nobody's memory grows with it.
func TestSoakOutput(t *testing.T) {
	if os.Getenv("KAFKALAB_SOAK") == "" {
		t.Skip("set KAFKALAB_SOAK=1: it prints for a minute, at the pace that a Jupyter server takes")
	}
	k := startKernel(t)
	cell(t, k, "line := strings.Repeat(\"x\", 99)\nbig := strings.Repeat(\"y\", 1_000_000)")
	before := resident(k.PID())
	for _, code := range []string{"for range 1_000_000 { fmt.Println(line) }", "for range 100 { fmt.Fprint(os.Stdout, big) }"} {
		a := cell(t, k, code)
		if n := len(a.Text); n < 16<<20 || n > 17<<20 || !strings.Contains(a.Text, "what follows is not shown") || !strings.Contains(a.Text, "bytes were not shown]") {
			t.Errorf("%s\nshows %d bytes, and at last %q", code, n, a.Text[max(0, n-200):])
		}
	}
	if grown := resident(k.PID()) - before; grown > 64<<20 {
		t.Errorf("the kernel has grown by %d MB", grown>>20)
	}
	if a := cell(t, k, "1 + 1"); a.Text != "2" {
		t.Errorf("afterwards: %q", a.Text)
	}
}

// Bytes that are no text, lines without an end, both streams in one order.
func TestOutputOfAllKinds(t *testing.T) {
	k := startKernel(t)
	for code, want := range map[string]string{
		`fmt.Print("\x00\xff\xfe ok\n")`:                             "\x00\ufffd\ufffd ok\n",
		`os.Stdout.Write([]byte{0xff, 'a', 0x80, '\n'})` + "\n_ = 0": "\ufffda\ufffd\n",
		`fmt.Print(strings.Repeat("é", 100_000))`:                    strings.Repeat("é", 100_000),
		"fmt.Println(1)\nfmt.Fprintln(os.Stderr, 2)\nfmt.Println(3)\nprintln(4)\nlog.SetFlags(0)\nlog.Print(5)\nfmt.Println(6)": "1\n2\n3\n4\n5\n6\n",
		"lab.Display(7)\nfmt.Println(8)\nlab.Display(9)\n10":                                                                    "78\n910",
	} {
		if got := cell(t, k, code).Text; got != want {
			t.Errorf("%s\nshows %.200q, want %.200q", code, got, want)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	// Descriptors 1 and 2, whoever writes to them.
	for fd := 1; fd <= 2; fd++ {
		code := fmt.Sprintf("fmt.Println(\"before\")\nos.NewFile(%d, \"raw\").WriteString(\"raw\\n\")\nfmt.Println(\"after\")", fd)
		if got := cell(t, k, code).Text; got != "before\nraw\nafter\n" {
			t.Errorf("descriptor %d shows %q", fd, got)
		}
	}
	both := "for i := range 50 {\n\tfmt.Fprint(os.Stdout, i, \" \")\n\tfmt.Fprint(os.Stderr, i, \" \")\n\tos.Stdout.WriteString(\"a \")\n\tlog.Writer().Write([]byte(\"b \"))\n}"
	var want strings.Builder
	for i := range 50 {
		fmt.Fprintf(&want, "%d %d a b ", i, i)
	}
	if got := cell(t, k, both).Text; got != want.String() {
		t.Errorf("the streams take turns as %.200q", got)
	}
}
