package mocks_test

import (
	"context"
	"net/http"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/mocks"
)

var _ = Describe("an engine without its injections", Label("H-04"), func() {
	ask := func(r *rig) outcome { return r.post(context.Background(), chat(nil, user("hello"))) }

	// resumed continues at the position of r.
	resumed := func(r *rig) *rig {
		later := clock.NewVirtual()
		e := r.engine.WithoutInjections(later)
		return &rig{e, later, &http.Client{Transport: mocks.NewTransport(e)}, r.base, func() {}}
	}

	It("continues at the same position, on its own clock and with its own report", func() {
		r := injected("replies: [{text: one}, {text: two, latency: 3s}, {text: three}]", fault(2, "status"), fault(2, "timeout"), fault(3, "status"))
		Expect(ask(r).text()).To(Equal("one"))
		Expect(ask(r).Status).To(Equal(500))
		before := r.clock.Now()
		next := resumed(r)
		Expect(ask(next).text()).To(Equal("two"))
		Expect(next.clock.Elapsed()).To(Equal(3 * time.Second))
		Expect(ask(next).text()).To(Equal("three"))
		Expect(next.engine.Report().Exchanges).To(HaveLen(2))
		Expect(next.engine.Report().Unfired).To(BeEmpty())

		Expect(r.clock.Now()).To(Equal(before))
		Expect(r.engine.Report().Exchanges).To(HaveLen(2))
		Expect(r.engine.Report().Unused).To(HaveLen(2), "what the other one used is its own")
	})

	It("keeps the fired faults and the state of its script", func() {
		r := inProcess(compile("rules: [{in: a, text: first, then: b, fault: {kind: status, status: 503, times: 2}}, {in: b, text: second}]\nstate: a"), mocks.EngineOptions{})
		Expect(ask(r).Status).To(Equal(503))
		next := resumed(r)
		Expect(ask(next).Status).To(Equal(503), "the second of two")
		Expect(ask(next).text()).To(Equal("first"))
		Expect(ask(next).text()).To(Equal("second"))
	})
})

var _ = Describe("a forked engine", Label("H-04"), func() {
	It("continues with the report of the original, and with injections of its own", func() {
		r := injected("replies: [{text: one, fault: status}, {text: two}, {text: three, latency: 3s}]")
		ask := func(r *rig) outcome { return r.post(context.Background(), chat(nil, user("hello"))) }
		Expect(ask(r).Status).To(Equal(500))
		Expect(ask(r).text()).To(Equal("one"))
		Expect(ask(r).text()).To(Equal("two"))
		Expect(r.engine.Answers()).To(Equal(2))

		later := clock.NewVirtual()
		e := r.engine.Fork(later, []mocks.Injection{fault(2, "status"), fault(3, "status")})
		next := &rig{e, later, &http.Client{Transport: mocks.NewTransport(e)}, r.base, func() {}}
		Expect(ask(next).Status).To(Equal(500))
		Expect(ask(next).text()).To(Equal("three"))
		Expect(later.Elapsed()).To(Equal(6*time.Second), "of both attempts")
		report := e.Report()
		Expect(report.Exchanges).To(HaveLen(5))
		Expect(report.Exchanges[4].N).To(Equal(5))
		Expect(report.Unused).To(BeEmpty())
		Expect(report.Unfired).To(HaveExactElements(HavePrefix("call=2:status: no such call was made")))

		Expect(r.engine.Report().Exchanges).To(HaveLen(3))
		Expect(r.engine.Answers()).To(Equal(2))
		Expect(ask(r).text()).To(Equal("three"), "the original is not affected")
	})
})
