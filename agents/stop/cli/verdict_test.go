package cli

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/internal/console"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const guarded = "# Résumé\n\nLe parseur fonctionne. Ensuite, il reste à\u00a0tester\net à documenter.\n"

// explained is a verdict on guarded with everything that a verdict may have.
func explained() stop.Verdict {
	at := func(part string) stop.Span {
		start := strings.Index(guarded, part)
		return stop.Span{Start: start, End: start + len(part)}
	}
	return stop.Verdict{
		Policy:        stop.Balanced,
		Policies:      map[stop.Policy]bool{stop.Balanced: false, stop.Strict: false, stop.Careful: true},
		Class:         stop.Defers,
		Score:         0.973,
		Probabilities: map[stop.Class]float64{stop.Defers: 0.973, stop.Asks: 0.002, stop.Suggests: 0.02, stop.Clean: 0.005},
		Reason:        "the message announces two pieces of work of the task, which the agent could do itself and has not done",
		Detections: []stop.Detection{
			{
				Category: stop.RemainingTasks, Span: at("il reste"), Text: "il reste à\u00a0tester", Real: true, Severity: stop.High,
				Context: "Le parseur fonctionne. Ensuite, il reste à\u00a0tester et à documenter.", Why: "work of the task, in the present",
			},
			{Category: stop.FutureActions, Span: at("Ensuite"), Text: "Ensuite", Why: "narrates\x1b[2J"},
		},
		Steps: []stop.Step{
			{ID: "a", Description: "tester", Complexity: stop.Simple, Estimate: 5 * time.Minute, Span: at("tester")},
			{
				ID: "b", Description: strings.Repeat("documenter ", 12), Complexity: stop.Moderate, Estimate: time.Hour,
				DependsOn: []string{"a"}, Span: at("documenter"),
			},
		},
		Signals: []stop.Signal{
			{Name: "remaining", Weight: 2.5, Count: 2, Span: at("il reste"), Text: "il reste à"},
			{Name: "length", Weight: -0.125},
		},
	}
}

func TestVerdictIsExplained(t *testing.T) {
	g := gomega.NewWithT(t)
	var out bytes.Buffer
	g.Expect(PrintVerdict(&out, console.Terminal{}, "last-message.md", guarded, explained())).To(gomega.Succeed())
	golden := filepath.Join("testdata", "verdict.txt")
	if *update {
		g.Expect(os.MkdirAll(filepath.Dir(golden), 0o755)).To(gomega.Succeed())
		g.Expect(os.WriteFile(golden, out.Bytes(), 0o644)).To(gomega.Succeed())
	}
	want, err := os.ReadFile(golden)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(out.String()).To(gomega.Equal(string(want)))
}

func TestVerdictFitsAndIsPlain(t *testing.T) {
	v := explained()
	wide := strings.Repeat("日本語 ", 80) + "\x1b[2J\u202e"
	v.Reason, v.Detections[0].Text, v.Detections[0].Context, v.Detections[0].Why = wide, wide, wide, wide
	v.Steps[0].Description, v.Signals[0].Text, v.Signals[0].Name = wide, wide, wide
	for range 100 {
		v.Detections = append(v.Detections, v.Detections[0])
		v.Steps = append(v.Steps, v.Steps[0])
		v.Signals = append(v.Signals, v.Signals[0])
	}
	for _, width := range []int{40, 80, 200} {
		g := gomega.NewWithT(t)
		var out bytes.Buffer
		g.Expect(PrintVerdict(&out, console.Terminal{Width: width}, wide, guarded, v)).To(gomega.Succeed())
		g.Expect(out.String()).NotTo(gomega.ContainSubstring("\x1b"))
		g.Expect(out.String()).To(gomega.ContainSubstring("and 82 more; --json has all"))
		g.Expect(strings.Count(out.String(), "\n")).To(gomega.BeNumerically("<", 1500))
		for line := range strings.Lines(out.String()) {
			g.Expect(console.Width(strings.TrimSuffix(line, "\n"))).To(gomega.BeNumerically("<=", width), line)
		}
	}
}

func TestVerdictIsPaintedOnATerminal(t *testing.T) {
	g := gomega.NewWithT(t)
	var out bytes.Buffer
	g.Expect(PrintVerdict(&out, console.Terminal{Color: true}, "-", "Done.", stop.Verdict{
		MayStop: true, Class: stop.Clean, Policies: map[stop.Policy]bool{stop.Balanced: true},
	})).To(gomega.Succeed())
	g.Expect(out.String()).To(gomega.HavePrefix("standard input: \x1b[32mmay stop\x1b[0m\n"))
	g.Expect(out.String()).To(gomega.HaveSuffix("strict    \x1b[31mmust go on\x1b[0m\ncareful   \x1b[31mmust go on\x1b[0m\n"))
}
