package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/reports/rundir"
)

// TestOpenBaseline: a baseline must have scenarios.
func TestOpenBaseline(t *testing.T) {
	g := gomega.NewWithT(t)
	empty := filepath.Join(t.TempDir(), compare.BaselineFile)
	g.Expect(os.WriteFile(empty, compare.Encode(compare.Baseline{Rules: compare.DefaultRules()}), 0o600)).To(gomega.Succeed())
	_, err := rundir.ReadBaseline(empty)
	g.Expect(err).NotTo(gomega.HaveOccurred(), "the file itself is as it was written")

	for name, tc := range map[string]struct {
		file string
		args []string
		want string
	}{
		"no scenario":                    {empty, nil, "has no scenario"},
		"a file beside the flag":         {compare.BaselineFile, []string{"other.json"}, "write --baseline=other.json"},
		"a file that is not there":       {empty + ".not", nil, "there is no baseline"},
		"no scenario, and some selected": {empty, []string{"loop/*"}, "has no scenario"},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			_, err := openBaseline(tc.file, tc.args)
			g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(tc.want)))
			exit, ok := errors.AsType[*exitError](err)
			g.Expect(ok).To(gomega.BeTrue())
			g.Expect(exit.code).To(gomega.Equal(exitUsage))
		})
	}

	without, err := openBaseline("", []string{"other.json"})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(without).To(gomega.BeNil())
}

// TestInterruptedComparison: a signal ends the reading of a recording wherever it is,
// in the comparison as in bless, and nothing is printed or written.
func TestInterruptedComparison(t *testing.T) {
	g := gomega.NewWithT(t)
	t.Chdir(t.TempDir())
	g.Expect(os.WriteFile("a.yaml", []byte(
		"name: a\ndrive: {loop: {prompt: Say DONE.}}\nbackend: {model: gpt-4.1-mini, replies: [{text: DONE}]}\nexpect: {status: done}\n"), 0o600)).To(gomega.Succeed())
	g.Expect(run(kinds.All(), []string{"run", "a.yaml", "--out", "out"}, strings.NewReader(""), io.Discard, io.Discard)).To(gomega.Equal(exitPass))

	for name, command := range map[string]func(*app, context.Context) error{
		"compare": func(a *app, ctx context.Context) error { return a.compare(ctx, "out", "out", "json", "") },
		"bless": func(a *app, ctx context.Context) error {
			return a.bless(ctx, "out", blessFlags{baseline: compare.BaselineFile, rules: compare.Rules{Alpha: -1, Margin: -1, Cost: -1, Tokens: -1}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			t.Cleanup(func() { _ = os.Remove(compare.BaselineFile) })
			tell := func(looks int) (string, error, bool) {
				var out strings.Builder
				ctx := &fleeting{Context: context.Background(), looks: looks}
				err := command(&app{stdout: &out, stderr: io.Discard, getenv: os.Getenv}, ctx)
				return out.String(), err, ctx.looks < 0
			}
			interruptions := 0
			for ; ; interruptions++ {
				out, err, over := tell(interruptions)
				if !over {
					g.Expect(err).NotTo(gomega.HaveOccurred())
					break
				}
				exit, ok := errors.AsType[*exitError](err)
				g.Expect(ok).To(gomega.BeTrue())
				g.Expect(exit.code).To(gomega.Equal(exitInterrupted))
				g.Expect(out).To(gomega.BeEmpty())
				g.Expect(compare.BaselineFile).NotTo(gomega.BeAnExistingFile())
			}
			g.Expect(interruptions).To(gomega.BeNumerically(">=", 4), "twice through each recording")
		})
	}
}

// fleeting is a context that ends after a number of checks.
type fleeting struct {
	context.Context
	looks int
}

func (c *fleeting) Err() error {
	if c.looks--; c.looks < 0 {
		return context.Canceled
	}
	return nil
}
