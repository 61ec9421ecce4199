//go:build !unix

package demo

import "os/exec"

// detach does nothing here: sessions are a Unix matter.
func detach(*exec.Cmd) {}
