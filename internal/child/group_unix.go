//go:build unix

package child

import (
	"os/exec"
	"sync"
	"syscall"
)

// OwnGroup makes the program that is to be started the leader of a new process
// group, so that it can be stopped together with everything it starts.
func OwnGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// asked are the groups that Terminate asked to end and Kill has not ended yet, by the
// process ids of their leaders.
var asked sync.Map

// Terminate asks the group of a started program to end. Kill must follow.
func Terminate(cmd *exec.Cmd) {
	asked.Store(cmd.Process.Pid, cmd)
	signalGroup(cmd, syscall.SIGTERM)
}

// Kill ends the group of a started program.
func Kill(cmd *exec.Cmd) {
	asked.Delete(cmd.Process.Pid)
	signalGroup(cmd, syscall.SIGKILL)
}

// KillAsked ends all groups that were asked to end and still have time for it. It is
// for a process that leaves at once and would leave them behind.
func KillAsked() {
	asked.Range(func(_, cmd any) bool {
		Kill(cmd.(*exec.Cmd))
		return true
	})
}

// signalGroup sends sig to the group. An error means that the group is gone,
// which is what the caller wants.
func signalGroup(cmd *exec.Cmd, sig syscall.Signal) { _ = syscall.Kill(-cmd.Process.Pid, sig) }
