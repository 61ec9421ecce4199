package http_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/app"
	httpkind "github.com/rehearse-dev/rehearse/harness/kind/http"
	"github.com/rehearse-dev/rehearse/internal/quantity"
)

// chat is the request of most applications here.
var chat = httpkind.Request{Path: "/chat", Body: `{"say": {{json .Turn}}, "n": {{.N}}, "id": {{json .Session}}}`}

// web describes an application with a health check.
func web(request httpkind.Request, answer, session string) httpkind.Web {
	return httpkind.Web{
		Health: "/healthz", HealthTimeout: quantity.Duration(20 * time.Second),
		Request: request, Answer: answer, Session: session,
	}
}

// served returns a session with an application in this process.
func served(w httpkind.Web, h http.HandlerFunc) app.Session {
	GinkgoHelper()
	return servedAt(app.Site{Clock: clock.Real()}, w, h)
}

func servedAt(site app.Site, w httpkind.Web, h http.HandlerFunc) app.Session {
	GinkgoHelper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/", h)
	server := httptest.NewServer(mux)
	DeferCleanup(server.Close)
	agent, err := httpkind.New(httpkind.Options{Web: w, URL: server.URL + "/"})
	Expect(err).NotTo(HaveOccurred())
	s, err := agent.Start(context.Background(), site)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(s.End(context.Background())).To(Succeed()) })
	return s
}

// beError matches an *app.Error of a kind whose message contains a text.
func beError(kind app.Kind, text string) types.GomegaMatcher {
	return And(BeAssignableToTypeOf(&app.Error{}), HaveField("Kind", kind), MatchError(ContainSubstring(text)))
}

var ctx = context.Background()

