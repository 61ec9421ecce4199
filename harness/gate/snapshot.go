package gate

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// SnapshotRule is the rule of a trial that differs from its snapshot, or whose snapshot does not exist.
const SnapshotRule = "snapshot"

// judgeSnapshot compares the trial with the files of expect.snapshot.
func judgeSnapshot(j *Judge, f *measure.Facts, found []Finding) []Finding {
	for key, file := range j.expect.Snapshot.Files() {
		want, stored := j.expect.Snapshot.Stored[key]
		got := f.Snapshots[key]
		switch {
		case !stored:
			found = append(found, Finding{
				Severity: Failing, Rule: SnapshotRule, Message: fmt.Sprintf("the snapshot %s does not exist", file), Accept: j.updateCommand(),
			})
		case want != got:
			found = append(found, Finding{
				Severity: Failing, Rule: SnapshotRule,
				Message:  fmt.Sprintf("the %s from the snapshot %s", snapshotNouns[key], file),
				Evidence: lineDifference(want, got), Expected: want, Actual: got, Accept: j.updateCommand(),
			})
		}
	}
	return found
}

var snapshotNouns = map[string]string{
	"text": "final text differs", "tools": "tool calls differ", "prompts": "messages to the model differ",
}

// updateCommand returns the command that rewrites the snapshots of the scenario.
func (j *Judge) updateCommand() string {
	if j.agent == "function" { // only its test can drive it
		return "go test -update"
	}
	return format.ShellLine("rehearse", "run", j.scenario, "--update")
}

// lineDifference shows the lines in which two texts differ: those after the common beginning and before the
// common end.
func lineDifference(want, got string) string {
	const most = 8
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	first := 0
	for first < min(len(a), len(b)) && a[first] == b[first] {
		first++
	}
	last := 0
	for last < min(len(a), len(b))-first && a[len(a)-1-last] == b[len(b)-1-last] {
		last++
	}
	lines := []string{fmt.Sprintf("from line %d:", first+1)}
	for _, side := range []struct {
		sign  string
		lines []string
	}{{"- ", a[first : len(a)-last]}, {"+ ", b[first : len(b)-last]}} {
		for i, line := range side.lines {
			if i == most {
				lines = append(lines, fmt.Sprintf("%s… %s more", side.sign, format.Plural(len(side.lines)-most, "line")))
				break
			}
			lines = append(lines, side.sign+line)
		}
	}
	return strings.Join(lines, "\n")
}
