package web_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

type view = interview.View

var _ = Describe("Bad input", func() {
	var (
		h     *house
		shown view
	)
	BeforeEach(func() {
		h = newHouse("lea")
		shown = h.until(h.begin().View, at(session.Block1, 1))
	})

	// unchanged sends a refused request and checks that it changed nothing.
	unchanged := func(do func() *httptest.ResponseRecorder) answer {
		GinkgoHelper()
		before, calls := h.everything(), h.model.made()
		w := do()
		Expect(w.Code).To(And(BeNumerically(">=", 400), BeNumerically("<", 500)), w.Body.String())
		Expect(h.everything()).To(Equal(before))
		Expect(h.model.made()).To(Equal(calls))
		Expect(w.Body.Len()).To(BeNumerically("<", 3000), "an error does not grow with what was sent")
		a := read(w)
		Expect(a.Error.Code).To(MatchRegexp(`^[a-z0-9_]+$`))
		Expect(a.Error.Message).NotTo(BeEmpty())
		return a
	}
	send := func(body io.Reader, header ...string) func() *httptest.ResponseRecorder {
		return func() *httptest.ResponseRecorder {
			r := httptest.NewRequest(http.MethodPost, "/axiom", body)
			r.Header.Set("Content-Type", "application/json")
			for i := 0; i < len(header); i += 2 {
				r.Header.Set(header[i], header[i+1])
			}
			return h.do(r)
		}
	}

	DescribeTable("is rejected with a code and changes nothing",
		func(body string, status int, code, message string) {
			body = strings.NewReplacer("SESSION", shown.SessionID, "SHOWN", shown.MessageID).Replace(body)
			a := unchanged(send(strings.NewReader(body)))
			Expect(a.Error.Code).To(Equal(code), a.Error.Message)
			Expect(a.Status).To(Equal(status))
			Expect(a.Error.Message).To(ContainSubstring(message))
		},
		Entry("an empty body", ``, 400, "invalid_json", "not a JSON object"),
		Entry("no JSON", `hello`, 400, "invalid_json", "not a JSON object"),
		Entry("half an object", `{"sessionId":"SESSION","message":"a`, 400, "invalid_json", "unexpected"),
		Entry("more than an object", `{"event":"START"} {"event":"START"}`, 400, "invalid_json", "after top-level value"),
		Entry("null", `null`, 400, "invalid_json", "not a JSON object"),
		Entry("a list", `[{"event":"START"}]`, 400, "invalid_json", "not a JSON object"),
		Entry("an unknown field", `{"sesionId":"x","message":"a"}`, 400, "unknown_field", `did you mean "sessionId"?`),
		Entry("a field in another case", `{"EVENT":"START"}`, 400, "unknown_field", `did you mean "event"?`),
		Entry("a field twice", `{"event":"START","event":"RESUME"}`, 400, "duplicate_field", `"event"`),
		Entry("a number for a text", `{"sessionId":"SESSION","message":7}`, 400, "wrong_type", `"message" must be a string, got number`),
		Entry("an object for a text", `{"sessionId":{},"message":"a"}`, 400, "wrong_type", `"sessionId" must be a string, got object`),
		Entry("a deep list for a text", `{"message":`+strings.Repeat("[", 9000)+strings.Repeat("]", 9000)+`}`, 400, "wrong_type", "array"),
		Entry("no field", `{}`, 400, "missing_field", `"sessionId" is required`),
		Entry("fields that are null", `{"sessionId":null,"event":null}`, 400, "missing_field", `"sessionId" is required`),
		Entry("a message and no session", `{"message":"hello"}`, 400, "missing_field", `"sessionId" is required`),
		Entry("a session and nothing else", `{"sessionId":"SESSION"}`, 400, "missing_field", `"message" or "event" is required`),
		Entry("an empty message", `{"sessionId":"SESSION","replyTo":"SHOWN","message":""}`, 400, "empty_answer", "empty"),
		Entry("a message of spaces", `{"sessionId":"SESSION","replyTo":"SHOWN","message":" \n\t "}`, 400, "empty_answer", "empty"),
		Entry("an unknown event", `{"sessionId":"SESSION","event":"RESUMME"}`, 400, "unknown_event", "did you mean RESUME"),
		Entry("an unknown language", `{"event":"START","language":"de"}`, 400, "invalid", "language"),
		Entry("a candidate that leaves the folder", `{"event":"START","candidateId":"../../etc/passwd"}`, 400, "invalid", "candidateId"),
		Entry("a candidate with a folder", `{"event":"START","candidateId":"a/b"}`, 400, "invalid", "candidateId"),
		Entry("a hidden candidate", `{"event":"START","candidateId":".."}`, 400, "invalid", "candidateId"),
		Entry("a candidate of 10,000 characters", `{"event":"START","candidateId":"`+strings.Repeat("a", 10_000)+`"}`, 400, "field_too_long", `"candidateId" has 10000 bytes`),
		Entry("an unknown session", `{"sessionId":"nobody","event":"RESUME"}`, 404, "unknown_session", "session"),
		Entry("a session that leaves the folder", `{"sessionId":"../x","event":"RESUME"}`, 400, "invalid", "sessionId"),
		Entry("GO at a question", `{"sessionId":"SESSION","replyTo":"SHOWN","event":"GO"}`, 409, "out_of_order", ""),
		Entry("an answer to a future message", `{"sessionId":"SESSION","replyTo":"m999","message":"a"}`, 409, "out_of_order", ""),
		Entry("a NUL", `{"sessionId":"SESSION","replyTo":"SHOWN","message":"a\u0000b"}`, 400, "control_character", `"message" contains a control character at byte 1`),
		Entry("an escape sequence of a terminal", `{"sessionId":"SESSION","replyTo":"SHOWN","message":"\u001b[2J"}`, 400, "control_character", "byte 0"),
		Entry("a line break in an id", `{"sessionId":"SESSION","submissionId":"a\nb","message":"a"}`, 400, "control_character", `"submissionId"`),
		Entry("a raw control character", "{\"sessionId\":\"SESSION\",\"message\":\"a\x01\"}", 400, "invalid_json", ""),
		Entry("half of a surrogate pair", `{"sessionId":"SESSION","replyTo":"SHOWN","message":"\ud800"}`, 400, "invalid_json", ""),
		Entry("bytes that are not UTF-8", "{\"sessionId\":\"SESSION\",\"message\":\"\xff\"}", 400, "not_utf8", "UTF-8"),
		Entry("UTF-16", "\xff\xfe{\x00}\x00", 400, "not_utf8", "UTF-8"),
		Entry("an answer of 100,000 bytes", `{"sessionId":"SESSION","replyTo":"SHOWN","message":"`+strings.Repeat("a", 100_000)+`"}`, 413, "answer_too_long", "100000"),
	)

	It("is rejected by size, with and without a Content-Length", func() {
		big := bytes.Repeat([]byte("a"), 10<<20)
		a := unchanged(send(bytes.NewReader(big)))
		Expect(a.Status).To(Equal(http.StatusRequestEntityTooLarge))
		Expect(a.Error.Code).To(Equal("body_too_large"))

		source := &counting{Reader: bytes.NewReader(big)}
		a = unchanged(send(source))
		Expect(a.Error.Code).To(Equal("body_too_large"))
		Expect(source.read).To(BeNumerically("<", 1<<20), "the rest is not read")
	})

	DescribeTable("is rejected for its media type",
		func(header []string, code string) {
			body := `{"sessionId":"` + shown.SessionID + `","replyTo":"` + shown.MessageID + `","message":"a"}`
			Expect(unchanged(send(strings.NewReader(body), header...)).Error.Code).To(Equal(code))
		},
		Entry("a form", []string{"Content-Type", "application/x-www-form-urlencoded"}, "media_type"),
		Entry("plain text", []string{"Content-Type", "text/plain"}, "media_type"),
		Entry("nothing at all", []string{"Content-Type", ""}, "media_type"),
		Entry("compressed", []string{"Content-Encoding", "gzip"}, "media_type"),
		Entry("another site's", []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, "cross_origin"),
	)

	DescribeTable("is refused with the methods that there are",
		func(method, path, allow string) {
			a := unchanged(func() *httptest.ResponseRecorder { return h.do(httptest.NewRequest(method, path, nil)) })
			Expect(a.Status).To(Equal(http.StatusMethodNotAllowed))
			Expect(a.Header.Get("Allow")).To(Equal(allow))
		},
		Entry("GET /axiom", http.MethodGet, "/axiom", "POST"),
		Entry("PUT /axiom", http.MethodPut, "/axiom", "POST"),
		Entry("DELETE /sessions", http.MethodDelete, "/sessions", "GET, HEAD"),
		Entry("PUT /", http.MethodPut, "/", "GET, HEAD, POST"),
		Entry("BREW /healthz", "BREW", "/healthz", "GET, HEAD"),
	)

	It("gets nothing where there is nothing", func() {
		a := unchanged(func() *httptest.ResponseRecorder {
			return h.do(httptest.NewRequest(http.MethodGet, "/etc/passwd", nil))
		})
		Expect(a.Error.Code).To(Equal("not_found"))
	})

	It("cannot answer a finished interview", func() {
		done := h.until(shown, over)
		a := unchanged(send(strings.NewReader(`{"sessionId":"` + done.SessionID + `","submissionId":"late","message":"one more thing"}`)))
		Expect(a.Status).To(Equal(http.StatusConflict))
		Expect(a.Error.Code).To(Equal("finished"))
	})
})

// counting counts the bytes read from a body of unknown length.
type counting struct {
	io.Reader
	read int
}

// Read implements io.Reader.
func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read += n
	return n, err
}
