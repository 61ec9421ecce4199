//go:build !unix

package child

import "os/exec"

// ownGroup does nothing here: process groups exist on Unix only.
func ownGroup(*exec.Cmd) {}

// terminate kills a started program, but not what it started.
func terminate(cmd *exec.Cmd) { kill(cmd) }

// kill kills a started program, but not what it started.
func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

// KillAsked does nothing here: terminate kills.
func KillAsked() {}
