//go:build !unix

package command

import "github.com/rehearse-dev/rehearse/clock"

// adopt does nothing here: only Linux can reassign orphans.
func adopt() {}

// There are no process groups here, so no process is found.

func members(int) []descendant { return nil }

func orphans(clock.Clock, int, ...string) []descendant { return nil }

func killAll([]descendant) {}

func reaped([]descendant) bool { return true }
