package child

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// KillMarked kills the processes whose environment has an entry, such as "NAME=value", except for this one.
// It returns their number. A program that dies with its parent may leave such processes behind, which a
// new run must not meet at work.
func KillMarked(entry string) (killed int) {
	const most = 10 // rounds: a process may start others while it is killed
	for range most {
		found := marked(entry)
		for _, pid := range found {
			if syscall.Kill(pid, syscall.SIGKILL) == nil {
				killed++
			}
		}
		if len(found) == 0 {
			break
		}
	}
	return killed
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
