//go:build unix

package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	. "github.com/onsi/gomega/gstruct"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/cli"
)

// replayer returns a command line that plays a recorded run: standard output,
// standard error and exit status. Flags that follow are ignored.
func replayer(stdout, stderr string, status int) []string {
	dir := GinkgoT().TempDir()
	out, err := filepath.Join(dir, "out"), filepath.Join(dir, "err")
	Expect(os.WriteFile(out, []byte(stdout), 0o600)).To(Succeed())
	Expect(os.WriteFile(err, []byte(stderr), 0o600)).To(Succeed())
	return []string{"sh", "-c", `cat >/dev/null; cat "$0"; cat "$1" >&2; exit "$2"`, out, err, strconv.Itoa(status)}
}

func replay(ctx context.Context, id, stdout, stderr string, status int) (reply llm.Reply, streamed string, err error) {
	adapter, err := cli.New(id, cli.Config{Command: replayer(stdout, stderr, status)})
	Expect(err).NotTo(HaveOccurred())
	reply, err = adapter.Complete(ctx, llm.Request{
		Messages: []llm.Message{{Role: llm.User, Content: "Fix it."}},
		OnText:   func(delta string) { streamed += delta },
	})
	return reply, streamed, err
}

func lines(all ...string) string { return strings.Join(all, "\n") + "\n" }

const (
	claudeInit   = `{"type":"system","subtype":"init","session_id":"s1","model":"claude-sonnet-4-5","tools":["Bash"]}`
	claudeTool   = `{"type":"assistant","message":{"model":"claude-sonnet-4-5","content":[{"type":"text","text":"I look first."},{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}`
	claudeQuota  = `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"HTTP 429: rate limit, quota exceeded"}]}}`
	claudeText   = `{"type":"assistant","message":{"model":"claude-sonnet-4-5","content":[{"type":"text","text":"Done."}]}}`
	claudeSub    = `{"type":"assistant","parent_tool_use_id":"t1","message":{"model":"claude-haiku-4-5","content":[{"type":"text","text":"sub-agent talk"}]}}`
	claudeResult = `{"type":"result","subtype":"success","is_error":false,"result":"Done.","num_turns":2,"total_cost_usd":0.0125,"usage":{"input_tokens":12,"cache_read_input_tokens":300,"cache_creation_input_tokens":40,"output_tokens":25}}`

	codexStart = `{"type":"thread.started","thread_id":"th1"}`
	codexTurn  = `{"type":"turn.started"}`

	codexOffline = `{"type":"error","message":"Reconnecting... waiting for network (Connection failed: error sending request)"}`

	codexNote  = `{"type":"item.completed","item":{"id":"i0","type":"agent_message","text":"I run the tests."}}`
	codexCmd   = `{"type":"item.completed","item":{"id":"i1","type":"command_execution","command":"go test","aggregated_output":"rate limit exceeded, 401","exit_code":1,"status":"failed"}}`
	codexFinal = `{"type":"item.completed","item":{"id":"i2","type":"agent_message","text":"All green."}}`
	codexDone  = `{"type":"turn.completed","usage":{"input_tokens":1000,"cached_input_tokens":900,"output_tokens":50,"reasoning_output_tokens":20}}`

	geminiInit   = `{"type":"init","session_id":"g1","model":"gemini-2.5-pro"}`
	geminiResult = `{"type":"result","status":"success","stats":{"total_tokens":190,"input_tokens":150,"output_tokens":30,"cached":100,"tool_calls":1}}`

	opencodeNote = `{"type":"text","sessionID":"ses_1","part":{"type":"text","text":"I look first."}}`
	opencodeBash = `{"type":"tool_use","sessionID":"ses_1","part":{"tool":"bash","callID":"c1","state":{"status":"completed","input":{"command":"ls"},"output":"rate limit, 429"}}}`
	opencodeStep = `{"type":"step_finish","sessionID":"ses_1","part":{"reason":"tool-calls","tokens":{"input":100,"output":10,"reasoning":5,"cache":{"read":30,"write":4}},"cost":0.002}}`
	opencodeNext = `{"type":"step_start","sessionID":"ses_1","part":{"type":"step-start"}}`
	opencodeText = `{"type":"text","sessionID":"ses_1","part":{"type":"text","text":"Done."}}`
	opencodeStop = `{"type":"step_finish","sessionID":"ses_1","part":{"reason":"stop","tokens":{"input":200,"output":20,"reasoning":0,"cache":{"read":0,"write":0}},"cost":0.003}}`
	opencodeFail = `{"type":"error","sessionID":"ses_1","error":{"name":"APIError","data":{"message":"Incorrect API key provided.","statusCode":401}}}`

	qwenResult = `{"type":"result","subtype":"success","session_id":"s1","is_error":false,"result":"Done.","usage":{"input_tokens":200,"output_tokens":20,"cache_read_input_tokens":0,"total_tokens":220},"permission_denials":[]}`
	qwenFailed = `{"type":"result","subtype":"error_during_execution","is_error":true,"usage":{"input_tokens":0,"output_tokens":0},"permission_denials":[],"error":{"message":"[API Error: 401 Incorrect API key provided.]"}}`

	copilotFailedCall = `{"type":"model.call_failure","data":{"retryAttempt":0,"statusCode":503,"errorMessage":"Service Unavailable"}}`
	copilotRetry      = `{"type":"assistant.turn_retry","data":{"reason":"streaming_error"}}`

	copilotResult = `{"type":"result","sessionId":"c1","exitCode":0,"usage":{"premiumRequests":1}}`
)

