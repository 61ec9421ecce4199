//go:build unix

package demo

import (
	"os/exec"
	"syscall"
)

// detach gives a program that is to be started a session of its own.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
