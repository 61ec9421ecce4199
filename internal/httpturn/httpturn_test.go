package httpturn_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/httpturn"
)

func TestHTTPTurn(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "internal/httpturn")
}

const base = "http://127.0.0.1:4711"

func make(request httpturn.Request, turn httpturn.Turn) (*http.Request, string) {
	GinkgoHelper()
	t, err := httpturn.Compile(request)
	Expect(err).NotTo(HaveOccurred())
	r, err := t.Make(base, turn)
	Expect(err).NotTo(HaveOccurred())
	body, err := io.ReadAll(r.Body)
	Expect(err).NotTo(HaveOccurred())
	return r, string(body)
}

var _ = Describe("The request of a turn", func() {
	It("says it in the body, as JSON", func() {
		r, body := make(httpturn.Request{Path: "/chat", Body: `{"n": {{.N}}, "say": {{json .Turn}}, "id": {{json .Session}}}`},
			httpturn.Turn{Turn: "a \"b\"\n<c> é", N: 3, Session: "s-1"})
		Expect(body).To(Equal(`{"n": 3, "say": "a \"b\"\n<c> é", "id": "s-1"}`))
		Expect(r.Method).To(Equal(http.MethodPost))
		Expect(r.URL.String()).To(Equal(base + "/chat"))
		Expect(r.Header.Get("Content-Type")).To(Equal("application/json"))
		Expect(r.ContentLength).To(BeEquivalentTo(len(body)))
	})

	It("says it in the path or in a header", func() {
		r, body := make(httpturn.Request{
			Method: "get", Path: "/ask?q={{urlquery .Turn}}&n={{.N}}",
			Headers: map[string]string{"x-session": "{{.Session}}", "content-type": "text/plain"},
		}, httpturn.Turn{Turn: "who & why?/é", N: 1, Session: "s"})
		Expect(r.Method).To(Equal(http.MethodGet))
		Expect(r.URL.Query().Get("q")).To(Equal("who & why?/é"))
		Expect(r.URL.Host).To(Equal("127.0.0.1:4711"))
		Expect(r.Header).To(And(HaveKeyWithValue("X-Session", []string{"s"}), HaveKeyWithValue("Content-Type", []string{"text/plain"})))
		Expect(body).To(BeEmpty())
	})

	DescribeTable("is refused before the first turn",
		func(r httpturn.Request, field, why string) {
			_, err := httpturn.Compile(r)
			Expect(err).To(MatchError(ContainSubstring(why)))
			Expect(err).To(HaveField("Field", field))
		},
		Entry("no template", httpturn.Request{Path: "/{{.Turn"}, "path", "unclosed action"),
		Entry("a misspelt field", httpturn.Request{Path: "/", Body: "{{.Trun}}"}, "body", "Trun"),
		Entry("one that only later turns meet", httpturn.Request{Path: "/", Body: "{{.Turn}}{{if .Session}}{{.Sesion}}{{end}}"}, "body", "Sesion"),
		Entry("an unknown function", httpturn.Request{Path: "/", Headers: map[string]string{"A": "{{quote .Turn}}"}}, "headers.A", `"quote" not defined`),
		Entry("no path", httpturn.Request{Body: "{{.Turn}}"}, "path", "begins with a slash"),
		Entry("another host", httpturn.Request{Path: "@example.org/", Body: "{{.Turn}}"}, "path", "begins with a slash"),
		Entry("a path with an unquoted byte", httpturn.Request{Path: "/\x01{{.Turn}}"}, "path", "urlquery"),
		Entry("a method of two words", httpturn.Request{Method: "GET IT", Path: "/{{.Turn}}"}, "method", "invalid method"),
		Entry("a header with a line break", httpturn.Request{Path: "/{{.Turn}}", Headers: map[string]string{"A": "b\nc"}}, "headers.A", "line break"),
		Entry("nothing of the turn", httpturn.Request{Path: "/chat", Body: `{"n": {{.N}}}`}, "body", "the same whatever the user says"),
		Entry("a loop without end", httpturn.Request{Path: "/", Body: `{{range 1000000000}}x{{end}}{{.Turn}}`}, "body", "ranges over a number"),
		Entry("a loop without end that writes nothing", httpturn.Request{Path: "/", Body: `{{$n := 2000000000}}{{range $n}}{{end}}{{.Turn}}`}, "body", "ranges over a number"),
		Entry("loops within loops", httpturn.Request{Path: "/", Headers: map[string]string{"A": `{{$l := split "" "` + strings.Repeat("x", 1000) + `"}}{{range $l}}{{range $l}}{{range $l}}{{end}}{{end}}{{end}}`}, Body: "{{.Turn}}"}, "headers.A", "too much work"),
		Entry("a long text", httpturn.Request{Path: "/", Body: `{{range split "" "` + strings.Repeat("x", 9000) + `"}}` + strings.Repeat("x", 900) + `{{end}}{{.Turn}}`}, "body", "writes more than"),
	)

	It("is refused where a turn breaks it", func() {
		t, err := httpturn.Compile(httpturn.Request{Path: "/", Headers: map[string]string{"Say": "{{.Turn}}"}})
		Expect(err).NotTo(HaveOccurred())
		_, err = t.Make(base, httpturn.Turn{Turn: "one\ntwo"})
		Expect(err).To(MatchError(ContainSubstring("line break")))
	})
})

var _ = Describe("The address of an application", func() {
	It("has no slash at its end", func() {
		for _, text := range []string{"http://127.0.0.1:8080", "http://localhost", "http://[::1]:80/api"} {
			Expect(httpturn.Base(text)).To(Equal(text))
			Expect(httpturn.Base(text + "/")).To(Equal(text))
		}
	})

	DescribeTable("is refused",
		func(text, why string) {
			_, err := httpturn.Base(text)
			Expect(err).To(MatchError(ContainSubstring(why)))
		},
		Entry("on another host", "http://example.org", "example.org is another machine; only applications on this one are driven"),
		Entry("on a host that looks like this one", "http://127.0.0.1.example.org:80", "is another machine"),
		Entry("on all interfaces", "http://0.0.0.0:8080", "is another machine"),
		Entry("of another scheme", "https://127.0.0.1:8080", "write one such as http://127.0.0.1:8080"),
		Entry("that is none", "127.0.0.1:8080", `"127.0.0.1:8080" is not a URL`),
		Entry("with a name and a password", "http://a:b@127.0.0.1", `"***@127.0.0.1" has more than a host and a path`),
		Entry("with a query", "http://127.0.0.1/?a=b", `"http://127.0.0.1/?***" has more than a host and a path`),
	)
})

func FuzzMake(f *testing.F) {
	f.Add("/chat?q={{urlquery .Turn}}", "{{json .Turn}}", "hello")
	f.Add("//{{.Turn}}", "", "example.org/x")
	f.Fuzz(func(t *testing.T, path, body, turn string) {
		tmpl, err := httpturn.Compile(httpturn.Request{Path: path, Body: body})
		if err != nil {
			return
		}
		r, err := tmpl.Make(base, httpturn.Turn{Turn: turn, N: 1})
		if err == nil && r.URL.Host != "127.0.0.1:4711" {
			t.Fatalf("the path %q leads to %s", path, r.URL)
		}
	})
}
