package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/web"
)

var _ = Describe("Interviews that are begun", func() {
	begin := func(h *house, from string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, "/axiom", strings.NewReader(`{"event":"START"}`))
		r.Header.Set("Content-Type", "application/json")
		r.RemoteAddr = from
		return h.do(r)
	}
	limited := func(each, all int) func(*web.Options, *web.Deps) {
		return func(o *web.Options, _ *web.Deps) { o.StartsPerMinute, o.AllStartsPerMinute = each, all }
	}

	It("are limited for each address, and more are welcome after a while", func() {
		h := newHouse("lea", limited(3, -1))
		for range 3 {
			Expect(begin(h, "192.0.2.1:1000").Code).To(Equal(http.StatusOK))
		}
		refused := begin(h, "192.0.2.1:2000")
		Expect(refused.Code).To(Equal(http.StatusTooManyRequests))
		Expect(refused.Header().Get("Retry-After")).To(Equal("20"))
		Expect(refused.Body.String()).To(ContainSubstring("too_many_starts"))
		Expect(begin(h, "192.0.2.2:1000").Code).To(Equal(http.StatusOK), "another address")
		Expect(h.clock.Sleep(context.Background(), 20*time.Second)).To(Succeed())
		Expect(begin(h, "192.0.2.1:1000").Code).To(Equal(http.StatusOK))
		Expect(begin(h, "192.0.2.1:1000").Code).To(Equal(http.StatusTooManyRequests))
	})

	It("count one client's addresses of IPv6 as one", func() {
		h := newHouse("lea", limited(1, -1))
		Expect(begin(h, "[2001:db8::1]:1").Code).To(Equal(http.StatusOK))
		Expect(begin(h, "[2001:db8::2]:1").Code).To(Equal(http.StatusTooManyRequests))
		Expect(begin(h, "[2001:db8:0:1::1]:1").Code).To(Equal(http.StatusOK))
		Expect(begin(h, "[::ffff:192.0.2.1]:1").Code).To(Equal(http.StatusOK))
		Expect(begin(h, "192.0.2.1:1").Code).To(Equal(http.StatusTooManyRequests))
	})

	It("are limited in total, whatever the address", func() {
		h := newHouse("lea", limited(-1, 5))
		for i := range 5 {
			Expect(begin(h, fmt.Sprintf("192.0.2.%d:1", i)).Code).To(Equal(http.StatusOK))
		}
		Expect(begin(h, "192.0.2.9:1").Code).To(Equal(http.StatusTooManyRequests))
	})

	It("are limited on the page as well, and by default", func() {
		h := newHouse("lea", limited(0, 0))
		codes := map[int]int{}
		for range web.DefaultStarts + 2 {
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("language=fr"))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			w := h.do(r)
			codes[w.Code]++
			if w.Code == http.StatusTooManyRequests {
				Expect(w.Header().Get("Retry-After")).To(Equal("6"))
				Expect(w.Body.String()).To(ContainSubstring("Trop d&#39;entretiens"))
			}
		}
		Expect(codes).To(Equal(map[int]int{http.StatusSeeOther: web.DefaultStarts, http.StatusTooManyRequests: 2}))
	})

	It("limit nothing else: who has begun goes on", func() {
		h := newHouse("lea", limited(1, 1))
		shown := h.begin().View
		Expect(begin(h, "192.0.2.1:1").Code).To(Equal(http.StatusTooManyRequests))
		Expect(h.next(shown).Status).To(Equal(http.StatusOK))
	})
})

var _ = Describe("A request", func() {
	It("that names another host is not carried out", func() {
		h := newHouse("lea")
		r := httptest.NewRequest(http.MethodPost, "/axiom", strings.NewReader(`{"event":"START"}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Origin", "http://evil.example:8080")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		before := h.everything()
		for host, want := range map[string]int{
			"evil.example:8080": http.StatusMisdirectedRequest, "": http.StatusMisdirectedRequest,
			"localhost.evil.example": http.StatusMisdirectedRequest,
		} {
			r.Host = host
			Expect(h.do(r).Code).To(Equal(want), host)
		}
		Expect(h.everything()).To(Equal(before))
		r.Host = "evil.example:8080"
		allowed := newHouse("lea", func(o *web.Options, _ *web.Deps) { o.Hosts = []string{"EVIL.example"} })
		Expect(allowed.do(r).Code).To(Equal(http.StatusOK))
	})
})
