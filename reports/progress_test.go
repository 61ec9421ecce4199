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
		p.Scenario("loop/done")
		p.Trial(gate.Pass)
		p.Scenario("loop/flaky")
		p.Trial(gate.Pass)
		p.Trial(gate.Fail)
		p.Trial(gate.Pass)
		p.Scenario("evil \x1b[2J")
		p.Trial(gate.Error)
		p.Close()
		p.Close()
		Expect(out.String()).To(Equal("fail  loop/flaky (2 of 3 trials passed)\nerror evil \\x1b[2J\n"))
	})
	trial := func(p *reports.Progress, name string, v gate.Verdict) {
		p.TrialBegan(name, 1)
		p.TrialEnded(name, 1, v)
	}
	It("logs the progress every ten seconds, with an estimate", func() {
		p := reports.NewProgress(out, console.Terminal{}, clock, 100)
		for range 25 {
			now = now.Add(time.Second)
			trial(p, "loop/slow", gate.Pass)
		}
		p.Close()
		Expect(out.String()).To(Equal("9/100 trials, 10s\n19/100 trials, 20s, about 1m 30s left\n"))
	})
	It("does not report a scenario without trials", func() {
		p := reports.NewProgress(out, console.Terminal{}, clock, 5)
		p.Scenario("loop/done")
		p.Close()
		Expect(out.String()).To(BeEmpty())
	})
	last := func() string {
		lines := strings.Split(out.String(), "\r\x1b[K")
		return lines[len(lines)-1]
	}
	It("keeps one line on a terminal, redrawn ten times a second at most, and removes it", func() {
		p := reports.NewProgress(out, console.Terminal{Live: true, Width: 60}, clock, 1000)
		for range 1000 {
			now = now.Add(time.Millisecond)
			trial(p, "loop/done", gate.Pass)
		}
		Expect(strings.Count(out.String(), "\r")).To(BeNumerically("~", 11, 1))
		Expect(out.String()).To(HavePrefix("\r\x1b[K[....................] 0/1000 trials  loop/done\r\x1b[K[##..................] 100/1000 trials"))
		Expect(out.String()).NotTo(ContainSubstring("\n"))
		p.Close()
		Expect(out.String()).To(HaveSuffix("\r\x1b[K"))
		p.TrialBegan("late", 1)
		Expect(out.String()).To(HaveSuffix("\r\x1b[K"))
	})
	It("names what is running now, the longest running first", func() {
		p := reports.NewProgress(out, console.Terminal{Live: true, Width: 70}, clock, 4)
		draw := func() string {
			now = now.Add(time.Second / 5)
			p.TrialBegan("x", 1)
			p.TrialEnded("x", 1, "")
			return last()
		}
		p.TrialBegan("a", 1)
		p.TrialBegan("b", 1)
		p.TrialBegan("b", 2)
		Expect(draw()).To(HaveSuffix("] 0/4 trials  a, b, x"))
		p.TrialEnded("a", 1, gate.Pass)
		p.TrialBegan("loop/a-long-name-that-does-not-fit", 1)
		Expect(draw()).To(HaveSuffix("] 1/4 trials  b +2"))
		p.TrialEnded("b", 1, gate.Pass)
		p.TrialEnded("b", 2, gate.Pass)
		Expect(draw()).To(HaveSuffix("] 3/4 trials  loop/a-long-nam…at-does-not-fit +1"))
	})
	It("estimates only what it can", func() {
		p := reports.NewProgress(out, console.Terminal{Live: true, Width: 100}, clock, 12)
		for range 5 {
			Expect(out.String()).NotTo(ContainSubstring("left"))
			now = now.Add(time.Second)
			trial(p, "slow", gate.Pass)
		}
		now = now.Add(time.Second)
		p.TrialBegan("slow", 6)
		Expect(last()).To(ContainSubstring("5/12 trials, 6s, about 8s left"))
	})
	It("estimates by the times of an earlier run, with the part of a trial that is running", func() {
		p := reports.NewProgress(out, console.Terminal{Live: true, Width: 100}, clock, 11)
		past, trials := map[string]float64{"slow": 10}, map[string]int{"slow": 1}
		for i := range 10 {
			past[fmt.Sprint("fast", i)], trials[fmt.Sprint("fast", i)] = 1, 1
		}
		p.Past(past, trials)
		p.TrialBegan("slow", 1)
		now = now.Add(5 * time.Second)
		p.TrialBegan("fast0", 1)
		Expect(last()).To(ContainSubstring("0/11 trials, 5s, about 15s left"), "and not unknown")
		now = now.Add(5 * time.Second)
		p.TrialEnded("slow", 1, gate.Pass)
		now = now.Add(time.Second)
		trial(p, "fast1", gate.Pass)
		Expect(p.Seconds()).To(Equal(map[string]float64{"slow": 10, "fast1": 0}))
	})
	It("does not estimate by an earlier run that had other scenarios", func() {
		p := reports.NewProgress(out, console.Terminal{Live: true, Width: 100}, clock, 3)
		p.Past(map[string]float64{"a": 1}, map[string]int{"a": 1, "b": 1, "c": 1})
		p.TrialBegan("a", 1)
		now = now.Add(5 * time.Second)
		p.TrialBegan("b", 1)
		Expect(last()).NotTo(ContainSubstring("left"))
	})
	It("leaves a line for what did not pass on a terminal, and counts it", func() {
		p := reports.NewProgress(out, console.Terminal{Live: true}, clock, 4)
		p.Scenario("loop/done")
		trial(p, "loop/done", gate.Pass)
		p.Trial(gate.Pass)
		p.Scenario("loop/bad")
		trial(p, "loop/bad", gate.Fail)
		p.Trial(gate.Fail)
		now = now.Add(time.Second)
		p.Scenario("loop/next")
		p.TrialBegan("loop/next", 1)
		Expect(out.String()).To(ContainSubstring("\r\x1b[Kfail  loop/bad\n"))
		Expect(last()).To(Equal("[##########..........] 2/4 trials, 1 not passed, 1s  loop/next"))
		Expect(out.String()).NotTo(ContainSubstring("loop/done\n"))
	})
	DescribeTable("never fills the last column", func(width int) {
		p := reports.NewProgress(out, console.Terminal{Live: true, Width: width}, clock, 4)
		p.Scenario(strings.Repeat("long/", 30))
		p.Trial(gate.Fail)
		for i := range 5 {
			p.TrialBegan(strings.Repeat("long/", 30), i)
			p.TrialEnded(strings.Repeat("long/", 30), i, gate.Fail)
			now = now.Add(time.Minute)
		}
		p.TrialBegan(strings.Repeat("long/", 30), 9)
		p.Close()
		for line := range strings.SplitSeq(strings.ReplaceAll(out.String(), "\n", "\r\x1b[K"), "\r\x1b[K") {
			Expect(console.Width(line)).To(BeNumerically("<", width), fmt.Sprintf("%q", line))
		}
	}, Entry(nil, 40), Entry(nil, 50), Entry(nil, 80), Entry(nil, 200))
	It("draws a character for each trial instead, in lines that fit", func() {
		dots := &bytes.Buffer{}
		p := reports.NewProgress(out, console.Terminal{Live: true, Width: 80}, clock, 50)
		p.Dots(dots, console.Terminal{Width: 40})
		for _, v := range []gate.Verdict{gate.Pass, gate.Fail, gate.Error, gate.Skip} {
			trial(p, "loop/done", v)
		}
		p.Scenario("loop/bad")
		p.Trial(gate.Fail)
		for range 40 {
			trial(p, "loop/done", gate.Pass)
		}
		p.Close()
		p.Close()
		Expect(dots.String()).To(Equal(".FEs" + strings.Repeat(".", 36) + "\n....\n"))
		Expect(strings.TrimPrefix(out.String(), "\r\x1b[K")).To(BeEmpty())
	})
})