func copilotMessage(id, content, requests string) string {
	return `{"type":"assistant.message","data":{"messageId":"` + id + `","content":"` + content + `","toolRequests":[` + requests + `]}}`
}

var _ = Describe("an event stream that ends well", Label("L-02"), func() {
	DescribeTable("gives the final text, usage and cost",
		func(ctx SpecContext, id, stdout string, status int, want llm.Reply, wantStreamed string) {
			reply, streamed, err := replay(ctx, id, stdout, "some warning on standard error: 429", status)
			Expect(err).NotTo(HaveOccurred())
			if want.Finish == "" {
				want.Finish = llm.FinishStop
			}
			reply.Session = nil // see the specs of sessions
			Expect(reply).To(Equal(want))
			Expect(streamed).To(Equal(wantStreamed))
		},
		Entry("claude: cached input is apart, cost is reported", "claude",
			lines(claudeInit, claudeTool, claudeQuota, claudeSub, claudeText, claudeResult), 0,
			llm.Reply{
				Text: "Done.", Model: "claude-sonnet-4-5", ReportedUSD: new(0.0125),
				Usage: &llm.Usage{Input: 12, CachedInput: 300, CacheWrite: 40, Output: 25, Source: llm.UsageReported},
			}, "I look first.\n\nDone."),
		Entry("claude: an empty result falls back on what the assistant said", "claude",
			lines(claudeText, `{"type":"result","subtype":"success","is_error":false,"result":""}`), 0,
			llm.Reply{Text: "Done.", Model: "claude-sonnet-4-5"}, "Done."),
		Entry("claude: noise, unknown events and a retry by itself", "claude",
			lines("(node:1) Warning: old", `{"type":"telemetry","x":[1]}`, `["not","an","event"]`,
				`{"type":"system","subtype":"api_retry","attempt":1,"error_status":529}`, claudeText, claudeResult), 0,
			llm.Reply{
				Text: "Done.", Model: "claude-sonnet-4-5", ReportedUSD: new(0.0125),
				Usage:   &llm.Usage{Input: 12, CachedInput: 300, CacheWrite: 40, Output: 25, Source: llm.UsageReported},
				Retries: []llm.Retry{{Kind: llm.Unavailable, Status: 529}},
			}, "Done."),
		Entry("claude: stopped at its length", "claude",
			lines(`{"type":"result","subtype":"success","is_error":false,"result":"Half","stop_reason":"max_tokens"}`), 0,
			llm.Reply{Text: "Half", Finish: llm.FinishLength}, ""),
		Entry("codex: cached input is subtracted, the last message counts", "codex",
			lines(codexStart, codexTurn, codexNote, codexCmd, codexFinal, codexDone), 0,
			llm.Reply{
				Text:  "All green.",
				Usage: &llm.Usage{Input: 100, CachedInput: 900, Output: 50, Reasoning: 20, Source: llm.UsageReported},
			}, "I run the tests.\n\nAll green."),
		Entry("codex: an error it recovers from is a retry", "codex",
			lines(codexTurn, `{"type":"error","message":"Reconnecting... 1/5 (stream disconnected before completion)"}`, codexFinal, codexDone), 0,
			llm.Reply{
				Text:    "All green.",
				Usage:   &llm.Usage{Input: 100, CachedInput: 900, Output: 50, Reasoning: 20, Source: llm.UsageReported},
				Retries: []llm.Retry{{Kind: llm.Unavailable}},
			}, "All green."),
		Entry("codex: a network that comes back after its first answer", "codex",
			lines(codexStart, codexTurn, codexNote, strings.Repeat(codexOffline+"\n", 9), codexCmd, strings.Repeat(codexOffline+"\n", 9), codexFinal, codexDone), 0,
			llm.Reply{
				Text:    "All green.",
				Usage:   &llm.Usage{Input: 100, CachedInput: 900, Output: 50, Reasoning: 20, Source: llm.UsageReported},
				Retries: slices.Repeat([]llm.Retry{{Kind: llm.Unavailable}}, 18),
			}, "I run the tests.\n\nAll green."),
		Entry("codex: notes of its own are no answer", "codex",
			lines(codexStart, `{"type":"item.completed","item":{"id":"item_0","type":"error","message":"Model metadata for `+"`gpt-5`"+` not found."}}`,
				codexTurn, codexFinal, codexDone), 0,
			llm.Reply{
				Text:  "All green.",
				Usage: &llm.Usage{Input: 100, CachedInput: 900, Output: 50, Reasoning: 20, Source: llm.UsageReported},
			}, "All green."),
		Entry("gemini: pieces are joined, thoughts count as output", "gemini",
			lines("YOLO mode is enabled.", geminiInit,
				`{"type":"message","role":"user","content":"Fix it."}`,
				`{"type":"message","role":"assistant","content":"First ","delta":true}`,
				`{"type":"message","role":"assistant","content":"I look.","delta":true}`,
				`{"type":"tool_use","tool_name":"read","tool_id":"1","parameters":{}}`,
				`{"type":"tool_result","tool_id":"1","status":"error","error":"quota"}`,
				`{"type":"message","role":"assistant","content":"It is ","delta":true}`,
				`{"type":"message","role":"assistant","content":"fixed.","delta":true}`, geminiResult), 0,
			llm.Reply{
				Text: "It is fixed.", Model: "gemini-2.5-pro",
				Usage: &llm.Usage{Input: 50, CachedInput: 100, Output: 40, Reasoning: 10, Source: llm.UsageReported},
			}, "First I look.\n\nIt is fixed."),
		Entry("copilot: pieces are not told twice, no usage", "copilot",
			lines(`{"type":"session.tools_updated","data":{"model":"gpt-5"}}`,
				copilotMessage("m1", "I look.", `{"name":"view","arguments":{"path":"a"}}`),
				`{"type":"assistant.message_delta","data":{"messageId":"m2","deltaContent":"It is "}}`,
				`{"type":"assistant.message_delta","data":{"messageId":"m2","deltaContent":"fixed."}}`,
				copilotMessage("m2", "It is fixed.", ""), copilotResult), 0,
			llm.Reply{Text: "It is fixed.", Model: "gpt-5"}, "I look.\n\nIt is fixed."),
		Entry("copilot: the final text is an argument of task_complete", "copilot",
			lines(copilotMessage("m1", "I look.", ""),
				copilotMessage("m2", "", `{"name":"task_complete","arguments":{"summary":"Fixed the bug."}}`),
				`{"type":"session.task_complete","data":{"summary":"Fixed the bug.","success":true}}`, copilotResult), 0,
			llm.Reply{Text: "Fixed the bug."}, "I look.\n\nFixed the bug."),
		Entry("copilot: exit status 1 after reported success is success", "copilot",
			lines(copilotMessage("m1", "Fixed.", ""), copilotResult), 1,
			llm.Reply{Text: "Fixed."}, "Fixed."),
		Entry("copilot: a repeated call", "copilot", lines(copilotFailedCall, copilotRetry, copilotMessage("m1", "Fixed.", ""), copilotResult), 0,
			llm.Reply{Text: "Fixed.", Retries: []llm.Retry{{Kind: llm.Unavailable, Status: 503}}}, "Fixed."),
		Entry("opencode: the text of the last step, and the usage of all", "opencode",
			lines(opencodeNext, opencodeNote, opencodeBash, opencodeStep, opencodeNext, opencodeText, opencodeStop), 0,
			llm.Reply{
				Text: "Done.", ReportedUSD: new(0.005),
				Usage: &llm.Usage{Input: 300, CachedInput: 30, CacheWrite: 4, Output: 35, Reasoning: 5, Source: llm.UsageReported},
			}, "I look first.\n\nDone."),
		Entry("qwen: the events of claude", "qwen", lines(claudeInit, claudeTool, claudeText, qwenResult), 0,
			llm.Reply{Text: "Done.", Model: "claude-sonnet-4-5", Usage: &llm.Usage{Input: 200, Output: 20, Source: llm.UsageReported}}, "I look first.\n\nDone."),
		Entry("exec: standard output is the answer", "exec", "Working.\r\n\n  DONE\n", 0,
			llm.Reply{Text: "Working.\n\n  DONE"}, "Working.\n\n  DONE"),
		Entry("exec: bytes that are no text are replaced", "exec", "caf\xe9", 0,
			llm.Reply{Text: "caf\uFFFD"}, "caf\uFFFD"),
	)
})

