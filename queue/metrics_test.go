package queue

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/clock"
)

var _ = Describe("The health of a worker", Label("H-04"), func() {
	It("is that of its signs of life", func(ctx SpecContext) {
		virtual := clock.NewVirtual()
		m := NewMetrics(virtual)
		get := func(path string) int {
			w := httptest.NewRecorder()
			m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
			return w.Code
		}
		after := func(d time.Duration, alive, ready int) {
			GinkgoHelper()
			Expect(virtual.Sleep(ctx, d)).To(Succeed())
			Expect([]int{get("/healthz"), get("/readyz")}).To(Equal([]int{alive, ready}))
		}
		const ok, bad = http.StatusOK, http.StatusServiceUnavailable
		after(0, ok, bad) // the database has not heard of it
		m.beginBeat()(nil)
		after(9*time.Second, ok, ok)
		m.beginBeat()(errors.New("away"))
		after(2*time.Second, ok, bad) // the database is away, which a new process would not help
		after(58*time.Second, ok, bad)
		after(time.Second, bad, bad) // stuck
		m.beginBeat()(nil)
		after(0, ok, ok)
	})
})
