//go:build unix

package web_test

import (
	"syscall"
	"time"
)

func init() {
	cpuTime = func() time.Duration {
		var used syscall.Rusage
		if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
			return 0
		}
		return time.Duration(used.Utime.Nano() + used.Stime.Nano())
	}
}
