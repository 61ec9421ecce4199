//go:build unix

package coding_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	. "github.com/onsi/gomega/gstruct"

	"github.com/rehearse-dev/rehearse/agents/stop/hook"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/kind/coding"
)

// play returns a shell script that prints a version or runs body.
func play(body string) string {
	path := filepath.Join(GinkgoT().TempDir(), "agent")
	script := "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'agent 1.2.3 (x)'; exit; fi\n" + body
	Expect(os.WriteFile(path, []byte(script), 0o700)).To(Succeed())
	return path
}

// named returns programs whose variables are set to path.
func named(path string) *coding.Programs {
	return &coding.Programs{Getenv: func(string) string { return path }}
}

// newSite returns a site and its events.
func newSite() (app.Site, *[]event.Event) {
	root, events := GinkgoT().TempDir(), &[]event.Event{}
	site := app.Site{
		Backend: "http://127.0.0.1:1/t/1", Env: []string{"ANTHROPIC_BASE_URL=http://127.0.0.1:1/t/1"},
		Folder: filepath.Join(root, "work"), Home: filepath.Join(root, "home"), Clock: clock.Real(),
		Emit: func(e event.Event) { *events = append(*events, e) },
	}
	Expect(os.Mkdir(site.Folder, 0o700)).To(Succeed())
	Expect(os.Mkdir(site.Home, 0o700)).To(Succeed())
	return site, events
}

func start(cfg coding.Config, programs *coding.Programs, site app.Site) (app.Session, error) {
	agent, err := coding.New(cfg, programs)
	Expect(err).NotTo(HaveOccurred())
	return agent.Start(context.Background(), site)
}

