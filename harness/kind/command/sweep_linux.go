package command

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/rehearse-dev/rehearse/clock"
)

// adopt makes this process the parent of all orphans among its descendants, so that orphans
// outside their process group can be found.
var adopt = sync.OnceFunc(func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) })

// members returns the living processes of a group; see proc(5).
func members(group int) (all []descendant) {
	if errors.Is(syscall.Kill(-group, 0), syscall.ESRCH) {
		return nil
	}
	for _, pid := range pidsIn("/proc") {
		if s, ok := statusOf(pid); ok && s.group == group {
			all = appendLiving(all, pid, s)
		}
	}
	return all
}

// orphans returns the living processes that this process adopted, outside a group, that
// use one of a site's folders.
func orphans(clk clock.Clock, group int, folders ...string) (all []descendant) {
	self := os.Getpid()
	// The kernel gives orphans to the first thread.
	children, _ := os.ReadFile(filepath.Join("/proc/self/task", strconv.Itoa(self), "children"))
	for field := range strings.FieldsSeq(string(children)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			continue
		}
		if s, ok := statusOf(pid); ok && s.group != group && livesIn(clk, pid, folders) {
			all = appendLiving(all, pid, s)
		}
	}
	return all
}

// appendLiving appends a process unless it has ended; an ended child of this process is
// reaped.
func appendLiving(all []descendant, pid int, s status) []descendant {
	if !s.ended() {
		return append(all, descendant{pid: pid, name: s.name})
	}
	if s.parent == os.Getpid() {
		_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	}
	return all
}

func pidsIn(folder string) (pids []int) {
	f, err := os.Open(folder)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// status is the state of a process.
type status struct {
	name          string
	state         byte
	parent, group int
}

// ended reports whether the process has ended and only waits to be reaped.
func (s status) ended() bool { return s.state == 'Z' || s.state == 'X' }

// statusOf reads /proc/PID/stat: the name in parentheses, which may contain any byte, then
// the state, the parent and the process group.
func statusOf(pid int) (status, bool) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return status{}, false
	}
	from, to := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if from < 0 || to < from {
		return status{}, false
	}
	fields := strings.Fields(string(data[to+1:]))
	if len(fields) < 3 {
		return status{}, false
	}
	parent, err1 := strconv.Atoi(fields[1])
	group, err2 := strconv.Atoi(fields[2])
	return status{name: string(data[from+1 : to]), state: fields[0][0], parent: parent, group: group}, errors.Join(err1, err2) == nil
}

// environAttempts limits the attempts to read the environment of a process that has none, as
// it may be within execve(2).
const environAttempts = 20

// livesIn reports whether one of the folders is in the environment of a process, under any
// name, or is, or contains, its working folder.
func livesIn(clk clock.Clock, pid int, folders []string) bool {
	folders = slices.DeleteFunc(slices.Clone(folders), func(folder string) bool { return folder == "" })
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	has := func(env []byte) bool {
		return slices.ContainsFunc(folders, func(folder string) bool { return bytes.Contains(env, []byte(folder)) })
	}
	for range environAttempts {
		// A process without variables may still have its original working folder.
		cwd, _ := os.Readlink(filepath.Join(proc, "cwd"))
		if slices.ContainsFunc(folders, func(folder string) bool { return within(cwd, folder) }) {
			return true
		}
		env, err := os.ReadFile(filepath.Join(proc, "environ"))
		if err != nil || len(env) > 0 {
			return has(env)
		}
		if s, ok := statusOf(pid); !ok || s.ended() {
			return false
		}
		_ = clk.Sleep(context.Background(), reapInterval)
	}
	return false
}

// within reports whether a path is a folder or below it.
func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+string(filepath.Separator))
}

func killAll(all []descendant) {
	for _, one := range all {
		_ = syscall.Kill(one.pid, syscall.SIGKILL)
	}
}

// reaped reports whether processes are gone, and reaps the adopted ones, so that no zombie
// is left.
func reaped(all []descendant) bool {
	gone := true
	for _, one := range all {
		pid, _ := syscall.Wait4(one.pid, nil, syscall.WNOHANG, nil)
		if pid == one.pid {
			continue
		}
		if s, ok := statusOf(one.pid); ok && !s.ended() {
			gone = false
		}
	}
	return gone
}
