package http

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

const base = "http://127.0.0.1:4711"

func makeRequest(request Request, data turn) (*http.Request, string) {
	GinkgoHelper()
	t, err := request.compile()
	Expect(err).NotTo(HaveOccurred())
	r, err := t.make(base, data)
	Expect(err).NotTo(HaveOccurred())
	body, err := io.ReadAll(r.Body)
	Expect(err).NotTo(HaveOccurred())
	return r, string(body)
}

var _ = Describe("The request of a turn", func() {
	It("contains the turn in the body, as JSON", func() {
		r, body := makeRequest(Request{Path: "/chat", Body: `{"n": {{.N}}, "say": {{json .Turn}}, "id": {{json .Session}}}`},
			turn{Turn: "a \"b\"\n<c> é", N: 3, Session: "s-1"})
		Expect(body).To(Equal(`{"n": 3, "say": "a \"b\"\n<c> é", "id": "s-1"}`))
		Expect(r.Method).To(Equal(http.MethodPost))
		Expect(r.URL.String()).To(Equal(base + "/chat"))
		Expect(r.Header.Get("Content-Type")).To(Equal("application/json"))
		Expect(r.ContentLength).To(BeEquivalentTo(len(body)))
	})

	It("contains the turn in the path or in a header", func() {
		r, body := makeRequest(Request{
			Method: "get", Path: "/ask?q={{urlquery .Turn}}&n={{.N}}",
			Headers: map[string]string{"x-session": "{{.Session}}", "content-type": "text/plain"},
		}, turn{Turn: "who & why?/é", N: 1, Session: "s"})
		Expect(r.Method).To(Equal(http.MethodGet))
		Expect(r.URL.Query().Get("q")).To(Equal("who & why?/é"))
		Expect(r.URL.Host).To(Equal("127.0.0.1:4711"))
		Expect(r.Header).To(And(HaveKeyWithValue("X-Session", []string{"s"}), HaveKeyWithValue("Content-Type", []string{"text/plain"})))
		Expect(body).To(BeEmpty())
	})

	DescribeTable("is rejected before the first turn",
		func(r Request, field, why string) {
			_, err := r.compile()
			Expect(err).To(MatchError(ContainSubstring(why)))
			var failed *fieldError
			Expect(errors.As(err, &failed)).To(BeTrue())
			Expect(failed.field).To(Equal(field))
		},
		Entry("an invalid template", Request{Path: "/{{.Turn"}, "path", "unclosed action"),
		Entry("a misspelled field", Request{Path: "/", Body: "{{.Trun}}"}, "body", "Trun"),
		Entry("a misspelled field for later turns only", Request{Path: "/", Body: "{{.Turn}}{{if .Session}}{{.Sesion}}{{end}}"}, "body", "Sesion"),
		Entry("an unknown function", Request{Path: "/", Headers: map[string]string{"A": "{{quote .Turn}}"}}, "headers.A", `"quote" not defined`),
		Entry("no path", Request{Body: "{{.Turn}}"}, "path", "begins with a slash"),
		Entry("another host", Request{Path: "@example.org/", Body: "{{.Turn}}"}, "path", "begins with a slash"),
		Entry("a path with an unquoted byte", Request{Path: "/\x01{{.Turn}}"}, "path", "urlquery"),
		Entry("a method of two words", Request{Method: "GET IT", Path: "/{{.Turn}}"}, "method", "invalid method"),
		Entry("a header with a line break", Request{Path: "/{{.Turn}}", Headers: map[string]string{"A": "b\nc"}}, "headers.A", "line break"),
		Entry("a request without the turn", Request{Path: "/chat", Body: `{"n": {{.N}}}`}, "body", "the same whatever the user says"),
		Entry("an endless loop", Request{Path: "/", Body: `{{range 1000000000}}x{{end}}{{.Turn}}`}, "body", "ranges over a number"),
		Entry("an endless loop without output", Request{Path: "/", Body: `{{$n := 2000000000}}{{range $n}}{{end}}{{.Turn}}`}, "body", "ranges over a number"),
		Entry("loops within loops", Request{Path: "/", Headers: map[string]string{"A": `{{$l := split "" "` + strings.Repeat("x", 1000) + `"}}{{range $l}}{{range $l}}{{range $l}}{{end}}{{end}}{{end}}`}, Body: "{{.Turn}}"}, "headers.A", "too much work"),
		Entry("a long text", Request{Path: "/", Body: `{{range split "" "` + strings.Repeat("x", 9000) + `"}}` + strings.Repeat("x", 900) + `{{end}}{{.Turn}}`}, "body", "writes more than"),
	)

	It("is an error if a turn makes it invalid", func() {
		t, err := Request{Path: "/", Headers: map[string]string{"Say": "{{.Turn}}"}}.compile()
		Expect(err).NotTo(HaveOccurred())
		_, err = t.make(base, turn{Turn: "one\ntwo"})
		Expect(err).To(MatchError(ContainSubstring("line break")))
	})
})

var _ = Describe("The address of an application", func() {
	It("has no slash at its end", func() {
		for _, text := range []string{"http://127.0.0.1:8080", "http://localhost", "http://[::1]:80/api"} {
			Expect(parseBase(text)).To(Equal(text))
			Expect(parseBase(text + "/")).To(Equal(text))
		}
	})

	DescribeTable("is rejected",
		func(text, why string) {
			_, err := parseBase(text)
			Expect(err).To(MatchError(ContainSubstring(why)))
		},
		Entry("on another host", "http://example.org", "example.org is another machine; only applications on this one are driven"),
		Entry("on a host that looks like this one", "http://127.0.0.1.example.org:80", "is another machine"),
		Entry("on all interfaces", "http://0.0.0.0:8080", "is another machine"),
		Entry("of another scheme", "https://127.0.0.1:8080", "write one such as http://127.0.0.1:8080"),
		Entry("that is not a URL", "127.0.0.1:8080", `"127.0.0.1:8080" is not a URL`),
		Entry("with a name and a password", "http://a:b@127.0.0.1", `"***@127.0.0.1" has more than a host and a path`),
		Entry("with a query", "http://127.0.0.1/?a=b", `"http://127.0.0.1/?***" has more than a host and a path`),
	)
})

func FuzzMake(f *testing.F) {
	f.Add("/chat?q={{urlquery .Turn}}", "{{json .Turn}}", "hello")
	f.Add("//{{.Turn}}", "", "example.org/x")
	f.Fuzz(func(t *testing.T, path, body, text string) {
		tmpl, err := Request{Path: path, Body: body}.compile()
		if err != nil {
			return
		}
		r, err := tmpl.make(base, turn{Turn: text, N: 1})
		if err == nil && r.URL.Host != "127.0.0.1:4711" {
			t.Fatalf("the path %q leads to %s", path, r.URL)
		}
	})
}
