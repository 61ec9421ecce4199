package loop_test

import (
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// drawn is any run: any limits, any answers, any failures.
func drawn(t *rapid.T) *rig {
	small := func(name string, least int) *int { return new(rapid.IntRange(least, 6).Draw(t, name)) }
	o := loop.Options{
		MaxIterations:      new(rapid.IntRange(1, 25).Draw(t, "max")),
		NoProgressLimit:    small("no progress", 0),
		NearIdenticalLimit: small("near", 0),
		RepeatedErrorLimit: small("repeated", 0),
		ErrorLimit:         small("errors", 0),
		ContinuationLimit:  small("continuations", 0),
		Timeout:            within(rapid.SampledFrom([]time.Duration{0, 5 * time.Second, time.Hour}).Draw(t, "timeout")),
		CallTimeout:        within(rapid.SampledFrom([]time.Duration{0, time.Second, time.Minute}).Draw(t, "call timeout")),
		Budget:             &llm.Caps{Calls: rapid.IntRange(0, 30).Draw(t, "calls")},
		History:            rapid.SampledFrom([]loop.History{loop.Fresh, loop.Conversation}).Draw(t, "history"),
	}
	if rapid.Bool().Draw(t, "breaker") {
		o.Breaker = &loop.BreakerOptions{
			Failures: rapid.IntRange(1, 3).Draw(t, "failures"), Cooldown: quantity.Duration(time.Second), MaxOpens: rapid.IntRange(0, 3).Draw(t, "opens"),
		}
	}
	pool := []turn{
		say("a"), say("b"), say("step 1"), say("step 2"), say(""), say("x\nDONE"), say("y\nDONE"), say("BLOCKED: z"),
		sayIn(10*time.Second, "slow"), answer(0, llm.Reply{Text: "DONE", Finish: llm.FinishLength}),
		fail(llm.Unavailable, "503"), fail(llm.RateLimited, "429"),
	}
	var turns []turn
	for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(pool)-1), 0, 25).Draw(t, "turns") {
		turns = append(turns, pool[i])
	}
	r := newRig(o, turns...)
	if rapid.Bool().Draw(t, "guarded") {
		r.deps.SetJudge(refuse(rapid.IntRange(0, 5).Draw(t, "refusals"), "step"))
	}
	return r
}

var _ = Describe("Any run", Label("L-01", "L-03", "L-07", "L-09"), func() {
	It("ends within its limits and with a status of the table", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			r := drawn(t)
			res := r.run()
			known := slices.ContainsFunc(loop.Statuses(), func(row run.StatusInfo) bool {
				return row.Status == res.Status && row.ExitCode == res.ExitCode
			})
			switch {
			case !known:
				t.Fatalf("status %q with exit code %d", res.Status, res.ExitCode)
			case res.Iterations != len(res.Transcript) || res.Iterations != len(r.requests):
				t.Fatalf("%d iterations, %d entries, %d calls", res.Iterations, len(res.Transcript), len(r.requests))
			case res.Iterations > *r.options.MaxIterations:
				t.Fatalf("%d iterations of %d", res.Iterations, *r.options.MaxIterations)
			case r.options.Budget.Calls > 0 && res.Iterations > r.options.Budget.Calls:
				t.Fatalf("%d calls of %d", res.Iterations, r.options.Budget.Calls)
			case *r.options.Timeout > 0 && res.Duration > r.options.Timeout.Std():
				t.Fatalf("took %s of %s", res.Duration, r.options.Timeout)
			case res.Status == loop.StatusDone && !strings.HasSuffix(res.Text, "\nDONE"):
				t.Fatalf("done with %q", res.Text)
			case res.Details == "":
				t.Fatalf("%s without details", res.Status)
			}
			for i, e := range res.Transcript {
				if e.N != i+1 {
					t.Fatalf("entry %d has number %d", i, e.N)
				}
			}
		})
	})

	It("is repeated by an equal run", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			r := drawn(t)
			r.deps.SetJudge(nil)
			again := newRig(r.options, r.turns...)
			if a, b := jsonOf(r.run()), jsonOf(again.run()); a != b {
				t.Fatalf("%s\n%s", a, b)
			}
			if a, b := jsonOf(r.events), jsonOf(again.events); a != b {
				t.Fatalf("%s\n%s", a, b)
			}
		})
	})

	It("finds identical answers where a naive search does", Label("L-05"), func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			limit := rapid.IntRange(1, 5).Draw(t, "limit")
			texts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", ""}), 1, 30).Draw(t, "texts")
			want, status := len(texts), loop.StatusMaxIterations
			for end := limit; end <= len(texts); end++ {
				if len(slices.Compact(slices.Clone(texts[end-limit:end]))) == 1 {
					want, status = end, loop.StatusNoProgress
					break
				}
			}
			res := newRig(loop.Options{NoProgressLimit: &limit, MaxIterations: new(len(texts))}, all(texts...)...).run()
			if res.Status != status || res.Iterations != want {
				t.Fatalf("%s after %d, want %s after %d", res.Status, res.Iterations, status, want)
			}
		})
	})

	It("takes a hostile answer of ten megabytes", Label("L-08"), func() {
		hostile := strings.Repeat(`{"a":[{"`, 10_000_000/8)
		o := loop.Options{Mode: loop.JSON, MaxIterations: new(1), NearIdenticalLimit: new(2), AlternationLimit: new(2)}
		Expect(newRig(o, say(hostile)).run().Status).To(Equal(loop.StatusMaxIterations))
	})
})

var _ = Describe("A long run", Label("L-04"), func() {
	It("takes four hours of virtual time", func() {
		res := fourHours()
		Expect(res.Status).To(Equal(loop.StatusDone))
		Expect(res.Iterations).To(Equal(200))
		Expect(res.Duration).To(Equal(4 * time.Hour))
	})
})
