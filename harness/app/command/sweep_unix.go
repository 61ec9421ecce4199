//go:build unix && !linux

package command

import "syscall"

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
func orphans(int, string) []relative { return nil }

func killAll(all []relative) {
	for _, one := range all {
		_ = syscall.Kill(one.pid, syscall.SIGKILL)
	}
}

// buryAll has nothing to do: who ends here is nobody's child but the system's.
func buryAll([]relative) {}
