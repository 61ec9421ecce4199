package child

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// KillMarked kills the processes whose environment has an entry, such as "NAME=value", except for this one.
// It returns their number. A program that dies with its parent may leave such processes behind, which a
// new run must not meet at work. It waits for the end of those that this process has adopted; none of them may be
// a child that the caller waits for.
func KillMarked(entry string) (killed int) {
	const most = 10 // rounds: a process may start others while it is killed
	for range most {
		found := marked(entry)
		for _, pid := range found {
			if syscall.Kill(pid, syscall.SIGKILL) == nil {
				killed++
			}
		}
		for _, pid := range found {
			reap(pid)
		}
		if len(found) == 0 {
			break
		}
	}
	return killed
}

// reap waits for the end of a killed process if this process has adopted it (PR_SET_CHILD_SUBREAPER);
// otherwise it would remain as a zombie.
func reap(pid int) {
	for {
		if _, err := syscall.Wait4(pid, nil, 0, nil); !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

// marked returns the processes that have not ended with an entry in their environment.
func marked(entry string) (pids []int) {
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	want := append([]byte(entry), 0)
	for _, path := range paths {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil || pid == os.Getpid() {
			continue
		}
		environ, err := os.ReadFile(path) // empty for a process that has ended
		if err == nil && (bytes.HasPrefix(environ, want) || bytes.Contains(environ, append([]byte{0}, want...))) {
			pids = append(pids, pid)
		}
	}
	return pids
}
