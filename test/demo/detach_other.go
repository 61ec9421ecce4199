//go:build !unix

package demo

import "os/exec"

// detach does nothing: only Unix has sessions.
func detach(*exec.Cmd) {}
