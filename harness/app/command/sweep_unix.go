//go:build unix && !linux

package command

import (
	"syscall"

	"github.com/rehearse-dev/rehearse/clock"
)

// adopt does nothing here: only Linux gives orphans to whoever asks for them.
func adopt() {}

// members says whether there is anybody in a group.
func members(group int) []relative {
	if syscall.Kill(-group, 0) != nil {
		return nil
	}
	return []relative{{pid: -group, name: "a process of its group"}}
}

// orphans are not found here.
func orphans(clock.Clock, int, ...string) []relative { return nil }

func killAll(all []relative) {
	for _, one := range all {
		_ = syscall.Kill(one.pid, syscall.SIGKILL)
	}
}

// buried reports whether they are gone: nobody of a group is left.
func buried(all []relative) bool {
	for _, one := range all {
		if syscall.Kill(one.pid, 0) == nil {
			return false
		}
	}
	return true
}
