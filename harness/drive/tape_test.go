package drive_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// shortInterview returns a scenario of an interview that ends in its first block.
func shortInterview(options string) string {
	return "drive:\n  interview:\n    persona: lea\n" + indent(options) +
		"backend: {model: gpt-6.1-terra, cast: lea}\nexpect: {status: left}\n"
}

const leaves = "moves: [{at: BLOC_01/1, do: leave}]"

var _ = Describe("A tape of a golden path", func() {
	perturbed := func(texts ...string) (ps []perturb.Perturbation) {
		GinkgoHelper()
		for _, text := range texts {
			p, err := perturb.Parse(text)
			Expect(err).NotTo(HaveOccurred())
			ps = append(ps, p)
		}
		return ps
	}
	encoded := func(d drive.Driver) string {
		GinkgoHelper()
		tr, _ := d.Trial(context.Background(), 1)
		Expect(tr.End.HarnessError).To(BeEmpty())
		text, err := record.Encode(tr)
		Expect(err).NotTo(HaveOccurred())
		return string(text)
	}

	DescribeTable("lets perturbed trials of an interview start as late as possible",
		func(shared bool, texts ...string) {
			golden := driver(newEnv(), shortInterview(leaves))
			tape := drive.NewTape(context.Background(), golden)
			forked, got, err := tape.Fork(perturbed(texts...))
			Expect(err).NotTo(HaveOccurred())
			Expect(got).To(Equal(shared))
			full, err := golden.Perturbed(perturbed(texts...))
			Expect(err).NotTo(HaveOccurred())
			Expect(forked.Head()).To(Equal(full.Head()))
			Expect(encoded(forked)).To(Equal(encoded(full)))
			Expect(encoded(forked)).To(Equal(encoded(full)), "the second time")
		},
		Entry("a call", true, "call=2:status,status=503"),
		Entry("two calls", true, "call=2:text-truncated", "call=1:empty-text"),
		Entry("a call after a turn", true, "call=2:timeout", "turn=2:double"),
		Entry("a turn", true, "turn=4:concurrent"),
		Entry("a write", true, "write=5:crash-after"),
		Entry("some writes", true, "write=4:disk-full,every=2"),
		Entry("a write of the first turn", false, "write=1:crash-before"),
		Entry("the first turn", false, "call=2:timeout", "turn=1:double"),
	)

	It("has the record of the golden path", func() {
		golden := driver(newEnv(), shortInterview(leaves))
		want, _ := golden.Trial(context.Background(), 1)
		Expect(drive.NewTape(context.Background(), golden).Trial()).To(Equal(want))
	})

	It("names an impossible perturbation", func() {
		tape := drive.NewTape(context.Background(), driver(newEnv(), shortInterview(leaves)))
		_, _, err := tape.Fork(perturbed("call=1:exit"))
		Expect(err).To(MatchError(ContainSubstring("impossible here")))
	})

	DescribeTable("does not exist if trials cannot start in the middle",
		func(text string) {
			Expect(drive.NewTape(context.Background(), driver(newEnv(), text))).To(BeNil())
		},
		Entry("of another kind of agent", "drive: {loop: {prompt: Say DONE.}}\nbackend: {model: gpt-4.1-mini, replies: [{text: DONE}]}\n"),
		Entry("with a store in a file", shortInterview(leaves+"\nstore: file")),
		Entry("with moves that need more than sessions in the store", shortInterview("moves: [{at: BLOC_01/1, do: export}, {at: BLOC_01/2, do: leave}]")),
		Entry("with an invitation", shortInterview(leaves+"\ninvite: true")),
		Entry("with a crash of its own", shortInterview("moves: [{at: BLOC_01/1, do: crash, instant: after-reply}]")),
		Entry("over a socket", "drive:\n  interview: {persona: lea}\nbackend: {model: gpt-6.1-terra, cast: lea, as: socket}\nexpect: {status: finished}\n"),
	)

	It("does not exist in a run whose calls are metered", func() {
		ctx := drive.WithMeter(context.Background(), countingMeter{})
		Expect(drive.NewTape(ctx, driver(newEnv(), shortInterview(leaves)))).To(BeNil())
	})
})

// countingMeter is a meter that limits nothing.
type countingMeter struct{ drive.BudgetMeter }
