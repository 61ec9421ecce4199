package loop_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/event"
)

var _ = Describe("No progress", Label("L-05"), func() {
	// The five cases that the guard was asked for with.

	It("stops after no_progress_limit identical answers with exit code 5", func() {
		r := newRig(loop.Options{NoProgressLimit: new(3), MaxIterations: new(10)}, all("Same response", "Same response", "Same response")...)
		res := r.run()
		Expect(res.ExitCode).To(Equal(5))
		Expect(res.Status).To(Equal(loop.StatusNoProgress))
		Expect(res.Iterations).To(Equal(3))
		Expect(res.Details).To(Equal("stopped after 3 identical answers in a row (no_progress_limit 3)"))
		Expect(res.Guard).To(Equal("no_progress_limit"))
		Expect(res.Text).To(Equal("Same response"))
	})

	It("counts anew from one when an answer differs", func() {
		r := newRig(loop.Options{NoProgressLimit: new(3), MaxIterations: new(10)},
			all("Response A", "Response A", "Response B", "Response B", "DONE")...)
		res := r.run()
		Expect(res.Status).To(Equal(loop.StatusDone))
		Expect(res.Iterations).To(Equal(5))
	})

	It("takes the limit from the configuration file", Label("L-06"), func() {
		r := newRig(loop.Options{}, all("Repeat", "Repeat")...)
		r.file = loop.Options{NoProgressLimit: new(2)}
		res := r.run()
		Expect(res.ExitCode).To(Equal(5))
		Expect(res.Status).To(Equal(loop.StatusNoProgress))
	})

	It("is off at a limit of 0", Label("L-06", "L-03"), func() {
		r := newRig(loop.Options{NoProgressLimit: new(0), MaxIterations: new(5)}, all("Same", "Same", "Same", "Same", "Same")...)
		res := r.run()
		Expect(res.ExitCode).To(Equal(4))
		Expect(res.Status).To(Equal(loop.StatusMaxIterations))
	})

	It("prefers the option to the configuration file", Label("L-06"), func() {
		r := newRig(loop.Options{NoProgressLimit: new(2)}, all("Repeat", "Repeat")...)
		r.file = loop.Options{NoProgressLimit: new(5)}
		res := r.run()
		Expect(res.ExitCode).To(Equal(5))
		Expect(res.Status).To(Equal(loop.StatusNoProgress))
		Expect(res.Iterations).To(Equal(2))
	})

	// And what they leave open.

	It("has a default limit of 3", func() {
		Expect(newRig(loop.Options{}, all("x", "x", "x")...).run().Status).To(Equal(loop.StatusNoProgress))
	})

	It("counts empty answers", func() {
		Expect(newRig(loop.Options{}, all("", "", "")...).run().Status).To(Equal(loop.StatusNoProgress))
	})

	It("lets a first answer complete at a limit of 1", Label("L-07"), func() {
		Expect(newRig(loop.Options{NoProgressLimit: new(1)}, say("DONE")).run().Status).To(Equal(loop.StatusDone))
	})

	It("ends at once at a limit of 1 when the answer does not complete", Label("L-07"), func() {
		res := newRig(loop.Options{NoProgressLimit: new(1)}, say("x")).run()
		Expect(res.Status).To(Equal(loop.StatusNoProgress))
		Expect(res.Iterations).To(Equal(1))
	})

	It("is not broken by a failed call in between", func() {
		r := newRig(loop.Options{ErrorLimit: new(2)}, say("x"), say("x"), fail("unavailable", "503"), say("x"))
		Expect(r.run().Status).To(Equal(loop.StatusNoProgress))
	})

	It("emits the guard that fired", func() {
		r := newRig(loop.Options{}, all("x", "x", "x")...)
		res := r.run()
		Expect(r.emitted(event.Guard)).To(ConsistOf(event.Event{
			Kind: event.Guard, Name: "no_progress_limit", N: 3, Detail: res.Details,
		}))
	})
})

var _ = Describe("The other no-progress guards", Label("L-10"), func() {
	DescribeTable("fire at their limits, and not just below",
		func(o loop.Options, status loop.Status, details string, texts ...string) {
			o.MaxIterations = new(len(texts))
			res := newRig(o, all(texts...)...).run()
			Expect(res.Status).To(Equal(status), res.Details)
			Expect(res.Details).To(ContainSubstring(details))
			Expect(res.Iterations).To(Equal(len(texts)))
		},
		Entry("alternation", loop.Options{AlternationLimit: new(3)}, loop.StatusNoProgress,
			"2 alternating answers came 3 times in a row (alternation_limit 3)", "A", "B", "A", "B", "A", "B"),
		Entry("alternation, just not", loop.Options{AlternationLimit: new(3)}, loop.StatusMaxIterations, "", "A", "B", "A", "B", "A"),
		Entry("alternation of three", loop.Options{AlternationLimit: new(2)}, loop.StatusNoProgress, "3 alternating", "A", "B", "C", "A", "B", "C"),
		Entry("alternation is off by default", loop.Options{}, loop.StatusMaxIterations, "", "A", "B", "A", "B", "A", "B", "A", "B"),
		Entry("near-identical", loop.Options{NearIdenticalLimit: new(3)}, loop.StatusNoProgress,
			"3 near-identical answers in a row (near_identical_limit 3)", "12:00:01  step 1", "12:05:44 step 2", "12:11:09 step  3"),
		Entry("near-identical, just not", loop.Options{NearIdenticalLimit: new(3)}, loop.StatusMaxIterations, "", "step 1", "step 2", "stop 3"),
		Entry("near-identical is off by default", loop.Options{}, loop.StatusMaxIterations, "", "step 1", "step 2", "step 3", "step 4"),
		Entry("the strictest guard is named", loop.Options{NearIdenticalLimit: new(3)}, loop.StatusNoProgress, "3 identical", "a", "a", "a"),
	)

	It("lets an answer complete that is near-identical to others", Label("L-07"), func() {
		r := newRig(loop.Options{NearIdenticalLimit: new(2), Marker: "STEP 9"}, all("STEP 8", "STEP 9")...)
		Expect(r.run().Status).To(Equal(loop.StatusDone))
	})
})
