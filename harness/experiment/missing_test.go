package experiment_test

import (
	"context"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/experiment"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/kinds"
)

// errs draws once for both variants: each passes if the draw is in its range, and b has no
// verdict for draws from lost on.
func errs(a, b [2]float64, lost float64) func(*rand.Rand) func(v, s int) float64 {
	return func(r *rand.Rand) func(v, s int) float64 {
		u := 0.0
		return func(v, _ int) float64 {
			if v == 0 {
				u = r.Float64()
			} else if u >= lost {
				return math.NaN()
			}
			is := [2][2]float64{a, b}[v]
			return float64(one(u >= is[0] && u < is[1]))
		}
	}
}

var _ = Describe("Missing values", Label("H-07"), func() {
	explained := func(w experiment.World) result.Comparison {
		return w.Explained(rand.New(rand.NewPCG(1, 1)))[0]
	}

	It("of shares never favour the variant that has them", func() {
		// Both pass in three of four trials; those of b without a verdict would have failed.
		w := twoOf(designOf(true, 1000, 0.05, result.These), 1, errs([2]float64{0.25, 1}, [2]float64{0, 0.75}, 0.91))
		c := explained(w)
		Expect(c.Missing).To(BeNumerically("~", 90, 30))
		Expect(*c.Effect.Value).To(BeNumerically(">", 0.05), "b passes more often among known values")
		Expect(c.Verdict).To(Equal(result.Undecided))
		Expect(c.Warnings).To(ContainElement(ContainSubstring("assume the worst for each")))
		// The same draws, but b has no verdict where a passes: b is worse.
		w = twoOf(designOf(true, 1000, 0.05, result.These), 1, errs([2]float64{0.25, 1}, [2]float64{0.25, 1}, 0.91))
		c = explained(w)
		Expect(*c.Effect.Value).To(BeZero())
		Expect(c.Verdict).To(Equal(result.Undecided))
	})

	It("of shares do not hide a verdict that they cannot change", func() {
		w := twoOf(designOf(true, 400, 0.05, result.These), 2, errs([2]float64{0, 0.3}, [2]float64{0, 0.9}, 0.97))
		Expect(explained(w).Verdict).To(Equal(result.Better))
		w = twoOf(designOf(true, 400, 0.1, result.These), 2, errs([2]float64{0, 0.7}, [2]float64{0, 0.7}, 0.99))
		Expect(explained(w).Verdict).To(Equal(result.Equivalent))
	})

	It("of unbounded measures prevent verdicts in favour of the variant with more of them", func() {
		far := func(effect float64, lost int) experiment.World {
			return twoOf(ranged(designOf(false, 100, 0.5, result.These), -5, 7), 1, func(r *rand.Rand) func(v, s int) float64 {
				return func(v, _ int) float64 {
					if v == lost && r.Float64() < 0.05 {
						return math.NaN()
					}
					return float64(v)*effect + r.NormFloat64()/2
				}
			})
		}
		for _, t := range []struct {
			effect float64
			lost   int
			want   result.Verdict
		}{
			{2, 1, result.Undecided},
			{2, 0, result.Better},
			{-2, 0, result.Undecided},
			{-2, 1, result.Worse},
			{0, 0, result.Undecided},
			{0, 1, result.Undecided},
			{0, 2, result.Equivalent},
		} {
			c := explained(far(t.effect, t.lost))
			Expect(c.Verdict).To(Equal(t.want), "%+v: %s", t, c.Why)
			if t.want == result.Undecided {
				Expect(c.Why).To(ContainSubstring("except for missing values"))
			}
		}
	})
})

var _ = Describe("Differences that are all equal", Label("H-07"), func() {
	nearly := func(rare int, d result.Design) result.Comparison {
		n := 0
		w := twoOf(d, 1, func(*rand.Rand) func(v, s int) float64 {
			return func(v, _ int) float64 {
				n++
				return float64(v * one(n <= 2*rare))
			}
		})
		return w.Explained(nil)[0]
	}

	It("are not equivalent without a bound, and the reason is given", func() {
		for _, rare := range []int{0, 1, 2} {
			c := nearly(rare, designOf(false, 200, 1, result.These))
			Expect(c.Verdict).To(Equal(result.Undecided))
			Expect(c.Why).To(ContainSubstring("m is unbounded; declare its range"))
			Expect(c.Power).To(BeNil())
			Expect(c.Needed).To(BeZero())
		}
	})

	It("are equivalent if a rare one would have been seen; otherwise the needed trials are reported", func() {
		for _, rare := range []int{0, 1, 2} {
			c := nearly(rare, ranged(designOf(false, 200, 1, result.These), 0, 20))
			Expect(c.Verdict).To(Equal(result.Equivalent), "%d: %s", rare, c.Why)
			Expect(*c.EquivalenceP).To(BeNumerically(">=", 0.9*math.Pow(0.95, 200)), "1 in 20 differs by 20")
		}
		c := nearly(0, ranged(designOf(false, 40, 1, result.These), 0, 20))
		Expect(c.Verdict).To(Equal(result.Undecided))
		Expect(c.Needed).To(Equal(59), "0.95^59 is 0.0485")
		Expect(nearly(0, ranged(designOf(false, 59, 1, result.These), 0, 20)).Verdict).To(Equal(result.Equivalent))
		Expect(nearly(0, ranged(designOf(false, 58, 1, result.These), 0, 20)).Verdict).To(Equal(result.Undecided))
	})

	It("are not equivalent if a value is outside the declared range", func() {
		c := nearly(1, ranged(designOf(false, 200, 1, result.These), 0, 0.9))
		Expect(c.Verdict).To(Equal(result.Undecided))
		Expect(c.Warnings).To(ContainElement(Equal("equivalent cannot be tested: 1 value of m is outside the declared range 0 to 0.9")))
	})
})

