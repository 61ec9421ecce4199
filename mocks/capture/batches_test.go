package capture_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/mocks/capture"
	"github.com/rehearse-dev/rehearse/mocks/tape"
)

var _ = Describe("captured files and batches", Label("H-02"), func() {
	const upstream = `
rules:
  - {when: {user: bad}, fault: {kind: status, status: 529, message: busy}, times: 1}
  - {when: {user: one}, text: "One ` + apiKey + `.", usage: {input: 3, output: 2}}
  - {when: {user: two}, tool_calls: [{id: c, name: f, arguments: {a: 1}}], usage: {input: 3, output: 2}}
storage:
  - {request: POST /v1/batches, fault: {kind: status, status: 429, message: slow down, retry_after: 2s}}
`
	// send sends a request and returns the answer, which must have the status.
	send := func(r *rig, header http.Header, method, address, body string, status int) string {
		GinkgoHelper()
		request, err := http.NewRequest(method, address, strings.NewReader(body)) //nolint:noctx // the server is local
		Expect(err).NotTo(HaveOccurred())
		request.Header = header
		response, err := r.client.Do(request)
		Expect(err).NotTo(HaveOccurred())
		defer response.Body.Close()
		data, err := io.ReadAll(response.Body)
		Expect(err).NotTo(HaveOccurred())
		Expect(response.StatusCode).To(Equal(status), string(data))
		return string(data)
	}
	field := func(body, name string) string {
		GinkgoHelper()
		var v map[string]any
		Expect(json.Unmarshal([]byte(body), &v)).To(Succeed(), body)
		text, _ := v[name].(string)
		return text
	}
	chat := func(id, text string) string {
		return `{"custom_id":"` + id + `","method":"POST","url":"/v1/chat/completions","body":{"model":"m","messages":[{"role":"user","content":"` + text + `"}]}}` + "\n"
	}
	message := func(id, text string) string {
		return `{"custom_id":"` + id + `","params":{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"` + text + `"}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}}`
	}
	// openAI runs a batch and returns the contents of its files.
	openAI := func(r *rig, root string) (output, failed string) {
		GinkgoHelper()
		body := strings.NewReplacer(`name="prompt"`, `name="purpose"`, "\r\nx\r\n", "\r\nbatch\r\n", "RIFF\xff\xfe", chat("a", "one "+ghKey)+chat("b", "bad")).Replace(sound("x"))
		file := field(send(r, nil, "POST", root+"/v1/files", body, 200), "id")
		create := `{"input_file_id":"` + file + `","endpoint":"/v1/chat/completions","completion_window":"24h"}`
		send(r, nil, "POST", root+"/v1/batches", create, 429)
		batch := field(send(r, nil, "POST", root+"/v1/batches", create, 200), "id")
		send(r, nil, "GET", root+"/v1/batches/"+batch, "", 200)
		done := send(r, nil, "GET", root+"/v1/batches/"+batch, "", 200)
		Expect(field(done, "status")).To(Equal("completed"))
		output = send(r, nil, "GET", root+"/v1/files/"+field(done, "output_file_id")+"/content", "", 200)
		failed = send(r, nil, "GET", root+"/v1/files/"+field(done, "error_file_id")+"/content", "", 200)
		send(r, nil, "DELETE", root+"/v1/files/"+file, "", 200)
		return output, failed
	}
	// anthropic runs a batch and returns its results, from the address that the batch names.
	anthropic := func(r *rig, root string) string {
		GinkgoHelper()
		header := http.Header{"Anthropic-Version": {"2023-06-01"}, "Authorization": {"Bearer the-key-of-the-client"}}
		batch := field(send(r, header, "POST", root+"/v1/messages/batches", `{"requests":[`+message("a", "two")+`,`+message("b", "bad")+`]}`, 200), "id")
		send(r, header, "GET", root+"/v1/messages/batches/"+batch, "", 200)
		done := send(r, header, "GET", root+"/v1/messages/batches/"+batch, "", 200)
		Expect(field(done, "results_url")).To(HavePrefix(root+"/"), "the client stays at the proxy")
		return send(r, header, "GET", field(done, "results_url"), "", 200)
	}

	It("are recorded without secrets, and the requests of a batch replay", func() {
		handler, _ := scripted(parse(strings.Replace(upstream, "times: 1}", "times: 2}", 1)))
		r := capturing(handler, capture.Options{})
		openAI(r, r.url)
		results := anthropic(r, r.url)
		t := r.tape(12)
		for _, x := range t.Exchanges {
			Expect(x.Lost).To(BeEmpty())
			Expect(string(x.Sent()) + string(x.Body)).NotTo(Or(ContainSubstring(ghKey), ContainSubstring(apiKey)))
		}
		Expect(t.Exchanges[3]).To(And(HaveField("Method", "GET"), HaveField("Protocol", "openai-batches"), HaveField("Path", HavePrefix("/batches/batch_"))))
		Expect(t.Exchanges[11]).To(And(HaveField("Protocol", "anthropic-batches"), HaveField("Path", HaveSuffix("/results"))))

		script, skipped := capture.Script(t, capture.ScriptOptions{})
		Expect(skipped).To(BeEmpty())
		Expect(script.Storage).To(HaveExactElements(And(HaveField("Request", "POST /v1/batches"), HaveField("Fault.Status", 429), HaveField("Fault.RetryAfter", BeNumerically("==", 2e9)))))
		written, err := capture.Write(script, t, "x.capture.jsonl")
		Expect(err).NotTo(HaveOccurred())
		Expect(string(written)).To(And(ContainSubstring("storage:\n  - request: POST /v1/batches"), ContainSubstring("anthropic-batches (4)")))

		again, engine := scripted(parse(string(written)))
		replay := capturing(again, capture.Options{})
		output, failed := openAI(replay, replay.direct)
		Expect(output).To(And(ContainSubstring(`"custom_id":"a"`), ContainSubstring("One [REDACTED:")))
		Expect(failed).To(And(ContainSubstring(`"status_code":529`), ContainSubstring("busy")))
		again2 := anthropic(replay, replay.direct)
		Expect(strings.Count(again2, `"type":"succeeded"`)).To(Equal(strings.Count(results, `"type":"succeeded"`)))
		Expect(again2).To(And(ContainSubstring(`"name":"f","input":{"a":1}`), ContainSubstring("overloaded_error")))
		report := engine.Report()
		Expect(report.Unexpected).To(BeEmpty())
		Expect(report.Unused).To(BeEmpty())
		Expect(report.Unfired).To(BeEmpty())
	})

	It("are left out where the tape does not have the answers", func() {
		stored := func(n int, method, path, request, body string) tape.Exchange {
			x := tape.Exchange{N: n, Protocol: "openai-batches", Method: method, Path: path, Request: []byte(request), Status: 200, ContentType: "application/json"}
			x.Body = []byte(body)
			return x
		}
		other := stored(2, "", "/messages/batches", `{"requests":[`+message("a", "x")+`,`+message("b", "y")+`]}`, `{"id":"m1"}`)
		results := stored(3, "GET", "/messages/batches/m1/results", "", `{"custom_id":"b","result":{"type":"expired"}}`)
		other.Protocol, results.Protocol = "anthropic-batches", "anthropic-batches"
		script, skipped := capture.Script(taped(stored(1, "", "/batches", `{"input_file_id":"f"}`, `{"id":"b1"}`), other, results), capture.ScriptOptions{})
		Expect(script.Rules).To(BeEmpty())
		Expect(skipped).To(HaveExactElements(
			And(HaveField("N", 1), HaveField("Why", ContainSubstring("input of batch b1 is not on the tape"))),
			And(HaveField("N", 2), HaveField("Why", ContainSubstring("request a of batch m1: its answer was not retrieved"))),
			And(HaveField("N", 2), HaveField("Why", ContainSubstring("request b of batch m1: it has no answer: expired"))),
		))
	})

	It("are not recorded from Anthropic's files, or if the content of a file is cut off", func() {
		r := capturing(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if q.Header.Get("Anthropic-Version") == "" {
				w.Header().Set("Content-Length", "9")
			}
			_, _ = io.WriteString(w, "half")
		}), capture.Options{})
		send(r, http.Header{"Anthropic-Version": {"2023-06-01"}}, "GET", r.url+"/v1/files/f/content", "", 200)
		response, err := r.client.Get(r.url + "/v1/files/f/content") //nolint:noctx // the server is local
		Expect(err).NotTo(HaveOccurred())
		defer response.Body.Close()
		_, err = io.ReadAll(response.Body)
		Expect(err).To(HaveOccurred())
		Expect(r.exchanges(1)[0].Lost).To(ContainSubstring("cut the answer off"))
	})
})
