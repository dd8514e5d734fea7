package goeval

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"time"

	"kafkalab/kernel"
)

// shellWait is how long a stopped command may take to end before it is left behind.
const shellWait = time.Second

// shell runs a command; its output appears as it is written.
func (p *performance) shell(part piece) kernel.Outcome {
	switch {
	case !p.e.opts.AllowShell:
		return p.fail(part, "NotAllowed", "this kernel runs no shell commands\nIt would, started with --allow-shell: kafkalab install --allow-shell")
	case part.arg == "":
		return p.fail(part, "UsageError", "! needs a command")
	}
	cmd := exec.Command("/bin/sh", "-c", part.arg)
	if runtime.GOOS == "windows" {
		cmd = exec.Command("cmd", "/c", part.arg)
	}
	cmd.Stdout, cmd.Stderr = cellWriter{p, "stdout"}, cellWriter{p, "stderr"}
	cmd.WaitDelay = shellWait
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return p.fail(part, "ShellError", "%v", err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	var err error
	select {
	case err = <-done:
	case <-p.run.Stopped():
		endGroup(cmd)
		<-done
		return kernel.Outcome{Failure: &kernel.Failure{Name: "KeyboardInterrupt", Value: "interrupted", Traceback: []string{"KeyboardInterrupt: interrupted"}}}
	}
	var status *exec.ExitError
	if errors.As(err, &status) {
		return p.fail(part, "ShellError", "the command ended with %s", status)
	}
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) { // something of it lives on in the background
		return p.fail(part, "ShellError", "%v", err)
	}
	return kernel.Outcome{}
}

// cellWriter writes to a stream of the cell.
type cellWriter struct {
	p      *performance
	stream string
}

func (w cellWriter) Write(b []byte) (int, error) {
	w.p.e.write(w.p.run, w.stream, fmt.Sprintf("%s", b))
	return len(b), nil
}
