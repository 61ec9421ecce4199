package mocks_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

var _ = Describe("faults of files and batches", Label("H-02"), func() {
	ctx := context.Background()
	const upload = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.jsonl\"\r\n\r\nhello\r\n--x\r\n" +
		"Content-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--x--\r\n"
	script := func(faults string) string { return "{rules: [{text: hi, optional: true}], storage: [" + faults + "]}" }
	files := func(r *rig) int {
		GinkgoHelper()
		var list struct{ Data []any }
		Expect(json.Unmarshal([]byte(r.do(ctx, "GET", "/files", "", nil).Body), &list)).To(Succeed())
		return len(list.Data)
	}

	DescribeTable("fire at an upload, which leaves a file only if it was processed",
		func(fault string, stored int, check func(outcome)) {
			for name, start := range ways {
				r := start(compile(script("{request: POST /v1/files, fault: "+fault+"}")), mocks.EngineOptions{})
				check(r.do(ctx, "POST", "/files", upload, nil))
				Expect(files(r)).To(Equal(stored), name)
				Expect(r.do(ctx, "POST", "/files", upload, nil).Status).To(Equal(200), name)
				r.settle()
				report := r.engine.Report()
				Expect(report.Unfired).To(BeEmpty(), name)
				Expect(report.Calls).To(BeZero(), name)
			}
		},
		Entry("a status", "{kind: status, status: 429, retry_after: 2s}", 0, func(o outcome) {
			Expect(o.Status).To(Equal(429))
			Expect(o.Body).To(ContainSubstring("rate_limit_exceeded"))
		}),
		Entry("a reset at once", "reset-before-headers", 0, func(o outcome) { Expect(o.Err).To(Equal("reset")) }),
		Entry("a reset after the head", "reset-after-headers", 1, func(o outcome) { Expect(o.Err).To(Equal("reset")) }),
		Entry("a cut answer", "truncated-stream", 1, func(o outcome) { Expect(o.Err).To(Equal("cut off")) }),
		Entry("half a document", "malformed-json", 1, func(o outcome) {
			Expect(o.Status).To(Equal(200))
			Expect(json.Valid([]byte(o.Body))).To(BeFalse())
		}),
		Entry("bytes that are not text", "not-utf8", 1, func(o outcome) { Expect(o.Body).To(ContainSubstring("\xff\xfe")) }),
		Entry("a page of a proxy", "wrong-content-type", 0, func(o outcome) { Expect(o.Type).To(HavePrefix("text/html")) }),
		Entry("a slow answer", "{kind: slow-drip, delay: 1s}", 1, func(o outcome) { Expect(o.Body).To(ContainSubstring(`"bytes":5`)) }),
	)

	It("fire in Anthropic's form, at the kind of request that they name, as often as they say", func() {
		r := inProcess(compile(script("{request: 'GET /v1/messages/batches/*', fault: {kind: status, status: 529, times: 2}}")), mocks.EngineOptions{})
		body := `{"requests":[{"custom_id":"a","params":{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}]}}]}`
		o := r.do(ctx, "POST", "/messages/batches", body, nil)
		var b struct{ ID string }
		Expect(json.Unmarshal([]byte(o.Body), &b)).To(Succeed())
		var statuses []string
		for range 4 {
			o = r.do(ctx, "GET", "/messages/batches/"+b.ID, "", http.Header{})
			state := "busy"
			if o.Status == 200 {
				state = strings.Split(strings.SplitN(o.Body, `"processing_status":"`, 2)[1], `"`)[0]
			} else {
				Expect(o.Body).To(HavePrefix(`{"type":"error","error":{"type":"overloaded_error"`))
			}
			statuses = append(statuses, state)
		}
		Expect(statuses).To(Equal([]string{"busy", "busy", "in_progress", "ended"}), "a refused poll does not advance the batch")
	})

	It("hang until the client leaves", func() {
		r := overSocket(compile(script("{request: POST /v1/files, fault: timeout}")), mocks.EngineOptions{})
		gone, cancel := context.WithCancel(ctx)
		answered := make(chan outcome)
		go func() { answered <- r.do(gone, "POST", "/files", upload, nil) }()
		Eventually(func() []string { return r.engine.Report().Unfired }).Should(BeEmpty())
		cancel()
		Expect((<-answered).Err).To(Equal("cancelled"))
		Expect(files(r)).To(BeZero())
	})

	It("are reported if they did not fire, or cannot show", func() {
		r := inProcess(compile(script("{request: GET /v1/files, fault: {kind: status, times: 2}}, {request: 'GET /v1/files/*/content', fault: malformed-json}")), mocks.EngineOptions{})
		r.do(ctx, "POST", "/files", upload, nil)
		Expect(r.do(ctx, "GET", "/files", "", nil).Status).To(Equal(500))
		Expect(r.do(ctx, "GET", "/files/file-rehearse1/content", "", nil).Body).To(Equal("hello"))
		Expect(r.engine.Report().Unfired).To(HaveExactElements("storage[0]: status (fired 1 of 2)", "storage[1]: malformed-json (fired 0 of 1)"))
		Expect(compile(script("{request: GET /v1/files, fault: {kind: status, times: 2}}")).PlannedFaults()).To(
			HaveExactElements(mocks.PlannedFault{Line: "storage[0]", Kind: "status", Times: 2}))
	})

	It("are recorded with all requests about files and batches", func() {
		for name, start := range ways {
			r := start(compile(script("{request: POST /v1/files, fault: {kind: status, status: 429}}, {request: 'GET /v1/files/*/content', fault: malformed-json}")), mocks.EngineOptions{})
			r.do(ctx, "POST", "/files", upload, nil)
			r.do(ctx, "POST", "/files", upload, nil)
			r.do(ctx, "GET", "/files/file-rehearse1/content", "", nil)
			r.settle()
			Expect(r.engine.Report().Storage).To(HaveExactElements(
				mocks.StorageRecord{Request: "POST /v1/files", Status: 429, Line: "storage[0]", Fault: "status", Fired: true},
				mocks.StorageRecord{Request: "POST /v1/files", Status: 200},
				mocks.StorageRecord{Request: "GET /v1/files/*/content", Status: 200},
			), name)
		}
		r := inProcess(compile("rules: [{text: hi, optional: true}]"), mocks.EngineOptions{})
		r.do(ctx, "POST", "/files", upload, nil)
		Expect(r.engine.Report().Storage).To(BeEmpty(), "without faults for them")
		r = inProcess(compile(script("{request: POST /v1/files, fault: timeout}")), mocks.EngineOptions{Keep: 2})
		for range 3 {
			r.do(ctx, "GET", "/files", "", nil)
		}
		Expect(r.engine.Report().Storage).To(HaveLen(2), "of a standing server")
	})

	It("ask for a wait, which only the same kind of request can ignore", func() {
		for name, start := range ways {
			r := start(compile(script("{request: POST /v1/files, fault: {kind: status, status: 429, retry_after: 2s, times: 2}}")), mocks.EngineOptions{})
			early := func(wait time.Duration, method string) bool {
				Expect(r.clock.Sleep(ctx, wait)).To(Succeed())
				r.do(ctx, method, "/files", upload, nil)
				r.settle()
				all := r.engine.Report().Storage
				return all[len(all)-1].Early
			}
			var got []bool
			for _, q := range []struct {
				wait   time.Duration
				method string
			}{{0, "POST"}, {time.Second, "GET"}, {0, "POST"}, {2 * time.Second, "POST"}, {0, "POST"}} {
				got = append(got, early(q.wait, q.method))
			}
			Expect(got).To(Equal([]bool{false, false, true, false, false}), name)
			Expect(r.ask("hi").Status).To(Equal(200))
			Expect(r.engine.Report().Exchanges[0].Early).To(BeFalse())
		}
	})

	It("of the requests of a batch ask nobody to wait", func() {
		r := inProcess(compile("rules: [{text: hi, times: 2, fault: {kind: status, status: 429, retry_after: 2s}}]"), mocks.EngineOptions{})
		params := `"params":{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}]}`
		var b struct{ ID string }
		o := r.do(ctx, "POST", "/messages/batches", `{"requests":[{"custom_id":"a",`+params+`},{"custom_id":"b",`+params+`}]}`, nil)
		Expect(json.Unmarshal([]byte(o.Body), &b)).To(Succeed())
		for range 2 {
			r.do(ctx, "GET", "/messages/batches/"+b.ID, "", nil)
		}
		Expect(r.ask("hi").Status).To(Equal(200))
		Expect(r.engine.Report().Exchanges).To(HaveExactElements(HaveField("Status", 429), HaveField("Early", false), HaveField("Early", false)))
	})

	DescribeTable("are refused", func(fault, want string) {
		Expect(problems(script(fault))).To(HaveExactElements(ContainSubstring(want)))
	},
		Entry("of an unknown request", "{request: PUT /v1/files, fault: timeout}", `storage[0].request: "PUT /v1/files" is not a request about files or batches`),
		Entry("of one id", "{request: GET /v1/files/f1, fault: timeout}", `did you mean "GET /v1/files/*"?`),
		Entry("of an answer of a model", "{request: POST /v1/files, fault: refusal}", `storage[0].fault.kind: "refusal" is not a fault of such a request; there are status`),
		Entry("with an option of others", "{request: POST /v1/files, fault: {kind: timeout, status: 500}}", `option "status" has no meaning here`),
		Entry("of less than once", "{request: POST /v1/files, fault: {kind: timeout, times: -1}}", "storage[0].fault.times: must be at least 1, not -1"),
	)

	It("are a part of all faults of APIs", func() {
		for _, kind := range wire.StoredFaults() {
			Expect(slices.Contains(mocks.APIFaults(), kind)).To(BeTrue(), kind)
		}
	})
})
