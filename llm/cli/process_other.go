//go:build !unix

package cli

import "os/exec"

// Process groups and SIGTERM are Unix matters. Elsewhere the program itself is
// killed; what it started may outlive it.
func ownGroup(*exec.Cmd) {}

func terminateGroup(cmd *exec.Cmd) { killGroup(cmd) }

func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
