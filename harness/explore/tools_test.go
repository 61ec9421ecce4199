package explore_test

import (
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/explore"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/mocks/mcp"
)

var _ = Describe("The calls of tools at scripted MCP servers", Label("H-04"), func() {
	// fired returns the faults of the calls of tools.
	fired := func(f measure.Facts) (kinds []string) {
		for _, c := range f.MCP {
			if c.Fault != "" {
				kinds = append(kinds, c.Fault)
			}
		}
		return kinds
	}

	It("are perturbed by each fault, which fires, and each failure is saved as a scenario that repeats it", func() {
		text, err := os.ReadFile("../../scenarios/react/mcp-golden.yaml")
		Expect(err).NotTo(HaveOccurred())
		sc := write(string(text) + "invariants: ['run.status == \"done\"']\n")
		sink, opts := &memory{}, only(result.Tools)
		opts.Sink = sink
		r := run(sc, opts)
		Expect(r.Cells).To(HaveLen(len(mcp.Injected())))
		folder := GinkgoT().TempDir()
		for i, kind := range mcp.Injected() {
			c := cell(r, "tool=1:"+kind)
			Expect(c.Fired).To(Equal(1), kind)
			Expect(c.Outcome).To(Equal(result.Failed), "the script has no answer for it")
			Expect(c.Shrunk).To(Equal([]string{"tool=1:" + kind}))
			Expect(fired(sink.trials[1+i].Facts)).To(Equal([]string{kind}), "trial 0 is the golden path")

			saved, err := explore.Save(sc, &c, folder, saveOptions)
			Expect(err).NotTo(HaveOccurred())
			Expect(saved.Write(folder)).To(Succeed())
			again := judge(filepath.Join(folder, saved.FileName))
			Expect(fired(again.Facts)).To(Equal([]string{kind}))
			Expect(again.Findings).To(ContainElement(HaveField("Rule", "invariant")))
		}
	})

	It("are not there without such servers", func() {
		Expect(run(write(twoCalls), only(result.Tools)).Cells).To(BeEmpty())
	})
})
