package command

import "golang.org/x/sys/unix"

// limits has the resource limits of one process; see setrlimit(2). Memory is not among
// them: programs with a garbage collector reserve far more than they use.
var limits = map[int]uint64{
	unix.RLIMIT_CORE:   0,       // bytes of a core dump
	unix.RLIMIT_FSIZE:  1 << 30, // bytes of a file
	unix.RLIMIT_NOFILE: 4096,    // open files
	unix.RLIMIT_CPU:    600,     // seconds of CPU time
}

// limit sets the limits of a started program and of everything that it starts from now on.
// An error means that it has ended.
func limit(pid int) {
	for resource, most := range limits {
		var now unix.Rlimit
		if unix.Prlimit(pid, resource, nil, &now) != nil || now.Max < most {
			continue
		}
		_ = unix.Prlimit(pid, resource, &unix.Rlimit{Cur: most, Max: most}, nil)
	}
}
