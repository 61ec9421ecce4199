//go:build !linux

package child

// HideProcess does nothing here: it is a matter of Linux.
func HideProcess() {}

// Confine does nothing here: capabilities are a matter of Linux.
func Confine() error { return nil }
