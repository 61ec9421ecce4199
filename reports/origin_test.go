package reports_test

import (
	"bytes"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

var _ = Describe("The origin of a run", Label("H-05"), func() {
	It("is shown above the report, with a command that is never wrapped", func() {
		began := time.Date(2026, 11, 21, 22, 0, 0, 0, time.UTC)
		d := reports.TerminalDocument(sample(), reports.Quiet, true)
		d.Origin = reports.Origin{Began: began, Ended: began.Add(90 * time.Second), Origin: history.Origin{
			Commit: "0123456789abcdef", Branch: "main", Dirty: true, Untracked: 2, CI: "https://ci.example/7", Command: "rehearse run 'loop/*' --baseline --max-cost 0.5EUR",
		}}.Facts()
		var text bytes.Buffer
		Expect(doc.Terminal(&text, d, console.Terminal{Width: 40})).To(Succeed())
		Expect(text.String()).To(HavePrefix(`  date     2026-11-21 22:00 UTC
  took     1m 30s
  command  rehearse run 'loop/*' --baseline --max-cost 0.5EUR
  commit   0123456 with changes that are
           not committed, 2 untracked
           paths
  branch   main
  job      https://ci.example/7

`))
	})
	It("has no facts if nothing is known", func() { Expect(reports.Origin{}.Facts()).To(BeEmpty()) })
})
