package detect_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/detect"
)

// testTimeout ends a spec that would hang.
const testTimeout = time.Minute

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// answers is an endpoint in memory that always gives the same answer.
func answers(status int, body string) detect.Detector {
	GinkgoHelper()
	d, err := detect.HTTP(detect.HTTPConfig{URL: "http://localhost/detect", Transport: transport(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Status: fmt.Sprint(status, " x\x1b"), Body: io.NopCloser(strings.NewReader(body))}, nil
	})})
	Expect(err).NotTo(HaveOccurred())
	return d
}

var _ = Describe("an endpoint", func() {
	It("receives the question over a socket, without the label", func(ctx SpecContext) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer GinkgoRecover()
			Expect(r.Method).To(Equal(http.MethodPost))
			Expect(r.URL.Query().Get("key")).To(Equal("secret"))
			Expect(r.Header.Get("Content-Type")).To(Equal("application/json"))
			var asked map[string]any
			Expect(json.NewDecoder(r.Body).Decode(&asked)).To(Succeed())
			Expect(asked).To(Equal(map[string]any{"id": "a", "text": "Is it\n\"é\"?", "request": "Ask.", "lang": "en"}))
			fmt.Fprint(w, `{"id":"a","positive":true,"class":"defers","score":0.75,"spans":[[3,5],[0,2],[3,5]],`+
				`"categories":["next_steps"],"steps":["s"],"reasons":["r"],"more":1}`)
		}))
		DeferCleanup(server.Close)
		d, err := detect.HTTP(detect.HTTPConfig{URL: server.URL + "/detect?key=secret"})
		Expect(err).NotTo(HaveOccurred())
		Expect(d.Name()).To(Equal(server.URL + "/detect"))
		score := 0.75
		Expect(ask(ctx, d, "Is it\n\"é\"?")).To(Equal(detect.Prediction{
			Positive: true, Class: "defers", Score: &score, Spans: [][2]int{{0, 2}, {3, 5}},
			Categories: []string{"next_steps"}, Steps: []string{"s"}, Reasons: []string{"r"},
		}))
	})

	DescribeTable("fails on an invalid answer",
		func(ctx SpecContext, status int, body, want string) {
			p, err := ask(ctx, answers(status, body), "0123456789")
			Expect(err).To(MatchError(ContainSubstring(want)))
			Expect(p).To(Equal(detect.Prediction{}))
			Expect(err.Error()).NotTo(ContainSubstring("\x1b"))
			Expect(len(err.Error())).To(BeNumerically("<", 1000))
		},
		Entry("no JSON", 200, "<html>\x1b[2J"+strings.Repeat("x", 9999), "not a valid JSON object"),
		Entry("nothing", 200, "", "not a valid JSON object"),
		Entry("a list", 200, "[]", "not a valid JSON object"),
		Entry("no verdict", 200, `{"id":"a"}`, `no key "positive"`),
		Entry("null", 200, `{"id":"a","positive":null}`, `no key "positive"`),
		Entry("no id", 200, `{"positive":true}`, `about item "", not "a"`),
		Entry("another id", 200, `{"id":"b","positive":true}`, `about item "b"`),
		Entry("an unknown class", 200, `{"id":"a","positive":true,"class":"lazy"}`, `class "lazy"`),
		Entry("a score above 1", 200, `{"id":"a","positive":true,"score":1.1}`, "score 1.1"),
		Entry("a negative score", 200, `{"id":"a","positive":true,"score":-0.1}`, "score -0.1"),
		Entry("a span beyond the text", 200, `{"id":"a","positive":true,"spans":[[0,11]]}`, "10 bytes"),
		Entry("a span that ends before it begins", 200, `{"id":"a","positive":true,"spans":[[5,4]]}`, "[5 4]"),
		Entry("a negative span", 200, `{"id":"a","positive":true,"spans":[[-1,4]]}`, "[-1 4]"),
		Entry("its own failure", 200, `{"id":"a","error":"no model\u001b"}`, `reported an error: no model\x1b`),
		Entry("a server error", 500, "oh", "status 500"),
		Entry("too many requests", 429, "wait", "status 429"),
		Entry("a redirect", 302, "", "status 302"),
		Entry("a flood", 200, `{"id":"a","positive":true,"x":"`+strings.Repeat("x", 1<<20)+`"}`, "longer than 1048576 bytes"),
	)

	It("fails if the port is closed", func(ctx SpecContext) {
		server := httptest.NewServer(http.NotFoundHandler())
		server.Close()
		d, err := detect.HTTP(detect.HTTPConfig{URL: server.URL})
		Expect(err).NotTo(HaveOccurred())
		_, err = ask(ctx, d, "x")
		Expect(err).To(MatchError(ContainSubstring("refused")))
	})

	It("fails after its time limit", func(ctx SpecContext) {
		v := clock.NewVirtual()
		hangs := transport(func(r *http.Request) (*http.Response, error) {
			return nil, errors.Join(errors.New("cut"), v.Sleep(r.Context(), time.Hour))
		})
		d, err := detect.HTTP(detect.HTTPConfig{URL: "http://localhost", Transport: hangs, Clock: v, Timeout: time.Minute})
		Expect(err).NotTo(HaveOccurred())
		_, err = ask(ctx, d, "x")
		Expect(err).To(MatchError(context.DeadlineExceeded))
		Expect(err).To(MatchError(ContainSubstring("no answer within 1m0s")))
		Expect(v.Elapsed()).To(Equal(time.Minute))
	})

	It("distinguishes an interruption from a time limit", func(ctx SpecContext) {
		stopped, cancel := context.WithCancelCause(ctx)
		user := errors.New("the user stopped")
		cancel(user)
		_, err := ask(stopped, answers(200, ""), "x")
		Expect(err).To(HaveOccurred())
		d, err := detect.HTTP(detect.HTTPConfig{URL: "http://localhost", Transport: transport(func(r *http.Request) (*http.Response, error) {
			return nil, r.Context().Err()
		})})
		Expect(err).NotTo(HaveOccurred())
		_, err = ask(stopped, d, "x")
		Expect(err).To(MatchError(user))
	})

	DescribeTable("needs a valid URL",
		func(url string) {
			_, err := detect.HTTP(detect.HTTPConfig{URL: url})
			Expect(err).To(HaveOccurred())
			Expect(err.Error()).NotTo(ContainSubstring("secret"))
		},
		Entry("which is not empty", ""), Entry("with a scheme", "localhost:8080"), Entry("of HTTP", "ftp://host/"), Entry("with a host", "http://"),
		Entry("without a password", "http://me:secret@host/"), Entry("whose password is not quoted", "http://me:secret@ho st/"),
	)
})

// FuzzAnswer gives an endpoint's answer of any bytes.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"id":"a","positive":true,"class":"defers","score":0.5,"spans":[[0,1],[2,3]],"steps":["x"]}`))
	f.Add([]byte(`{"id":"a","error":"x","spans":[[-1,99999999999]]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := detect.HTTP(detect.HTTPConfig{URL: "http://localhost", Transport: transport(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(string(raw)))}, nil
		})})
		if err != nil {
			t.Fatal(err)
		}
		const text = "ten bytes."
		p, err := d.Detect(t.Context(), detect.Item{ID: "a", Text: text})
		if err != nil {
			return
		}
		if p.Score != nil && !(*p.Score >= 0 && *p.Score <= 1) {
			t.Fatal(*p.Score)
		}
		for _, s := range p.Spans {
			_ = text[s[0]:s[1]]
		}
	})
}
