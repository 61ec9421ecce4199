package child

import (
	"os/exec"
	"runtime"
	"syscall"
)

// noOrphan has the kernel kill the leader when this process dies, so that nobody
// finds it at work who starts again after a crash. The kernel takes the death of the
// thread that started it for that of the process: the caller's goroutine keeps its
// thread until it calls the function that is returned.
func noOrphan(cmd *exec.Cmd) (done func()) {
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}
