package cli

import (
	"reflect"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/experiment"
	"github.com/rehearse-dev/rehearse/harness/result"
)

// TestExperimentDocsName compares docs/how-to/experiments.md with the code: each key of the file, each
// verdict and each requirement.
func TestExperimentDocsName(t *testing.T) {
	g := gomega.NewWithT(t)
	text := readDoc(t, "how-to/experiments.md")
	for _, of := range []any{
		experiment.File{},
		experiment.Variant{},
		experiment.Measure{},
		experiment.Stop{},
		experiment.Caps{},
		experiment.Split{},
		experiment.Tune{},
		experiment.Fragment{},
	} {
		for field := range reflect.TypeOf(of).Fields() {
			key, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
			g.Expect(text).To(gomega.MatchRegexp("[`{ ]"+key+"[`:]"), "%T", of)
		}
	}
	for _, v := range []result.Verdict{result.Better, result.Worse, result.Equivalent, result.Undecided} {
		g.Expect(text).To(gomega.ContainSubstring("**%s**", v))
	}
	for _, r := range result.Requirements() {
		g.Expect(text).To(gomega.ContainSubstring("`%s`", r))
	}
}
