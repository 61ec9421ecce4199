package explore_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/explore"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// golden returns a short path to which every family applies.
func golden() explore.Path {
	return explore.Path{Calls: 3, Writes: 4, Turns: 2, Points: drive.Points{
		Faults:   []string{"status", "timeout", "slow-drip"},
		Timeouts: map[string]time.Duration{"call_timeout": time.Minute, "also": time.Minute, "timeout": time.Hour},
	}}
}

var _ = Describe("The plan", func() {
	DescribeTable("contains every perturbation that applies, for each point of the path",
		func(family result.Family, runs int, first, last string) {
			planned, left := explore.PlanOf(golden(), []result.Family{family}, false)
			Expect(left).To(BeEmpty())
			Expect(planned).To(HaveLen(runs))
			Expect(planned[0]).To(Equal(first))
			Expect(planned[runs-1]).To(Equal(last))
			for _, text := range planned {
				p, err := perturb.Parse(text)
				Expect(err).NotTo(HaveOccurred())
				Expect(p.String()).To(Equal(text))
			}
		},
		Entry("faults, each status among them", result.Faults, 3*(7+2), "call=1:status,status=401", "call=3:slow-drip"),
		Entry("latency, one tick below and above each limit", result.Latency, 3*2*2,
			"call=1:latency,first=59.999999999s", "call=3:latency,first=1h0m0.000000001s"),
		Entry("texts", result.Texts, 3*4, "call=1:text-truncated", "call=3:text-padded"),
		Entry("crashes", result.Crashes, 4*3, "write=1:crash-before", "write=4:disk-full"),
		Entry("users, from the first turn at which they can act", result.Users, 2+7, "turn=1:double", "turn=2:restart"),
	)

	It("contains all families in the order of their list", func() {
		all, _ := explore.PlanOf(golden(), nil, false)
		Expect(all).To(HaveLen(27 + 12 + 12 + 12 + 9))
		some, _ := explore.PlanOf(golden(), []result.Family{result.Users, result.Texts}, false)
		Expect(some[0]).To(Equal("call=1:text-truncated"))
	})

	It("lists what does not apply, with the reason", func() {
		p := golden()
		p.Points.NoWrites, p.Points.NoTurns, p.Points.Timeouts = "nothing on disk", "nobody", nil
		runs, left := explore.PlanOf(p, nil, false)
		Expect(runs).To(HaveLen(27 + 12))
		Expect(left).To(Equal([]string{"latency: the agent has no time limit", "crash: nothing on disk", "user: nobody"}))
		p = golden()
		p.Writes = 0
		_, left = explore.PlanOf(p, []result.Family{result.Crashes}, false)
		Expect(left).To(Equal([]string{"crash: nothing was written"}))
		p.Stored = []string{"GET /v1/batches/*", "POST /v1/files"}
		_, left = explore.PlanOf(p, []result.Family{result.Faults}, false)
		Expect(left).To(Equal([]string{
			"fault: requests about files and batches are not perturbed (GET /v1/batches/*, POST /v1/files); `storage:` in the script has faults for them",
		}))
	})

	It("contains only the actions that a turn allows", func() {
		p := golden()
		p.Points.Turns = []string{perturb.Restart}
		runs, _ := explore.PlanOf(p, []result.Family{result.Users}, false)
		Expect(runs).To(Equal([]string{"turn=1:restart", "turn=2:restart"}))
	})

	It("waits at most ten seconds for a call in real time", func() {
		p := golden()
		p.RealTime, p.Points.Faults = true, []string{"exit", "hang", "ignore-sigterm"}
		runs, left := explore.PlanOf(p, []result.Family{result.Faults, result.Latency}, false)
		Expect(runs).To(Equal([]string{
			"call=1:exit", "call=2:exit", "call=3:exit",
			"call=1:latency,first=5s", "call=2:latency,first=5s", "call=3:latency,first=5s",
		}))
		Expect(left).To(Equal([]string{
			"hang, ignore-sigterm: skipped in real time, because no time limit is at most 10s; set a shorter one to include it",
			"latency: above the limit: skipped in real time, because no time limit is at most 10s",
		}))
		p.Points.Timeouts = map[string]time.Duration{"call_timeout": 2 * time.Second, "off": 0}
		runs, _ = explore.PlanOf(p, []result.Family{result.Faults}, false)
		Expect(runs).To(HaveLen(9))
		p.Points.Faults = []string{"slow-drip"}
		runs, _ = explore.PlanOf(p, []result.Family{result.Faults}, false)
		Expect(runs[0]).To(Equal("call=1:slow-drip,delay=10ms"))
	})

	It("tries an answer within a short limit in real time, and one beyond it", func() {
		p := golden()
		p.RealTime, p.Points.Timeouts = true, map[string]time.Duration{"timeout": 4 * time.Second}
		runs, left := explore.PlanOf(p, []result.Family{result.Latency}, false)
		Expect(runs[:2]).To(Equal([]string{"call=1:latency,first=2s", "call=1:latency,first=5s"}))
		Expect(left).To(BeEmpty())
		p.Points.Timeouts = nil
		_, left = explore.PlanOf(p, []result.Family{result.Latency}, false)
		Expect(left).To(Equal([]string{"latency: the agent has no time limit"}))
	})

	It("bounds the sum of the waits in real time, unless it is thorough", func() {
		p := golden()
		p.Calls, p.RealTime = 50, true
		p.Points.Faults, p.Points.Timeouts = []string{"timeout", "empty-text"}, map[string]time.Duration{"timeout": 10 * time.Second}
		runs, left := explore.PlanOf(p, []result.Family{result.Faults, result.Latency}, false)
		count := func(part string) (n int) {
			for _, text := range runs {
				n += strings.Count(text, part)
			}
			return n
		}
		Expect(count("timeout")).To(Equal(12), "12 × 10s are two minutes")
		Expect(count("empty-text")).To(Equal(50))
		Expect(count("first=5s")).To(Equal(10), "the longer latency, 11s, counts")
		Expect(count("call=50:")).To(Equal(1 + 1 + 2))
		Expect(left).To(ContainElement("fault: runs that wait up to 10s: at 12 of 50 calls, because they take real time; --thorough perturbs all of them"))
		runs, left = explore.PlanOf(p, []result.Family{result.Faults, result.Latency}, true)
		Expect(runs).To(HaveLen(50 * 4))
		Expect(left).To(BeEmpty())
	})

	It("makes one outage of each sort last in real time", func() {
		p := golden()
		p.Calls, p.RealTime = 1, true
		p.Points.Faults = []string{"status", "reset-before-headers", "reset-after-headers", "empty-text"}
		runs, left := explore.OutagesOf(p, false)
		Expect(runs).To(Equal([]string{
			"call=1:status,status=429,retry_after=2s,times=20", "call=1:status,status=503,times=20", "call=1:reset-before-headers,times=20",
		}))
		Expect(left).To(Equal([]string{
			"outage of reset-after-headers, empty-text: skipped, because an agent may pause in real time between its attempts; --thorough includes them",
		}))
		runs, left = explore.OutagesOf(p, true)
		Expect(runs).To(HaveLen(5))
		Expect(left).To(BeEmpty())
		p.Calls = 100
		runs, _ = explore.OutagesOf(p, false)
		Expect(runs).To(HaveLen(3*24), "24 × 5s are two minutes")
	})

	It("skips and reports calls of a long path, and perturbs all of them if thorough", func() {
		p := golden()
		p.Calls = 1000
		runs, left := explore.PlanOf(p, []result.Family{result.Texts}, false)
		Expect(len(runs)).To(BeNumerically("<=", 300))
		Expect(runs[0]).To(Equal("call=1:text-truncated"))
		Expect(runs[len(runs)-1]).To(Equal("call=1000:text-padded"))
		Expect(slices.Compact(slices.Sorted(slices.Values(runs)))).To(HaveLen(len(runs)))
		Expect(left).To(Equal([]string{fmt.Sprintf("text: %d of 1000 calls, evenly spread, because the path is long; --thorough perturbs all of them", len(runs)/4)}))
		runs, left = explore.PlanOf(p, []result.Family{result.Texts}, true)
		Expect(runs).To(HaveLen(4000))
		Expect(left).To(BeEmpty())
	})

	DescribeTable("divides the writes among runs",
		func(writes, work, budget, runs int) { Expect(explore.GroupsOf(writes, work, budget)).To(Equal(runs)) },
		Entry("one for each write within the budget", 100, 10, 1000, 100),
		Entry("a quarter of the budget beyond it", 101, 10, 1000, 25),
		Entry("at least ten, so that a process makes progress", 101, 1_000_000, 1000, 10),
		Entry("at most one for each write", 5, 1_000_000, 1000, 5),
		Entry("one for each write, without a budget", 1000, 1000, 0, 1000),
	)

	It("combines crashes in runs on a long path, each write once", func() {
		rapid.Check(GinkgoTB(), func(t *rapid.T) {
			p := golden()
			p.Calls, p.Writes = rapid.IntRange(0, 2000).Draw(t, "calls"), rapid.IntRange(1, 3000).Draw(t, "writes")
			runs, _ := explore.PlanOf(p, []result.Family{result.Crashes}, false)
			struck := map[string]int{}
			for _, text := range runs {
				one, err := perturb.Parse(text)
				if err != nil {
					t.Fatal(err)
				}
				for _, w := range strikes(one, p.Writes) {
					struck[fmt.Sprint(one.Do, w)]++
				}
			}
			if len(struck) != 3*p.Writes {
				t.Fatalf("%d of %d are struck", len(struck), 3*p.Writes)
			}
			for what, times := range struck {
				if times != 1 {
					t.Fatalf("%s is struck %d times", what, times)
				}
			}
		})
	})
})

