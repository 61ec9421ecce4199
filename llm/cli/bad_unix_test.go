//go:build unix

package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	. "github.com/onsi/gomega/gstruct"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/cli"
)

var _ = Describe("a program that the adapter does not know", Label("L-02"), func() {
	DescribeTable("is an error that names the cause",
		func(ctx SpecContext, id, script string, kind llm.ErrorKind, message string, lasting bool) {
			adapter, err := cli.New(id, cli.Config{Command: []string{"sh", "-c", script}})
			Expect(err).NotTo(HaveOccurred())
			_, err = adapter.Complete(ctx, user("Go."))
			Expect(err).To(PointTo(MatchFields(IgnoreExtras, Fields{"Kind": Equal(kind), "Message": ContainSubstring(message)})))
			Expect(err).To(HaveField("Lasting", lasting))
		},
		Entry("claude, with events of another version", "claude", `echo '{"type":"v9.start"}'; echo '{"type":"v9.end","text":"DONE"}'`,
			llm.Malformed, "events of unknown types (v9.start, v9.end): is it a newer version than 2.1.197, which was tested?", true),
		Entry("codex", "codex", `echo '{"type":"thread.started","thread_id":"t"}'; echo '{"type":"answer","text":"DONE"}'`, llm.Malformed, "unknown types (answer)", true),
		Entry("gemini", "gemini", `echo '{"type":"answer","text":"DONE"}'`, llm.Malformed, "unknown types (answer)", true),
		Entry("opencode", "opencode", `echo '{"type":"answer","text":"DONE"}'`, llm.Malformed, "newer version than 1.18.33", true),
		Entry("qwen", "qwen", `echo '{"type":"answer","text":"DONE"}'`, llm.Malformed, "newer version than 0.24.4", true),
		Entry("copilot", "copilot", `echo '{"type":"answer","data":{}}'`, llm.Malformed, "unknown types (answer)", true),
		Entry("copilot, with an event of no interest", "copilot", `echo '{"type":"session.new","data":{}}'`, llm.Truncated, "before its final event", false),
		Entry("no events at all", "claude", "echo DONE", llm.Malformed, "the agent exited with status 0 and gave no answer: DONE", false),
		Entry("a question on standard input, which has ended", "claude", `cat > /dev/null; printf 'Trust this folder? [y/N] '; read answer || { echo 'no answer' >&2; exit 1; }`,
			llm.Failed, "exit status 1: no answer: Trust this folder? [y/N]", true),
		Entry("a question whose missing answer is taken for a no", "codex", `cat > /dev/null; printf 'Continue? '; read answer; echo 'Aborted.'`,
			llm.Malformed, "Continue? Aborted.", false),
		Entry("an option that it does not know", "qwen", "cat > /dev/null; echo 'error: unknown option --x' >&2; exit 1", llm.Failed, "unknown option --x", true),
		Entry("a program without a login", "claude",
			`echo '{"type":"result","subtype":"success","is_error":true,"result":"Not logged in · Please run /login"}'; exit 1`, llm.Unauthorized, "Not logged in · Please run /login", false),
	)
})

var _ = Describe("the version of a program", Label("L-02"), func() {
	note := func(ctx context.Context, id, script string) string {
		path := filepath.Join(GinkgoT().TempDir(), "program")
		Expect(os.WriteFile(path, []byte("#!/bin/sh\n[ \"$1\" = --version ] || exit 9\n"+script), 0o700)).To(Succeed())
		adapter, err := cli.New(id, cli.Config{Command: []string{path}})
		Expect(err).NotTo(HaveOccurred())
		return cli.VersionNote(ctx, adapter)
	}
	DescribeTable("is compared with the tested one",
		func(ctx SpecContext, id, printed, want string) {
			Expect(note(ctx, id, "echo '"+printed+"'")).To(Equal(want))
		},
		Entry("the same", "claude", "2.1.197 (Claude Code)", ""),
		Entry("newer", "codex", "codex-cli 0.1000.0", ""),
		Entry("older", "codex", "codex-cli 0.99.1",
			`codex 0.99.1 is older than 0.169.0, the tested version, and may lack flags or events; update it with "npm install -g @openai/codex"`),
		Entry("none", "qwen", "hello", `cannot read the version of qwen: qwen --version printed "hello"; it was tested with 0.24.4`),
		Entry("of a program that nobody has tested", "exec", "0.0.1", ""),
	)

	It("is not waited for without end", func(ctx SpecContext) {
		Expect(note(ctx, "claude", "exit 3")).To(ContainSubstring("claude --version: exit status 3"))
		limited, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		Expect(note(limited, "claude", "exec sleep 600")).To(ContainSubstring("cannot read the version of claude: claude --version: context deadline exceeded"))
		Expect(cli.VersionNote(ctx, nil)).To(BeEmpty())
	})
})

var _ = DescribeTable("the sandbox of a program", Label("L-02"),
	func(ctx SpecContext, id string, access cli.Access, script, want string) {
		path := filepath.Join(GinkgoT().TempDir(), "program")
		Expect(os.WriteFile(path, []byte("#!/bin/sh\n[ \"$*\" = 'sandbox -- true' ] || exit 9\n"+script), 0o700)).To(Succeed())
		adapter, err := cli.New(id, cli.Config{Command: []string{path}, Access: access})
		Expect(err).NotTo(HaveOccurred())
		if err = cli.CheckSandbox(ctx, adapter); want == "" {
			Expect(err).NotTo(HaveOccurred())
			return
		}
		Expect(err).To(MatchError(want))
	},
	Entry("starts", "codex", cli.Workspace, "exit 0", ""),
	Entry("cannot start", "codex", cli.Workspace, "echo 'WARNING: old' >&2; echo 'bwrap: setting up uid map: Operation not permitted' >&2; exit 1",
		"codex cannot start its own sandbox here, so it could not run any command: bwrap: setting up uid map: Operation not permitted; "+
			"switch it off with --access full, and use --sandbox or a container instead"),
	Entry("is switched off", "codex", cli.Full, "echo 'bwrap: no' >&2; exit 1", ""),
	Entry("is unknown to an older version", "codex", cli.Workspace, "echo 'error: unrecognized subcommand' >&2; exit 2", ""),
	Entry("is not there", "claude", cli.Workspace, "echo 'bwrap: no' >&2; exit 1", ""),
)
