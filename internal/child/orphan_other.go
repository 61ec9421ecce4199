//go:build !linux

package child

import "os/exec"

// NoOrphan does nothing here: only Linux ends a program when who started it dies.
func NoOrphan(*exec.Cmd) (done func()) { return func() {} }
