package child

import (
	"errors"
	"fmt"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// HideProcess prevents programs of the same user from reading the environment, the memory
// and the open files of this process, unless they may trace any process (CAP_SYS_PTRACE);
// see PR_SET_DUMPABLE in prctl(2). It also prevents core dumps.
func HideProcess() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

// forbidden lists the capabilities with which a program could enter the network of another
// process, read or change other processes, or change the system beneath all of them; see
// capabilities(7).
var forbidden = []uintptr{
	unix.CAP_SYS_ADMIN, unix.CAP_SYS_PTRACE, unix.CAP_NET_ADMIN,
	unix.CAP_SYS_MODULE, unix.CAP_SYS_RAWIO, unix.CAP_SYS_BOOT, unix.CAP_SYS_TIME, unix.CAP_SYSLOG,
	unix.CAP_BPF, unix.CAP_PERFMON, unix.CAP_CHECKPOINT_RESTORE, unix.CAP_DAC_READ_SEARCH, unix.CAP_MKNOD,
	unix.CAP_MAC_ADMIN, unix.CAP_MAC_OVERRIDE, unix.CAP_AUDIT_CONTROL, unix.CAP_SETFCAP,
}

// Confine removes rights from the programs that this thread starts from now on, and from all their
// descendants: administrative capabilities, and the rights of setuid programs such as sudo. It can be
// called more than once. The goroutine must be locked to its thread and must end without unlocking it.
func Confine() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("keep programs from gaining rights: %w", err)
	}
	for _, capability := range forbidden {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0)
		switch {
		case err == nil:
		case errors.Is(err, unix.EPERM): // not an administrator: there is nothing to drop
		case errors.Is(err, unix.EINVAL): // a kernel without this capability
		default:
			return fmt.Errorf("drop capability %d: %w", capability, err)
		}
	}
	return nil
}

// dieWithParent makes the kernel kill the program when this process dies, so that it cannot disturb the
// next run after a crash. Descendants of the program may survive. Call it after ownGroup, on the thread
// that starts the program.
func dieWithParent(cmd *exec.Cmd) { cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL }
