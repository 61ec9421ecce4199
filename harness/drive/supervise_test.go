package drive_test

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/kinds"
)

// three is a plan of three tasks.
const three = `
drive:
  supervise:
    plan:
      name: three
      tasks:
        - {id: a, do: Do a.}
        - {id: b, do: Do b., after: [a]}
        - {id: c, do: Do c., after: [b]}
`

// supervised returns the record and the facts of a supervised run, with further keys of the drive and
// with rules instead of the default ones, which answer each call with DONE.
func supervised(drive, rules string) (record.Trial, measure.Facts) {
	GinkgoHelper()
	if rules == "" {
		rules = "    - {text: DONE, latency: 10s}\n"
	}
	text := three + indent(drive) + "backend:\n  model: gpt-4.1-mini\n  rules:\n" + rules + "expect: {status: complete}\n"
	d := driver(newEnv(), text)
	tr, _ := d.Trial(context.Background(), 1)
	return tr, measure.Trial(d.Head(), tr, nil, kinds.Language().Extensions())
}

var _ = Describe("Driving a supervisor", func() {
	It("executes a plan", func() {
		_, facts := supervised("", "")
		Expect(facts.Run.Status).To(Equal("complete"), facts.Run.Details)
		Expect(facts.Run.Violations).To(BeEmpty())
		Expect(superviseOf(facts).Order).To(Equal([]string{"a", "b", "c"}))
		Expect(facts.Run.Duration).To(Equal(30.0))
	})

	It("crashes the process before and after each write, without lost or repeated work", Label("P-05"), func() {
		for _, when := range []string{"before", "after"} {
			for write := 1; ; write++ {
				_, facts := supervised(fmt.Sprintf("store: file\ncrashes: [{write: %d, when: %s}]", write, when), "")
				Expect(facts.Run.Status).To(Equal("complete"), facts.Run.Details)
				Expect(facts.Run.Violations).To(BeEmpty())
				Expect(superviseOf(facts).Order).To(ContainElements("b", "c"))
				Expect(facts.Calls.Total).To(BeNumerically("<=", 4), "at most the call under way is made again")
				if len(facts.Script.Unfired) > 0 {
					Expect(write).To(BeNumerically(">", 4), "there were writes to die at")
					break
				}
			}
		}
	})

	It("continues after the disk was full", func() {
		_, facts := supervised("disk_full: 2", "")
		Expect(facts.Run.Status).To(Equal("error"))
		Expect(facts.Run.Details).To(ContainSubstring("no space left"))
		_, facts = supervised("disk_full: 2\nrestarts: 1", "")
		Expect(facts.Run.Status).To(Equal("complete"), facts.Run.Details)
		Expect(facts.Run.Violations).To(BeEmpty())
	})

	It("returns the scenario's findings from probes, the last one repeatedly", func() {
		_, facts := supervised("looks:\n  tests: [{verdict: fail, details: 2 fail, takes: 3s}, {verdict: pass}]", "")
		Expect(facts.Run.Status).To(Equal("complete"), facts.Run.Details)
		Expect(superviseOf(facts).Failed).To(Equal(map[string]int{"tests": 1}))
		Expect(superviseOf(facts).Rounds).To(Equal(1))
		Expect(superviseOf(facts).Derived).To(Equal(1))
	})

	It("replaces the last task by copies", func() {
		text := "drive:\n  supervise:\n    copies: 3\n    plan: {name: many, tasks: [{id: 'part-{n}', do: 'Do {n}.', after: ['part-{before}']}]}\n" +
			"backend:\n  model: gpt-4.1-mini\n  rules: [{text: DONE}]\nexpect: {status: complete}\n"
		d := driver(newEnv(), text)
		tr, _ := d.Trial(context.Background(), 1)
		Expect(superviseOf(measure.Trial(d.Head(), tr, nil, kinds.Language().Extensions())).Order).To(Equal([]string{"part-1", "part-2", "part-3"}))
	})

	It("gives the same recording twice", func() {
		drive := "looks:\n  tests: [{verdict: fail}, {verdict: pass}]\ncrashes: [{write: 3}]"
		one, _ := supervised(drive, "")
		two, _ := supervised(drive, "")
		Expect(one).To(Equal(two))
	})
})
