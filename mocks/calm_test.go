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

var _ = Describe("an engine that is calmed", Label("H-04"), func() {
	ask := func(r *rig) outcome { return r.post(context.Background(), chat(nil, user("hello"))) }

	// calmed goes on where r stands.
	calmed := func(r *rig) *rig {
		later := clock.NewVirtual()
		e := r.engine.Calm(later)
		return &rig{e, later, &http.Client{Transport: mocks.NewTransport(e)}, r.base, func() {}}
	}

	It("goes on where it stood, without injections, on its own clock and with its own report", func() {
		r := injected("replies: [{text: one}, {text: two, latency: 3s}, {text: three}]", fault(2, "status"), fault(2, "timeout"), fault(3, "status"))
		Expect(ask(r).text()).To(Equal("one"))
		Expect(ask(r).Status).To(Equal(500))
		before := r.clock.Now()
		calm := calmed(r)
		Expect(ask(calm).text()).To(Equal("two"))
		Expect(calm.clock.Elapsed()).To(Equal(3 * time.Second))
		Expect(ask(calm).text()).To(Equal("three"))
		Expect(calm.engine.Report().Exchanges).To(HaveLen(2))
		Expect(calm.engine.Report().Unfired).To(BeEmpty())

		Expect(r.clock.Now()).To(Equal(before))
		Expect(r.engine.Report().Exchanges).To(HaveLen(2))
		Expect(r.engine.Report().Unused).To(HaveLen(2), "what the other one used is its own")
	})

	It("keeps the strikes and the state of its script", func() {
		r := inProcess(compile("rules: [{in: a, text: first, then: b, fault: {kind: status, status: 503, times: 2}}, {in: b, text: second}]\nstate: a"), mocks.EngineOptions{})
		Expect(ask(r).Status).To(Equal(503))
		calm := calmed(r)
		Expect(ask(calm).Status).To(Equal(503), "the second of two")
		Expect(ask(calm).text()).To(Equal("first"))
		Expect(ask(calm).text()).To(Equal("second"))
	})
})
