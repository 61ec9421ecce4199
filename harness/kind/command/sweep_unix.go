//go:build unix && !linux

package command

import (
	"syscall"

	"github.com/rehearse-dev/rehearse/clock"
)

// adopt does nothing here: only Linux can reassign orphans.
func adopt() {}

// members returns one entry if a group has a process.
func members(group int) []descendant {
	if syscall.Kill(-group, 0) != nil {
		return nil
	}
	return []descendant{{pid: -group, name: "a process of its group"}}
}

// orphans finds nothing here.
func orphans(clock.Clock, int, ...string) []descendant { return nil }

func killAll(all []descendant) {
	for _, one := range all {
		_ = syscall.Kill(one.pid, syscall.SIGKILL)
	}
}

// reaped reports whether no process of the groups is left.
func reaped(all []descendant) bool {
	for _, one := range all {
		if syscall.Kill(one.pid, 0) == nil {
			return false
		}
	}
	return true
}
