//go:build unix

package child

import (
	"os/exec"
	"sync"
	"syscall"
)

// ownGroup makes the program the leader of a new process group, so that signals reach its descendants.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// asked has the groups that received SIGTERM and not yet SIGKILL, by the process ids of their leaders.
var asked sync.Map

// terminate sends SIGTERM to the group of a started program. kill must follow.
func terminate(cmd *exec.Cmd) {
	asked.Store(cmd.Process.Pid, cmd)
	signalGroup(cmd, syscall.SIGTERM)
}

// kill sends SIGKILL to the group of a started program.
func kill(cmd *exec.Cmd) {
	asked.Delete(cmd.Process.Pid)
	signalGroup(cmd, syscall.SIGKILL)
}

// KillAsked kills all groups in their grace period after SIGTERM. Call it before exiting immediately, to
// leave no processes behind.
func KillAsked() {
	asked.Range(func(_, cmd any) bool {
		kill(cmd.(*exec.Cmd))
		return true
	})
}

// signalGroup sends sig to the group. An error means that the group has ended.
func signalGroup(cmd *exec.Cmd, sig syscall.Signal) { _ = syscall.Kill(-cmd.Process.Pid, sig) }
