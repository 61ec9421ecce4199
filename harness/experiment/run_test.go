package experiment_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/experiment"
	"github.com/rehearse-dev/rehearse/harness/kind/function"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/kinds"
)

var _ = Describe("An experiment", Label("H-07"), func() {
	It("decides which variant is better, with effect, interval and cost", func() {
		res := run(first)
		Expect(res.Stopped).To(Equal(result.Stopped{As: result.Complete, Why: "all trials were made", Trials: 240, Planned: 240}))
		good := comparison(res, "good", "old", "pass")
		Expect(good.Verdict).To(Equal(result.Better))
		Expect(*good.Effect.Value).To(BeNumerically("~", 0.25, 0.12))
		Expect(good.Effect.Interval.Lo).To(BeNumerically(">", 0))
		Expect(*good.Adjusted).To(And(BeNumerically(">=", *good.P), BeNumerically("<=", 0.05)))
		Expect(good.Pairs).To(Equal(80))
		Expect(good.ByScenario).To(HaveLen(2))
		Expect(good.Why).To(ContainSubstring("after correction for 3 comparisons"))
		Expect(comparison(res, "good", "old", "slow").Verdict).To(Equal(result.Better))
		Expect(comparison(res, "turned", "old", "pass").Verdict).To(Equal(result.Undecided))
		Expect(comparison(res, "turned", "old", "pass").Needed).To(BeNumerically(">", 40))
		Expect(comparison(res, "turned", "good", "pass").Verdict).To(Equal(result.Worse))
		Expect(res.Pareto).To(HaveLen(3))
		for _, p := range res.Pareto {
			Expect(p.Dominated == nil).To(Equal(p.Variant == "good"), "%+v", p)
		}
	})

	It("has the same result with any number of workers", func() {
		e := load(first)
		Expect(encoded(carry(e, workers(1)))).To(Equal(encoded(carry(e, workers(7)))))
	})

	It("pairs trials by scenario, number and seed: the same variant under another name never differs", func() {
		text := replace(first, "  - name: turned\n    set:\n", "  - name: turned\n    set:\n      drive.loop.prompt: Other words.\n")
		text = replace(text, `            - {chance: 0.5, text: "I look at it."}
            - {chance: 0.5, text: "It passes.\n\nDONE"}`, `            - {chance: 0.5, text: "It passes.\n\nDONE"}
            - {chance: 0.5, text: "I look at it."}`)
		c := comparison(run(text), "turned", "old", "pass")
		Expect(*c.Effect.Value).To(BeZero())
		Expect(c.Verdict).To(Equal(result.Equivalent))
	})

	It("compares all variants with one if the file names it", func() {
		res := run(first + "against: good\n")
		Expect(res.Comparisons).To(HaveLen(6))
		Expect(comparison(res, "old", "good", "pass").Verdict).To(Equal(result.Worse))
		Expect(comparison(res, "turned", "good", "pass").Verdict).To(Equal(result.Worse))
	})

	It("stops early, and only at a planned look", func() {
		res := run(replace(first, "  - name: turned\n    set:\n", "  - name: turned\n    set:\n      backend.retry: 1\n") + "against: good\nstop: {looks: 4}\n")
		Expect(res.Stopped.As).To(Equal(result.Decided))
		Expect(res.Stopped.Trials).To(BeNumerically("<", 240))
		last := res.Looks[len(res.Looks)-1]
		Expect(last.Decided).To(Equal(2))
		Expect(last.Trials % 10).To(BeZero())
		Expect(last.Level).To(BeNumerically("<", 0.05))
		Expect(res.Stopped.Trials).To(Equal(6 * last.Trials))
	})

	It("draws other trials for another seed", func() {
		five, six := run(first+"seed: 5\n"), run(first+"seed: 6\n")
		Expect(five.Comparisons).NotTo(Equal(six.Comparisons))
	})

	It("warns that its verdicts are about these scenarios only", func() {
		Expect(run(first).Warnings).To(ContainElement(ContainSubstring("about these scenarios")))
	})
})