var _ = Describe("The program of a coding agent", func() {
	kind := func(k app.Kind, says string) OmegaMatcher {
		return PointTo(MatchFields(IgnoreExtras, Fields{"Kind": Equal(k), "Message": ContainSubstring(says)}))
	}
	nowhere := func(string) (string, error) { return "", os.ErrNotExist }

	It("is absent if neither a variable nor PATH has it", func() {
		site, _ := newSite()
		programs := &coding.Programs{Getenv: func(string) string { return "" }, Look: nowhere}
		_, err := start(coding.Config{Agent: "codex"}, programs, site)
		Expect(err).To(kind(app.Absent, "npm install -g @openai/codex"))
		_, err = start(coding.Config{Agent: "claude", Required: true}, programs, site)
		Expect(err).To(kind(app.Unusable, "REHEARSE_CLAUDE"))
	})
	DescribeTable("is unusable if",
		func(programs func() *coding.Programs, says string) {
			site, _ := newSite()
			_, err := start(coding.Config{Agent: "claude"}, programs(), site)
			Expect(err).To(kind(app.Unusable, says))
		},
		Entry("its variable does not name a program", func() *coding.Programs { return named("/nowhere/claude") }, `REHEARSE_CLAUDE names "/nowhere/claude"`),
		Entry("it prints no version", func() *coding.Programs {
			path := filepath.Join(GinkgoT().TempDir(), "agent")
			Expect(os.WriteFile(path, []byte("#!/bin/sh\necho hi\n"), 0o700)).To(Succeed())
			return named(path)
		}, "it told none"),
		Entry("it fails at once", func() *coding.Programs {
			path := filepath.Join(GinkgoT().TempDir(), "agent")
			Expect(os.WriteFile(path, []byte("#!/bin/sh\nexit 3\n"), 0o700)).To(Succeed())
			return named(path)
		}, "exit status 3"),
	)
	It("is found by a path relative to the current folder, and starts in the workspace", Label("H-01"), func(ctx SpecContext) {
		here, err := os.Getwd()
		Expect(err).NotTo(HaveOccurred())
		relative, err := filepath.Rel(here, play("echo started > started.txt\n"))
		Expect(err).NotTo(HaveOccurred())
		site, _ := newSite()
		s, err := start(coding.Config{Agent: "claude"}, named(relative), site)
		Expect(err).NotTo(HaveOccurred())
		_, _ = s.Say(ctx, "hi") // it gives no answer
		Expect(filepath.Join(site.Folder, "started.txt")).To(BeAnExistingFile())
	})
	It("is asked for its version once, and each session records it", func() {
		programs := named(play(""))
		for range 2 {
			site, events := newSite()
			_, err := start(coding.Config{Agent: "claude"}, programs, site)
			Expect(err).NotTo(HaveOccurred())
			Expect(*events).To(Equal([]event.Event{{
				Kind: event.State, Name: "program", Detail: "claude 1.2.3", Attrs: map[string]any{"agent": "claude", "version": "1.2.3"},
			}}))
			programs.Look = nowhere // it is not searched for again
		}
	})
	It("has only the necessary variables of this process", func() {
		GinkgoT().Setenv("CODING_TEST_SECRET", "x")
		site, _ := newSite()
		session, err := start(coding.Config{Agent: "codex"}, named(play("env > names\n")), site)
		Expect(err).NotTo(HaveOccurred())
		_, _ = session.Say(context.Background(), "Go.")
		data, err := os.ReadFile(filepath.Join(site.Folder, "names"))
		Expect(err).NotTo(HaveOccurred())
		var names []string
		for line := range strings.Lines(string(data)) {
			if name, _, _ := strings.Cut(line, "="); name != "PWD" && name != "SHLVL" && name != "_" { // set by the shell
				names = append(names, name)
			}
		}
		Expect(names).To(ContainElements("HOME", "TMPDIR", "TZ", "PATH", "ANTHROPIC_BASE_URL", "CODEX_HOME"))
		Expect(names).NotTo(ContainElement("CODING_TEST_SECRET"))
	})

	DescribeTable("can end with",
		func(body string, want app.Kind, says string) {
			site, _ := newSite()
			session, err := start(coding.Config{Agent: "claude"}, named(play("cat >/dev/null\n"+body)), site)
			Expect(err).NotTo(HaveOccurred())
			_, err = session.Say(context.Background(), "Go.")
			Expect(err).To(kind(want, says))
			Expect(session.End(context.Background())).To(Succeed())
		},
		Entry("an unknown flag", "echo 'unknown option' >&2; exit 1", app.Unusable, "unknown option"),
		Entry("a signal", initLine+"kill -9 $$", app.Crashed, "signal"),
		Entry("its own failure", initLine+`echo '{"type":"result","subtype":"success","is_error":true,"result":"API Error: 500 of 127.0.0.1:1","api_error_status":500}'; exit 1`,
			app.Failed, "API Error: 500 of {backend} (unavailable)"),
		Entry("no final event", initLine, app.Failed, "before its final event (truncated)"),
		Entry("a flood", initLine+`head -c 70000000 /dev/zero | tr "\000" y`, app.Flooded, "output limit"),
	)

	It("continues its session with the next turn", func() {
		site, _ := newSite()
		session, err := start(coding.Config{Agent: "claude", Model: "m"}, named(play("cat >/dev/null\n"+initLine+
			`echo "{\"type\":\"result\",\"subtype\":\"success\",\"result\":\"$*\"}"`)), site)
		Expect(err).NotTo(HaveOccurred())
		first, err := session.Say(context.Background(), "One.")
		Expect(err).NotTo(HaveOccurred())
		Expect(first.Text).To(HaveSuffix("--model m --permission-mode acceptEdits --allowedTools=Bash"))
		second, err := session.Say(context.Background(), "Two.")
		Expect(err).NotTo(HaveOccurred())
		Expect(second.Text).To(HaveSuffix("--allowedTools=Bash --resume s1"))
	})

	It("repeats its calls as often as configured", func() {
		retries := 2
		site, _ := newSite()
		session, err := start(coding.Config{Agent: "claude", Retries: &retries}, named(play("env > names\n")), site)
		Expect(err).NotTo(HaveOccurred())
		_, _ = session.Say(context.Background(), "Go.")
		Expect(os.ReadFile(filepath.Join(site.Folder, "names"))).To(ContainSubstring("CLAUDE_CODE_MAX_RETRIES=2\n"))
		_, err = start(coding.Config{Agent: "codex", Retries: &retries}, named(play("")), site)
		Expect(err).NotTo(HaveOccurred())
		Expect(os.ReadFile(filepath.Join(site.Home, ".codex", "config.toml"))).To(ContainSubstring("request_max_retries = 0\nstream_max_retries = 2\n"))
		_, err = start(coding.Config{Agent: "qwen", Retries: &retries}, named(play("")), site)
		Expect(err).To(MatchError(ContainSubstring("the retries of qwen cannot be set")))
		retries = -1
		_, err = coding.New(coding.Config{Agent: "codex", Retries: &retries}, &coding.Programs{})
		Expect(err).To(MatchError(ContainSubstring("at least 0, got -1")))
	})
	DescribeTable("is given its MCP servers and their time limit",
		func(agent, file string, holds ...string) {
			site, _ := newSite()
			site.MCP = []app.MCPServer{{Name: "a", URL: "http://127.0.0.1:1/mcp/a"}, {Name: "b", Command: []string{"/my bin/r", "mcp"}}}
			session, err := start(coding.Config{Agent: agent, ToolTimeout: 2 * time.Second}, named(play("echo \"$*\" > state; env >> state\n")), site)
			Expect(err).NotTo(HaveOccurred())
			_, _ = session.Say(context.Background(), "Go.")
			data, err := os.ReadFile(filepath.Join(filepath.Dir(site.Folder), file))
			Expect(err).NotTo(HaveOccurred())
			for _, text := range holds {
				Expect(strings.Join(strings.Fields(string(data)), " ")).To(ContainSubstring(text))
			}
		},
		Entry("claude", "claude", "work/state", "--allowedTools=Bash,mcp__a,mcp__b", `{"mcpServers":{"a":{"type":"http","url":"http://127.0.0.1:1/mcp/a"},`+
			`"b":{"type":"stdio","command":"/my bin/r","args":["mcp"]}}}`, "MCP_CONNECTION_NONBLOCKING=0", "MCP_TOOL_TIMEOUT=2000"),
		Entry("codex", "codex", "home/.codex/config.toml", `[mcp_servers.a] required = true tool_timeout_sec = 2 url = "http://127.0.0.1:1/mcp/a"`,
			`command = "/my bin/r" args = ["mcp"]`),
		Entry("copilot", "copilot", "work/state", `"a":{"timeout":2000,"tools":["*"],"type":"http","url":"http://127.0.0.1:1/mcp/a"}`, `"command":"/my bin/r"`),
		Entry("gemini", "gemini", "home/.gemini/settings.json", `"a": { "httpUrl": "http://127.0.0.1:1/mcp/a", "timeout": 2000, "trust": true }`),
		Entry("opencode", "opencode", "home/.config/opencode/opencode.json", `"url": "http://127.0.0.1:1/mcp/a"`, `"command": [ "/my bin/r", "mcp" ]`),
		Entry("qwen", "qwen", "home/.qwen/settings.json", `"args": [ "mcp" ], "command": "/my bin/r", "timeout": 2000, "trust": true`))

	DescribeTable("needs neither a person nor another machine",
		func(cfg coding.Config, arguments string, file string, holds ...string) {
			site, _ := newSite()
			session, err := start(cfg, named(play("echo $* > arguments; env > names\n")), site)
			Expect(err).NotTo(HaveOccurred())
			_, _ = session.Say(context.Background(), "Go.")
			Expect(os.ReadFile(filepath.Join(site.Folder, "arguments"))).To(BeEquivalentTo(arguments + "\n"))
			data, err := os.ReadFile(filepath.Join(filepath.Dir(site.Folder), file))
			Expect(err).NotTo(HaveOccurred())
			for _, text := range holds {
				Expect(string(data)).To(ContainSubstring(text))
			}
		},
		Entry("claude", coding.Config{Agent: "claude"},
			"--print --output-format stream-json --verbose --permission-mode acceptEdits --allowedTools=Bash", "work/names",
			"DISABLE_AUTOUPDATER=1\n", "DISABLE_TELEMETRY=1\n", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1\n"),
		Entry("codex", coding.Config{Agent: "codex"},
			"exec --json --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox -", "home/.codex/config.toml",
			"check_for_update_on_startup = false\n", "[analytics]\nenabled = false\n", "plugins = false\n", `base_url = "http://127.0.0.1:1/t/1/v1"`),
		Entry("copilot", coding.Config{Agent: "copilot", Model: "gpt-5"},
			"-s --output-format json --no-ask-user --model gpt-5 --allow-all-tools -p Go.", "work/names",
			"COPILOT_OFFLINE=true\n", "COPILOT_PROVIDER_BASE_URL=http://127.0.0.1:1/t/1/v1\n", "COPILOT_MODEL=gpt-5\n"),
		Entry("gemini", coding.Config{Agent: "gemini", Model: "gemini-3.1-pro-preview"},
			"--output-format stream-json --model gemini-3.1-pro-preview --skip-trust --approval-mode=auto_edit --allowed-tools=run_shell_command -p Go.",
			"home/.gemini/settings.json", `"selectedType": "gemini-api-key"`, `"usageStatisticsEnabled": false`),
		Entry("opencode", coding.Config{Agent: "opencode", Model: "gpt-5"},
			"run --format json --model rehearse/gpt-5", "home/.config/opencode/opencode.json",
			`"baseURL": "http://127.0.0.1:1/t/1/v1"`, `"model": "rehearse/gpt-5"`, `"autoupdate": false`),
		Entry("opencode, which finds the package of its plugins", coding.Config{Agent: "opencode", Model: "gpt-5"},
			"run --format json --model rehearse/gpt-5", "home/.config/opencode/package-lock.json", "@opencode-ai/plugin"),
		Entry("qwen", coding.Config{Agent: "qwen", Model: "gpt-5"},
			"--output-format stream-json --model gpt-5 --approval-mode=auto-edit --allowed-tools=run_shell_command", "home/.qwen/settings.json",
			`"usageStatisticsEnabled": false`, `"enableManagedAutoMemory": false`),
		Entry("codex with a hook", coding.Config{Agent: "codex", Guard: "strict"},
			"exec --json --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox --dangerously-bypass-hook-trust -", "home/.codex/hooks.json",
			`"Stop"`, "guard --host codex --policy strict"),
	)
	It("is a known one", func() {
		_, err := coding.New(coding.Config{Agent: "emacs"}, &coding.Programs{})
		Expect(err).To(MatchError(ContainSubstring(`unknown coding agent "emacs"`)))
	})

	It("is not driven by a hook of a driven agent, which would never end", func() {
		GinkgoT().Setenv(hook.Env, "{}")
		site, _ := newSite()
		_, err := start(coding.Config{Agent: "claude", Guard: "balanced"}, named(play("")), site)
		Expect(err).To(kind(app.Unusable, "hook.Main"))
	})
	It("calls the guard as its hook, and the outcome of each stop is recorded", func() {
		site, events := newSite()
		const deferral = `Done.\n\nNext steps:\n- Write the test`
		stops := "cat >/dev/null\n" + initLine + `
hook() { printf '{"session_id":"s1","hook_event_name":"Stop","stop_hook_active":%s,"last_assistant_message":"%s"}' "$1" "$2" |
  sh -c "$(sed -n 's/.*"command": "\(.*\)",*$/\1/p' "$HOME/.claude/settings.json")"; }
say() { printf '{"type":"assistant","message":{"content":[{"type":"text","text":"%s"}]}}\n' "$1"; }
say '` + deferral + `'
hook false '` + deferral + `' > "$HOME/answer"
say 'The test is written.'
hook true 'The test is written.'
echo '{"type":"result","subtype":"success","result":"The test is written."}'
`
		session, err := start(coding.Config{Agent: "claude", Guard: "balanced"}, named(play(stops)), site)
		Expect(err).NotTo(HaveOccurred())
		answer, err := session.Say(context.Background(), "Go.")
		Expect(err).NotTo(HaveOccurred())
		Expect(answer).To(Equal(app.Answer{Text: "The test is written.", Attrs: map[string]any{"messages": 2}}))

		data, err := os.ReadFile(filepath.Join(site.Home, "answer"))
		Expect(err).NotTo(HaveOccurred())
		var refusal struct{ Decision, Reason string }
		Expect(json.Unmarshal(data, &refusal)).To(Succeed())
		Expect(refusal.Decision).To(Equal("block"))
		Expect(refusal.Reason).To(ContainSubstring("Write the test"))

		Expect(*events).To(HaveLen(3))
		Expect((*events)[1].Name).To(Equal("stop"))
		Expect((*events)[1].Detail).NotTo(BeEmpty())
		Expect((*events)[1].Attrs).To(MatchKeys(IgnoreExtras, Keys{
			"allow": BeFalse(), "forced": BeTrue(), "outcome": Equal("blocked"), "class": Equal("defers"), "steps": Equal(1), "executed": Equal(0),
		}))
		Expect((*events)[2].Attrs).To(MatchKeys(IgnoreExtras, Keys{
			"allow": BeTrue(), "forced": BeFalse(), "outcome": Equal("allowed"), "class": Equal("clean"), "steps": Equal(0), "executed": Equal(1),
		}))

		answer, err = session.Say(context.Background(), "Again.")
		Expect(err).NotTo(HaveOccurred())
		Expect(answer.Attrs).To(HaveKeyWithValue("messages", 2), "those of this turn")
		Expect(*events).To(HaveLen(5), "only what is new is told")
	})
})

const initLine = `echo '{"type":"system","subtype":"init","session_id":"s1"}'` + "\n"

var _ = It("limits the number of concurrent sessions on a machine", func(ctx SpecContext) {
	programs := named(play(""))
	begin := func(ctx context.Context) (app.Session, error) {
		site, _ := newSite()
		agent, err := coding.New(coding.Config{Agent: "claude"}, programs)
		Expect(err).NotTo(HaveOccurred())
		return agent.Start(ctx, site)
	}
	var open []app.Session
	for range max(2, runtime.GOMAXPROCS(0)) {
		session, err := begin(ctx)
		Expect(err).NotTo(HaveOccurred())
		open = append(open, session)
	}
	late := errors.New("too late")
	ended, end := context.WithCancelCause(ctx)
	end(late)
	_, err := begin(ended)
	Expect(err).To(MatchError(late))

	Expect(open[0].End(ctx)).To(Succeed())
	Expect(open[0].End(ctx)).To(Succeed(), "which makes room for one")
	_, err = begin(ctx)
	Expect(err).NotTo(HaveOccurred())
	_, err = begin(ended)
	Expect(err).To(MatchError(late))
})
