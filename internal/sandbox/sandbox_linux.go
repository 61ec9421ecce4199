package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// Check reports whether programs can be run in a sandbox here, by running one.
func Check(ctx context.Context) error {
	wrapper, err := Wrapper(Spec{Dir: "/"})
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, wrapper[0], append(wrapper[1:], "true")...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		const longest = 500
		return fmt.Errorf("this system does not let programs create namespaces (user_namespaces(7)): %s; "+
			"permit them (sysctl kernel.unprivileged_userns_clone or kernel.apparmor_restrict_unprivileged_userns, "+
			"or the seccomp profile of a container)", sanitize.Line(strings.TrimPrefix(out.String(), "rehearse: sandbox: "), longest))
	}
	return nil
}

// enter runs a part of the sandbox and returns its exit status. The outer part starts the inner one in new
// namespaces. The inner part, which is process 1 in them, restricts itself and starts the program.
func enter(inner bool, spec string, argv []string) (int, error) {
	runtime.LockOSThread() // rights belong to a thread, and a child dies with the thread that started it
	if !inner {
		return outer(spec, argv)
	}
	var s Spec
	if err := json.Unmarshal([]byte(spec), &s); err != nil {
		return exitBroken, fmt.Errorf("read the description of the sandbox: %w", err)
	}
	if err := confine(s); err != nil {
		return exitBroken, err
	}
	return runProgram(s, argv)
}

// ignoreSignals lets the program alone decide what a signal to the process group means. An ignored signal
// would be ignored by the program, too, so they are received instead.
func ignoreSignals() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
}

func outer(spec string, argv []string) (int, error) {
	ignoreSignals()
	cmd := exec.Command("/proc/self/exe", append([]string{innerArg, spec, "--"}, argv...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP},
		Pdeathsig:   syscall.SIGKILL,
	}
	err := cmd.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		return exitBroken, fmt.Errorf("create namespaces: %w", err)
	}
	return exitStatus(cmd.ProcessState.Sys().(syscall.WaitStatus)), nil
}

// exitStatus returns the exit status as of a shell: 128 and the number of a signal.
func exitStatus(s syscall.WaitStatus) int {
	const signaled = 128
	if s.Signaled() {
		return signaled + int(s.Signal())
	}
	return s.ExitStatus()
}

// confine makes all mounts read-only except for those of the spec, and gives up the rights to change that.
func confine(s Spec) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	// A path that is a mount cannot be renamed, removed or replaced.
	for _, path := range append(append([]string{}, s.Write...), s.Protect...) {
		if err := unix.Mount(path, path, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("mount %s: %w", path, err)
		}
	}
	for _, step := range []func() error{
		func() error { return readOnly(s) }, freshProc, freshShared,
		func() error { return os.Chdir(s.Dir) }, // the mount, not the folder below it
		giveUpRights,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// readOnly makes all mounts read-only, and then those writable that may be.
func readOnly(s Spec) error {
	all := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &all); err != nil {
		return fmt.Errorf("make files read-only (Linux 5.12 can): %w", err)
	}
	for _, path := range s.Write {
		one := unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}
		if err := unix.MountSetattr(unix.AT_FDCWD, path, 0, &one); err != nil {
			return fmt.Errorf("make %s writable: %w", path, err)
		}
	}
	return nil
}

// freshProc shows only the processes of the sandbox. For the user root, /proc has settings of the machine,
// so it is read-only.
func freshProc() error {
	flags := uintptr(unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC)
	if os.Getuid() == 0 {
		flags |= unix.MS_RDONLY
	}
	if err := unix.Mount("proc", "/proc", "proc", flags, ""); err != nil {
		return fmt.Errorf("mount /proc for the processes of the sandbox: %w", err)
	}
	return nil
}

// freshShared replaces shared memory, which many programs need and which would otherwise be read-only.
func freshShared() error {
	const folder = "/dev/shm"
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return nil //nolint:nilerr // there is none
	}
	if err := unix.Mount("tmpfs", folder, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=256m,mode=1777"); err != nil {
		return fmt.Errorf("mount %s: %w", folder, err)
	}
	return nil
}

// giveUpRights removes all capabilities from the programs that this thread starts, for good.
func giveUpRights() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("keep programs from gaining rights: %w", err)
	}
	for capability := uintptr(0); capability <= unix.CAP_LAST_CAP; capability++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
			return fmt.Errorf("drop capability %d: %w", capability, err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("drop ambient capabilities: %w", err)
	}
	// The inheritable ones would become those of a program that root runs.
	var none [2]unix.CapUserData
	if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}

// runProgram runs the program to its end and reaps the processes that it leaves. When this process exits,
// the kernel ends all others of the sandbox.
func runProgram(s Spec, argv []string) (int, error) {
	path, err := exec.LookPath(argv[0])
	if err == nil && !filepath.IsAbs(path) {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		const notFound = 127
		return notFound, err
	}
	ignoreSignals()
	program, err := os.StartProcess(path, argv, &os.ProcAttr{
		Env: replaced(os.Environ(), s.Env), Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}, //nolint:forbidigo // it is handed on
		Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return exitBroken, err
	}
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return exitBroken, fmt.Errorf("wait for the program: %w", err)
		case pid == program.Pid:
			return exitStatus(status), nil
		}
	}
}

// replaced returns env with the variables in pairs.
func replaced(env, pairs []string) []string {
	out := make([]string, 0, len(env)+len(pairs))
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		keep := true
		for _, pair := range pairs {
			keep = keep && !strings.HasPrefix(pair, name+"=")
		}
		if keep {
			out = append(out, entry)
		}
	}
	return append(out, pairs...)
}
