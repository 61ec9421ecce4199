// Package experiment is an example of an experiment on prompts. Its test runs it as a
// team would in CI: with a simulated model it must find the known differences.
package experiment

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/experiment"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/llm/token"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// TestPreamble checks that the shorter preamble arrives sooner and costs less: its simulated model
// writes as long a text as the prompt asks for.
func TestPreamble(t *testing.T) {
	r := runExperiment(t, "preamble.yaml")
	if len(r.Comparisons) != 2 {
		t.Fatalf("%d comparisons, want one for latency and one for cost", len(r.Comparisons))
	}
	for _, c := range r.Comparisons {
		if c.Variant != "short" || c.Verdict != result.Better {
			t.Errorf("%s is %s in %s, want better", c.Variant, c.Verdict, c.Role)
		}
	}
}

// runExperiment runs the experiment of a file.
func runExperiment(t *testing.T, file string) result.Experiment {
	t.Helper()
	prices, err := price.Default()
	if err != nil {
		t.Fatal(err)
	}
	e, found := experiment.Load(file, kinds.Language(), scenarios.Options{Kinds: kinds.All().Formats(), CheckExpr: kinds.Language().Check, CheckInvariant: kinds.Language().CheckInvariant, Prices: prices})
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	env := &drive.Env{Makers: kinds.All().Makers(), Prices: prices, Tokens: token.NewCounter(token.Options{})}
	defer env.Close()
	r, err := e.Run(t.Context(), experiment.Options{Env: env, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestMirror(t *testing.T) {
	r := runExperiment(t, "mirror.yaml")
	// The model answers in the required form in 80 of 100 answers to the shipped prompt, in 96 with an
	// example, and in 80 with the short prompt.
	verdicts := map[string]result.Verdict{}
	for _, c := range r.Comparisons {
		if c.Role == result.Primary {
			verdicts[c.Variant] = c.Verdict
		}
	}
	if verdicts["with-example"] != result.Better {
		t.Errorf("with-example is %s, want better", verdicts["with-example"])
	}
	if v := verdicts["short"]; v == result.Better || v == result.Worse {
		t.Errorf("short is %s, but the model does not distinguish the two prompts", v)
	}

	var page bytes.Buffer
	if err := doc.HTML(&page, reports.ExperimentDocument(&r), r.Tool); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(page.String(), "with-example is better than shipped") && !strings.Contains(page.String(), "1 better") {
		t.Error("the page does not say what was found")
	}
}
