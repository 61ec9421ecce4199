package reports_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/drift"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

func driftResult() drift.Result {
	return drift.Result{
		Upstream: "api.example.com", Captured: time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC), Stopped: "the cap\x1b of 2 calls",
		Exchanges: []drift.Exchange{
			{N: 1, Path: "/chat/completions", Differences: []drift.Difference{
				{Tier: drift.Warn, Where: "document: a|b`<x>", Now: "new: number"}, {Tier: drift.Error, Where: "finish", Before: "stop", Now: "length"},
			}},
			{N: 2, Path: "/messages", Unanswered: "no route"},
			{N: 3, Path: "/messages"},
		},
		Skipped: []drift.Skipped{{N: 4, Why: "no answer was captured: cut"}},
		Left:    []drift.Left{{N: 2, File: "file-9", Why: "status 403: no right"}},
	}
}

func TestMarkdownKeepsForeignTextInCodeSpans(t *testing.T) {
	RegisterTestingT(t)
	r := driftResult()
	var b strings.Builder
	Expect(doc.Markdown(&b, reports.DriftDocument(&r), 0)).To(Succeed())
	Expect(b.String()).To(Equal("## Drift of `api.example.com`\n\n" +
		"2 answers compared: 1 error, 1 warning, 0 informational differences; 1 not answered, against what was captured on 2026-01-01; stopped by `the cap\\x1b of 2 calls`\n\n" +
		"- 1 `/chat/completions`\n  - warn `` document: a¦b`<x> ``: `new: number`\n  - **error** `finish`: `stop` → `length`\n" +
		"- 2 `/messages`\n  - **not answered**: `no route`\n- 3 `/messages`\n  - the same\n\n" +
		"- 4 not asked again: `no answer was captured: cut`\n\n" +
		"- 2 uploaded the file `file-9`, which may still be at the provider; **delete it there**: `status 403: no right`\n"))
}

func TestTerminalShowsEachExchange(t *testing.T) {
	RegisterTestingT(t)
	r := driftResult()
	var b strings.Builder
	Expect(doc.Terminal(&b, reports.DriftDocument(&r), console.Terminal{})).To(Succeed())
	Expect(b.String()).To(HavePrefix("  1 /chat/completions\n    warn document: a|b`<x>: new: number\n    error finish: stop → length\n  2 /messages\n    not answered: no route\n"))
	Expect(b.String()).To(ContainSubstring("\n\napi.example.com: 2 answers compared: 1 error"))
	Expect(b.String()).NotTo(ContainSubstring("\x1b"))
}
