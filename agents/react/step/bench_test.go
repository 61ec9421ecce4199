package step_test

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/agents/react/step"
)

// run is an answer with a whole run in it, in the proportions of what models write.
var run = "I begin with the routes.\n\n```yaml\nstep: 1\nthought: |\n" + strings.Repeat("  The handler joins a path of the request to the root without a look at it.\n", 6) +
	"action: search\naction_input:\n  query: \"filepath.Join|os.Open\"\n  scope: internal/**\n```\n\n```yaml\nobservation: |\n" +
	strings.Repeat("  internal/serve.go:41: f, err := os.Open(filepath.Join(root, name))\n", 12) +
	"reflection: >-\n" + strings.Repeat("  Line 41 opens what the request names, and nothing on the way cleans it.\n", 5) +
	"decision: done\nreason: \"line 41 is open to ../\"\n---\nverification:\n  completeness: ✓ the code was read\n  consistency: ✓ the lines are those of the file\n" +
	"  correctness: ✓ the call was followed\n  constraints: ✓ three findings at most\n---\n" + strings.Repeat("- internal/serve.go:41 opens any file of the machine\n", 10) + "```\n"

// BenchmarkParse reads answers; the floor goes through the same bytes line by line.
func BenchmarkParse(b *testing.B) {
	long := "thought: |\n" + strings.Repeat("  The handler joins a path of the request to the root without a look at it.\n", 14_000) + "action: search\n"
	for _, c := range []struct{ name, answer string }{
		{"answer", run},
		{"short", act},
		{"long text", long},
		{"separators", hostile["separators"]},
		{"open fences", hostile["open fences"]},
		{"spaces", hostile["spaces"]},
		{"stairs", hostile["stairs of prose"]},
		{"escapes", hostile["escapes"]},
		{"unknown keys", hostile["unknown keys, then a step"]},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.answer)))
			b.ReportAllocs()
			for b.Loop() {
				_, _ = step.Parse(c.answer)
			}
		})
		b.Run(c.name+"/floor", func(b *testing.B) {
			b.SetBytes(int64(len(c.answer)))
			n := 0
			for b.Loop() {
				for rest := c.answer; rest != ""; n++ {
					_, rest, _ = strings.Cut(rest, "\n")
				}
			}
			if n == 0 {
				b.Fatal("no lines")
			}
		})
	}
}
