//go:build unix

package goeval

import (
	"os/exec"
	"syscall"
)

// ownGroup gives a command a process group of its own, so that it ends with everything it started.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func endGroup(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
