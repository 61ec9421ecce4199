//go:build unix

package coding_test

import (
	"context"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	. "github.com/onsi/gomega/gstruct"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/kind/coding"
)

var _ = Describe("A coding agent that is driven through a shell", func() {
	through := coding.Config{Agent: "claude", Model: "m", Through: "shell"}
	// run starts a conversation in which body is both the agent's program and rehearse.
	run := func(body string) (app.Session, app.Site) {
		site, _ := newSite()
		session, err := start(through, named(play(body)), site)
		Expect(err).NotTo(HaveOccurred())
		return session, site
	}

	It("is found there, with rehearse, and finds its backend and its model", func(ctx SpecContext) {
		session, site := run(`echo "$(basename "$0") $* $ANTHROPIC_MODEL $ANTHROPIC_BASE_URL $HOME"` + "\n")
		answer, err := session.Say(ctx, "rehearse loop 'Fix it.' -b claude; claude --print")
		Expect(err).NotTo(HaveOccurred())
		Expect(answer.Text).To(Equal("rehearse loop Fix it. -b claude m {backend} {home}\nclaude --print m {backend} {home}"))
		Expect(answer.Attrs).To(Equal(map[string]any{"exit": 0}))
		Expect(session.End(ctx)).To(Succeed())
		Expect(os.ReadDir(site.Folder)).To(BeEmpty())
	})

	It("may fail in a turn, and fails by the exit status of the last one", func(ctx SpecContext) {
		session, _ := run(`echo "stopped after 1.25s" >&2; echo "$1"; exit 5` + "\n")
		first, err := session.Say(ctx, "rehearse 1; exit 7")
		Expect(err).NotTo(HaveOccurred())
		Expect(first).To(Equal(app.Answer{Text: "1", Attrs: map[string]any{"exit": 7}}))
		second, err := session.Say(ctx, "rehearse 2")
		Expect(err).NotTo(HaveOccurred())
		Expect(second).To(Equal(app.Answer{Text: "2", Attrs: map[string]any{"exit": 5}}))
		Expect(session.End(ctx)).To(PointTo(MatchFields(IgnoreExtras, Fields{
			"Kind": Equal(app.Failed), "Code": Equal(5), "Message": ContainSubstring("stopped after {time}"),
		})))
	})

	It("answers with the reason of a failure if it has no output", func(ctx SpecContext) {
		session, _ := run("echo 'no such backend' >&2; exit 2\n")
		answer, err := session.Say(ctx, "rehearse loop 'Fix it.'")
		Expect(err).NotTo(HaveOccurred())
		Expect(answer.Text).To(HaveSuffix("ended with exit status 2; the end of its standard error:\nno such backend"))
	})

	It("can kill rehearse by its process id", func(ctx SpecContext) {
		session, _ := run("kill -9 $REHEARSE_PID\n")
		killed, err := session.Say(ctx, "rehearse loop 'Fix it.'")
		Expect(err).NotTo(HaveOccurred())
		Expect(killed.Attrs).To(Equal(map[string]any{"exit": 137}))
		Expect(session.End(ctx)).To(HaveField("Code", 137))
	})

	It("answers without what differs from run to run, and leaves no transcript", func(ctx SpecContext) {
		session, site := run(`mkdir -p rehearse-runs .rehearse; echo x > rehearse-runs/a; echo x > .rehearse/b
echo '{"duration_ns": 123, "transcript": "rehearse-runs/loop-20260102-030405.678.jsonl"}'` + "\necho 'kept for    12.5ms or 1m30s' > out\ncat out\n")
		answer, err := session.Say(ctx, "rehearse loop --json")
		Expect(err).NotTo(HaveOccurred())
		Expect(answer.Text).To(Equal(`{"duration_ns": 0, "transcript": "rehearse-runs/loop-{date}.jsonl"}` + "\nkept for {time} or {time}"))
		Expect(session.End(ctx)).To(Succeed())
		names, err := filepath.Glob(filepath.Join(site.Folder, "*"))
		Expect(err).NotTo(HaveOccurred())
		Expect(names).To(Equal([]string{filepath.Join(site.Folder, "out")}))
		Expect(filepath.Join(site.Home, ".rehearse", "b")).To(BeAnExistingFile())
	})

	It("needs the program of rehearse", func() {
		site, _ := newSite()
		only := &coding.Programs{Getenv: func(name string) string {
			return map[string]string{"REHEARSE_CLAUDE": play("")}[name]
		}}
		_, err := start(through, only, site)
		Expect(err).To(HaveField("Kind", app.Absent))
		Expect(err).To(MatchError(ContainSubstring("let REHEARSE_PROGRAM name it")))
		_, err = coding.New(coding.Config{Agent: "claude", Through: "window"}, nil)
		Expect(err).To(MatchError(ContainSubstring(`driven through "window"; use "shell"`)))
	})

	It("is stopped when its time is over", func(ctx SpecContext) {
		session, _ := run("exec sleep 600\n")
		limited, cancel := context.WithCancelCause(ctx)
		cancel(context.DeadlineExceeded)
		_, err := session.Say(limited, "rehearse loop 'Fix it.'")
		Expect(err).To(MatchError(context.DeadlineExceeded))
		Expect(session.End(ctx)).To(Succeed())
	})
})
