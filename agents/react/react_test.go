package react_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react"
)

var _ = Describe("The cycle", Label("R-01"), func() {
	It("goes from thought to action to observation to reflection to the end", func() {
		r := newRig(searching, goingOn, reading, finished, docs(verified, report))
		res := r.run()
		Expect(res.Details).To(Equal("completed in iteration 2"))
		Expect(res.Status).To(Equal(react.StatusDone))
		Expect(r.phases()).To(Equal("act reflect act reflect verify"))
		Expect(r.set.done).To(Equal([]string{"search", "analyze"}))
		Expect(res.Output).To(Equal(report))
		Expect(res.Iterations).To(Equal(2))
	})
})
