package drift_test

import (
	"context"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/drift"
	"github.com/rehearse-dev/rehearse/mocks/tape"
)

var _ = Describe("drift of files and batches", Label("H-02"), func() {
	const upload = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.jsonl\"\r\n\r\n{}\r\n--x\r\n" +
		"Content-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--x--\r\n"
	stored := func(n int, method, path, request, body string) tape.Exchange {
		x := tape.Exchange{N: n, Protocol: "openai-batches", Method: method, Path: path, Status: 200, ContentType: "application/json", Body: []byte(body), At: clock.Epoch}
		if path == "/files" {
			x.Protocol, x.Form = "openai-files", []byte(request)
		} else if request != "" {
			x.Request = []byte(request)
		}
		return x
	}
	session := func() tape.Tape {
		return tapeOf(
			stored(1, "", "/files", upload, `{"id":"file-1","bytes":2}`),
			stored(2, "", "/batches", `{"input_file_id":"file-1"}`, `{"id":"batch_1","output_file_id":null,"errors":null}`),
			stored(3, "GET", "/batches/batch_1", "", `{"id":"batch_1","output_file_id":null,"status":"in_progress"}`),
			stored(4, "GET", "/batches/batch_1", "", `{"id":"batch_1","output_file_id":"file-2","status":"completed"}`),
			stored(5, "GET", "/files/file-2/content", "", `{}`),
			stored(6, "DELETE", "/files/file-1", "", `{"id":"file-1","deleted":true}`),
		)
	}
	now := func() *backend {
		return &backend{answers: []answer{
			doc(`{"id":"file-9","bytes":"2"}`), doc(`{"id":"batch_9","output_file_id":null,"errors":null}`),
			doc(`{"id":"batch_9","output_file_id":null,"status":"validating"}`), doc(`{"id":"file-9","deleted":true}`),
		}}
	}

	It("is found with the ids of now", func() {
		b := now()
		result, err := drift.Run(context.Background(), session(), drift.Options{Upstream: "https://api.example.com", Transport: b})
		Expect(err).NotTo(HaveOccurred())
		var sent []string
		for i, r := range b.asked {
			sent = append(sent, r.Method+" "+r.URL.Path+" "+r.Header.Get("Content-Type")+" "+b.bodies[i])
		}
		Expect(sent).To(HaveExactElements(
			"POST /v1/files multipart/form-data; boundary=x "+upload, `POST /v1/batches application/json {"input_file_id":"file-9"}`,
			"GET /v1/batches/batch_9  ", "DELETE /v1/files/file-9  ",
		))
		Expect(result.Exchanges).To(HaveLen(4))
		Expect(result.Exchanges[0].Differences).To(HaveExactElements(drift.Difference{Tier: drift.Error, Where: "document: bytes", Before: "number", Now: "text"}))
		for _, e := range result.Exchanges[1:] {
			Expect(e.Differences).To(BeEmpty())
		}
		Expect(result.Exchanges[2]).To(HaveField("Method", "GET"))
		Expect(result.Skipped).To(HaveExactElements(
			drift.Skipped{N: 4, Why: "an equal request was already repeated"},
			drift.Skipped{N: 5, Why: "the file or batch file-2 of the capture has no counterpart now"},
		))
	})

	It("is not looked for in the results of a batch that has not ended", func() {
		x := stored(1, "GET", "/messages/batches/m/results", "", `{}`)
		x.Protocol = "anthropic-batches"
		result, err := drift.Run(context.Background(), tapeOf(x), drift.Options{Upstream: "https://api.example.com", Transport: now()})
		Expect(err).NotTo(HaveOccurred())
		Expect(result.Calls).To(BeZero())
		Expect(result.Skipped).To(HaveExactElements(drift.Skipped{N: 1, Why: "the batch has not ended yet"}))
	})

	It("stops before a batch of unknown cost, if the cost has a limit", func() {
		b := now()
		result, err := drift.Run(context.Background(), session(), drift.Options{Upstream: "https://api.example.com", Transport: b, MaxCost: 1})
		Expect(err).NotTo(HaveOccurred())
		Expect(b.requests()).To(HaveExactElements("POST /v1/files", "DELETE /v1/files/file-9"))
		Expect(result.Calls).To(Equal(1))
		Expect(result.Stopped).To(ContainSubstring("the cost of a batch"))
	})

	// interrupted ends its context with the first answer.
	interrupted := func(b *backend) (context.Context, drift.Options) {
		ctx, cancel := context.WithCancel(context.Background())
		return ctx, drift.Options{Upstream: "https://api.example.com", Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if clock.Err(r.Context()) != nil {
				return nil, r.Context().Err()
			}
			defer cancel()
			return b.RoundTrip(r)
		})}
	}

	It("leaves no file at the provider, even after an interrupt", func() {
		b := &backend{answers: []answer{doc(`{"id":"file-9","bytes":2}`), doc(`{"id":"file-9","deleted":true}`)}}
		ctx, options := interrupted(b)
		options.Key = func(string) string { return "sk-1" }
		result, err := drift.Run(ctx, session(), options)
		Expect(err).NotTo(HaveOccurred())
		Expect(b.requests()).To(HaveExactElements("POST /v1/files", "DELETE /v1/files/file-9"))
		Expect(b.asked[1].Header.Get("Authorization")).To(Equal("Bearer sk-1"))
		Expect(b.asked[1].Header.Get("Content-Type")).To(BeEmpty())
		Expect(result.Stopped).NotTo(BeEmpty())
		Expect(result.Left).To(BeEmpty())
	})

	DescribeTable("lists the files that may be left at the provider",
		func(left drift.Left, answers ...answer) {
			file := tapeOf(session().Exchanges[0])
			result, err := drift.Run(context.Background(), file, drift.Options{
				Upstream: "https://api.example.com", Transport: &backend{answers: answers}, Key: func(string) string { return "sk-secret-key" },
			})
			Expect(err).NotTo(HaveOccurred())
			if left == (drift.Left{}) {
				Expect(result.Left).To(BeEmpty())
			} else {
				Expect(result.Left).To(HaveExactElements(left))
			}
		},
		Entry("none, if they are gone", drift.Left{}, doc(`{"id":"file-9"}`), answer{404, "application/json", `{}`}),
		Entry("after a refusal, without the key", drift.Left{N: 1, File: "file-9", Why: "status 403: no right: [REDACTED:secret]"},
			doc(`{"id":"file-9"}`), answer{403, "text/plain", "no right: sk-secret-key"}),
		Entry("after an error", drift.Left{N: 1, File: "file-9", Why: "nobody is there"}, doc(`{"id":"file-9"}`), answer{}),
		Entry("if the answer has no id", drift.Left{N: 1, Why: "the answer to the upload has no id"}, doc(`{}`)),
		Entry("if there was no answer", drift.Left{N: 1, Why: "the upload was not answered: nobody is there"}, answer{}),
		Entry("none, if the upload was refused", drift.Left{}, answer{401, "application/json", `{}`}),
	)
})

// roundTrip is a transport.
type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
