//go:build unix

package child

import (
	"os/exec"
	"syscall"
)

// OwnGroup makes the program that is to be started the leader of a new process
// group, so that it can be stopped together with everything it starts.
func OwnGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// Terminate asks the group of a started program to end.
func Terminate(cmd *exec.Cmd) { signalGroup(cmd, syscall.SIGTERM) }

// Kill ends the group of a started program.
func Kill(cmd *exec.Cmd) { signalGroup(cmd, syscall.SIGKILL) }

// signalGroup sends sig to the group. An error means that the group is gone,
// which is what the caller wants.
func signalGroup(cmd *exec.Cmd, sig syscall.Signal) { _ = syscall.Kill(-cmd.Process.Pid, sig) }
