//go:build !unix

package child

import "os/exec"

// OwnGroup does nothing here: process groups and SIGTERM are Unix matters.
func OwnGroup(*exec.Cmd) {}

// Terminate kills a started program; what it started may outlive it.
func Terminate(cmd *exec.Cmd) { Kill(cmd) }

// Kill kills a started program; what it started may outlive it.
func Kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

// KillAsked does nothing here: Terminate kills.
func KillAsked() {}
