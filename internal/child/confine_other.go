//go:build !linux

package child

import "os/exec"

// HideProcess does nothing here: only Linux has the setting.
func HideProcess() {}

// Confine does nothing here: only Linux has capabilities.
func Confine() error { return nil }

// dieWithParent does nothing here: only Linux can end a program with its parent.
func dieWithParent(*exec.Cmd) {}
