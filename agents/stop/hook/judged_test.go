package hook_test

import (
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/agents/stop/hook"
)

var _ = Describe("ReadLog", func() {
	It("returns the outcome of each stop, and recognises its message", func() {
		g := newGuard()
		g.Log = filepath.Join(g.State, "log.jsonl")
		first, second := deferral("write the tests"), "All of it is done."
		g.call(claude("s", first, false))
		g.call(claude("s", second, true))
		data, err := os.ReadFile(g.Log)
		Expect(err).NotTo(HaveOccurred())
		judged, err := hook.ReadLog(append(data, `{"time":`...)) // a line that is being written
		Expect(err).NotTo(HaveOccurred())
		Expect(judged).To(HaveLen(2))

		Expect(judged[0].Class).To(Equal(stop.Defers))
		Expect(judged[0].Score).To(BeNumerically(">", 0.5))
		Expect([]any{judged[0].Outcome, judged[0].Blocked, judged[0].Refusable}).To(Equal([]any{"blocked", true, true}))
		Expect([]any{judged[1].Outcome, judged[1].Blocked, judged[1].Refusable}).To(Equal([]any{"allowed", false, false}))
		Expect([]bool{judged[0].Of(first), judged[0].Of(" " + first + "\n"), judged[0].Of(second)}).To(Equal([]bool{true, true, false}))
		Expect(judged[1].Of(second)).To(BeTrue())
	})
	It("returns nothing for an empty log", func() {
		Expect(hook.ReadLog(nil)).To(BeEmpty())
	})
	It("returns an error for a line that is not JSON", func() {
		_, err := hook.ReadLog([]byte("{}\nnonsense\n"))
		Expect(err).To(MatchError(ContainSubstring("line 2 of the guard's log")))
	})
})
