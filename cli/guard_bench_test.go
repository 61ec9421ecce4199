//go:build unix

package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkGuard is the guard as a hook on a message of 2 KB: a process for each
// stop. The floor is the start of the same program, which does nothing else.
func BenchmarkGuard(b *testing.B) {
	meter, rehearse, state := newMeter(b), program(b, "../cmd/rehearse"), b.TempDir()
	message := strings.Repeat("The parser reads the new format and 14 tests pass. ", 40) + "Next I will write the documentation."
	var own, least spent
	session := 0
	for b.Loop() {
		session++
		stdin := fmt.Sprintf(`{"hook_event_name":"Stop","session_id":"s%d","last_assistant_message":%q}`, session, message)
		own = own.plus(meter.startWith(b, stdin, rehearse, "guard", "--host", "claude", "--state", filepath.Join(state, "guard")))
		b.StopTimer()
		least = least.plus(meter.start(b, rehearse, "version"))
		b.StartTimer()
	}
	own.report(b)
	b.ReportMetric(least.wall.Seconds()/float64(b.N), "floor-sec/run")
}