var _ = Describe("Too few scenarios for any decision", Label("H-07"), func() {
	// With n differences p is at least 2 / 2^n, which is 0.125 for four and 0.031 for six.
	few := func(scenarios int) result.Comparison {
		w := twoOf(designOf(false, 20, 1, result.Alike), scenarios, func(r *rand.Rand) func(v, s int) float64 {
			return func(v, _ int) float64 { return float64(v)*10 + r.NormFloat64() }
		})
		return w.Explained(rand.New(rand.NewPCG(1, 1)))[0]
	}

	It("are reported with zero power and the needed number", func() {
		c := few(4)
		Expect(c.Verdict).To(Equal(result.Undecided))
		Expect(*c.Power).To(BeZero())
		Expect(c.Needed).To(Equal(6))
		Expect(few(6).Verdict).To(Equal(result.Better))
	})
})

var _ = Describe("Scenarios with the same seed", Label("H-07"), func() {
	It("draw independently in an experiment", func() {
		path := write(first)
		two := filepath.Join(filepath.Dir(path), "two.yaml")
		edit(two, "seed: 2", "seed: 1")
		e, found := experiment.Load(path, kinds.Language(), options())
		Expect(found).To(BeEmpty())
		file := filepath.Join(GinkgoT().TempDir(), "journal.jsonl")
		carry(e, journal(file))
		data, err := os.ReadFile(file)
		Expect(err).NotTo(HaveOccurred())
		verdicts := map[string]string{}
		for line := range strings.Lines(string(data)) {
			for _, name := range []string{"sim/one", "sim/two"} {
				if strings.HasPrefix(line, `{"variant":"old"`) && strings.Contains(line, name) {
					_, after, _ := strings.Cut(line, `"verdict":"`)
					verdicts[name] += after[:4]
				}
			}
		}
		Expect(verdicts["sim/one"]).To(HaveLen(160))
		Expect(verdicts["sim/one"]).NotTo(Equal(verdicts["sim/two"]))
	})
})

// living returns a scenario that calls a live model.
const living = `name: sim/live
drive: {loop: {prompt: Work., max_iterations: 5, no_progress_limit: 0}}
backend: {as: live, url: URL, model: gpt-4.1-mini}
expect: {status: done}
`

var _ = Describe("An interruption of an experiment with a live model", Label("H-07"), func() {
	It("counts the use of the interrupted trials towards the caps", func() {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var calls atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // so that it notices a disconnected client
			if calls.Add(1) == 8 {             // the third one of a trial
				cancel()
				<-r.Context().Done()
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"id":"x","object":"chat.completion","model":"gpt-4.1-mini","choices":[{"index":0,"message":{"role":"assistant","content":"Not yet."},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110}}`))
		}))
		defer server.Close()
		path := write(strings.ReplaceAll(strings.Split(first, "variants:")[0], "[one.yaml, two.yaml]", "[live.yaml]") +
			"variants: [{name: a}, {name: b, set: {drive.loop.prompt: Work hard.}}]\ntrials: 10\nprimary: {name: calls}\n")
		Expect(os.WriteFile(filepath.Join(filepath.Dir(path), "live.yaml"), []byte(strings.ReplaceAll(living, "URL", server.URL+"/v1")), 0o600)).To(Succeed())
		e, found := experiment.Load(path, kinds.Language(), options())
		Expect(found.Err()).NotTo(HaveOccurred())
		file := filepath.Join(GinkgoT().TempDir(), "journal.jsonl")
		opts := func(o *experiment.Options) {
			o.Env.Live, o.Workers, o.Caps.Calls, o.Journal = true, 1, 30, file
			o.Env.Getenv = func(string) string { return "" } // the server is this test's own, whatever forbids others
		}
		res, err := e.Run(ctx, with(opts))
		Expect(err).NotTo(HaveOccurred())
		Expect(res.Stopped.As).To(Equal(result.Interrupted))
		Expect(res.Used.Calls).To(Equal(8))
		data, err := os.ReadFile(file)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(data)).To(ContainSubstring(`{"lost":{"calls":3,`))
		res = carry(e, opts)
		Expect(res.Stopped.As).To(Equal(result.Capped))
		Expect(res.Used.Calls).To(Equal(30))
		Expect(calls.Load()).To(Equal(int64(30)))
	})
})
