package mocks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	openai "github.com/sashabaranov/go-openai"

	"github.com/rehearse-dev/rehearse/mocks"
)

// batchLine is a line of the input of a batch.
func batchLine(id, text string) string {
	return `{"custom_id":"` + id + `","method":"POST","url":"/v1/chat/completions","body":` + chat(nil, user(text)) + `}` + "\n"
}

var _ = Describe("files and batches", Label("H-02"), func() {
	ctx := context.Background()
	upload := func(r *rig, content string) string {
		GinkgoHelper()
		f, err := r.openaiClient().CreateFileBytes(ctx, openai.FileBytesRequest{Name: "in.jsonl", Bytes: []byte(content), Purpose: openai.PurposeBatch})
		Expect(err).NotTo(HaveOccurred())
		return f.ID
	}
	create := func(r *rig, content string) string {
		GinkgoHelper()
		b, err := r.openaiClient().CreateBatch(ctx, openai.CreateBatchRequest{
			InputFileID: upload(r, content), Endpoint: openai.BatchEndpointChatCompletions, CompletionWindow: "24h", Metadata: map[string]any{"k": "v"},
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(b.Status).To(Equal("validating"))
		return b.ID
	}
	poll := func(r *rig, id string) openai.BatchResponse {
		GinkgoHelper()
		b, err := r.openaiClient().RetrieveBatch(ctx, id)
		Expect(err).NotTo(HaveOccurred())
		return b
	}
	content := func(r *rig, id *string) string {
		GinkgoHelper()
		Expect(id).NotTo(BeNil())
		raw, err := r.openaiClient().GetFileContent(ctx, *id)
		Expect(err).NotTo(HaveOccurred())
		defer raw.Close()
		data, err := io.ReadAll(raw)
		Expect(err).NotTo(HaveOccurred())
		return string(data)
	}

	for name, transport := range ways {
		It(name+": store files until they are deleted", func() {
			r := transport(compile("rules: [{text: hi, optional: true}]"), mocks.EngineOptions{})
			client := r.openaiClient()
			first, second := upload(r, "one"), upload(r, "second")
			Expect(first).NotTo(Equal(second))
			list, err := client.ListFiles(ctx)
			Expect(err).NotTo(HaveOccurred())
			Expect(list.Files).To(HaveExactElements(HaveField("ID", second), And(HaveField("ID", first), HaveField("Bytes", 3), HaveField("FileName", "in.jsonl"))))
			Expect(content(r, &second)).To(Equal("second"))
			Expect(client.DeleteFile(ctx, first)).To(Succeed())
			_, err = client.GetFile(ctx, first)
			Expect(err).To(MatchError(ContainSubstring("No such File object: " + first)))
			Expect(client.GetFile(ctx, second)).To(HaveField("Purpose", "batch"))
			r.settle()
			report := r.engine.Report()
			Expect(report.Unexpected).To(BeEmpty())
			Expect(report.Calls).To(BeZero())
			Expect(report.Storage).To(BeEmpty(), "the script has no faults for them")
			Expect(report.Stored).To(Equal([]string{
				"DELETE /v1/files/*", "GET /v1/files", "GET /v1/files/*", "GET /v1/files/*/content", "POST /v1/files",
			}))
		})

		It(name+": answer the requests of a batch from the script, at the second poll", func() {
			r := transport(compile("rules:\n- {when: {user: bad}, fault: {kind: status, status: 500}, times: 1}\n- {when: {user: cut}, fault: reset-mid-stream, times: 1}\n"+
				"- {template: '{{.User}}!'}"), mocks.EngineOptions{})
			id := create(r, batchLine("a", "one")+batchLine("b", "bad")+"\n"+batchLine("c", "cut")+batchLine("d", "two"))
			Expect(poll(r, id).Status).To(Equal("in_progress"))
			Expect(r.engine.Report().Calls).To(BeZero())
			b := poll(r, id)
			Expect(b.Status).To(Equal("completed"))
			Expect(b.RequestCounts.Total).To(Equal(4))
			Expect(b.RequestCounts.Completed).To(Equal(2))
			Expect(b.RequestCounts.Failed).To(Equal(2))
			Expect(b.Metadata).To(HaveKeyWithValue("k", "v"))
			var answers []string
			for line := range strings.Lines(content(r, b.OutputFileID)) {
				var a struct {
					CustomID string `json:"custom_id"`
					Response struct {
						StatusCode int `json:"status_code"`
						Body       openai.ChatCompletionResponse
					}
				}
				Expect(json.Unmarshal([]byte(line), &a)).To(Succeed())
				answers = append(answers, fmt.Sprint(a.CustomID, a.Response.StatusCode, a.Response.Body.Choices[0].Message.Content))
			}
			Expect(answers).To(Equal([]string{"a200one!", "d200two!"}))
			errors := strings.Split(content(r, b.ErrorFileID), "\n")
			Expect(errors[0]).To(And(ContainSubstring(`"custom_id":"b"`), ContainSubstring(`"status_code":500`), HaveSuffix(`"error":null}`)))
			Expect(errors[1]).To(And(ContainSubstring(`"custom_id":"c","response":null`), ContainSubstring("connection")))
			Expect(poll(r, id)).To(Equal(b))
			r.settle()
			report := r.engine.Report()
			Expect(report.Calls).To(Equal(4))
			Expect(report.Unfired).To(BeEmpty())
			Expect(report.Unused).To(BeEmpty())
		})
	}

	It("report an unexpected call of a batch like any other", func() {
		r := inProcess(compile("replies: [{text: one}]"), mocks.EngineOptions{})
		id := create(r, batchLine("a", "x")+batchLine("b", "y"))
		poll(r, id)
		b := poll(r, id)
		Expect(b.RequestCounts.Failed).To(Equal(1))
		Expect(content(r, b.ErrorFileID)).To(ContainSubstring("script_exhausted"))
		Expect(r.engine.Report().Unexpected).To(HaveLen(1))
	})

	DescribeTable("fail a batch whose input is not valid, with the line", func(input, code string, line int) {
		r := inProcess(compile("rules: [{text: hi}]"), mocks.EngineOptions{})
		b := poll(r, create(r, input))
		Expect(b.Status).To(Equal("failed"))
		Expect(b.Errors.Data).To(HaveLen(1))
		Expect(b.Errors.Data[0].Code).To(Equal(code))
		if line > 0 {
			Expect(b.Errors.Data[0].Line).To(HaveValue(Equal(line)))
		}
		Expect(r.engine.Report().Calls).To(BeZero())
	},
		Entry("no JSON", batchLine("a", "x")+"{\n", "invalid_json_line", 2),
		Entry("an id twice", batchLine("a", "x")+batchLine("a", "y"), "duplicate_custom_id", 2),
		Entry("no id", batchLine("", "x"), "missing_required_parameter", 1),
		Entry("another endpoint", strings.Replace(batchLine("a", "x"), "/v1/chat/completions", "/v1/responses", 1), "invalid_url", 1),
		Entry("another method", strings.Replace(batchLine("a", "x"), "POST", "GET", 1), "invalid_method", 1),
		Entry("a stream", strings.Replace(batchLine("a", "x"), `"body":{`, `"body":{"stream":true,`, 1), "invalid_request", 1),
		Entry("nothing", "\n", "empty_file", 0),
	)

	It("cancel a batch, whose requests are then not answered", func() {
		r := inProcess(compile("rules: [{text: hi, optional: true}]"), mocks.EngineOptions{})
		id := create(r, batchLine("a", "x"))
		b, err := r.openaiClient().CancelBatch(ctx, id)
		Expect(err).NotTo(HaveOccurred())
		Expect(b.Status).To(Equal("cancelling"))
		Expect(poll(r, id).Status).To(Equal("cancelled"))
		_, err = r.openaiClient().CancelBatch(ctx, id)
		Expect(err).To(MatchError(ContainSubstring("'cancelled'")))
		Expect(r.engine.Report().Calls).To(BeZero())
		list, err := r.openaiClient().ListBatch(ctx, nil, nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(list.Data).To(HaveExactElements(HaveField("ID", id)))
	})

	It("page the lists", func() {
		r := inProcess(compile("rules: [{text: hi, optional: true}]"), mocks.EngineOptions{})
		var ids []string
		for range 3 {
			ids = append(ids, create(r, batchLine("a", "x")))
		}
		two := 2
		list, err := r.openaiClient().ListBatch(ctx, nil, &two)
		Expect(err).NotTo(HaveOccurred())
		Expect(list.HasMore).To(BeTrue())
		Expect(list.LastID).To(Equal(ids[1]))
		list, err = r.openaiClient().ListBatch(ctx, &ids[1], &two)
		Expect(err).NotTo(HaveOccurred())
		Expect(list.HasMore).To(BeFalse())
		Expect(list.Data).To(HaveExactElements(HaveField("ID", ids[0])))
	})

	It("keep no more than a standing server does", func() {
		r := inProcess(compile("rules: [{text: hi, optional: true}]"), mocks.EngineOptions{Keep: 2})
		first := upload(r, "1")
		upload(r, "2")
		upload(r, "3")
		_, err := r.openaiClient().GetFile(ctx, first)
		Expect(err).To(HaveOccurred())
	})

	It("refuse a batch without a window like one without a file", func() {
		r := inProcess(compile("{relax: [unknown-value], rules: [{text: hi, optional: true}]}"), mocks.EngineOptions{})
		o := r.do(ctx, "POST", "/batches", `{"input_file_id":"`+upload(r, "{}")+`","endpoint":"/v1/responses"}`, nil)
		Expect(o.Status).To(Equal(400))
		Expect(o.Body).To(ContainSubstring("Missing required parameter: 'completion_window'."))
		Expect(r.engine.Report().Invalid).To(HaveExactElements(Not(ContainSubstring("rule"))))
	})

	DescribeTable("refuse", func(method, path, body string, status int) {
		r := inProcess(compile("rules: [{text: hi, optional: true}]"), mocks.EngineOptions{})
		o := r.do(ctx, method, path, body, nil)
		Expect(o.Status).To(Equal(status), o.Body)
		Expect(json.Valid([]byte(o.Body))).To(BeTrue())
	},
		Entry("an upload that is not multipart", "POST", "/files", "{}", 400),
		Entry("an unknown file", "GET", "/files/x/content", "", 404),
		Entry("another method", "PUT", "/files/x", "", 405),
		Entry("a part of a file", "GET", "/files/x/y/content", "", 404),
		Entry("a batch without a file", "POST", "/batches", `{"endpoint":"/v1/chat/completions","completion_window":"24h"}`, 400),
		Entry("a batch of batches", "POST", "/batches", `{"input_file_id":"x","endpoint":"/v1/batches","completion_window":"24h"}`, 400),
		Entry("an unknown batch", "GET", "/batches/x", "", 404),
		Entry("a page of 0", "GET", "/batches?limit=0", "", 400),
	)

	DescribeTable("follow rules that a script can turn off", func(path, body, rule, message string, relaxed int) {
		ask := func(script string) (outcome, []string) {
			r := inProcess(compile(script), mocks.EngineOptions{})
			file := upload(r, batchLine("a", "x"))
			o := r.do(ctx, "POST", path, strings.ReplaceAll(body, "FILE", file), nil)
			return o, r.engine.Report().Invalid
		}
		o, invalid := ask("rules: [{text: hi, optional: true}]")
		Expect(o.Status).To(Equal(400), o.Body)
		Expect(o.Body).To(ContainSubstring(message))
		Expect(invalid).To(HaveExactElements(And(ContainSubstring("POST"), ContainSubstring("(the rule "+rule+", which"))))
		o, invalid = ask("{rules: [{text: hi, optional: true}], relax: [" + rule + "]}")
		Expect(o.Status).To(Equal(relaxed), o.Body)
		Expect(invalid).To(HaveLen(min(relaxed-200, 1)))
	},
		Entry("for purposes", "/files", "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nhi\r\n--x\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nfun\r\n--x--\r\n",
			"unknown-value", "'assistants', 'batch'", 200),
		Entry("for endpoints", "/batches", `{"input_file_id":"FILE","endpoint":"/v1/rerank","completion_window":"24h"}`, "unknown-value", "'/v1/responses'", 200),
		Entry("for windows", "/batches", `{"input_file_id":"FILE","endpoint":"/v1/responses","completion_window":"1h"}`, "unknown-value", "'24h'", 200),
		Entry("for the size of a batch", "/messages/batches", `{"requests":[`+strings.Repeat(`{},`, 100_000)+`{}]}`, "ranges", "at most 100000 items, not 100001", 400),
	)

	It("never run a batch of batches, whatever the script turns off", func() {
		r := inProcess(compile("{rules: [{text: hi, optional: true}], relax: [unknown-value]}"), mocks.EngineOptions{})
		for _, endpoint := range []string{"/v1/batches", "/v1/messages/batches", "/openai/v1/files"} {
			o := r.do(ctx, "POST", "/batches", `{"input_file_id":"`+upload(r, "{}")+`","endpoint":"`+endpoint+`","completion_window":"24h"}`, nil)
			Expect(o.Status).To(Equal(400), endpoint)
		}
	})

	Describe("of Anthropic's messages", func() {
		request := func(id, text string) string {
			return `{"custom_id":"` + id + `","params":{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"` + text + `"}]}}`
		}
		do := func(r *rig, method, path, body string) map[string]any {
			GinkgoHelper()
			o := r.do(ctx, method, path, body, nil)
			Expect(o.Status).To(Equal(http.StatusOK), o.Body)
			var v map[string]any
			Expect(json.Unmarshal([]byte(o.Body), &v)).To(Succeed())
			return v
		}

		It("end at the second poll", func() {
			r := inProcess(compile("rules:\n- {when: {user: bad}, fault: {kind: status, status: 529}, times: 1}\n- {text: hi}"), mocks.EngineOptions{})
			b := do(r, "POST", "/messages/batches", `{"requests":[`+request("a", "x")+`,`+request("b", "bad")+`]}`)
			Expect(b).To(HaveKeyWithValue("processing_status", "in_progress"))
			path := "/messages/batches/" + b["id"].(string)
			Expect(r.do(ctx, "GET", path+"/results", "", nil).Status).To(Equal(404))
			Expect(do(r, "GET", path, "")).To(And(HaveKeyWithValue("processing_status", "in_progress"), HaveKeyWithValue("results_url", BeNil())))
			ended := do(r, "GET", path, "")
			Expect(ended).To(And(HaveKeyWithValue("processing_status", "ended"), HaveKeyWithValue("results_url", r.base+path+"/results")))
			Expect(ended["request_counts"]).To(And(HaveKeyWithValue("succeeded", 1.0), HaveKeyWithValue("errored", 1.0)))
			lines := strings.Split(r.do(ctx, "GET", path+"/results", "", nil).Body, "\n")
			Expect(lines[0]).To(And(HavePrefix(`{"custom_id":"a","result":{"type":"succeeded","message":{"id":"msg_`), ContainSubstring(`"hi"`)))
			Expect(lines[1]).To(And(HavePrefix(`{"custom_id":"b","result":{"type":"errored","error":{"type":"error"`), ContainSubstring("overloaded_error")))
			Expect(do(r, "GET", "/messages/batches", "")["data"]).To(HaveLen(1))
			Expect(do(r, "DELETE", path, "")).To(HaveKeyWithValue("type", "message_batch_deleted"))
			Expect(r.do(ctx, "GET", path, "", nil).Status).To(Equal(404))
			Expect(r.engine.Report().Calls).To(Equal(2))
		})

		It("are cancelled without calls", func() {
			r := inProcess(compile("rules: [{text: hi, optional: true}]"), mocks.EngineOptions{})
			path := "/messages/batches/" + do(r, "POST", "/messages/batches", `{"requests":[`+request("a", "x")+`]}`)["id"].(string)
			Expect(do(r, "POST", path+"/cancel", "")).To(HaveKeyWithValue("processing_status", "canceling"))
			Expect(do(r, "GET", path, "")["request_counts"]).To(HaveKeyWithValue("canceled", 1.0))
			Expect(r.do(ctx, "GET", path+"/results", "", nil).Body).To(Equal(`{"custom_id":"a","result":{"type":"canceled"}}` + "\n"))
			Expect(r.engine.Report().Calls).To(BeZero())
		})

		DescribeTable("refuse", func(body string) {
			r := inProcess(compile("rules: [{text: hi, optional: true}]"), mocks.EngineOptions{})
			o := r.do(ctx, "POST", "/messages/batches", body, nil)
			Expect(o.Status).To(Equal(400))
			Expect(o.Body).To(ContainSubstring("invalid_request_error"))
		},
			Entry("nothing", `{}`), Entry("no JSON", `{`), Entry("an id with a space", `{"requests":[`+request("a b", "x")+`]}`),
			Entry("an id twice", `{"requests":[`+request("a", "x")+`,`+request("a", "x")+`]}`), Entry("no parameters", `{"requests":[{"custom_id":"a"}]}`),
		)

		It("do not answer Anthropic's files in OpenAI's form", func() {
			r := inProcess(compile("rules: [{text: hi, optional: true}]"), mocks.EngineOptions{})
			Expect(r.do(ctx, "GET", "/files", "", http.Header{"Anthropic-Version": {"2023-06-01"}}).Status).To(Equal(404))
			Expect(r.engine.Report().Unexpected).To(HaveLen(1))
		})
	})
})
