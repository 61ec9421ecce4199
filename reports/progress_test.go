package reports_test

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/reports"
)

var _ = Describe("progress", func() {
	var (
		out *bytes.Buffer
		now time.Time
	)
	clock := func() time.Time { return now }
	BeforeEach(func() {
		out = &bytes.Buffer{}
		now = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	})

	It("leaves a line in a log for each scenario that did not pass", func() {
		p := reports.NewProgress(out, console.Terminal{}, clock, 5)
		p.Begin("loop/done")
		p.Trial(gate.Pass)
		p.Begin("loop/flaky")
		p.Trial(gate.Pass)
		p.Trial(gate.Fail)
		p.Trial(gate.Pass)
		p.Begin("evil \x1b[2J")
		p.Trial(gate.Error)
		p.Close()
		p.Close()
		Expect(out.String()).To(Equal("fail  loop/flaky (2 of 3 trials passed)\nerror evil \\x1b[2J\n"))
	})
	It("logs the progress every ten seconds", func() {
		p := reports.NewProgress(out, console.Terminal{}, clock, 100)
		p.Begin("loop/slow")
		for range 25 {
			now = now.Add(time.Second)
			p.Trial(gate.Pass)
		}
		p.Close()
		Expect(out.String()).To(Equal("10/100 trials\n20/100 trials\n"))
	})
	It("does not report a scenario without trials", func() {
		p := reports.NewProgress(out, console.Terminal{}, clock, 5)
		p.Begin("loop/done")
		p.Close()
		Expect(out.String()).To(BeEmpty())
	})
	It("keeps one line on a terminal, redrawn ten times a second at most, and removes it", func() {
		p := reports.NewProgress(out, console.Terminal{Live: true, Width: 60}, clock, 1000)
		p.Begin("loop/done")
		for range 1000 {
			now = now.Add(time.Millisecond)
			p.Trial(gate.Pass)
		}
		Expect(strings.Count(out.String(), "\r")).To(BeNumerically("~", 11, 1))
		Expect(out.String()).To(HavePrefix("\r\x1b[K0/1000 trials  loop/done\r\x1b[K100/1000 trials"))
		Expect(out.String()).NotTo(ContainSubstring("\n"))
		p.Close()
		Expect(out.String()).To(HaveSuffix("\r\x1b[K"))
	})
	It("leaves a line for what did not pass on a terminal, and counts it", func() {
		p := reports.NewProgress(out, console.Terminal{Live: true}, clock, 4)
		p.Begin("loop/done")
		p.Trial(gate.Pass)
		p.Begin("loop/bad")
		p.Trial(gate.Fail)
		now = now.Add(time.Second)
		p.Begin("loop/next")
		Expect(out.String()).To(ContainSubstring("\r\x1b[Kfail  loop/bad\n"))
		Expect(out.String()).To(HaveSuffix("\r\x1b[K2/4 trials, 1 not passed  loop/next"))
		Expect(out.String()).NotTo(ContainSubstring("loop/done\n"))
	})
	It("never fills the last column", func() {
		p := reports.NewProgress(out, console.Terminal{Live: true, Width: 50}, clock, 4)
		p.Begin(strings.Repeat("long/", 30))
		line := strings.TrimPrefix(out.String(), "\r\x1b[K")
		Expect(console.Width(line)).To(Equal(49), fmt.Sprintf("%q", line))
	})
})
