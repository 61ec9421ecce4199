//go:build unix

package demo

import (
	"os/exec"
	"syscall"
)

// detach gives a program its own session.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