var _ = Describe("an event stream that ends badly", Label("L-02", "H-02"), func() {
	type failure = Fields
	DescribeTable("is a typed error that keeps what had arrived",
		func(ctx SpecContext, id, stdout, stderr string, status int, want failure) {
			_, _, err := replay(ctx, id, stdout, stderr, status)
			var got *llm.Error
			Expect(err).To(BeAssignableToTypeOf(got))
			Expect(err).To(PointTo(MatchFields(IgnoreExtras, want)))
		},
		Entry("claude: success with is_error and exit status 0 (rate limit)", "claude",
			lines(claudeInit, `{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"You've hit your weekly limit"}`), "", 0,
			failure{"Kind": Equal(llm.RateLimited), "Status": Equal(429), "Message": ContainSubstring("weekly limit")}),
		Entry("claude: the same without the status, by its text", "claude",
			lines(`{"type":"result","subtype":"success","is_error":true,"result":"You've hit your weekly limit"}`), "", 0,
			failure{"Kind": Equal(llm.RateLimited)}),
		Entry("claude: a rejected rate-limit event explains a vague failure", "claude",
			lines(`{"type":"rate_limit_event","rate_limit_info":{"status":"rejected"}}`, `{"type":"result","subtype":"success","is_error":true,"result":"stopped"}`), "", 1,
			failure{"Kind": Equal(llm.RateLimited)}),
		Entry("claude: turn limit", "claude",
			lines(claudeText, `{"type":"result","subtype":"error_max_turns","is_error":false,"num_turns":9,"usage":{"input_tokens":5,"output_tokens":7}}`), "", 0,
			failure{
				"Kind": Equal(llm.Failed), "Message": Equal("error_max_turns"), "Partial": Equal("Done."),
				"Usage": PointTo(MatchFields(IgnoreExtras, Fields{"Input": Equal(5), "Output": Equal(7)})),
			}),
		Entry("claude: a quota text in a tool result is not a rate limit", "claude",
			lines(claudeTool, claudeQuota, `{"type":"result","subtype":"error_during_execution","is_error":true,"result":"crashed"}`), "", 1,
			failure{"Kind": Equal(llm.Failed), "Status": Equal(1)}),
		Entry("claude: access lost", "claude",
			lines(`{"type":"result","subtype":"success","is_error":true,"api_error_status":403,"result":"disabled"}`), "", 0,
			failure{"Kind": Equal(llm.Unauthorized)}),
		Entry("claude: success, and yet exit status 1", "claude", lines(claudeText, claudeResult), "boom", 1,
			failure{"Kind": Equal(llm.Failed), "Status": Equal(1), "Message": ContainSubstring("boom")}),
		Entry("claude: refused", "claude",
			lines(`{"type":"result","subtype":"success","is_error":false,"result":"I cannot.","stop_reason":"refusal"}`), "", 0,
			failure{"Kind": Equal(llm.Refused), "Message": ContainSubstring("I cannot.")}),
		Entry("claude: refused, as 2.1.197 says it", "claude",
			lines(claudeInit, `{"type":"assistant","message":{"model":"claude-sonnet-4-5","content":[{"type":"text","text":"I cannot."}]}}`,
				`{"type":"system","subtype":"model_refusal_no_fallback","content":""}`,
				`{"type":"assistant","message":{"model":"<synthetic>","stop_reason":"refusal","content":[{"type":"text","text":"API Error: Claude Code is unable to respond to this request"}]},"error":"invalid_request"}`,
				`{"type":"result","subtype":"success","is_error":true,"api_error_status":null,"result":"API Error: Claude Code is unable to respond to this request","stop_reason":"refusal"}`), "", 1,
			failure{"Kind": Equal(llm.Refused), "Message": ContainSubstring("unable to respond"), "Partial": Equal("I cannot.")}),
		Entry("claude: a gateway that answers what is none", "claude",
			lines(`{"type":"result","subtype":"success","is_error":true,"result":"API Error: API returned an empty or malformed response (HTTP 200)"}`), "", 1,
			failure{"Kind": Equal(llm.Malformed)}),
		Entry("claude: nothing listens at the address of its backend", "claude",
			lines(claudeInit, `{"type":"result","subtype":"success","is_error":true,"result":"API Error: Unable to connect to API (ConnectionRefused)"}`), "", 1,
			failure{"Kind": Equal(llm.Unavailable)}),
		Entry("claude: cut off in the middle of a line", "claude", lines(claudeInit, claudeText)+claudeResult[:60], "", 0,
			failure{"Kind": Equal(llm.Truncated), "Partial": Equal("Done.")}),
		Entry("claude: nothing at all", "claude", "", "", 0,
			failure{"Kind": Equal(llm.Malformed), "Message": ContainSubstring("gave no answer")}),
		Entry("claude: success without a word", "claude",
			lines(claudeInit, `{"type":"result","subtype":"success","is_error":false,"result":""}`), "", 0,
			failure{"Kind": Equal(llm.Malformed), "Message": ContainSubstring("no text")}),
		Entry("codex: turn.failed with exit status 0", "codex",
			lines(codexNote, `{"type":"turn.failed","error":{"message":"context window exceeded"}}`), "", 0,
			failure{"Kind": Equal(llm.Failed), "Message": Equal("context window exceeded"), "Partial": Equal("I run the tests.")}),
		Entry("codex: rate limit with a wait", "codex",
			lines(`{"type":"turn.failed","error":{"message":"Rate limit reached. Please try again in 1.5s."}}`), "", 1,
			failure{"Kind": Equal(llm.RateLimited), "RetryAfter": Equal(1500 * time.Millisecond)}),
		Entry("codex: a wrong key", "codex",
			lines(`{"type":"turn.failed","error":{"message":"Incorrect API key provided."}}`), "", 1,
			failure{"Kind": Equal(llm.Unauthorized)}),
		Entry("codex: the provider is down, as 0.169.0 says it", "codex",
			lines(codexStart, codexTurn, `{"type":"error","message":"Reconnecting... 1/1 (We’re currently experiencing high demand, which may cause temporary errors.)"}`,
				`{"type":"error","message":"We’re currently experiencing high demand, which may cause temporary errors."}`,
				`{"type":"turn.failed","error":{"message":"We’re currently experiencing high demand, which may cause temporary errors."}}`), "", 1,
			failure{"Kind": Equal(llm.Unavailable), "Retries": Equal([]llm.Retry{{Kind: llm.Unavailable}})}),
		Entry("codex: it waits for a network that is not there", "codex",
			lines(codexStart, codexTurn, codexOffline), "", 143,
			failure{
				"Kind":    Equal(llm.Unavailable),
				"Message": Equal("it cannot reach its backend: Reconnecting... waiting for network (Connection failed: error sending request)"),
				"Retries": Equal([]llm.Retry{{Kind: llm.Unavailable}}),
			}),
		Entry("codex: it waits for a network that does not come back", "codex",
			lines(codexStart, codexTurn, codexNote, strings.Repeat(codexOffline+"\n", 10)), "", 143,
			failure{"Kind": Equal(llm.Unavailable), "Partial": Equal("I run the tests.")}),
		Entry("codex: an answer that reached its limit", "codex",
			lines(codexNote, `{"type":"turn.failed","error":{"message":"Incomplete response returned, reason: max_output_tokens"}}`), "", 1,
			failure{"Kind": Equal(llm.Truncated), "Partial": Equal("I run the tests.")}),
		Entry("codex: output of a command is never an error text", "codex", lines(codexCmd), "", 1,
			failure{"Kind": Equal(llm.Failed)}),
		Entry("codex: killed after turn.started", "codex", lines(codexStart, codexTurn), "", 143,
			failure{"Kind": Equal(llm.Failed), "Status": Equal(143)}),
		Entry("codex: an error after the turn", "codex", lines(codexFinal, codexDone, `{"type":"error","message":"disk full"}`), "", 0,
			failure{"Kind": Equal(llm.Failed), "Message": Equal("disk full")}),
		Entry("codex: a flag that it does not know", "codex", "", "error: unexpected argument '--json'", 2,
			failure{"Kind": Equal(llm.InvalidRequest), "Message": ContainSubstring("unexpected argument")}),
		Entry("codex: its session is in use by a process that a crash left", "codex", "",
			"Error: thread/resume: thread/resume failed: thread 01a2 already has an active writer (code -32600)\n\nStack backtrace:\n   0: <unknown>\n", 1,
			failure{"Kind": Equal(llm.Unavailable), "Message": HaveSuffix("active writer (code -32600)")}),
		Entry("gemini: failed", "gemini",
			lines(`{"type":"result","status":"error","error":{"type":"Api","message":"RESOURCE_EXHAUSTED"}}`), "", 1,
			failure{"Kind": Equal(llm.RateLimited)}),
		Entry("gemini: not logged in", "gemini", "", "no auth method", 41, failure{"Kind": Equal(llm.Unauthorized)}),
		Entry("gemini: cut off", "gemini", lines(geminiInit), "", 0, failure{"Kind": Equal(llm.Truncated)}),
		Entry("copilot: exit status 1 with nothing said", "copilot", "", "No authentication information found", 1,
			failure{"Kind": Equal(llm.Unauthorized), "Status": Equal(1)}),
		Entry("copilot: its own exit code", "copilot",
			lines(`{"type":"session.error","data":{"message":"model not available"}}`, `{"type":"result","exitCode":1}`), "", 0,
			failure{"Kind": Equal(llm.Failed), "Message": Equal("model not available")}),
		Entry("opencode: a wrong key", "opencode", lines(opencodeFail), "", 1,
			failure{"Kind": Equal(llm.Unauthorized), "Status": Equal(401), "Message": Equal("Incorrect API key provided.")}),
		Entry("opencode: nothing listens at the address of its backend", "opencode",
			lines(`{"type":"error","sessionID":"s1","error":{"name":"APIError","data":{"message":"Cannot connect to API: Unable to connect. Is the computer able to access the url?"}}}`), "", 1,
			failure{"Kind": Equal(llm.Unavailable)}),
		Entry("opencode: killed between two steps", "opencode", lines(opencodeNext, opencodeNote, opencodeBash, opencodeStep), "", 0,
			failure{"Kind": Equal(llm.Truncated), "Partial": Equal("I look first.")}),
		Entry("qwen: a wrong key", "qwen", lines(claudeInit, qwenFailed), "Ripgrep not available", 1,
			failure{"Kind": Equal(llm.Unauthorized), "Message": Equal("API Error: 401 Incorrect API key provided.")}),
		Entry("qwen: nothing listens at the address of its backend", "qwen",
			lines(claudeInit, `{"type":"result","subtype":"error_during_execution","is_error":true,"error":{"message":"API Error: Connection error. (cause: connect ECONNREFUSED 127.0.0.1:7461)"}}`), "", 1,
			failure{"Kind": Equal(llm.Unavailable)}),
		Entry("copilot: nothing listens at the address of its backend", "copilot",
			lines(`{"type":"session.error","data":{"message":"Could not connect to local model provider at http://127.0.0.1:7461."}}`, `{"type":"result","exitCode":1}`), "", 1,
			failure{"Kind": Equal(llm.Unavailable)}),
		Entry("copilot: its session does not exist", "copilot", "", "Error: No session, task, or name matched 'c1'.", 1,
			failure{"Kind": Equal(llm.NoSession)}),
		Entry("exec: exit status", "exec", "half", "quota exceeded", 7,
			failure{"Kind": Equal(llm.RateLimited), "Status": Equal(7), "Partial": Equal("half")}),
		Entry("exec: nothing", "exec", "", "", 0, failure{"Kind": Equal(llm.Malformed)}),
		Entry("exec: blank", "exec", "\n \n", "", 0, failure{"Kind": Equal(llm.Malformed)}),
	)

	It("keeps only the end of a long standard error", func(ctx SpecContext) {
		_, _, err := replay(ctx, "exec", "", strings.Repeat("x", 100_000)+"the end", 1)
		Expect(err).To(MatchError(ContainSubstring("the end")))
		Expect(len(err.Error())).To(BeNumerically("<", 5000))
	})

	It("skips a line beyond the limit, reports it, and continues", func(ctx SpecContext) {
		text, _, err := replay(ctx, "exec", strings.Repeat("y", 11<<20)+"\nend\n", "", 0)
		Expect(err).NotTo(HaveOccurred())
		Expect(text.Text).To(Equal("(a line of more than 10485760 bytes was skipped)\nend"))
		huge := `{"type":"user","message":"` + strings.Repeat("y", 11<<20) + `"}`
		reply, _, err := replay(ctx, "claude", lines(claudeInit, huge, claudeResult), "", 0)
		Expect(err).NotTo(HaveOccurred())
		Expect(reply.Text).To(Equal("Done."))
	})
})