var _ = Describe("A conversation with an HTTP application", func() {
	It("sends each turn by the template, and reads the answer at its path", func() {
		var asked []string
		s := served(web(chat, "$.reply", "$.session.id"), func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			asked = append(asked, r.Method+" "+r.URL.Path+" "+string(body))
			fmt.Fprintf(w, `{"reply": "Hello %d", "session": {"id": %d}}`, len(asked), 9007199254740993)
		})
		answer, err := s.Say(ctx, `"Hi"`)
		Expect(err).NotTo(HaveOccurred())
		Expect(answer).To(Equal(app.Answer{
			Text: "Hello 1", Raw: `{"reply": "Hello 1", "session": {"id": 9007199254740993}}`, Attrs: map[string]any{"http_status": 200},
		}))
		answer, err = s.Say(ctx, "again")
		Expect(err).NotTo(HaveOccurred())
		Expect(answer.Text).To(Equal("Hello 2"))
		Expect(asked).To(Equal([]string{
			`POST /chat {"say": "\"Hi\"", "n": 1, "id": ""}`,
			`POST /chat {"say": "again", "n": 2, "id": "9007199254740993"}`,
		}))
	})

	It("keeps the session's id if a response has none", func() {
		turns := 0
		s := served(web(chat, "", "$.id"), func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if turns++; turns == 1 {
				fmt.Fprint(w, `{"id": "first"}`)
				return
			}
			fmt.Fprintf(w, `{"heard": %q}`, body)
		})
		for range 2 {
			_, err := s.Say(ctx, "x")
			Expect(err).NotTo(HaveOccurred())
		}
		answer, err := s.Say(ctx, "x")
		Expect(err).NotTo(HaveOccurred())
		Expect(answer.Text).To(ContainSubstring(`\"id\": \"first\"`))
	})

	It("reports that no answer has the session's id once a request needed it", func() {
		turns := 0
		answers := func(first string) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				if turns++; turns == 1 {
					fmt.Fprint(w, first)
					return
				}
				fmt.Fprint(w, `{"id": "second"}`)
			}
		}
		s := served(web(chat, "", "$.idd"), answers(`{"id": "first"}`))
		_, err := s.Say(ctx, "x")
		Expect(err).NotTo(HaveOccurred(), "it may be an error, or come before the session")
		_, err = s.Say(ctx, "x")
		Expect(err).To(beError(app.Unusable, `none of the application's 2 answers has anything at $.idd (session), so each turn begins a new session: {"id": "second"}`))

		turns = 0
		failing := servedAt(app.Site{Clock: clock.Real(), Perturbed: true}, web(chat, "", "$.idd"), answers(`{"reply": "It failed."}`))
		for range 2 {
			_, err = failing.Say(ctx, "x")
			Expect(err).NotTo(HaveOccurred(), "the answers of a perturbed run may be apologies")
		}

		turns = 0
		late := served(web(chat, "", "$.id"), answers(`{"reply": "It failed."}`))
		for range 2 {
			_, err = late.Say(ctx, "x")
			Expect(err).NotTo(HaveOccurred())
		}
	})

	It("has a connection for each turn, so no turn gets a closed one", func() {
		var from []string
		s := served(web(chat, "", ""), func(_ http.ResponseWriter, r *http.Request) { from = append(from, r.RemoteAddr) })
		for range 2 {
			_, err := s.Say(ctx, "x")
			Expect(err).NotTo(HaveOccurred())
		}
		Expect(from[0]).NotTo(Equal(from[1]))
	})

	It("stores cookies", func() {
		s := served(web(chat, "", ""), func(w http.ResponseWriter, r *http.Request) {
			n := ""
			if c, err := r.Cookie("n"); err == nil {
				n = c.Value
			}
			http.SetCookie(w, &http.Cookie{Name: "n", Value: n + "I", Path: "/"})
			fmt.Fprint(w, "n="+n)
		})
		for _, want := range []string{"n=", "n=I", "n=II"} {
			Expect(s.Say(ctx, "x")).To(HaveField("Text", want))
		}
	})

	It("follows redirects on this machine", func() {
		s := served(web(chat, "", ""), func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/chat" {
				http.Redirect(w, r, "/here?n=1", http.StatusSeeOther)
				return
			}
			fmt.Fprint(w, r.Method, r.URL.RequestURI())
		})
		Expect(s.Say(ctx, "x")).To(HaveField("Text", "GET/here?n=1"))
	})

	DescribeTable("joins the events of a stream",
		func(answer, stream, want string) {
			s := served(web(chat, answer, ""), func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
				fmt.Fprint(w, stream)
			})
			Expect(s.Say(ctx, "x")).To(HaveField("Text", want))
		},
		Entry("of text", "", "data: Hel\n\ndata:lo\n\ndata: [DONE]\n\n", "Hello"),
		Entry("of several lines", "", ": ping\r\nevent: a\r\nid: 1\r\ndata: one\r\ndata: two\r\n\r\n", "one\ntwo"),
		Entry("of JSON, if they have the answer", "$.delta", "data: {\"delta\": \"Hel\"}\n\nevent: ping\ndata: {}\n\ndata: {\"delta\": \"lo\"}\n\ndata: [DONE]\n\n", "Hello"),
		Entry("except an incomplete one", "", "\uFEFFdata: a\n\ndata: b\n", "a"),
	)

	It("reads the session's id from any event of a stream", func() {
		var ids []string
		s := served(web(chat, "$.text", "$.id"), func(w http.ResponseWriter, r *http.Request) {
			var request struct{ ID string }
			_ = json.NewDecoder(r.Body).Decode(&request)
			ids = append(ids, request.ID)
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: {\"id\": \"s1\"}\n\ndata: {\"text\": \"Hello\"}\n\n")
		})
		for range 2 {
			Expect(s.Say(ctx, "x")).To(HaveField("Text", "Hello"))
		}
		Expect(ids).To(Equal([]string{"", "s1"}))
	})

	DescribeTable("reports an invalid response",
		func(answer string, status int, header, body string, want types.GomegaMatcher) {
			s := served(web(chat, answer, ""), func(w http.ResponseWriter, _ *http.Request) {
				if name, value, ok := strings.Cut(header, ": "); ok {
					w.Header().Set(name, value)
				}
				w.WriteHeader(status)
				_, _ = io.WriteString(w, body)
			})
			_, err := s.Say(ctx, "x")
			Expect(err).To(want)
			Expect(len(err.Error())).To(BeNumerically("<", 600))
		},
		Entry("text instead of JSON", "$.reply", 200, "", "<html>Hello</html>", beError(app.Unusable, "another shape than the scenario says: no JSON: \"<html>Hello</html>\"")),
		Entry("JSON without the answer", "$.reply", 200, "", "{\"text\":\n \"Hello\"}", beError(app.Unusable, `nothing at $.reply (answer): {"text": "Hello"}`)),
		Entry("null as the answer", "$.reply", 200, "", `{"reply": null}`, beError(app.Unusable, "nothing at $.reply")),
		Entry("several answers", "$.all[*]", 200, "", `{"all": ["a", "b"]}`, beError(app.Unusable, "picks several values")),
		Entry("an empty body", "$.reply", 204, "", "", beError(app.Unusable, `no JSON: ""`)),
		Entry("a stream without the answer", "$.reply", 200, "Content-Type: text/event-stream", "data: {}\n\n", beError(app.Unusable, "nothing at $.reply")),
		Entry("a stream that ends with an error", "$.delta", 200, "Content-Type: text/event-stream",
			"data: {\"delta\": \"Hel\"}\n\nevent: error\ndata: {\"message\": \"overloaded\"}\n\n",
			beError(app.Failed, `error event: {"message": "overloaded"}`)),
		Entry("binary", "", 200, "Content-Type: image/png", "\x89PNG\r\n\x1a\n", beError(app.Unusable, "(image/png) is binary")),
		Entry("a zero byte", "", 200, "", "a\x00b", beError(app.Unusable, "is binary")),
		Entry("an error of the application", "$.reply", 503, "", "out of\norder", And(beError(app.Failed, "HTTP status 503 Service Unavailable: out of order"), HaveField("Code", 503))),
		Entry("a huge error", "", 500, "", strings.Repeat("x", 100_000), And(beError(app.Failed, "xxx..."), HaveField("Code", 500))),
		Entry("an error without a body", "", 404, "", "", And(beError(app.Failed, "(an empty body)"), HaveField("Code", 404))),
		Entry("a redirect without a target", "", 304, "", "", beError(app.Unusable, "the HTTP status 304 Not Modified, which has no answer")),
		Entry("a redirect to another host", "", 302, "Location: https://api.example.org/v1", "", beError(app.Unusable, "redirects to api.example.org, which is not on this machine")),
		Entry("a redirect to itself", "", 307, "Location: /chat", "", beError(app.Crashed, "redirects without end")),
		Entry("a flood", "", 200, "", strings.Repeat("x", 5<<20), beError(app.Flooded, "more than 4194304 bytes")),
	)

	It("reports a closed connection", func() {
		s := served(web(chat, "", ""), func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "half of ")
		})
		_, err := s.Say(ctx, "x")
		Expect(err).To(beError(app.Crashed, "cut the connection (unexpected EOF)"))
		s = served(web(chat, "", ""), func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
		_, err = s.Say(ctx, "x")
		Expect(err).To(beError(app.Crashed, "cut the connection (EOF)"))
	})

	It("reports a server that does not speak HTTP", func() {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(l.Close)
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = http.ReadRequest(bufio.NewReader(conn)) // unread data would reset the connection
				fmt.Fprint(conn, "220 mail.example.org ESMTP\r\n")
				_ = conn.Close()
			}
		}()
		d := web(chat, "", "")
		d.Health = ""
		agent, err := httpkind.New(httpkind.Options{Web: d, URL: "http://" + l.Addr().String()})
		Expect(err).NotTo(HaveOccurred())
		s, err := agent.Start(ctx, app.Site{Clock: clock.Real()})
		Expect(err).NotTo(HaveOccurred())
		_, err = s.Say(ctx, "x")
		Expect(err).To(beError(app.Unusable, "speaks no HTTP"))
	})

	It("ends with the turn's timeout, or with the cause of the trial's end", func() {
		s := served(web(chat, "", ""), func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // otherwise the server would not notice that the client disconnects
			<-r.Context().Done()
		})
		timed, cancel := clock.Real().WithTimeout(ctx, 10*time.Millisecond)
		defer cancel()
		_, err := s.Say(timed, "x")
		Expect(err).To(beError(app.TimedOut, "did not answer in time"))

		why := fmt.Errorf("the user pressed Ctrl-C")
		stopped, stop := context.WithCancelCause(ctx)
		time.AfterFunc(10*time.Millisecond, func() { stop(why) })
		_, err = s.Say(stopped, "x")
		Expect(err).To(MatchError(why))
	})

	It("does not begin with an application that is missing or unhealthy", func() {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		Expect(err).NotTo(HaveOccurred())
		url := "http://" + l.Addr().String()
		Expect(l.Close()).To(Succeed())
		d := web(chat, "", "")
		d.HealthTimeout = quantity.Duration(200 * time.Millisecond)
		for _, health := range []string{"", "/healthz"} {
			d.Health = health
			agent, err := httpkind.New(httpkind.Options{Web: d, URL: url})
			Expect(err).NotTo(HaveOccurred())
			_, err = agent.Start(ctx, app.Site{Clock: clock.Real()})
			Expect(err).To(beError(app.Unusable, "could not be spoken to within 200ms (health_timeout): connection refused"))
		}
		server := httptest.NewServer(http.NotFoundHandler())
		DeferCleanup(server.Close)
		agent, err := httpkind.New(httpkind.Options{Web: d, URL: server.URL})
		Expect(err).NotTo(HaveOccurred())
		_, err = agent.Start(ctx, app.Site{Clock: clock.Real()})
		Expect(err).To(beError(app.Unusable, "/healthz answers with the HTTP status 404 Not Found, not 200"))
	})

	It("is possible on this machine only", func() {
		_, err := httpkind.New(httpkind.Options{Web: web(chat, "", ""), URL: "http://example.org"})
		Expect(err).To(MatchError(ContainSubstring("the application's url: example.org is another machine")))
	})
})
