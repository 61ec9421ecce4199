package cli_test

import (
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/cli"
)

var _ = Describe("the end of a usage limit", Label("L-02"), func() {
	at := func(text string) time.Time {
		GinkgoHelper()
		t, err := time.Parse("2006-01-02 15:04 -0700", text)
		Expect(err).NotTo(HaveOccurred())
		return t
	}
	DescribeTable("is read from a message", func(message, want string) {
		now := at("2026-11-23 09:30 +0000").UTC()
		got := cli.ResetAt(message, now)
		if want == "" {
			Expect(got).To(BeZero())
			return
		}
		Expect(got).To(BeTemporally("==", at(want)))
		Expect(got.Location()).To(Equal(time.UTC))
	},
		Entry("Claude Code, seconds", "Claude AI usage limit reached|1795449600", "2026-11-23 16:00 +0000"),
		Entry("Claude Code, milliseconds", "Claude AI usage limit reached|1795449600000", "2026-11-23 16:00 +0000"),
		Entry("Claude Code, with a zone", "You've hit your limit · resets 3pm (Europe/Paris)", "2026-11-23 14:00 +0000"),
		Entry("Claude Code, with minutes", "5-hour limit reached ∙ resets 3:30pm", "2026-11-23 15:30 +0000"),
		Entry("Claude Code, tomorrow", "limit reached ∙ resets 9am", "2026-11-24 09:00 +0000"),
		Entry("Claude Code, on a day", "You've hit your weekly limit · resets Nov 25, 3pm (UTC)", "2026-11-25 15:00 +0000"),
		Entry("Claude Code, next year", "limit · resets Jan 2, 12am", "2027-01-02 00:00 +0000"),
		Entry("Codex, today", "You've hit your usage limit. Upgrade to Pro or try again at 3:05 PM.", "2026-11-23 15:05 +0000"),
		Entry("Codex, with a date", "You've hit your usage limit. Try again at Nov 25th, 2026 12:10 PM.", "2026-11-25 12:10 +0000"),
		Entry("an unknown zone", "resets 3pm (Mars/Olympus)", ""),
		Entry("not a time", "try again at 13:99 PM", ""),
		Entry("none", "rate limit exceeded", ""),
	)

	DescribeTable("is a wait", func(message string, want time.Duration) {
		Expect(cli.RetryAfter(message)).To(Equal(want))
	},
		Entry("in seconds", "Rate limit reached. Please try again in 1.5s.", 1500*time.Millisecond),
		Entry("in words", "Try again in 2 days 3 hours 5 minutes.", 51*time.Hour+5*time.Minute),
		Entry("with commas", "try again in 1 hour, 10 minutes and 3 seconds", time.Hour+10*time.Minute+3*time.Second),
		Entry("of a header", "retry after 20 s", 20*time.Second),
		Entry("none", "try again later", time.Duration(0)),
	)

	It("is in an event of Claude Code", func(ctx SpecContext) {
		reset := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
		adapter, err := cli.New("claude", cli.Config{Command: replayer(lines(claudeInit,
			`{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":`+strconv.FormatInt(reset.Unix(), 10)+`,"rateLimitType":"five_hour"}}`,
			`{"type":"result","subtype":"success","is_error":true,"result":"You've hit your limit"}`), "", 1)})
		Expect(err).NotTo(HaveOccurred())
		_, err = adapter.Complete(ctx, llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "Go."}}})
		var failed *llm.Error
		Expect(err).To(BeAssignableToTypeOf(failed))
		failed = err.(*llm.Error) //nolint:errorlint // asserted above
		Expect(failed.Kind).To(Equal(llm.RateLimited))
		Expect(failed.ResetAt).To(BeTemporally("==", reset))
	})
})
