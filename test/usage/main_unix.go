//go:build unix

// Command usage runs a program and writes what it used to a file: usage FILE PROGRAM [ARGUMENT...]. The file gets one line
// with the wall-clock time, the processor time and the peak memory, in nanoseconds and bytes.
//
// It is between a benchmark and the program because on Linux the peak of a process begins with the memory of the one that
// starts it: `true`, started by a test of 60 MB, has a peak of 60 MB. This program has about 3 MB.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	cmd := exec.Command(os.Args[2], os.Args[3:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "usage:", err)
		os.Exit(2)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	go func() {
		for s := range signals {
			_ = cmd.Process.Signal(s) // it may have ended
		}
	}()
	err := cmd.Wait()
	wall := time.Since(begin)
	peak := int64(0)
	if used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		peak = used.Maxrss * 1024 // in kB on Linux
	}
	line := fmt.Sprintf("%d %d %d\n", wall, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), peak)
	if problem := os.WriteFile(os.Args[1], []byte(line), 0o600); problem != nil {
		fmt.Fprintln(os.Stderr, "usage:", problem)
		os.Exit(2)
	}
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		os.Exit(failed.ExitCode())
	}
}
