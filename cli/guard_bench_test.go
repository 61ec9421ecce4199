//go:build unix

package cli

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
)

// BenchmarkGuard is the guard as a hook on a message of 2 KB: a process for each
// stop. The floor is the start of the same program, which does nothing else.
func BenchmarkGuard(b *testing.B) {
	rehearse, state := program(b, "../cmd/rehearse"), b.TempDir()
	message := strings.Repeat("The parser reads the new format and 14 tests pass. ", 40) + "Next I will write the documentation."
	var own, least time.Duration
	var peak float64
	session := 0
	for b.Loop() {
		session++
		stdin := fmt.Sprintf(`{"hook_event_name":"Stop","session_id":"s%d","last_assistant_message":%q}`, session, message)
		s := startHook(b, rehearse, stdin,
			"guard", "--host", "claude", "--state", filepath.Join(state, "guard"))
		own, peak = own+s.wall, max(peak, s.peak)
		b.StopTimer()
		least += start(b, rehearse, "version").wall
		b.StartTimer()
	}
	b.ReportMetric(float64(own)/float64(b.N)/1e6, "ms/stop")
	b.ReportMetric(float64(least)/float64(b.N)/1e6, "floor-ms/start")
	b.ReportMetric(peak, "peak-MB")
}

// startHook runs a program with an input, as a host does.
func startHook(b *testing.B, name, stdin string, args ...string) spent {
	b.Helper()
	cmd := exec.Command(name, args...)
	cmd.Stdin = strings.NewReader(stdin)
	begin := clock.Real().Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	s := spent{wall: clock.Real().Now().Sub(begin)}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		s.peak = float64(usage.Maxrss) / 1024
	}
	return s
}