var _ = Describe("The caps of an experiment", Label("H-07"), func() {
	It("on calls are never exceeded, and the result so far is returned", func() {
		e := load(first + "caps: {calls: 101}\n")
		for _, n := range []int{1, 2, 7} {
			res := carry(e, workers(n))
			Expect(res.Stopped.As).To(Equal(result.Capped))
			Expect(res.Stopped.Why).To(Equal("the budget for calls is used up: 101 of 101"))
			Expect(res.Used.Calls).To(Equal(101))
			Expect(res.Stopped.Trials).To(BeNumerically("~", 70, 25))
			Expect(comparison(res, "good", "old", "pass").Pairs).To(BeNumerically(">", 15))
			Expect(encoded(res)).To(Equal(encoded(carry(e, workers(1)))))
		}
	})

	It("on cost end it before the next call", func() {
		res := run(first + "caps: {cost: 0.001 EUR}\n")
		Expect(res.Stopped.As).To(Equal(result.Capped))
		Expect(res.Used.EUR).To(And(BeNumerically(">=", 0.001), BeNumerically("<", 0.00105)))
		Expect(res.Stopped.Why).To(HavePrefix("the budget for cost is used up: "))
	})

	It("can be given for a run", func() {
		res := run(first, func(o *experiment.Options) { o.Caps.Calls = 50 })
		Expect(res.Used.Calls).To(Equal(50))
		Expect(res.Design.MaxCalls).To(Equal(50))
	})

	It("below one trial are an error", func() {
		path := write(first)
		one := filepath.Join(filepath.Dir(path), "one.yaml")
		Expect(os.WriteFile(one, []byte(strings.NewReplacer("NAME", "one", "SEED", "1", "chance: 0.5, text: \"It", "chance: 0, text: \"It", "chance: 0.5", "chance: 1").Replace(task)), 0o600)).To(Succeed())
		Expect(os.WriteFile(path, []byte(replace(first, "  - name: good\n", "  - name: same\n    set: {backend.retry: 1}\n  - name: good\n")), 0o600)).To(Succeed())
		e, found := experiment.Load(path, kinds.Language(), options())
		Expect(found).To(BeEmpty())
		_, err := e.Run(context.Background(), with(func(o *experiment.Options) { o.Caps.Calls = 1 }))
		Expect(err).To(MatchError("the caps of the experiment do not allow one trial: the budget for calls is used up: 1 of 1; raise them"))
	})

	It("on cost are used up by a model of unknown price", func() {
		text := replace(first, "trials: 40", "trials: 4")
		text = strings.ReplaceAll(text, "    set:\n", "    set:\n      backend.unpriced: true\n      backend.model: none\n")
		text = replace(text, "  - name: old\n", "  - name: old\n    set:\n      backend.unpriced: true\n      backend.model: none\n")
		res := run(text + "caps: {cost: 1 EUR}\n")
		Expect(res.Stopped.As).To(Equal(result.Capped))
		Expect(res.Stopped.Why).To(ContainSubstring("unknown"))
	})
})

