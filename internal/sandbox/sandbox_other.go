//go:build !linux

package sandbox

import "context"

// Check reports whether programs can be run in a sandbox here.
func Check(context.Context) error { return ErrUnsupported }

func enter(bool, string, []string) (int, error) { return exitBroken, ErrUnsupported }
