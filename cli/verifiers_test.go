package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/record"
)

// TestVerifiers (H-05): programs that share no code with this one agree with it about recordings: intact, changed, shortened and torn.
func TestVerifiers(t *testing.T) {
	g := gomega.NewWithT(t)
	folder := t.TempDir()
	out := filepath.Join(folder, "run")
	printed := runShown("run loop/golden-marker loop/golden-json --history none --out " + out)
	g.Expect(printed).NotTo(gomega.ContainSubstring("exit code"))
	intact, err := os.ReadFile(filepath.Join(out, "recording.jsonl"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	lines := bytes.SplitAfter(intact, []byte("\n"))
	joined := func(lines ...[]byte) []byte { return bytes.Join(lines, nil) }
	for name, text := range map[string][]byte{
		"intact":  intact,
		"changed": bytes.Replace(intact, []byte(`"n":1`), []byte(`"n":9`), 1),
		"removed": joined(append(append([][]byte{}, lines[:5]...), lines[6:]...)...),
		"moved":   joined(append(append(append([][]byte{}, lines[:5]...), lines[6], lines[5]), lines[7:]...)...),
		"shorter": joined(lines[:len(lines)-2]...),
		"torn":    intact[:len(intact)-20],
	} {
		path := filepath.Join(folder, name)
		g.Expect(os.WriteFile(path, text, 0o600)).To(gomega.Succeed())
		report, err := record.Verify(bytes.NewReader(text))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		for program, script := range map[string]string{"python3": "verify.py", "sh": "verify.sh"} {
			t.Run(name+"/"+program, func(t *testing.T) {
				found, err := exec.LookPath(program)
				if err != nil {
					t.Skipf("there is no %s", program)
				}
				text, err := exec.CommandContext(t.Context(), found, filepath.Join("..", "examples", "verify", script), path).Output()
				g := gomega.NewWithT(t)
				g.Expect(err == nil).To(gomega.Equal(len(report.Problems) == 0), "%s", text)
				if err == nil {
					g.Expect(string(text)).To(gomega.ContainSubstring(fmt.Sprintf("%d lines, last hash %s\nintact", report.Lines, report.Hash)))
				}
			})
		}
	}
}

// TestCost (H-05): a program that shares no code with this one computes the cost of a run from its recording.
func TestCost(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	g := gomega.NewWithT(t)
	out := filepath.Join(t.TempDir(), "run")
	g.Expect(runShown("run interview/golden-lea loop/golden-marker --history none --out " + out)).NotTo(gomega.ContainSubstring("exit code"))
	text, err := exec.CommandContext(t.Context(), python, "../examples/verify/cost.py", filepath.Join(out, "recording.jsonl")).Output()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	data, err := os.ReadFile(filepath.Join(out, "report.json"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	var report struct {
		Totals struct {
			Measures []struct {
				Name  string
				Value float64
			}
		}
	}
	g.Expect(json.Unmarshal(data, &report)).To(gomega.Succeed())
	for _, m := range report.Totals.Measures {
		if m.Name == "cost_eur" {
			g.Expect(strings.TrimSpace(string(text))).To(gomega.Equal(fmt.Sprintf("%.8f EUR", m.Value)))
			return
		}
	}
	t.Error("the report has no cost")
}