// strikes returns the writes at which a crash fires.
func strikes(p perturb.Perturbation, writes int) (all []int) {
	for w := p.N; w <= writes; w += p.Every {
		all = append(all, w)
		if p.Every == 0 {
			break
		}
	}
	return all
}

var _ = Describe("Shrinking", func() {
	DescribeTable("tries perturbations that are one step smaller",
		func(text string, want ...string) {
			var ps []perturb.Perturbation
			for one := range strings.FieldsSeq(text) {
				p, err := perturb.Parse(one)
				Expect(err).NotTo(HaveOccurred())
				ps = append(ps, p)
			}
			Expect(strings.Join(explore.Smaller(ps, 100), "\n")).To(Equal(strings.Join(want, "\n")))
		},
		Entry("a pair: either fault", "call=1:timeout call=2:empty-text", "call=2:empty-text", "call=1:timeout"),
		Entry("three: without one of them", "call=1:timeout call=2:timeout call=3:timeout",
			"call=2:timeout call=3:timeout", "call=1:timeout call=3:timeout", "call=1:timeout call=2:timeout"),
		Entry("options: without one of them", "call=1:status,status=429,retry_after=2s,times=3",
			"call=1:status,status=429,retry_after=2s", "call=1:status,status=429,times=3"),
		Entry("a place in the stream", "call=1:reset-mid-stream,after=3", "call=1:reset-mid-stream"),
		Entry("a pause", "call=1:slow-drip,delay=3s", "call=1:slow-drip"),
		Entry("a plain fault: nothing", "call=1:timeout"),
		Entry("a status: nothing", "call=1:status,status=503"),
		Entry("a text: nothing", "call=1:text-padded"),
		Entry("a user's action: nothing", "turn=2:double"),
		Entry("a latency: shorter, round ones", "call=1:latency,first=59.999999999s", "call=1:latency,first=1s", "call=1:latency,first=10s"),
		Entry("the shortest latency: nothing", "call=1:latency,first=1s"),
		Entry("a group of writes: either half of it", "write=3:crash-after,every=20", "write=3:crash-after,every=40", "write=23:crash-after,every=40"),
		Entry("two writes: either", "write=3:crash-after,every=60", "write=3:crash-after", "write=63:crash-after"),
		Entry("a group of one: without the others", "write=3:crash-after,every=98", "write=3:crash-after"),
		Entry("one write: nothing", "write=3:crash-after"),
	)

	It("halves groups down to single writes, without losing one", func() {
		rapid.Check(GinkgoTB(), func(t *rapid.T) {
			writes := rapid.IntRange(1, 500).Draw(t, "writes")
			every := rapid.IntRange(1, 500).Draw(t, "every")
			p := perturb.Perturbation{At: perturb.Write, N: rapid.IntRange(1, min(every, writes)).Draw(t, "n"), Do: perturb.CrashBefore, Every: every}
			open, singles := []perturb.Perturbation{p}, []int{}
			for len(open) > 0 {
				one := open[0]
				open = open[1:]
				if one.Every == 0 {
					singles = append(singles, one.N)
					continue
				}
				halves := explore.Halves(one, writes)
				var both []int
				for _, half := range halves {
					both = append(both, strikes(half, writes)...)
				}
				slices.Sort(both)
				if !slices.Equal(both, strikes(one, writes)) {
					t.Fatalf("%s becomes %v", one, halves)
				}
				open = append(open, halves...)
			}
			slices.Sort(singles)
			if !slices.Equal(singles, strikes(p, writes)) {
				t.Fatalf("%s ends as %v", p, singles)
			}
		})
	})
})