var _ = Describe("Missing data in an experiment", Label("H-07"), func() {
	const unknown = `calls.by["loop"] > 1 ? 1 : calls.by["nobody"]`

	It("prevents a verdict if more than one pair in ten is missing", func() {
		res := run(replace(first, "primary: {name: pass, smallest_effect: 0.1}", "primary: {name: odd, expr: '"+unknown+"', better: lower, smallest_effect: 0.1}"))
		c := comparison(res, "good", "old", "odd")
		Expect(c.Verdict).To(Equal(result.Undecided))
		Expect(c.P).To(BeNil())
		Expect(c.Missing).To(BeNumerically(">", 40))
		Expect(c.Missing + c.Pairs).To(Equal(80))
		Expect(c.Why).To(ContainSubstring("and not at random"))
		Expect(res.Variants[0].Measures[0].Known).To(BeFalse())
		Expect(res.Variants[0].Measures[0].Warnings).To(ContainElement(ContainSubstring("cannot be evaluated")))
	})

	It("leaves a measure without a value if no trial has one", func() {
		res := run(replace(replace(first, "trials: 40", "trials: 5"), "primary: {name: pass, smallest_effect: 0.1}", `primary: {name: odd, expr: 'calls.by["nobody"]', better: lower}`))
		c := comparison(res, "good", "old", "odd")
		Expect(c.Verdict).To(Equal(result.Undecided))
		Expect(c.Effect.Value).To(BeNil())
		Expect(c.Why).To(Equal("no pair of trials could be compared"))
		Expect(res.Pareto).To(BeEmpty())
	})

	It("causes a warning if the compared measure decided when to end", func() {
		res := run(replace(first, "primary: {name: pass, smallest_effect: 0.1}", "primary: {name: cost_eur}") + "caps: {cost: 0.002 EUR}\n")
		Expect(res.Warnings).To(ContainElement(ContainSubstring("the p-values are not exact")))
		Expect(res.Pareto[0].Quality.Name).To(Equal("pass"))
	})
})

// functional is a scenario whose agent is a Go function with two calls.
const functional = `name: sim/NAME
drive:
  function: {name: asker, turns: [Fix the test.]}
backend:
  model: gpt-4.1-mini
  rules: [{text: "It passes."}]
expect: {status: done}
seed: SEED
`

var _ = Describe("An experiment on an external agent", Label("H-07", "H-01"), func() {
	It("checks its caps before each call", func() {
		path := write(replace(first, "scenarios: [one.yaml, two.yaml]", "scenarios: [three.yaml]"))
		Expect(os.WriteFile(filepath.Join(filepath.Dir(path), "three.yaml"), []byte(strings.NewReplacer("NAME", "three", "SEED", "3").Replace(functional)), 0o600)).To(Succeed())
		text, err := os.ReadFile(path)
		Expect(err).NotTo(HaveOccurred())
		Expect(os.WriteFile(path, []byte(replace(string(text), "      drive.loop.prompt: {file: prompts/good.md}\n", "")), 0o600)).To(Succeed())
		e, found := experiment.Load(path, kinds.Language(), options())
		Expect(found.Err()).NotTo(HaveOccurred())
		var made atomic.Int64
		res := carry(e, func(o *experiment.Options) {
			o.Caps.Calls = 31
			o.Env.Makers["function"] = function.Kind(map[string]app.Maker{"asker": asker(&made)}).New
		})
		Expect(res.Stopped.As).To(Equal(result.Capped))
		Expect(res.Used.Calls).To(Equal(31))
		Expect(res.Stopped.Trials).To(Equal(15))
		Expect(made.Load()).To(BeNumerically(">=", 32), "the last of them was refused")
	})
})

// asker is an agent that calls the model twice, returns the answers and counts the calls.
func asker(made *atomic.Int64) app.Maker {
	return func(site app.Site) func(context.Context, string) (string, error) {
		return func(ctx context.Context, text string) (answer string, err error) {
			for range 2 {
				made.Add(1)
				body := `{"model":"gpt-4.1-mini","messages":[{"role":"user","content":"` + text + `"}]}`
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, site.Backend+"/v1/chat/completions", strings.NewReader(body))
				if err != nil {
					return "", err
				}
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("Authorization", "Bearer made-up")
				reply, err := site.Client.Do(req)
				if err != nil {
					return "", err
				}
				data, err := io.ReadAll(reply.Body)
				_ = reply.Body.Close()
				if err != nil || reply.StatusCode != http.StatusOK {
					return "", fmt.Errorf("%s: %s (%w)", reply.Status, data, err)
				}
				answer = "The model answered."
			}
			return answer, nil
		}
	}
}
