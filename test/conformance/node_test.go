package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/mcp"
)

// requireNode is the variable that makes it an error, instead of a reason to skip, if Node or the
// packages of the folder node are missing.
const requireNode = "REHEARSE_NODE"

// node returns the path of the program that runs node/ask.mjs.
func node() string {
	GinkgoHelper()
	absent := func(why string) {
		why += "; npm ci in test/conformance/node makes these specs run"
		if os.Getenv(requireNode) == "required" {
			Fail(why)
		}
		Skip(why)
	}
	program, err := exec.LookPath("node")
	if err != nil {
		absent("there is no node: " + err.Error())
	}
	if _, err := os.Stat(filepath.Join("node", "node_modules")); err != nil {
		absent("the packages of Node are not installed: " + err.Error())
	}
	return program
}

// nodeCase is a question for a client of Node or Go, and nodeSeen the answer as parsed by the client.
type nodeCase struct {
	Name    string `json:"name"`
	Base    string `json:"base"`
	Stream  bool   `json:"stream"`
	Retries int    `json:"retries"`
	JSON    bool   `json:"json,omitempty"`    // an answer in JSON with a schema
	Tool    bool   `json:"tool,omitempty"`    // the script calls a tool
	Feature string `json:"feature,omitempty"` // function of features.mjs
	script  string
	engine  *mocks.Engine
	schema  *atomic.Bool // a request had the schema of the forecast

	// Of a case with an MCP server, one of these is set: its URL, or the command line that starts it.
	URL     string   `json:"url,omitempty"`
	Command []string `json:"command,omitempty"`
	servers []mcp.Server
	tools   *mcp.Engine
}

type nodeSeen struct {
	Text, Thinking, Finish string
	Output                 int
	Error, Message         string
	Status                 int
}

// schemaField is a field of the forecast in node/forecast.mjs, and of nothing else there.
const schemaField = "degrees"

// asks asks all questions with a client of Go, or with one of Node in one process, each in its own trial.
func asks(client string, cases []*nodeCase) map[string]nodeSeen {
	GinkgoHelper()
	if ask, ok := goClients[client]; ok {
		serveCases(cases)
		return asksGo(ask, cases)
	}
	program := node()
	serveCases(cases)
	questions, err := json.Marshal(cases)
	Expect(err).NotTo(HaveOccurred())
	cmd := exec.Command(program, filepath.Join("node", "ask.mjs"), client)
	cmd.Stdin = bytes.NewReader(questions)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + GinkgoT().TempDir()}
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	Expect(err).NotTo(HaveOccurred(), complaints.String())
	seen := map[string]nodeSeen{}
	Expect(json.Unmarshal(out, &seen)).To(Succeed(), string(out))
	return seen
}

// serveCases starts a server with a trial for each case.
func serveCases(cases []*nodeCase) {
	GinkgoHelper()
	server := &mocks.Server{}
	routes := http.NewServeMux()
	listening := httptest.NewUnstartedServer(routes)
	listening.Config.Protocols = new(http.Protocols)
	listening.Config.Protocols.SetHTTP1(true)
	listening.Config.Protocols.SetUnencryptedHTTP2(true) // for Amazon's client
	listening.Start()
	DeferCleanup(listening.Close)
	for i, c := range cases {
		var s mocks.Script
		Expect(yaml.Load([]byte(c.script), &s, yaml.WithKnownFields())).To(Succeed(), c.script)
		compiled, err := mocks.Compile(s)
		Expect(err).NotTo(HaveOccurred())
		c.engine = mocks.NewEngine(compiled, mocks.EngineOptions{})
		trial := fmt.Sprint(i)
		Expect(server.Attach(trial, c.engine)).To(Succeed())
		c.schema = new(atomic.Bool)
		routes.HandleFunc("/t/"+trial+"/", func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err == nil && bytes.Contains(body, []byte(schemaField)) {
				c.schema.Store(true)
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			server.ServeHTTP(w, r)
		})
		c.Base = listening.URL + "/t/" + trial + "/v1"
		if c.servers != nil {
			c.serveTools(routes, listening.URL, "/mcp/"+trial+"/")
		}
	}
}

// serveTools starts the MCP server of a case below a path.
func (c *nodeCase) serveTools(routes *http.ServeMux, base, path string) {
	GinkgoHelper()
	compiled, err := mcp.Compile(c.servers)
	Expect(err).NotTo(HaveOccurred())
	c.tools = mcp.NewEngine(compiled, mcp.Options{})
	DeferCleanup(c.tools.Close)
	routes.Handle(path, c.tools)
	url := base + path + c.servers[0].Name
	if c.servers[0].Transport != mcp.Stdio {
		c.URL = url
		return
	}
	executable, err := os.Executable()
	Expect(err).NotTo(HaveOccurred())
	c.Command = mcp.Command(executable, url)
}

const (
	nodeTalk = "model: " + model + `
replies:
  - {thinking: hm, tool_calls: [{name: weather, arguments: {city: Bern}}], when: {tool_offered: weather}}
  - {thinking: "Now I know.", text: "It rains, 日本.", when: {tool_result: rain, turn: 1}, ` + usage + `}`
	nodeSurplus = "model: " + model + "\nreplies: [{text: hello, when: {user: bye}}]"
)

// nodeFault returns a script with a fault in the first answer.
func nodeFault(kind string) string {
	return fmt.Sprintf("model: %s\nreplies: [{text: %s, fault: %s, %s}]", model, answer, kind, usage)
}