var _ = Describe("Pairs", func() {
	kinds := func(n int) (all []mocks.Fault) {
		for _, name := range mocks.APIFaults()[:n] {
			all = append(all, mocks.Fault{Kind: name})
		}
		return all
	}

	It("cover every pair of kinds and of calls with the fewest possible runs", func() {
		rapid.Check(GinkgoTB(), func(t *rapid.T) {
			n, calls := rapid.IntRange(1, 9).Draw(t, "kinds"), rapid.IntRange(2, 15).Draw(t, "calls")
			most := max(n*n, calls*(calls-1)/2)
			limit := rapid.IntRange(1, 2*most).Draw(t, "limit")
			d := explore.PairsOf(kinds(n), calls, limit, rapid.Uint64().Draw(t, "seed"), nil)
			ofKinds, ofCalls := map[[2]string]bool{}, map[[2]int]bool{}
			for _, pair := range d.Pairs {
				if pair[0].N >= pair[1].N {
					t.Fatalf("%v is not in order", pair)
				}
				ofKinds[[2]string{pair[0].Do, pair[1].Do}] = true
				ofCalls[[2]int{pair[0].N, pair[1].N}] = true
			}
			if len(d.Pairs) != min(limit, most) {
				t.Fatalf("%d runs for %d", len(d.Pairs), min(limit, most))
			}
			if d.Kinds != len(ofKinds) || d.Kinds != min(limit, n*n) {
				t.Fatalf("covers %d, reports %d, of %d pairs of kinds", len(ofKinds), d.Kinds, n*n)
			}
			if d.Calls != len(ofCalls) || d.Calls != min(limit, calls*(calls-1)/2) {
				t.Fatalf("covers %d, reports %d, of %d pairs of calls", len(ofCalls), d.Calls, calls*(calls-1)/2)
			}
		})
	})

	It("of the only call hit two attempts, each fault once as the first and once as the second", func() {
		rapid.Check(GinkgoTB(), func(t *rapid.T) {
			firsts, seconds := kinds(rapid.IntRange(1, 9).Draw(t, "firsts")), kinds(rapid.IntRange(1, 9).Draw(t, "seconds"))
			limit := rapid.IntRange(1, 12).Draw(t, "limit")
			d := explore.AttemptPairsOf(firsts, seconds, limit, rapid.Uint64().Draw(t, "seed"))
			most := max(len(firsts), len(seconds))
			if len(d.Pairs) != min(limit, most) {
				t.Fatalf("%d runs, limit %d, most %d", len(d.Pairs), limit, most)
			}
			first, second := map[string]bool{}, map[string]bool{}
			for _, pair := range d.Pairs {
				if pair[0].N != 1 || pair[1].N != 1 {
					t.Fatalf("%v is not at the only call", pair)
				}
				first[pair[0].Do], second[pair[1].Do] = true, true
			}
			if limit >= most && (len(first) != len(firsts) || len(second) != len(seconds)) {
				t.Fatalf("%v leaves out a fault", d.Pairs)
			}
		})
		Expect(explore.AttemptPairsOf(nil, kinds(3), 9, 1).Pairs).To(BeEmpty())
	})

	It("depend on the seed only", func() {
		one := explore.PairsOf(kinds(6), 10, 20, 1, nil)
		Expect(explore.PairsOf(kinds(6), 10, 20, 1, nil)).To(Equal(one))
		Expect(explore.PairsOf(kinds(6), 10, 20, 2, nil)).NotTo(Equal(one))
	})

	It("begin with a fault after which the path continues", func() {
		continues := func(p perturb.Perturbation) bool { return p.N != 2 && p.Do != "timeout" }
		d := explore.PairsOf(kinds(6), 5, 500, 1, continues)
		Expect(d.Pairs).NotTo(BeEmpty())
		for _, pair := range d.Pairs {
			Expect(continues(pair[0])).To(BeTrue(), "%v", pair)
		}
		Expect(d.Kinds).To(Equal(5 * 6))
		Expect(d.Calls).To(Equal(10 - 3))
	})

	It("are empty with fewer than two calls, or if no path continues", func() {
		Expect(explore.PairsOf(kinds(6), 1, 20, 1, nil).Pairs).To(BeEmpty())
		Expect(explore.PairsOf(nil, 9, 20, 1, nil).Pairs).To(BeEmpty())
		Expect(explore.PairsOf(kinds(6), 9, 20, 1, func(perturb.Perturbation) bool { return false }).Pairs).To(BeEmpty())
	})
})
