package child

import (
	"os/exec"
	"runtime"
	"syscall"
)

// NoOrphan has the kernel kill a program that OwnGroup prepared, and that is to be
// started, when this process dies, so that nobody finds it at work who starts again
// after a crash. What the program started itself may outlive it. The kernel takes
// the death of the thread that started it for that of the process: the calling
// goroutine must start it and keeps its thread until it calls the function that is
// returned, once the program has ended.
func NoOrphan(cmd *exec.Cmd) (done func()) {
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}
