package persist_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/event"
)

var _ = Describe("A plan", Label("P-08"), func() {
	It("is carried out to the end", func() {
		r := newRig(tasks("a", "b<a", "c"))
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
		Expect(result.ExitCode).To(BeZero())
		Expect(r.worked).To(Equal([]string{"a#1", "b#1", "c#1"}))
		Expect(states(result)).To(Equal(map[string]string{"a": "done", "b": "done", "c": "done"}))
		Expect(result.Details).To(ContainSubstring("not checked: compile, tests, features, validation"))
		Expect(r.clock.Elapsed()).To(Equal(3 * time.Minute))
		Expect(r.told(event.End, "complete")).To(HaveLen(1))
	})
})
