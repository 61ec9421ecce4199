package loopback_test

import (
	"net/http"
	"net/http/httptest"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/loopback"
)

var _ = Describe("a server for web pages", func() {
	const page = "http://localhost:5173"
	ask := func(method, origin string, header http.Header) *httptest.ResponseRecorder {
		next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
		r := httptest.NewRequest(method, "http://127.0.0.1/v1/models", nil)
		r.Header = header.Clone()
		r.Header.Set("Origin", origin)
		w := httptest.NewRecorder()
		loopback.RequireLocal(next, nil, []string{page}, "; add --cors").ServeHTTP(w, r)
		return w
	}

	It("answers the preflight request of an allowed origin", func() {
		w := ask(http.MethodOptions, page, http.Header{
			"Access-Control-Request-Method": {"POST"}, "Access-Control-Request-Headers": {"authorization,x-stainless-os"},
		})
		Expect(w.Code).To(Equal(http.StatusNoContent))
		Expect(w.Header().Get("Access-Control-Allow-Origin")).To(Equal(page))
		Expect(w.Header().Get("Access-Control-Allow-Headers")).To(Equal("authorization,x-stainless-os"))
		Expect(w.Header().Get("Access-Control-Allow-Methods")).To(ContainSubstring("POST"))
		Expect(w.Header().Get("Access-Control-Allow-Private-Network")).To(BeEmpty())
	})

	It("lets the page read answers", func() {
		w := ask(http.MethodPost, page, http.Header{"Sec-Fetch-Site": {"cross-site"}})
		Expect(w.Code).To(Equal(http.StatusTeapot))
		Expect(w.Header().Get("Access-Control-Allow-Origin")).To(Equal(page))
		Expect(w.Header().Get("Access-Control-Expose-Headers")).To(Equal("*"))
	})

	DescribeTable("refuses another origin",
		func(origin string) {
			w := ask(http.MethodPost, origin, http.Header{"Sec-Fetch-Site": {"cross-site"}})
			Expect(w.Code).To(Equal(http.StatusForbidden))
			w = ask(http.MethodOptions, origin, http.Header{"Access-Control-Request-Method": {"POST"}})
			Expect(w.Code).To(Equal(http.StatusTeapot))
			Expect(w.Header().Get("Access-Control-Allow-Origin")).To(BeEmpty())
		},
		Entry("of another host", "http://evil.example"),
		Entry("of another port", "http://localhost:5174"),
		Entry("that is opaque", "null"),
	)

	DescribeTable("checks origins", func(origin, problem string) {
		err := loopback.CheckOrigins([]string{page, origin})
		if problem == "" {
			Expect(err).NotTo(HaveOccurred())
			return
		}
		Expect(err).To(MatchError(ContainSubstring(problem)))
	},
		Entry("of a page", "https://app.example", ""),
		Entry("with a path", "http://localhost:5173/x", "--cors"),
		Entry("without a scheme", "localhost:5173", "such as http://localhost:5173"),
		Entry("that are all", "*", "--cors"),
	)
})