var _ = DescribeTable("a Node client", Label("H-02"),
	func(client string, tells finishes, surplus int) {
		var cases []*nodeCase
		for _, stream := range []bool{false, true} {
			for _, c := range []nodeCase{
				{Name: "talk", script: nodeTalk},
				{Name: "retry", script: fault(429, 1), Retries: 1},
				{Name: "401", script: fault(401, 1)},
				{Name: "surplus", script: nodeSurplus, Retries: 2},
				{Name: "finish-length", script: nodeFault("finish-length")},
				{Name: "malformed-json", script: nodeFault("malformed-json")},
				{Name: "reset-mid-stream", script: nodeFault("reset-mid-stream")},
				{Name: "error-event", script: nodeFault("error-event")},
				{Name: "missing-done", script: nodeFault("missing-done")},
				{Name: "truncated-stream", script: nodeFault("truncated-stream")},
				{Name: "empty-choices", script: nodeFault("empty-choices")},
				{Name: "content-filter", script: nodeFault("content-filter")},
				{Name: "wrong-usage", script: nodeFault("wrong-usage")},
				{Name: "slow-drip", script: nodeFault("{kind: slow-drip, delay: 1ms}")},
			} {
				c.Stream = stream
				c.Name += map[bool]string{true: ", streamed"}[stream]
				cases = append(cases, &c)
			}
		}
		seen := asks(client, cases)
		for _, how := range []string{"", ", streamed"} {
			By("talking with tools" + how)
			got := seen["talk"+how]
			Expect(got.Error).To(BeEmpty(), got.Message)
			Expect(got.Text).To(Equal("It rains, 日本."))
			Expect(got.Finish).To(Equal(tells.whole))
			Expect(got.Output).To(Equal(7))
			if client != "chat" {
				Expect(got.Thinking).To(Equal("Now I know."))
			}

			By("retrying after a rate limit" + how)
			Expect(seen["retry"+how].Text).To(Equal("hello"), seen["retry"+how].Message)

			By("not retrying with a wrong key, or a call that the script does not expect" + how)
			Expect(seen["401"+how].Status).To(Equal(401), seen["401"+how].Message)
			Expect(seen["surplus"+how].Status).To(Equal(surplus), seen["surplus"+how].Message)

			By("reporting an answer that was cut off at its limit" + how)
			Expect(seen["finish-length"+how].Finish).To(Equal(tells.limit), seen["finish-length"+how].Message)
			Expect(answer).To(HavePrefix(seen["finish-length"+how].Text))

			By("failing if the answer is broken" + how)
			Expect(seen["malformed-json"+how].Error).NotTo(BeEmpty())
			Expect(seen["reset-mid-stream"+how].Error).NotTo(BeEmpty())
			Expect(seen["truncated-stream"+how].Error).NotTo(BeEmpty())

			By("returning the answers of other faults" + how)
			Expect(seen["slow-drip"+how].Text).To(Equal(answer))
			Expect(seen["empty-choices"+how].Text).To(BeEmpty())
			Expect(seen["content-filter"+how].Finish).To(Equal(tells.filter))
			Expect(seen["wrong-usage"+how].Output).To(Equal(1070))
		}
		Expect(seen["error-event, streamed"].Error).NotTo(BeEmpty())
		Expect(seen["missing-done, streamed"].Finish).To(Equal(tells.unended), seen["missing-done, streamed"].Message)
		for _, c := range cases {
			report := c.engine.Report()
			Expect(report.Invalid).To(BeEmpty(), c.Name)
			if c.script == nodeTalk {
				Expect(report.Unused).To(BeEmpty(), c.Name)
			}
			if c.script == nodeSurplus {
				Expect(report.Unexpected).To(HaveLen(1), c.Name)
			}
		}
	},
	Entry("openai, chat completions", "chat", finishes{"stop", "length", "content_filter", "stop"}, 404),
	Entry("openai, Responses", "responses", finishes{"completed", "max_output_tokens", "content_filter", "in_progress"}, 400),
	Entry("@anthropic-ai/sdk, which reports an error if the end is missing", "messages", finishes{"end_turn", "max_tokens", "refusal", ""}, 400),
	Entry("@aws-sdk/client-bedrock-runtime", "converse", finishes{"end_turn", "max_tokens", "content_filtered", ""}, 400),
	Entry("the Vercel AI SDK over Responses", "ai-openai", finishes{"stop", "length", "content-filter", "interrupted"}, 400),
	Entry("the Vercel AI SDK over Messages", "ai-anthropic", finishes{"stop", "length", "content-filter", "interrupted"}, 400),
	Entry("the Vercel AI SDK, version 6, over Responses", "ai6-openai", finishes{"stop", "length", "content-filter", "other"}, 400),
	Entry("the Vercel AI SDK, version 6, over Messages", "ai6-anthropic", finishes{"stop", "length", "content-filter", "other"}, 400),
	Entry("@google/genai", "gemini", finishes{"STOP", "MAX_TOKENS", "SAFETY", ""}, 400),
	Entry("the Vercel AI SDK over Gemini", "ai-google", finishes{"stop", "length", "content-filter", "interrupted"}, 400),
)

// finishes are a client's finish reasons: of a complete answer, at its limit, by
// the filter, and in a stream without its end mark.
type finishes struct{ whole, limit, filter, unended string }
