package mocks_test

import (
	"fmt"
	"math"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/mocks"
)

// drawn returns the answer of trial n of a script to one question.
func drawn(p *mocks.Program, seed uint64, n int) outcome {
	return inProcess(p, mocks.EngineOptions{Seed: seed, Trial: n}).ask("x")
}

var _ = Describe("a line that draws its answer", Label("H-02"), func() {
	const model = "rules: [{one_of: [{chance: 0.6, text: good}, {chance: 0.3, text: bad}, {fault: {kind: status, status: 503}}]}]"

	It("draws each answer with its probability", func() {
		const n = 4000
		p := compile(model)
		counts := map[string]int{}
		for i := range n {
			o := drawn(p, 7, i+1)
			counts[fmt.Sprint(o.Status, o.text())]++
		}
		Expect(counts).To(HaveLen(3))
		for answer, chance := range map[string]float64{"200good": 0.6, "200bad": 0.3, "503": 0.1} {
			// Five standard deviations of a binomial proportion.
			Expect(float64(counts[answer])/n).To(BeNumerically("~", chance, 5*math.Sqrt(chance*(1-chance)/n)), answer)
		}
	})

	It("draws anew for each attempt, and the same in each execution", func() {
		script := "rules: [{one_of: [{chance: 0.5, text: a}, {chance: 0.5, text: b}]}]"
		say := func(seed uint64) (all []string) {
			r := inProcess(compile(script), mocks.EngineOptions{Seed: seed, Trial: 3})
			for range 64 {
				all = append(all, r.ask("x").text())
			}
			return all
		}
		Expect(say(1)).To(Equal(say(1)))
		Expect(say(1)).NotTo(Equal(say(2)))
		Expect(say(1)).To(ContainElements("a", "b"))
	})

	It("draws independently of earlier calls on other lines and of their order", func() {
		script := `rules:
  - {when: {user: one}, one_of: [{chance: 0.5, text: a}, {chance: 0.5, text: b}]}
  - {when: {user: two}, one_of: [{chance: 0.5, text: c}, {chance: 0.5, text: d}]}`
		p := compile(script)
		for trial := range 20 {
			alone := inProcess(p, mocks.EngineOptions{Seed: 5, Trial: trial})
			one := texts(alone.ask("one"), alone.ask("one"))
			mixed := inProcess(p, mocks.EngineOptions{Seed: 5, Trial: trial})
			mixed.ask("two")
			got := texts(mixed.ask("one"))
			mixed.ask("two")
			Expect(append(got, mixed.ask("one").text())).To(Equal(one))
		}
	})

	It("draws the same number of each for callers at once", func() {
		p := compile("rules: [{one_of: [{chance: 0.5, text: a}, {chance: 0.5, text: b}]}]")
		count := func(answers []string) (a int) {
			for _, text := range answers {
				if text == "a" {
					a++
				}
			}
			return a
		}
		ordered, at := start("rules: [{one_of: [{chance: 0.5, text: a}, {chance: 0.5, text: b}]}]"), make([]string, 40)
		var inTurn []string
		for range at {
			inTurn = append(inTurn, ordered.ask("x").text())
		}
		r := inProcess(p, mocks.EngineOptions{Seed: 1, Count: countBytes})
		var group sync.WaitGroup
		for i := range at {
			group.Go(func() { at[i] = r.ask("x").text() })
		}
		group.Wait()
		Expect(count(at)).To(Equal(count(inTurn)))
	})

	It("gives each choice its usage, latency and finish, by default those of the line", func() {
		script := `replies:
  - usage: {input: 9, output: 9}
    latency: 2s
    one_of: [{chance: 0.5, text: plain}, {chance: 0.5, text: own, usage: {input: 1, output: 2}, latency: 7s, finish: length}]`
		seen := map[string]bool{}
		for n := range 30 {
			r := inProcess(compile(script), mocks.EngineOptions{Seed: 2, Trial: n})
			began := r.clock.Now()
			o := r.ask("x")
			took, x := r.clock.Now().Sub(began), r.engine.Report().Exchanges[0]
			seen[o.text()] = true
			switch o.text() {
			case "plain":
				Expect(took.Seconds()).To(BeNumerically("==", 2))
				Expect(x.Usage.Input).To(Equal(9))
				Expect(x.Line).To(Equal("replies[0].one_of[0]"))
			default:
				Expect(took.Seconds()).To(BeNumerically("==", 7))
				Expect(x.Usage.Output).To(Equal(2))
				Expect(o.Body).To(ContainSubstring(`"finish_reason":"length"`))
				Expect(x.Line).To(Equal("replies[0].one_of[1]"))
			}
		}
		Expect(seen).To(HaveLen(2))
	})

	It("requires that the line is used, but not that each choice is drawn", func() {
		r := start("replies: [{one_of: [{chance: 1, text: a}, {chance: 0, fault: empty-text}, {chance: 0, text: b, fault: status}]}]")
		Expect(r.engine.Report().Unused).To(Equal([]string{"replies[0]: 1 of 1 left"}))
		Expect(r.ask("x").text()).To(Equal("a"))
		report := r.engine.Report()
		Expect(report.Unused).To(BeEmpty())
		Expect(report.Unfired).To(BeEmpty())
		Expect(compile("replies: [{one_of: [{fault: empty-text}]}]").PlannedFaults()).To(BeEmpty())
	})

	It("uses the line up with a fault alone, and leaves it to the retry beside an answer", func() {
		alone := start("replies: [{one_of: [{fault: {kind: status, status: 503}}]}, {text: next}]")
		Expect([]int{alone.ask("1").Status, alone.ask("2").Status}).To(Equal([]int{503, 200}))
		Expect(alone.engine.Report().Exchanges[0].Fired).To(BeTrue())

		script := "replies: [{one_of: [{chance: 0.5, text: a, fault: {kind: status, status: 503}}, {chance: 0.5, text: a}]}, {text: next}]"
		longest := 0
		for n := range 40 {
			r := inProcess(compile(script), mocks.EngineOptions{Seed: 3, Trial: n})
			tries := 0
			for ; r.ask("1").Status == 503; tries++ {
				why := "its fault was injected"
				if tries > 0 {
					why = fmt.Sprintf("the agent tried %d times, got its fault each time", tries+1)
				}
				Expect(r.engine.Report().Unused).To(ContainElement(HavePrefix("replies[0]: 1 of 1 left; " + why)))
			}
			Expect(r.ask("2").text()).To(Equal("next"))
			longest = max(longest, tries)
		}
		Expect(longest).To(BeNumerically(">", 1), "the fault fired at a retry, too")
	})

	It("loads the files of choices and executes their templates", func() {
		s, err := parse("replies: [{one_of: [{template: 'you said {{.User}}'}]}]")
		Expect(err).NotTo(HaveOccurred())
		p, err := mocks.Compile(s)
		Expect(err).NotTo(HaveOccurred())
		Expect(drawn(p, 1, 1).text()).To(Equal("you said x"))

		s, err = parse("replies: [{one_of: [{chance: 0.5, file: a.txt}, {text: b}]}]")
		Expect(err).NotTo(HaveOccurred())
		_, err = mocks.Compile(s)
		Expect(err).To(MatchError(ContainSubstring(`replies[0]: the file "a.txt" is not loaded`)))
	})

	DescribeTable("refuses chances that are not a distribution", func(line string, want ...string) {
		s, err := parse("rules: [" + line + "]")
		Expect(err).NotTo(HaveOccurred())
		var got []string
		for _, p := range s.Validate() {
			got = append(got, p.String())
		}
		Expect(got).To(Equal(want))
	},
		Entry("a sum below 1", "{one_of: [{chance: 0.5, text: a}, {chance: 0.4, text: b}]}",
			"rules[0].one_of: the chances sum to 0.9, not to 1; correct them, or omit one, which then gets the rest"),
		Entry("a sum above 1", "{one_of: [{chance: 0.5, text: a}, {chance: 0.6, text: b}]}",
			"rules[0].one_of: the chances sum to 1.1, not to 1; correct them, or omit one, which then gets the rest"),
		Entry("nothing left", "{one_of: [{chance: 1, text: a}, {text: b}]}",
			"rules[0].one_of: the chances sum to 1, which leaves nothing for the choice without one"),
		Entry("two that take the rest", "{one_of: [{chance: 0.5, text: a}, {text: b}, {text: c}]}",
			"rules[0].one_of: 2 choices have no chance; at most one may omit it and gets the rest of 1"),
		Entry("chances out of range, alone", "{one_of: [{chance: -0.5, text: a}, {chance: 1.5, text: b}, {chance: .nan, text: c}]}",
			"rules[0].one_of[0].chance: a chance is between 0 and 1, not -0.5",
			"rules[0].one_of[1].chance: a chance is between 0 and 1, not 1.5",
			"rules[0].one_of[2].chance: a chance is between 0 and 1, not NaN"),
		Entry("an answer beside", "{text: x, fault: status, one_of: [{text: a}]}",
			"rules[0].text: a line with one_of cannot have text; put it into a choice",
			"rules[0].fault: a line with one_of cannot have fault; put it into a choice"),
		Entry("an empty choice", "{one_of: [{chance: 1}]}",
			"rules[0].one_of[0]: the choice has neither an answer (text, file, template, frames, media, tool_calls, refusal, finish) nor a fault"),
		Entry("what is wrong inside", "{one_of: [{text: a, file: ../b, latency: {jitter: 2}, fault: {kind: status, times: 2}}]}",
			"rules[0].one_of[0].file: a choice has at most one of text, file, template and frames, not text and file",
			`rules[0].one_of[0].file: "../b" must be a relative path with slashes that stays in the script's folder`,
			"rules[0].one_of[0].latency.jitter: must be between 0 and 1, not 2",
			"rules[0].one_of[0].fault.times: the fault of a choice fires whenever the choice is drawn; remove times"),
	)

	It("forgives what thirds do to a sum", func() {
		s, err := parse("rules: [{one_of: [{chance: 0.333333333333, text: a}, {chance: 0.333333333333, text: b}, {chance: 0.333333333333, text: c}]}]")
		Expect(err).NotTo(HaveOccurred())
		Expect(s.Validate()).To(BeEmpty())
	})
})
